//! The epilogue for local Gaussians: how much energy a sample has in each of many subspaces.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::correlate::{Epilogue, Product};
use super::panels::{Panels, TILE, VECTORS};
use crate::scalar::Scalar;

/// Sums the squared correlations of each sample with the atoms of each *lane*: those at the same place in all vectors of a
/// group. A lane is a subspace then, and no sum runs across lanes.
#[derive(Debug)]
pub(crate) struct Energies<T> {
    /// The group of each vector, panel by panel.
    groups: Vec<usize>,
    /// Lanes of all groups.
    lanes: usize,
    sums: Aligned<T>,
}

impl<T: Scalar> Energies<T> {
    /// For up to `capacity` samples; `groups` has the group of each vector of atoms, from 0 on, but for those that fill up the
    /// last panel.
    pub(crate) fn new(panels: &Panels<T>, mut groups: Vec<usize>, capacity: usize) -> Self {
        let (count, width) = panels.shape();
        debug_assert_eq!(groups.len().div_ceil(VECTORS), count);
        groups.resize(count * VECTORS, 0);
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

impl<T: Scalar> Energies<T> {
    /// The sums of a group for a tile of samples.
    #[inline(always)]
    fn read<S: Simd>(&self, simd: S, group: usize, slot: usize) -> [T::Native<S>; TILE] {
        let mut sums = [T::Native::<S>::splat(simd, T::ZERO); TILE];
        let (lanes, slots) = (T::Native::<S>::LEN, self.sums[slot * self.lanes..].chunks_exact(self.lanes));
        for (sum, slot) in sums.iter_mut().zip(slots) {
            *sum = T::Native::<S>::from_slice(simd, &slot[group * lanes..][..lanes]);
        }
        sums
    }

    #[inline(always)]
    fn write<S: Simd>(&mut self, sums: &[T::Native<S>; TILE], group: usize, slot: usize) {
        let (lanes, slots) = (T::Native::<S>::LEN, self.sums[slot * self.lanes..].chunks_exact_mut(self.lanes));
        for (sum, slot) in sums.iter().zip(slots) {
            sum.store_slice(&mut slot[group * lanes..][..lanes]);
        }
    }
}

impl<T: Scalar> Epilogue<T> for Energies<T> {
    const PAIRS: bool = true;

    /// A group and its sums.
    type Carry<S: Simd> = (usize, [T::Native<S>; TILE]);

    #[inline(always)]
    fn open<S: Simd>(&self, simd: S, panel: usize, slot: usize) -> Self::Carry<S> {
        let group = self.groups[panel * VECTORS];
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
        for v in 0..VECTORS {
            let next = self.groups[panel * VECTORS + v];
            if next != group {
                self.write::<S>(&sums, group, slot);
                (group, sums) = (next, self.read(simd, next, slot));
            }
            for (sum, correlations) in sums.iter_mut().zip(&product) {
                *sum = correlations[v].mul_add(correlations[v], *sum);
            }
        }
        (group, sums)
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, (group, sums): Self::Carry<S>, _: usize, slot: usize) {
        self.write::<S>(&sums, group, slot);
    }
}
