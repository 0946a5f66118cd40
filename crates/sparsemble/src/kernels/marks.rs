//! The epilogue that finds all large correlations: a bit for each atom and sample.

use fearless_simd::prelude::*;

use super::coarse::CoarsePanels;
use super::correlate::{Epilogue, Largest, Product};
use super::panels::{TILE, VECTORS};

/// Marks the atoms whose correlation may exceed the limit of the sample: all that do, and a few that nearly do.
#[derive(Debug)]
pub(crate) struct Marks {
    largest: Largest,
    /// Panels, and atoms in each.
    shape: (usize, usize),
    /// How far off the correlation of each atom may be.
    errors: Vec<f32>,
    /// For each slot.
    limits: Vec<f32>,
    /// A word for each slot and panel, a bit for each atom.
    words: Vec<u32>,
}

impl Marks {
    /// For up to `capacity` samples.
    pub(crate) fn new(panels: &CoarsePanels, capacity: usize, largest: Largest) -> Self {
        let slots = capacity.next_multiple_of(TILE);
        Self {
            largest,
            shape: panels.shape(),
            errors: panels.errors().to_vec(),
            limits: vec![f32::INFINITY; slots],
            words: vec![0; slots * panels.shape().0],
        }
    }

    /// From here on only correlations above this count for the sample in `slot`, in units of its norm.
    pub(crate) fn limit(&mut self, slot: usize, limit: f64) {
        // Rounded down.
        self.limits[slot] = (limit * (1.0 - 1e-6)) as f32;
    }

    /// Gives `take` the marked atoms of the sample in `slot`, in order.
    #[inline(always)]
    pub(crate) fn of(&self, slot: usize, mut take: impl FnMut(u32)) {
        let (panels, width) = self.shape;
        for (panel, &word) in self.words[slot * panels..][..panels].iter().enumerate() {
            let mut left = word;
            while left != 0 {
                take((panel * width) as u32 + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }
}

impl Epilogue<f32> for Marks {
    /// The limits of the samples.
    type Carry<S: Simd> = [S::f32s; TILE];

    #[inline(always)]
    fn open<S: Simd>(&self, simd: S, _: usize, slot: usize) -> Self::Carry<S> {
        let mut limits = [S::f32s::splat(simd, 0.0); TILE];
        limits
            .iter_mut()
            .zip(&self.limits[slot..slot + TILE])
            .for_each(|(out, &limit)| *out = S::f32s::splat(simd, limit));
        limits
    }

    #[inline(always)]
    fn consume<S: Simd>(
        &mut self,
        simd: S,
        limits: Self::Carry<S>,
        (panel, slot): (usize, usize),
        product: Product<S::f32s>,
    ) -> Self::Carry<S> {
        let (panels, width) = self.shape;
        let lanes = S::f32s::LEN;
        let errors = &self.errors[panel * width..][..VECTORS * lanes];
        let [mut low, mut high] = [S::f32s::splat(simd, 0.0); VECTORS];
        for (vector, errors) in [&mut low, &mut high].into_iter().zip(errors.chunks_exact(lanes)) {
            *vector = S::f32s::from_slice(simd, errors);
        }
        for s in 0..TILE {
            let [mut first, mut second] = product[s];
            if self.largest == Largest::Magnitude {
                (first, second) = (first.abs(), second.abs());
            }
            let first = (first + low).simd_gt(limits[s]).to_bitmask() as u32;
            let second = (second + high).simd_gt(limits[s]).to_bitmask() as u32;
            self.words[(slot + s) * panels + panel] = first | second << lanes;
        }
        limits
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, _: Self::Carry<S>, _: usize, _: usize) {}
}
