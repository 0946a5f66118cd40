//! Samples in sixteen bits one after the other, from which blocks of some of them are taken.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::coarse::{FAINT, NORM, round_to_pairs};
use crate::scalar::Scalar;

const EIGHT: usize = 8;

/// Samples rounded as they come, to be looked up in any order.
#[derive(Debug)]
pub(crate) struct CoarseColumns {
    pairs: usize,
    /// From one sample to the next: whole eights.
    stride: usize,
    /// Pairs of sixteen bits.
    data: Aligned<i32>,
    /// What a step of each sample is; zero for one that is nothing but zeros.
    steps: Vec<f32>,
}

impl CoarseColumns {
    /// Room for `capacity` samples of `rows` features.
    pub(crate) fn new(rows: usize, capacity: usize) -> Self {
        let pairs = rows.div_ceil(2);
        let stride = pairs.next_multiple_of(EIGHT);
        Self { pairs, stride, data: Aligned::zeros(stride * capacity), steps: Vec::with_capacity(capacity) }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }

    /// Forgets all samples.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }

    /// Takes one more sample, of this norm.
    #[inline(always)]
    pub(crate) fn push<S: Simd, T: Scalar>(&mut self, simd: S, sample: &[T], norm: f64) {
        let first = self.steps.len() * self.stride;
        round_to_pairs(simd, sample, norm, &mut self.data[first..first + self.pairs]);
        self.steps.push(if norm > FAINT { (norm / NORM) as f32 } else { 0.0 });
    }

    /// Takes the named samples of others, and nothing else.
    pub(crate) fn load_named(&mut self, others: &Self, names: &[u32]) {
        self.steps.clear();
        for (slot, &name) in names.iter().enumerate() {
            // Whole eights, whose length the compiler knows.
            let to = self.data[slot * self.stride..][..self.stride].as_chunks_mut::<EIGHT>().0;
            let from = others.data[name as usize * self.stride..][..self.stride].as_chunks::<EIGHT>().0;
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            self.steps.push(others.step(name));
        }
    }

    #[inline(always)]
    pub(super) fn words(&self, name: u32) -> &[i32] {
        &self.data[name as usize * self.stride..][..self.pairs]
    }

    /// The same, zero where there is no last one.
    #[inline(always)]
    pub(super) fn words_by_two(&self, name: u32) -> &[[i32; 2]] {
        self.data[name as usize * self.stride..][..self.stride].as_chunks().0
    }

    #[inline(always)]
    pub(super) fn step(&self, name: u32) -> f32 {
        self.steps[name as usize]
    }
}
