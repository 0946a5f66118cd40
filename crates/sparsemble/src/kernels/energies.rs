//! The epilogue for local Gaussians: how much energy a sample has in each of several subspaces.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::correlate::{Epilogue, Product};
use super::panels::{Panels, TILE};
use crate::scalar::Scalar;

/// Sums the squared correlations of each sample with the atoms of each *subspace*, a range of whole panels.
#[derive(Debug)]
pub(crate) struct Energies<T> {
    /// The subspace of each panel.
    owner: Vec<usize>,
    count: usize,
    sums: Aligned<T>,
}

impl<T: Scalar> Energies<T> {
    /// For up to `capacity` samples; `owner` names the subspace of each panel, of `count`.
    pub(crate) fn new(panels: &Panels<T>, owner: Vec<usize>, count: usize, capacity: usize) -> Self {
        debug_assert_eq!(owner.len(), panels.count());
        Self { owner, count, sums: Aligned::zeros(count * capacity.next_multiple_of(TILE)) }
    }

    /// Starts a new pass.
    pub(crate) fn clear(&mut self) {
        self.sums.fill(T::ZERO);
    }

    /// The energies of the sample in `slot`, one for each subspace.
    pub(crate) fn of(&self, slot: usize) -> &[T] {
        &self.sums[slot * self.count..][..self.count]
    }
}

impl<T: Scalar> Epilogue<T> for Energies<T> {
    type Carry<S: Simd> = ();

    #[inline(always)]
    fn open<S: Simd>(&self, _: S, _: usize, _: usize) {}

    #[inline(always)]
    fn consume<S: Simd>(&mut self, _: S, (): (), (panel, slot): (usize, usize), product: Product<T::Native<S>>) {
        let subspace = self.owner[panel];
        for (s, [low, high]) in product.into_iter().enumerate() {
            self.sums[(slot + s) * self.count + subspace] += low.mul_add(low, high * high).reduce_sum();
        }
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, (): (), _: usize, _: usize) {}
}
