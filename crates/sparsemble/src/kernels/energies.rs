//! The epilogue for local Gaussians: how much energy a sample has in each of many subspaces.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::correlate::{Epilogue, Product};
use super::panels::{Panels, TILE, VECTORS};
use crate::scalar::Scalar;

/// Sums the squared correlations of each sample with the atoms of each *lane*: those at the same place in all vectors of the
/// panels of a group. A lane is a subspace then, and no sum runs across lanes.
#[derive(Debug)]
pub(crate) struct Energies<T> {
    /// The group of each panel.
    groups: Vec<usize>,
    /// Lanes of all groups.
    lanes: usize,
    sums: Aligned<T>,
}

impl<T: Scalar> Energies<T> {
    /// For up to `capacity` samples; `groups` has the group of each panel, from 0 on.
    pub(crate) fn new(panels: &Panels<T>, groups: Vec<usize>, capacity: usize) -> Self {
        let (count, width) = panels.shape();
        debug_assert_eq!(groups.len(), count);
        let lanes = width / VECTORS * groups.iter().max().map_or(0, |last| last + 1);
        Self { groups, lanes, sums: Aligned::zeros(lanes * capacity.next_multiple_of(TILE)) }
    }

    /// Starts a new pass.
    pub(crate) fn clear(&mut self) {
        self.sums.fill(T::ZERO);
    }

    /// The energies of the sample in `slot`, one for each lane, group by group.
    pub(crate) fn of(&self, slot: usize) -> &[T] {
        &self.sums[slot * self.lanes..][..self.lanes]
    }
}

// All by index: iterators over a tile of vectors take it out of registers, and half of the time goes into what follows.
#[expect(clippy::needless_range_loop, reason = "the compiler keeps the tile in registers if it is written so")]
impl<T: Scalar> Energies<T> {
    /// Where the sums of a group for a sample begin.
    #[inline(always)]
    fn at(&self, lanes: usize, group: usize, slot: usize) -> usize {
        slot * self.lanes + group * lanes
    }

    /// The sums of a group for a tile of samples.
    #[inline(always)]
    fn read<S: Simd>(&self, simd: S, group: usize, slot: usize) -> [T::Native<S>; TILE] {
        let (lanes, zero) = (T::Native::<S>::LEN, T::Native::<S>::splat(simd, T::ZERO));
        let mut sums = [zero; TILE];
        for s in 0..TILE {
            sums[s] = T::Native::<S>::from_slice(simd, &self.sums[self.at(lanes, group, slot + s)..][..lanes]);
        }
        sums
    }

    #[inline(always)]
    fn write<S: Simd>(&mut self, sums: [T::Native<S>; TILE], group: usize, slot: usize) {
        let lanes = T::Native::<S>::LEN;
        for s in 0..TILE {
            let at = self.at(lanes, group, slot + s);
            sums[s].store_slice(&mut self.sums[at..][..lanes]);
        }
    }

    /// The sums with the squares of a product.
    #[inline(always)]
    fn added<S: Simd>(mut sums: [T::Native<S>; TILE], product: Product<T::Native<S>>) -> [T::Native<S>; TILE] {
        for s in 0..TILE {
            for v in 0..VECTORS {
                sums[s] = product[s][v].mul_add(product[s][v], sums[s]);
            }
        }
        sums
    }
}

impl<T: Scalar> Epilogue<T> for Energies<T> {
    const PAIRS: bool = true;

    /// A group and its sums.
    type Carry<S: Simd> = (usize, [T::Native<S>; TILE]);

    #[inline(always)]
    fn open<S: Simd>(&self, simd: S, panel: usize, slot: usize) -> Self::Carry<S> {
        let group = self.groups[panel];
        (group, self.read(simd, group, slot))
    }

    #[inline(always)]
    fn consume<S: Simd>(
        &mut self,
        simd: S,
        (mut group, mut sums): Self::Carry<S>,
        (panel, slot): (usize, usize),
        product: Product<T::Native<S>>,
    ) -> Self::Carry<S> {
        let next = self.groups[panel];
        if next != group {
            self.write::<S>(sums, group, slot);
            (group, sums) = (next, self.read(simd, next, slot));
        }
        (group, Self::added::<S>(sums, product))
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, (group, sums): Self::Carry<S>, _: usize, slot: usize) {
        self.write::<S>(sums, group, slot);
    }
}
