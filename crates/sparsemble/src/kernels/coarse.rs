//! The packed operands in sixteen bits: nearly twice as many products a second, each off by no more than a known bound.
//!
//! Atoms and samples are scaled to one norm and rounded to integers, so that by Cauchy's inequality no sum of their
//! products leaves 32 bits, and none is off by more than ε times the product of the norms. Features lie in pairs, since
//! the instruction that multiplies sixteen bits adds two neighbouring products.

use std::sync::Arc;

use fearless_simd::{Level, dispatch, prelude::*};

use super::aligned::Aligned;
use super::coarse_columns::CoarseColumns;
use super::columns::Columns;
use super::correlate::{Epilogue, Product, pass};
use super::panels::{Panels, TILE, VECTORS};
use super::vectors::dot;
use crate::scalar::Scalar;

/// The norm that atoms and samples are scaled to; sixteen bits hold one entry as large as this, and what rounding adds.
const NORM: f64 = 32_000.0;

/// More than an entry of a sample is rounded by: one half, and what floats lose before.
const ROUNDED: f64 = 0.51;

/// What single precision and atoms of nearly unit norm add to an error, as a share of the norms.
const SLACK: f64 = 1e-6;

/// A vector fainter than this counts as zero, so that no factor is infinite.
pub(super) const FAINT: f64 = 1e-30;

/// Atoms larger than this, in units of their weight, need not be told apart.
const LARGEST_SIZE: f64 = 1e30;

/// Added to a float of few digits before the point, this rounds it and leaves it in the lowest bits.
pub(super) const TO_BITS: f32 = 12_582_912.0;

/// A dictionary packed for [`correlate_coarsely`], with one factor on each atom.
#[derive(Debug)]
pub(crate) struct CoarsePanels {
    level: Level,
    /// Shared by panels of the same atoms with other factors.
    pub(super) data: Arc<Aligned<i16>>,
    /// Pairs of features.
    pub(super) pairs: usize,
    pub(super) width: usize,
    pub(super) count: usize,
    /// How far off a product with a sample may be, as a share of the norms.
    error: f64,
    /// What a product of integers is multiplied by.
    units: Aligned<f32>,
    /// How far off it may be then.
    errors: Aligned<f32>,
    largest_error: f32,
}

impl CoarsePanels {
    /// Packs `count` atoms, the j-th of which is `atom(j)`; `size(j)` is its norm and a factor on it.
    pub(crate) fn pack<'a, T: Scalar>(
        level: Level,
        (rows, count): (usize, usize),
        atom: impl Fn(usize) -> &'a [T],
        size: impl Fn(usize) -> (f64, f64),
    ) -> Self {
        let (width, pairs) = (Panels::<f32>::width(level), rows.div_ceil(2));
        let mut data = Aligned::zeros(count.next_multiple_of(width) * pairs * 2);
        let mut place = |j: usize| place(&mut data, (pairs, width), j, &atom(j)[..rows], size(j).0);
        let moved = (0..count).map(&mut place).fold(0.0, f64::max);
        // |xᵀd − yᵀe| ≤ ‖x − y‖‖d‖ + ‖y‖‖d − e‖, with a little more for norms that are rounded themselves.
        let moved_sample = ROUNDED * (2.0 * pairs as f64).sqrt();
        let error = 1.001 * ((NORM + moved) * moved_sample + NORM * moved) / NORM / NORM + SLACK;
        Self::of_sizes((level, Arc::new(data)), (pairs, width, count), error, size)
    }

    /// The same atoms with other factors: `size(j)` is the norm of an atom and its factor.
    pub(crate) fn resized(&self, size: impl Fn(usize) -> (f64, f64)) -> Self {
        let shape = (self.pairs, self.width, self.count);
        Self::of_sizes((self.level, Arc::clone(&self.data)), shape, self.error, size)
    }

    /// The named atoms, which may be there more than once, with a factor of one.
    pub(crate) fn selected(&self, names: &[u32]) -> Self {
        let mut data = Aligned::zeros(names.len().next_multiple_of(self.width) * self.pairs * 2);
        let first = |j: usize| (j / self.width * self.pairs * self.width + j % self.width) * 2;
        for (j, &name) in names.iter().enumerate() {
            let (mut to, mut from) = (first(j), first(name as usize));
            for _ in 0..self.pairs {
                data[to..to + 2].copy_from_slice(&self.data[from..from + 2]);
                to += 2 * self.width;
                from += 2 * self.width;
            }
        }
        let shape = (self.pairs, self.width, names.len());
        Self::of_sizes((self.level, Arc::new(data)), shape, self.error, |_| (1.0, 1.0))
    }

    fn of_sizes(
        (level, data): (Level, Arc<Aligned<i16>>),
        (pairs, width, count): (usize, usize, usize),
        error: f64,
        size: impl Fn(usize) -> (f64, f64),
    ) -> Self {
        let padded = count.next_multiple_of(width);
        let (mut units, mut errors) = (Aligned::zeros(padded), Aligned::zeros(padded));
        for j in 0..count {
            let (norm, factor) = size(j);
            let size = (norm * factor).min(LARGEST_SIZE);
            units[j] = (size / NORM / NORM) as f32;
            errors[j] = (error * size) as f32;
        }
        let largest_error = errors.iter().copied().fold(0.0, f32::max);
        Self { level, data, pairs, width, count, error, units, errors, largest_error }
    }

    /// The number of panels, and of atoms in each.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.units.len() / self.width, self.width)
    }

    /// The instruction set the panels are laid out for.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The largest of [`Self::errors`].
    pub(crate) fn largest_error(&self) -> f64 {
        f64::from(self.largest_error)
    }

    /// How far off the correlation of each atom with a sample of norm one may be.
    pub(super) fn errors(&self) -> &[f32] {
        &self.errors
    }

    /// More than rounding can do to the difference of two products of integers.
    pub(super) fn margin(&self) -> i32 {
        (2.0 * self.error * NORM * NORM).ceil() as i32
    }
}

/// Puts an atom of this norm into its place in panels of this shape, and tells how far rounding has moved it.
fn place<T: Scalar>(data: &mut [i16], (pairs, width): (usize, usize), j: usize, atom: &[T], norm: f64) -> f64 {
    let (panel, lane) = (j / width, j % width);
    let factor = factor_of(norm);
    let mut energy = 0.0;
    for (r, value) in atom.iter().enumerate() {
        let exact = value.to_f64() * factor;
        let steps = exact.round();
        energy += (exact - steps).powi(2);
        data[((panel * pairs + r / 2) * width + lane) * 2 + r % 2] = steps as i16;
    }
    energy.sqrt()
}

/// What a vector of this norm is multiplied by before its entries are rounded.
#[inline(always)]
fn factor_of(norm: f64) -> f64 {
    if norm > FAINT { NORM / norm } else { 0.0 }
}

/// A block of samples packed for [`correlate_coarsely`].
#[derive(Debug)]
pub(crate) struct CoarseTiles {
    /// Pairs of sixteen bits.
    pub(super) data: Aligned<i32>,
    pub(super) pairs: usize,
    /// Those of the sample being rounded.
    words: Vec<i32>,
    /// Whether each sample in use is more than zeros.
    pub(super) nonzero: Vec<bool>,
}

impl CoarseTiles {
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

    /// The next calls of [`CoarseTiles::push`] start at slot 0 again.
    pub(crate) fn clear(&mut self) {
        self.nonzero.clear();
    }

    /// Takes the first `count` of some columns, and nothing else.
    pub(crate) fn load<T: Scalar>(&mut self, level: Level, columns: &Columns<T>, count: usize) {
        self.clear();
        dispatch!(level, simd => for i in 0..count {
            let x = columns.padded(i);
            self.push(simd, x, norm(simd, x));
        });
    }

    /// Takes the named columns, and nothing else.
    pub(crate) fn load_named(&mut self, columns: &CoarseColumns, names: &[u32]) {
        self.clear();
        for (slot, &name) in names.iter().enumerate() {
            let tile = &mut self.data[slot / TILE * TILE * self.pairs..][..TILE * self.pairs];
            for (row, &word) in tile.as_chunks_mut::<TILE>().0.iter_mut().zip(columns.words(name)) {
                row[slot % TILE] = word;
            }
            self.nonzero.push(columns.is_nonzero(name));
        }
    }

    /// Puts a padded sample of this norm into the next slot.
    #[inline(always)]
    pub(crate) fn push<S: Simd, T: Scalar>(&mut self, simd: S, sample: &[T], norm: f64) {
        let slot = self.nonzero.len();
        // First side by side, then apart: the compiler makes vectors of the former.
        round_to_pairs(simd, sample, norm, &mut self.words);
        let tile = &mut self.data[slot / TILE * TILE * self.pairs..][..TILE * self.pairs];
        let place = slot % TILE;
        for (row, &word) in tile.as_chunks_mut::<TILE>().0.iter_mut().zip(&self.words) {
            row[place] = word;
        }
        self.nonzero.push(norm > FAINT);
    }

    /// Those in use, to the end of the last tile.
    pub(super) fn used(&self) -> &[i32] {
        &self.data[..self.nonzero.len().div_ceil(TILE) * TILE * self.pairs]
    }
}

/// Scales a sample of this norm to [`NORM`] and rounds its entries, two to a word, until there are no more words.
#[inline(always)]
pub(super) fn round_to_pairs<S: Simd, T: Scalar>(_: S, sample: &[T], norm: f64, words: &mut [i32]) {
    let factor = T::from_f64(factor_of(norm));
    let steps = |value: T| ((value * factor).to_f64() as f32 + TO_BITS).to_bits();
    let (pairs, last) = sample.as_chunks();
    for (word, [even, odd]) in words.iter_mut().zip(pairs) {
        *word = ((steps(*even) & 0xffff) | (steps(*odd) << 16)) as i32;
    }
    for (word, &even) in words.iter_mut().skip(pairs.len()).zip(last) {
        *word = (steps(even) & 0xffff) as i32;
    }
}

/// The norm of a padded column, also where squares would leave the range of the number type.
#[inline(always)]
fn norm<S: Simd, T: Scalar>(simd: S, x: &[T]) -> f64 {
    norm_of(dot(simd, x, x).to_f64(), x)
}

/// The norm of a vector with this energy, also where the energy has left the range of the number type.
#[inline(always)]
pub(crate) fn norm_of<T: Scalar>(energy: f64, x: &[T]) -> f64 {
    if (1e-30..1e30).contains(&energy) {
        return energy.sqrt();
    }
    let largest = x.iter().fold(0.0_f64, |largest, value| largest.max(value.to_f64().abs()));
    if largest <= 0.0 {
        return 0.0;
    }
    largest * x.iter().map(|value| (value.to_f64() / largest).powi(2)).sum::<f64>().sqrt()
}

/// Correlates all atoms with all samples in use, as [`correlate()`](super::correlate()) does, in units of the samples' norms.
pub(crate) fn correlate_coarsely(panels: &CoarsePanels, tiles: &CoarseTiles, epilogue: &mut impl Epilogue<f32>) {
    debug_assert_eq!(panels.pairs, tiles.pairs);
    let sizes = (panels.pairs * panels.width * 2, tiles.pairs * TILE);
    dispatch!(panels.level, simd => {
        let multiply = |panel: &[i16], tile: &[i32], number| multiply(simd, panel, tile, panels, number);
        pass(simd, (&panels.data, tiles.used()), sizes, multiply, epilogue);
    });
}

/// One panel times one tile, in units of the samples' norms.
#[inline(always)]
fn multiply<S: Simd>(simd: S, panel: &[i16], tile: &[i32], panels: &CoarsePanels, number: usize) -> Product<S::f32s> {
    let sums = integer_products(simd, panel, tile);
    let mut product = [[S::f32s::splat(simd, 0.0); VECTORS]; TILE];
    for v in 0..VECTORS {
        let first = number * panels.width + v * S::f32s::LEN;
        let unit = S::f32s::from_slice(simd, &panels.units[first..first + S::f32s::LEN]);
        for s in 0..TILE {
            product[s][v] = sums[s][v].to_float::<S::f32s>() * unit;
        }
    }
    product
}

/// One panel times one tile, in registers from the first pair of features to the last.
#[inline(always)]
pub(super) fn integer_products<S: Simd>(simd: S, panel: &[i16], tile: &[i32]) -> Product<S::i32s> {
    let lanes = S::i16s::LEN;
    let mut sums = [[S::i32s::splat(simd, 0); VECTORS]; TILE];
    for (atoms, samples) in panel.chunks_exact(VECTORS * lanes).zip(tile.chunks_exact(TILE)) {
        let low = S::i16s::from_slice(simd, &atoms[..lanes]);
        let high = S::i16s::from_slice(simd, &atoms[lanes..]);
        for (sum, &sample) in sums.iter_mut().zip(samples) {
            let sample: S::i16s = S::i32s::splat(simd, sample).bitcast();
            sum[0] += low.pairwise_dot_product(sample);
            sum[1] += high.pairwise_dot_product(sample);
        }
    }
    sums
}
