//! The two packed operands of the correlation pass.
//!
//! Atoms lie in *panels*: the first feature of [`VECTORS`] vectors' worth of atoms, then their second feature, and so
//! on, so that a vector holds one feature of many atoms. Samples lie in *tiles* of [`TILE`] in the same manner; each of
//! their values is broadcast. A tile of the product is then `VECTORS × TILE` accumulators, which with the operands
//! fill the sixteen registers of AVX2 and suffice to hide the latency of the multiply-add elsewhere.

use fearless_simd::{Level, dispatch, prelude::*};

use super::aligned::Aligned;
use crate::scalar::Scalar;

/// Vectors of atoms in a panel.
pub(crate) const VECTORS: usize = 2;
/// Samples in a tile.
pub(crate) const TILE: usize = 6;

/// A dictionary packed for [`correlate()`](super::correlate()), with one factor on each atom.
#[derive(Debug)]
pub(crate) struct Panels<T> {
    pub(super) level: Level,
    pub(super) data: Aligned<T>,
    pub(super) rows: usize,
    pub(super) atoms: usize,
    /// Atoms in a panel, a property of the instruction set.
    pub(super) width: usize,
}

impl<T: Scalar> Panels<T> {
    /// Packs `count` atoms, the j-th of which is `atom(j)` times `scale(j)`.
    pub(crate) fn pack<'a>(
        level: Level,
        (rows, count): (usize, usize),
        atom: impl Fn(usize) -> &'a [T],
        scale: impl Fn(usize) -> T,
    ) -> Self {
        let width = Self::width(level);
        let mut data = Aligned::zeros(count.next_multiple_of(width) * rows);
        for j in 0..count {
            let (panel, lane) = (j / width, j % width);
            let factor = scale(j);
            for (r, &value) in atom(j)[..rows].iter().enumerate() {
                data[(panel * rows + r) * width + lane] = value * factor;
            }
        }
        Self { level, data, rows, atoms: count, width }
    }

    /// Atoms in a panel for this instruction set.
    pub(crate) fn width(level: Level) -> usize {
        VECTORS * dispatch!(level, simd => lanes::<_, T>(simd))
    }

    /// Atoms in a vector for this instruction set.
    pub(crate) fn lanes(level: Level) -> usize {
        Self::width(level) / VECTORS
    }

    /// The instruction set the panels are laid out for.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The number of panels, and of atoms in each.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.count(), self.width)
    }

    /// The number of panels.
    pub(crate) fn count(&self) -> usize {
        self.data.len() / (self.rows * self.width)
    }
}

#[inline(always)]
pub(super) fn lanes<S: Simd, T: Scalar>(_: S) -> usize {
    T::Native::<S>::LEN
}

/// A block of samples packed for [`correlate()`](super::correlate()).
#[derive(Debug)]
pub(crate) struct Tiles<T> {
    pub(super) data: Aligned<T>,
    pub(super) rows: usize,
    /// Samples in use; the slots beyond, up to a whole tile, hold whatever was there before.
    pub(super) used: usize,
}

impl<T: Scalar> Tiles<T> {
    /// Room for `capacity` samples of `rows` features.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        Self { data: Aligned::zeros(capacity.next_multiple_of(TILE) * rows), rows, used: 0 }
    }

    /// The next calls of [`Tiles::push`] start at slot 0 again.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Puts a sample into the next slot.
    pub(crate) fn push(&mut self, sample: &[T]) {
        let (tile, slot) = (self.used / TILE, self.used % TILE);
        let tile = &mut self.data[tile * TILE * self.rows..][..TILE * self.rows];
        // Rows of a known length, in which the slot needs no check.
        for (row, &value) in tile.as_chunks_mut::<TILE>().0.iter_mut().zip(sample) {
            row[slot] = value;
        }
        self.used += 1;
    }
}
