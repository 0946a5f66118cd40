//! The epilogue for local Gaussians: how much energy a sample has in each of many subspaces.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::correlate::{Epilogue, Product};
use super::panels::{Panels, TILE};
use crate::scalar::Scalar;

/// Sums the squared correlations of each sample with the atoms of each *lane*: those at the same place in all panels of a
/// group. A lane is a subspace then, and no sum runs across lanes.
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
        let lanes = width * groups.iter().max().map_or(0, |last| last + 1);
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

impl<T: Scalar> Epilogue<T> for Energies<T> {
    const PAIRS: bool = true;

    type Carry<S: Simd> = ();

    #[inline(always)]
    fn open<S: Simd>(&self, _: S, _: usize, _: usize) {}

    #[inline(always)]
    fn consume<S: Simd>(&mut self, simd: S, (): (), (panel, slot): (usize, usize), product: Product<T::Native<S>>) {
        let (lanes, width) = (T::Native::<S>::LEN, product[0].len() * T::Native::<S>::LEN);
        let first = slot * self.lanes + self.groups[panel] * width;
        for (s, correlations) in product.into_iter().enumerate() {
            let sums = self.sums[first + s * self.lanes..][..width].chunks_exact_mut(lanes);
            for (sum, correlation) in sums.zip(correlations) {
                correlation.mul_add(correlation, T::Native::<S>::from_slice(simd, sum)).store_slice(sum);
            }
        }
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, (): (), _: usize, _: usize) {}
}
