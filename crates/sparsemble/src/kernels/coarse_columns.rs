//! Samples in sixteen bits one after the other, from which blocks of some of them are taken.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::coarse::{FAINT, round_to_pairs};
use crate::scalar::Scalar;

const EIGHT: usize = 8;

/// Samples rounded as they come, to be looked up in any order.
#[derive(Debug)]
pub(crate) struct CoarseColumns {
    pairs: usize,
    /// From one sample to the next: whole eights, so that few lie across two lines of the cache.
    stride: usize,
    /// Pairs of sixteen bits.
    data: Aligned<i32>,
    /// Whether each sample is more than zeros.
    nonzero: Vec<bool>,
}

impl CoarseColumns {
    /// Room for `capacity` samples of `rows` features.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        let pairs = rows.div_ceil(2);
        let stride = pairs.next_multiple_of(EIGHT);
        Self { pairs, stride, data: Aligned::zeros(stride * capacity), nonzero: Vec::with_capacity(capacity) }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.nonzero.len()
    }

    /// Forgets all samples.
    pub(crate) fn clear(&mut self) {
        self.nonzero.clear();
    }

    /// Takes one more sample, of this norm.
    #[inline(always)]
    pub(crate) fn push<S: Simd, T: Scalar>(&mut self, simd: S, sample: &[T], norm: f64) {
        let first = self.nonzero.len() * self.stride;
        round_to_pairs(simd, sample, norm, &mut self.data[first..first + self.pairs]);
        self.nonzero.push(norm > FAINT);
    }

    #[inline(always)]
    pub(super) fn words(&self, name: u32) -> &[i32] {
        &self.data[name as usize * self.stride..][..self.pairs]
    }

    #[inline(always)]
    pub(super) fn is_nonzero(&self, name: u32) -> bool {
        self.nonzero[name as usize]
    }
}
