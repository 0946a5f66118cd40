//! Which atoms the best one of a sample is among, told by whole numbers.
//!
//! Atoms and samples are rounded to whole steps, [`STEPS`] to a norm of one. Whole numbers of 16 bits are multiplied and added
//! in pairs, which takes little more than half the time of floats, and rounding moves a correlation by no more than is known
//! beforehand. So the best atom is one of those that come as near to the largest as that: nearly always those of one small
//! class. Who wants the best looks at the products of these few again, in floats, and has the answer of a pass in floats.

use fearless_simd::{Level, dispatch, prelude::*};

use super::aligned::Aligned;
use super::classes::{CLASS, atoms_of};
use super::columns::{Columns, PADDING};
use super::correlate::{Largest, RUN};
use super::panels::{TILE, VECTORS};
use super::vectors::dot;
use crate::scalar::Scalar;

/// Steps to a norm of one: entries fit into 16 bits, and sums of products into 32.
const STEPS: f64 = 32_000.0;

/// More than an entry of a sample is rounded by, in steps: one half, and what floats lose before.
const ROUNDED: f64 = 0.51;

/// A sample fainter than this counts as zero, so that no factor is infinite.
const FAINT: f64 = 1e-30;

/// Added to a float of few digits before the point, this rounds it and leaves it in the lowest bits.
const TO_BITS: f32 = 12_582_912.0;

/// The product of one panel and one tile, in steps: `VECTORS` vectors for each of `TILE` samples.
type Product<V> = [[V; VECTORS]; TILE];

/// A dictionary of atoms no longer than one, in steps.
///
/// As [`Panels`](super::Panels), but a vector holds two features of each of its atoms.
#[derive(Debug)]
pub(crate) struct CoarseAtoms {
    level: Level,
    data: Aligned<i16>,
    /// Of features.
    pairs: usize,
    count: usize,
    /// Atoms in a vector, a property of the instruction set.
    lanes: usize,
    /// More than rounding can do to the difference of two correlations, in squares of a step.
    margin: i32,
}

impl CoarseAtoms {
    /// Packs columns, the j-th times `scale(j)`, which makes it no longer than one.
    pub(crate) fn pack<T: Scalar>(level: Level, columns: &Columns<T>, scale: impl Fn(usize) -> f64) -> Self {
        let lanes = dispatch!(level, simd => lanes(simd));
        let (pairs, count) = (columns.rows().div_ceil(2), columns.count());
        let mut data = Aligned::zeros(count.next_multiple_of(VECTORS * lanes) * 2 * pairs);
        let mut rounded = 0.0_f64;
        for j in 0..count {
            let (vector, lane) = (j / lanes, j % lanes);
            let (panel, vector) = (vector / VECTORS, vector % VECTORS);
            let factor = STEPS * scale(j);
            let mut energy = 0.0;
            for (r, value) in columns.column(j).iter().enumerate() {
                let exact = value.to_f64() * factor;
                let steps = exact.round();
                energy += (exact - steps).powi(2);
                data[((panel * pairs + r / 2) * VECTORS + vector) * 2 * lanes + 2 * lane + r % 2] = steps as i16;
            }
            rounded = rounded.max(energy.sqrt());
        }
        // |xᵀd − yᵀe| ≤ ‖x − y‖‖d‖ + ‖y‖‖d − e‖, with a little more for norms that are rounded themselves.
        let moved = ROUNDED * (2.0 * pairs as f64).sqrt();
        let most = 1.001 * ((STEPS + rounded) * moved + STEPS * rounded);
        Self { level, data, pairs, count, lanes, margin: (2.0 * most).ceil() as i32 }
    }
}

#[inline(always)]
fn lanes<S: Simd>(_: S) -> usize {
    S::i32s::LEN
}

/// A block of samples in steps.
#[derive(Debug)]
pub(crate) struct CoarseSamples {
    /// Tiles of `TILE` samples, two features in each number.
    data: Aligned<i32>,
    pairs: usize,
    /// Those of the sample being rounded.
    words: Vec<i32>,
    /// Whether each sample in use is more than zeros.
    nonzero: Vec<bool>,
}

impl CoarseSamples {
    /// Room for `capacity` samples of `rows` features.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        let pairs = rows.div_ceil(2);
        Self {
            data: Aligned::zeros(capacity.next_multiple_of(TILE) * pairs),
            pairs,
            words: vec![0; pairs],
            nonzero: Vec::with_capacity(capacity),
        }
    }

    /// Takes the first `count` of some columns.
    pub(crate) fn load<T: Scalar>(&mut self, level: Level, columns: &Columns<T>, count: usize) {
        self.nonzero.clear();
        dispatch!(level, simd => (0..count).for_each(|i| self.push(simd, columns.padded(i))));
    }

    /// Puts a padded sample into the next slot.
    #[inline(always)]
    fn push<S: Simd, T: Scalar>(&mut self, simd: S, x: &[T]) {
        let slot = self.nonzero.len();
        let norm = norm(simd, x);
        let factor = T::from_f64(if norm > FAINT { STEPS / norm } else { 0.0 });
        let steps = |value: T| ((value * factor).to_f64() as f32 + TO_BITS).to_bits();
        for (word, [even, odd]) in self.words.iter_mut().zip(x.as_chunks().0) {
            *word = ((steps(*even) & 0xffff) | (steps(*odd) << 16)) as i32;
        }
        let tile = &mut self.data[slot / TILE * TILE * self.pairs..][..TILE * self.pairs];
        let place = slot % TILE;
        for (row, &word) in tile.as_chunks_mut::<TILE>().0.iter_mut().zip(&self.words) {
            row[place] = word;
        }
        self.nonzero.push(norm > FAINT);
    }
}

/// The norm of a padded column, also where squares would leave the range of the number type.
#[inline(always)]
fn norm<S: Simd, T: Scalar>(simd: S, x: &[T]) -> f64 {
    let energy = dot(simd, x, x).to_f64();
    if (1e-30..1e30).contains(&energy) {
        return energy.sqrt();
    }
    let largest = x.iter().fold(0.0_f64, |largest, value| largest.max(value.to_f64().abs()));
    if largest <= 0.0 {
        return 0.0;
    }
    largest * x.iter().map(|value| (value.to_f64() / largest).powi(2)).sum::<f64>().sqrt()
}

/// The largest correlation of each class of atoms with each sample of a block, in squares of a step.
#[derive(Debug)]
pub(crate) struct CoarseClasses {
    largest: Largest,
    n_atoms: usize,
    lanes: usize,
    margin: i32,
    /// Classes of a sample.
    count: usize,
    /// More than the classes: samples whose distance is a power of two would fight for the same lines of the cache.
    stride: usize,
    values: Aligned<i32>,
    /// For each slot the panel and lane of an atom to be left out; no panel at all is `usize::MAX`.
    excluded: Vec<(usize, usize)>,
    excludes_any: bool,
}

impl CoarseClasses {
    /// For up to `capacity` samples.
    pub(crate) fn new(atoms: &CoarseAtoms, capacity: usize, largest: Largest) -> Self {
        let lanes = atoms.lanes;
        let count = atoms.count.div_ceil(CLASS * lanes) * lanes;
        let stride = count + PADDING;
        let slots = capacity.next_multiple_of(TILE);
        Self {
            largest,
            n_atoms: atoms.count,
            lanes,
            margin: atoms.margin,
            count,
            stride,
            values: Aligned::zeros(slots * stride),
            excluded: vec![(usize::MAX, 0); slots],
            excludes_any: false,
        }
    }

    /// Leaves one atom out for the sample in `slot`, or none.
    pub(crate) fn exclude(&mut self, slot: usize, atom: Option<usize>) {
        self.excluded[slot] =
            atom.map_or((usize::MAX, 0), |j| (j / (VECTORS * self.lanes), j % (VECTORS * self.lanes)));
        self.excludes_any |= atom.is_some();
    }

    /// What counts of a correlation.
    #[inline(always)]
    pub(crate) fn size(&self, correlation: f64) -> f64 {
        if self.largest == Largest::Magnitude { correlation.abs() } else { correlation }
    }

    /// Multiplies all atoms with all samples.
    pub(crate) fn find(&mut self, atoms: &CoarseAtoms, samples: &CoarseSamples) {
        debug_assert_eq!(atoms.pairs, samples.pairs);
        dispatch!(atoms.level, simd => self.pass(simd, atoms, samples));
    }

    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, atoms: &CoarseAtoms, samples: &CoarseSamples) {
        let lanes = S::i32s::LEN;
        let panel_size = atoms.pairs * VECTORS * 2 * lanes;
        let tile_size = samples.pairs * TILE;
        let used_tiles = &samples.data[..samples.nonzero.len().div_ceil(TILE) * tile_size];
        for (run, panels) in atoms.data.chunks(RUN * panel_size).enumerate() {
            for (t, tile) in used_tiles.chunks_exact(tile_size).enumerate() {
                // In memory, as the product takes all registers. Zero is a bound from below for both kinds.
                let mut most = [[0; PADDING]; TILE];
                for (p, panel) in panels.chunks_exact(panel_size).enumerate() {
                    let product = self.sized(simd, multiply(simd, panel, tile), (run * RUN + p, t * TILE));
                    for (most, [low, high]) in most.iter_mut().zip(product) {
                        let most = &mut most[..lanes];
                        low.max(high).max(S::i32s::from_slice(simd, most)).store_slice(most);
                    }
                }
                for (s, most) in most.iter().enumerate() {
                    let to = (t * TILE + s) * self.stride + run * lanes;
                    S::i32s::from_slice(simd, &most[..lanes]).store_slice(&mut self.values[to..to + lanes]);
                }
            }
        }
    }

    /// What counts of the products with the panel and the samples from this slot on.
    #[inline(always)]
    fn sized<S: Simd>(
        &self,
        simd: S,
        mut product: Product<S::i32s>,
        (panel, slot): (usize, usize),
    ) -> Product<S::i32s> {
        if self.excludes_any {
            for (s, correlations) in product.iter_mut().enumerate() {
                let (excluded_panel, lane) = self.excluded[slot + s];
                if panel == excluded_panel {
                    *correlations = without_lane(simd, *correlations, lane);
                }
            }
        }
        if self.largest == Largest::Magnitude {
            product.as_flattened_mut().iter_mut().for_each(|c| *c = c.abs());
        }
        product
    }

    /// Writes for each sample the one class that holds its best atom; `None` where more than one may, or the sample is zero.
    #[inline(always)]
    pub(crate) fn leading<S: Simd>(&self, simd: S, samples: &CoarseSamples, out: &mut Vec<Option<u32>>) {
        let splat = |value: i32| S::i32s::splat(simd, value);
        out.clear();
        // No branch hangs on the data: the work on one sample is done while the one before waits.
        for (slot, nonzero) in samples.nonzero.iter().enumerate() {
            let (mut most, mut at, mut here) = (splat(0), splat(0), splat(0));
            for part in self.of(simd, slot) {
                at = part.simd_gt(most).select(here, at);
                most = part.max(most);
                here += 1;
            }
            let largest = most.reduce_max();
            let least = splat(largest - self.margin);
            let near = self.of(simd, slot).fold(splat(0), |near, part| near - part.simd_ge(least).to_vector());
            let lane = most.simd_ge(largest).to_bitmask().trailing_zeros() as usize;
            let class = at[lane] as usize * S::i32s::LEN + lane;
            out.push((*nonzero && near.reduce_sum() == 1).then_some(class as u32));
        }
    }

    /// The atoms of a class, in order; if there are fewer than others have, the last is repeated.
    #[inline(always)]
    pub(crate) fn atoms(&self, class: u32) -> [u32; CLASS] {
        let (atoms, count) = atoms_of(class as usize, self.lanes, self.n_atoms);
        let last = atoms[count.max(1) - 1];
        atoms.map(|atom| atom.min(last))
    }

    /// Puts the atoms of all classes that may have the largest correlation with a sample into `out`, which is empty, in order;
    /// nothing if the sample is zero. The excluded atom may be among them.
    #[inline(always)]
    pub(crate) fn leaders<S: Simd>(&self, simd: S, samples: &CoarseSamples, slot: usize, out: &mut Vec<u32>) {
        if !samples.nonzero[slot] {
            return;
        }
        let most = self.of(simd, slot).fold(S::i32s::splat(simd, 0), SimdBase::max);
        let least = S::i32s::splat(simd, most.reduce_max() - self.margin);
        for (v, part) in self.of(simd, slot).enumerate() {
            let mut hits = part.simd_ge(least).to_bitmask();
            while hits != 0 {
                let class = v * S::i32s::LEN + hits.trailing_zeros() as usize;
                let (atoms, count) = atoms_of(class, self.lanes, self.n_atoms);
                out.extend_from_slice(&atoms[..count]);
                hits &= hits - 1;
            }
        }
        out.sort_unstable();
    }

    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, slot: usize) -> impl Iterator<Item = S::i32s> {
        let values = &self.values[slot * self.stride..][..self.count];
        values.chunks_exact(S::i32s::LEN).map(move |part| S::i32s::from_slice(simd, part))
    }
}

/// One panel times one tile, in registers from the first pair of features to the last.
#[inline(always)]
fn multiply<S: Simd>(simd: S, panel: &[i16], tile: &[i32]) -> Product<S::i32s> {
    let lanes = S::i16s::LEN;
    let mut sums = [[S::i32s::splat(simd, 0); VECTORS]; TILE];
    for (atoms, samples) in panel.chunks_exact(VECTORS * lanes).zip(tile.chunks_exact(TILE)) {
        let low = S::i16s::from_slice(simd, &atoms[..lanes]);
        let high = S::i16s::from_slice(simd, &atoms[lanes..]);
        for (sum, &sample) in sums.iter_mut().zip(samples) {
            let sample = S::i16s::from_bytes(S::i32s::splat(simd, sample).to_bytes());
            sum[0] += low.pairwise_dot_product(sample);
            sum[1] += high.pairwise_dot_product(sample);
        }
    }
    sums
}

/// Sets one lane of a panel's correlations to zero, by comparison: an index would force them all out of registers.
#[inline(always)]
fn without_lane<S: Simd>(simd: S, mut correlations: [S::i32s; VECTORS], lane: usize) -> [S::i32s; VECTORS] {
    let lanes = S::i32s::LEN;
    for (v, correlation) in correlations.iter_mut().enumerate() {
        let numbers = S::i32s::from_fn(simd, |i| (v * lanes + i) as i32);
        let excluded = numbers.simd_eq(S::i32s::splat(simd, lane as i32));
        *correlation = excluded.select(S::i32s::splat(simd, 0), *correlation);
    }
    correlations
}
