//! Which centres may be near a sample, told from a few coordinates.
//!
//! Let Q have R orthonormal columns, and let y₁ = Qᵀy be the coordinates of a vector y in their span and ‖y₂‖ the norm of
//! what lies outside it. Then xᵀc ≤ x₁ᵀc₁ + ‖x₂‖‖c₂‖, a product of R + 1 numbers. If the span holds most of the centres,
//! the bound is so near the product that for nearly every sample only a handful of centres remain, and the fused pass
//! runs over R + 2 rows instead of M + 1. The bound holds whatever Q is; only how many remain depends on the data.

use std::sync::Arc;

use fearless_simd::{dispatch, prelude::*};

use crate::kernels::{Best, Columns, Panels, Store, Tiles, best_level, correlate};
use crate::rng::{RowNumbers, stream};
use crate::scalar::Scalar;
use crate::sums::{add_multiple, product, squared_distance_by};

use super::nearest::subtract;

/// Fewer features or centres than these are searched sooner than screened.
const LEAST: (usize, usize) = (24, 96);

/// M / R.
const SHARE: usize = 2;

/// Turns of the power method that find Q.
const TURNS: usize = 2;

/// Samples screened together: few enough for their bounds on all centres to stay in cache.
pub(super) const BLOCK: usize = 48;

/// If more centres than this are left for a sample, it is worth a look at the likeliest.
const MANY: usize = 16;

/// Vectors of bounds compared at once.
const TOGETHER: usize = 4;

/// A block of which more than this share of all centres remains is not worth screening.
const MOST_LEFT: f64 = 1.0 / 8.0;

/// Bounds from above on cᵀx − ½‖c‖² for all centres c, where x and c count from an origin.
#[derive(Debug)]
pub(super) struct Screen<T> {
    span: Arc<Span<T>>,
    /// (c₁, ‖c₂‖, −½‖c‖²) of each centre.
    panels: Panels<T>,
    n_centers: usize,
    /// More than rounding can do to a squared distance, as a fraction of ‖x‖² + ‖c‖².
    rounding: f64,
}

/// Q. It takes long to find, but that of the centres before they moved will do.
#[derive(Debug)]
struct Span<T> {
    columns: Columns<T>,
    /// With a row of zeros for the one that extends the samples.
    panels: Panels<T>,
}

/// One thread's working space, and what it found.
pub(super) struct Space<T> {
    coordinates: Store<T>,
    tiles: Tiles<T>,
    bounds: Store<T>,
    extended: Vec<T>,
    /// ‖x‖² of each sample of the block.
    energies: Vec<f64>,
    /// The centres that remain, sample after sample.
    left: Vec<u32>,
    /// Where those of each sample end.
    ends: Vec<usize>,
}

impl<T: Scalar> Screen<T> {
    /// For these centres; `None` if screening cannot pay. `former` is a screen for centres of as many features.
    pub(super) fn new(centers: &Columns<T>, origin: &[T], former: Option<&Self>) -> Option<Self> {
        let (rows, count) = (centers.rows(), centers.count());
        if rows < LEAST.0 || count < LEAST.1 {
            return None;
        }
        let mut from_origin = Columns::zeros(rows, count);
        (0..count).for_each(|j| subtract(centers.column(j), origin, from_origin.padded_mut(j)));
        let span = former.map_or_else(|| Arc::new(Span::of(&from_origin)), |screen| Arc::clone(&screen.span));
        let dimensions = span.columns.count();
        let rounding = (rows as f64 * (dimensions as f64).sqrt() + 16.0) * T::EPSILON.to_f64();
        let mut extended = Columns::zeros(dimensions + 2, count);
        for j in 0..count {
            let (center, column) = (from_origin.column(j), extended.padded_mut(j));
            let energy = product(center, center);
            let mut inside = 0.0;
            for (r, coordinate) in column[..dimensions].iter_mut().enumerate() {
                *coordinate = T::from_f64(product(center, span.columns.column(r)));
                inside += coordinate.to_f64().powi(2);
            }
            column[dimensions] = T::from_f64(outside(energy, inside, rounding));
            column[dimensions + 1] = T::from_f64(-0.5 * (1.0 - rounding) * energy);
        }
        let panels = Panels::pack(best_level(), (dimensions + 2, count), |j| extended.column(j), |_| T::ONE);
        Some(Self { span, panels, n_centers: count, rounding })
    }

    pub(super) fn space(&self) -> Space<T> {
        Space {
            coordinates: Store::new(&self.span.panels, BLOCK),
            tiles: Tiles::new(self.dimensions() + 2, BLOCK),
            bounds: Store::new(&self.panels, BLOCK),
            extended: vec![T::ONE; self.dimensions() + 2],
            energies: Vec::with_capacity(BLOCK),
            left: Vec::new(),
            ends: Vec::with_capacity(BLOCK),
        }
    }

    /// R.
    fn dimensions(&self) -> usize {
        self.span.columns.count()
    }

    /// Bounds all products with the samples of a block, given (x, 1) in tiles and each x.
    pub(super) fn bound<'a>(&self, tiles: &Tiles<T>, space: &mut Space<T>, samples: impl Iterator<Item = &'a [T]>) {
        correlate(&self.span.panels, tiles, &mut space.coordinates);
        space.tiles.clear();
        space.energies.clear();
        let dimensions = self.dimensions();
        for (slot, x) in samples.enumerate() {
            let coordinates = &space.coordinates.of(slot)[..dimensions];
            let energy = product(x, x);
            space.extended[..dimensions].copy_from_slice(coordinates);
            let inside = product(coordinates, coordinates);
            space.extended[dimensions] = T::from_f64(outside(energy, inside, self.rounding));
            space.tiles.push(&space.extended);
            space.energies.push(energy);
        }
        correlate(&self.panels, &space.tiles, &mut space.bounds);
        space.left.clear();
        space.ends.clear();
    }

    /// Finds the centres that may be within a squared distance of the next sample. If these are many, `distance` of the
    /// likeliest of them makes a better limit, which is returned.
    pub(super) fn keep(&self, space: &mut Space<T>, limit: f64, distance: impl Fn(usize) -> f64) -> f64 {
        let slot = space.ends.len();
        let start = space.left.len();
        let mut limit = limit;
        if limit.is_finite() {
            self.list(space, slot, limit, MANY);
        }
        if limit.is_infinite() || space.left.len() - start > MANY {
            let bounds = space.bounds.of(slot);
            let likeliest = dispatch!(self.panels.level(), simd => largest(simd, bounds)).min(self.n_centers - 1);
            // Just above it, so that it is found again among those that are left.
            limit = limit.min(distance(likeliest).next_up());
            space.left.truncate(start);
            self.list(space, slot, limit, self.n_centers);
        }
        space.ends.push(space.left.len());
        limit
    }

    /// Appends the centres that may be within the limit, or, if they are more than `most`, some of them that are more too.
    fn list(&self, space: &mut Space<T>, slot: usize, limit: f64, most: usize) {
        let least = T::from_f64(0.5 * ((1.0 - self.rounding) * space.energies[slot] - limit));
        let bounds = space.bounds.of(slot);
        dispatch!(self.panels.level(), simd => at_least(simd, bounds, least, most, &mut space.left));
        // Beyond the last centre are zeros.
        while space.left.last().is_some_and(|&j| j as usize >= self.n_centers) {
            space.left.pop();
        }
    }

    /// Whether so many centres are left that a plain search of the block is faster.
    pub(super) fn is_useless(&self, space: &Space<T>) -> bool {
        space.left.len() as f64 > MOST_LEFT * (self.n_centers * BLOCK) as f64
    }
}

impl<T: Scalar> Span<T> {
    fn of(centers: &Columns<T>) -> Self {
        let (rows, dimensions) = (centers.rows(), centers.rows() / SHARE);
        let columns = leading_span(centers, dimensions);
        let mut padded = Columns::zeros(rows + 1, dimensions);
        (0..dimensions).for_each(|r| padded.padded_mut(r)[..rows].copy_from_slice(columns.column(r)));
        let panels = Panels::pack(best_level(), (rows + 1, dimensions), |r| padded.column(r), |_| T::ONE);
        Self { columns, panels }
    }
}

impl<T> Space<T> {
    /// What [`Screen::keep`] has found for a sample.
    pub(super) fn left(&self, slot: usize) -> &[u32] {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        &self.left[start..self.ends[slot]]
    }
}

/// The norm of what lies outside the span, rounded up.
fn outside(energy: f64, inside: f64, rounding: f64) -> f64 {
    ((energy - inside).max(0.0) + rounding * energy).sqrt()
}

/// The nearest of some centres, if it is nearer than `squared`; the first among equals.
#[inline(always)]
pub(super) fn nearest_of<S: Simd, T: Scalar>(
    simd: S,
    centers: &Columns<T>,
    names: &[u32],
    x: &[T],
    mut squared: f64,
) -> Option<(usize, f64)> {
    let mut best = None;
    for &j in names {
        let distance = squared_distance_by(simd, x, centers.padded(j as usize));
        if distance < squared {
            squared = distance;
            best = Some((j as usize, distance));
        }
    }
    best
}

/// The place of the largest value.
#[inline(always)]
fn largest<S: Simd, T: Scalar>(simd: S, values: &[T]) -> usize {
    let mut best = Best::<S, T>::above(simd, T::from_f64(f64::NEG_INFINITY));
    for part in values.chunks_exact(T::Native::<S>::LEN) {
        best.offer(T::Native::<S>::from_slice(simd, part));
    }
    best.reduce().0
}

/// Appends the places of all values that reach `least`, ascending, but stops once there are more than `most`.
#[inline(always)]
fn at_least<S: Simd, T: Scalar>(simd: S, values: &[T], least: T, most: usize, places: &mut Vec<u32>) {
    let lanes = T::Native::<S>::LEN;
    let enough = places.len() + most;
    let least = T::Native::<S>::splat(simd, least);
    let load = |part: &[T]| T::Native::<S>::from_slice(simd, part);
    for (g, group) in values.chunks(TOGETHER * lanes).enumerate() {
        // Few values reach it, so the largest of several is asked first.
        let parts = group.chunks_exact(lanes);
        let largest = parts.clone().skip(1).fold(load(&group[..lanes]), |largest, part| largest.max(load(part)));
        if largest.simd_ge(least).to_bitmask() != 0 {
            for (v, part) in parts.enumerate() {
                let mut hits = load(part).simd_ge(least).to_bitmask();
                while hits != 0 {
                    places.push(((g * TOGETHER + v) * lanes) as u32 + hits.trailing_zeros());
                    hits &= hits - 1;
                }
            }
            if places.len() > enough {
                return;
            }
        }
    }
}

/// Orthonormal columns whose span holds nearly as much of the vectors as any of so many dimensions could.
///
/// A few turns of the power method with a whole block: what the last digits of a principal component are does not
/// matter here. Where the vectors have fewer dimensions, columns are zero.
fn leading_span<T: Scalar>(vectors: &Columns<T>, dimensions: usize) -> Columns<T> {
    // Any mixture of all vectors will do to begin with; single ones may be alike.
    let numbers = RowNumbers::from_stream(&mut stream(0, "screen", 0));
    let mut span = mixtures(vectors, dimensions, |r, j| numbers.uniform((r * vectors.count() + j) as u64) - 0.5);
    for _ in 0..TURNS {
        span = mixtures(vectors, dimensions, |r, j| product(vectors.column(j), span.column(r)));
    }
    span
}

/// Sums of all vectors with the weights of each, made orthonormal.
fn mixtures<T: Scalar>(vectors: &Columns<T>, count: usize, weight: impl Fn(usize, usize) -> f64) -> Columns<T> {
    let mut mixtures = Columns::zeros(vectors.rows(), count);
    for r in 0..count {
        let mut sums = vec![0.0_f64; vectors.rows()];
        (0..vectors.count()).for_each(|j| add_multiple(weight(r, j), vectors.column(j), &mut sums));
        let largest = sums.iter().fold(0.0_f64, |largest, sum| largest.max(sum.abs()));
        let factor = if largest > 0.0 { 1.0 / largest } else { 0.0 };
        mixtures.padded_mut(r).iter_mut().zip(sums).for_each(|(value, sum)| *value = T::from_f64(sum * factor));
    }
    orthonormalise(&mut mixtures);
    mixtures
}

/// Makes every column orthogonal to those before it and of unit norm; a column that lies in their span becomes zero.
fn orthonormalise<T: Scalar>(columns: &mut Columns<T>) {
    for r in 0..columns.count() {
        let mut column: Vec<f64> = columns.column(r).iter().map(|x| x.to_f64()).collect();
        let before = product(&column, &column);
        for _ in 0..2 {
            // Twice is enough: what the first round leaves by rounding, the second takes away.
            for other in 0..r {
                let other = columns.column(other);
                let share: f64 = column.iter().zip(other).map(|(x, o)| x * o.to_f64()).sum();
                column.iter_mut().zip(other).for_each(|(x, o)| *x -= share * o.to_f64());
            }
        }
        let energy = product(&column, &column);
        let is_new = energy > before * f64::from(f32::EPSILON);
        let factor = if is_new { 1.0 / energy.sqrt() } else { 0.0 };
        columns.padded_mut(r).iter_mut().zip(column).for_each(|(x, value)| *x = T::from_f64(value * factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// Vectors of 32 features, most of whose energy lies in a few dimensions; `offset` is added to all.
    fn vectors(count: usize, offset: f32) -> Columns<f32> {
        let wave = |r: usize, c: usize| ((r * (c % 5 + 1)) as f32 * 0.37 + c as f32).sin();
        let noise = |r: usize, c: usize| ((r * 7919 + c * 104_729) % 1009) as f32 / 1009.0 - 0.5;
        Columns::copy_of(Matrix::from_fn(32, count, |r, c| offset + wave(r, c) + 0.2 * noise(r, c)).view())
    }

    #[test]
    fn the_span_is_orthonormal_and_zero_where_the_vectors_have_no_more_dimensions() {
        let flat = Columns::copy_of(
            Matrix::from_fn(32, 200, |r, c| if r < 3 { ((r + 1) * (c + 1)) as f32 % 5.0 } else { 0.0 }).view(),
        );
        for (vectors, expected) in [(vectors(200, 0.0), 8), (flat, 3)] {
            let span = leading_span(&vectors, 8);
            let norms: Vec<f64> = (0..8).map(|r| product(span.column(r), span.column(r))).collect();
            assert_eq!(norms.iter().filter(|norm| (**norm - 1.0).abs() < 1e-5).count(), expected);
            assert_eq!(norms.iter().filter(|norm| **norm <= 0.0).count(), 8 - expected);
            for (a, b) in (0..8).flat_map(|a| (0..a).map(move |b| (a, b))) {
                assert!(product(span.column(a), span.column(b)).abs() < 1e-5, "{a} and {b}");
            }
        }
    }

    #[test]
    fn no_centre_within_the_limit_is_ever_left_out() {
        for offset in [0.0, 30.0] {
            let (centers, samples) = (vectors(130, offset), vectors(BLOCK, offset));
            let origin = centers.column(17);
            let screen = Screen::new(&centers, origin, None).unwrap();
            let mut space = screen.space();
            let mut tiles = Tiles::new(33, BLOCK);
            let mut from_origin = Columns::zeros(32, BLOCK);
            for slot in 0..BLOCK {
                subtract(samples.column(slot), origin, from_origin.padded_mut(slot));
                tiles.push(&[from_origin.column(slot), &[1.0]].concat());
            }
            screen.bound(&tiles, &mut space, (0..BLOCK).map(|slot| from_origin.column(slot)));
            for slot in 0..BLOCK {
                let distance = |j: usize| {
                    let pairs = samples.column(slot).iter().zip(centers.column(j));
                    pairs.map(|(x, c)| (f64::from(*x) - f64::from(*c)).powi(2)).sum::<f64>()
                };
                let limit = screen.keep(&mut space, if slot % 2 == 0 { f64::INFINITY } else { 6.0 }, distance);
                for j in (0..130).filter(|&j| distance(j) < limit) {
                    assert!(space.left(slot).contains(&(j as u32)), "centre {j} of sample {slot}");
                }
            }
            assert!(space.left.len() < 130 * BLOCK / 4, "{} are left", space.left.len());
        }
    }
}
