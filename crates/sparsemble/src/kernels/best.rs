//! The largest of many scores and where it is, one lane at a time.

use fearless_simd::prelude::*;

use crate::scalar::Scalar;

/// The largest score seen in each lane, and the number of the vector it was in.
#[derive(Clone, Copy)]
pub(crate) struct Best<S: Simd, T: Scalar> {
    scores: T::Native<S>,
    /// Floats, so that they live in the same registers (exact below 2²⁴ vectors).
    vectors: T::Native<S>,
    /// The number of the next vector.
    next: T::Native<S>,
    one: T::Native<S>,
}

impl<S: Simd, T: Scalar> Best<S, T> {
    /// Nothing seen yet; only scores above `floor` will count.
    #[inline(always)]
    pub(crate) fn above(simd: S, floor: T) -> Self {
        let zero = T::Native::<S>::splat(simd, T::ZERO);
        let one = T::Native::<S>::splat(simd, T::ONE);
        Self { scores: T::Native::<S>::splat(simd, floor), vectors: zero, next: zero, one }
    }

    /// The place of the first of the largest of some scores, whole vectors of them; those below zero count as zero.
    #[inline(always)]
    pub(crate) fn place_in(simd: S, scores: &[T]) -> usize {
        let mut best = Self::above(simd, T::ZERO);
        for part in scores.chunks_exact(T::Native::<S>::LEN) {
            best.offer(T::Native::<S>::from_slice(simd, part));
        }
        best.places().min().unwrap_or(0)
    }

    /// Compares the scores of the next vector.
    #[inline(always)]
    pub(crate) fn offer(&mut self, scores: T::Native<S>) {
        self.vectors = scores.simd_gt(self.scores).select(self.next, self.vectors);
        self.scores = scores.max(self.scores);
        self.next += self.one;
    }

    /// The largest score.
    #[inline(always)]
    pub(crate) fn largest(&self) -> T {
        self.scores.reduce_max()
    }

    /// The places of the largest score: of each lane that has it, the first.
    #[inline(always)]
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        let mut hits = self.scores.simd_ge(self.largest()).to_bitmask();
        std::iter::from_fn(move || {
            let lane = hits.trailing_zeros() as usize;
            hits &= hits.checked_sub(1)?;
            Some(self.vectors[lane].to_f64() as usize * T::Native::<S>::LEN + lane)
        })
    }

    /// The place and the score of the largest; the first place among equals.
    #[inline(always)]
    pub(crate) fn reduce(&self) -> (usize, T) {
        (self.places().min().unwrap_or(usize::MAX), self.largest())
    }
}
