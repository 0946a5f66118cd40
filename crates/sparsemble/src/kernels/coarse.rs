//! The packed operands in sixteen bits: nearly twice as many products a second, each off by no more than a known bound.
//!
//! Atoms and samples are scaled to one norm and rounded to integers, so that by Cauchy's inequality no sum of their
//! products leaves 32 bits, and none is off by more than ε times the product of the norms. Features lie in pairs, since
//! the instruction that multiplies sixteen bits adds two neighbouring products.

use fearless_simd::{Level, dispatch, prelude::*};

use super::aligned::Aligned;
use super::correlate::{Epilogue, Product, pass};
use super::panels::{Panels, TILE, VECTORS};
use crate::scalar::Scalar;

/// The norm that atoms and samples are scaled to; sixteen bits hold one entry as large as this, and what rounding adds.
const NORM: f64 = 32_000.0;

/// Atoms larger than this, in units of their weight, need not be told apart.
const LARGEST_SIZE: f64 = 1e30;

/// A dictionary packed for [`correlate_coarsely`], with one factor on each atom.
#[derive(Debug)]
pub(crate) struct CoarsePanels {
    level: Level,
    data: Aligned<i16>,
    /// Pairs of features.
    pairs: usize,
    width: usize,
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
        let padded = count.next_multiple_of(width);
        let mut packed = Self {
            level,
            data: Aligned::zeros(padded * pairs * 2),
            pairs,
            width,
            units: Aligned::zeros(padded),
            errors: Aligned::zeros(padded),
            largest_error: 0.0,
        };
        let off = 0.5 * (rows as f64).sqrt() / NORM;
        // Rounding of either operand, and of the few operations in single precision.
        let error = off * (2.0 + off) + 1e-6;
        for j in 0..count {
            let (norm, factor) = size(j);
            let size = (norm * factor).min(LARGEST_SIZE);
            packed.units[j] = (size / NORM / NORM) as f32;
            packed.errors[j] = (error * size) as f32;
            packed.largest_error = packed.largest_error.max(packed.errors[j]);
            let (panel, lane) = (j / width, j % width);
            let scale = scale_of(norm);
            for (p, pair) in atom(j)[..rows].chunks(2).enumerate() {
                for (i, value) in pair.iter().enumerate() {
                    packed.data[((panel * pairs + p) * width + lane) * 2 + i] = rounded(*value, scale);
                }
            }
        }
        packed
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
}

/// What a vector of this norm is multiplied by before its entries are rounded.
#[inline(always)]
fn scale_of(norm: f64) -> f32 {
    // One that small is nothing, and its inverse would be infinite.
    if norm > 1e-30 { (NORM / norm) as f32 } else { 0.0 }
}

/// The nearest integer of a product below 2¹⁵.
#[inline(always)]
fn rounded<T: Scalar>(value: T, scale: f32) -> i16 {
    // Added to this, a number of single precision has no bits left for a fraction, and its last ones are the integer.
    const SHIFT: f32 = 12_582_912.0;
    (value.to_f64() as f32 * scale + SHIFT).to_bits() as i16
}

/// A block of samples packed for [`correlate_coarsely`].
#[derive(Debug)]
pub(crate) struct CoarseTiles {
    /// Pairs of sixteen bits.
    data: Aligned<i32>,
    pairs: usize,
    used: usize,
}

impl CoarseTiles {
    /// Room for `capacity` samples of `rows` features.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        let pairs = rows.div_ceil(2);
        Self { data: Aligned::zeros(capacity.next_multiple_of(TILE) * pairs), pairs, used: 0 }
    }

    /// The next calls of [`CoarseTiles::push`] start at slot 0 again.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Puts a padded sample of this norm into the next slot.
    #[inline(always)]
    pub(crate) fn push<S: Simd, T: Scalar>(&mut self, _: S, sample: &[T], norm: f64) {
        let (tile, slot) = (self.used / TILE, self.used % TILE);
        let tile = &mut self.data[tile * TILE * self.pairs..][..TILE * self.pairs];
        let scale = scale_of(norm);
        for (row, pair) in tile.as_chunks_mut::<TILE>().0.iter_mut().zip(sample.as_chunks::<2>().0) {
            let [[a, b], [c, d]] = pair.map(|value| rounded(value, scale).to_ne_bytes());
            row[slot] = i32::from_ne_bytes([a, b, c, d]);
        }
        self.used += 1;
    }
}

/// Correlates all atoms with all samples in use, as [`correlate()`](super::correlate()) does, in units of the samples' norms.
pub(crate) fn correlate_coarsely(panels: &CoarsePanels, tiles: &CoarseTiles, epilogue: &mut impl Epilogue<f32>) {
    debug_assert_eq!(panels.pairs, tiles.pairs);
    let sizes = (panels.pairs * panels.width * 2, tiles.pairs * TILE);
    let used_tiles = &tiles.data[..tiles.used.div_ceil(TILE) * sizes.1];
    dispatch!(panels.level, simd => {
        let multiply = |panel: &[i16], tile: &[i32], number| multiply(simd, panel, tile, panels, number);
        pass(simd, (&panels.data, used_tiles), sizes, multiply, epilogue);
    });
}

/// One panel times one tile.
#[inline(always)]
fn multiply<S: Simd>(simd: S, panel: &[i16], tile: &[i32], panels: &CoarsePanels, number: usize) -> Product<S::f32s> {
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
