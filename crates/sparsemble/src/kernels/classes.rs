//! The epilogue for the one best atom: maxima of small classes of atoms, without their places.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::best::Best;
use super::columns::PADDING;
use super::correlate::{Epilogue, Largest, Product, RUN, without_lane};
use super::panels::{Panels, TILE, VECTORS};
use crate::scalar::Scalar;

/// Atoms in a class: one lane of each vector of a run.
const CLASS: usize = RUN * VECTORS;

/// Keeps the largest correlation of each *class* of atoms with each sample.
///
/// A class is one lane of one run of panels. Which of its atoms it was is not kept, which makes this the cheapest epilogue
/// there is: who wants the single best atom looks at the products of the few [`leaders`](Classes::leaders) again. For many
/// atoms at a time that would cost more than it saves, see [`Maxima`](super::Maxima).
#[derive(Debug)]
pub(crate) struct Classes<T> {
    largest: Largest,
    n_atoms: usize,
    lanes: usize,
    /// Classes of a sample.
    count: usize,
    /// More than the classes: samples whose distance is a power of two would fight for the same lines of the cache.
    stride: usize,
    values: Aligned<T>,
    /// The maxima of the run being worked through, a vector each.
    run: [[T; PADDING]; TILE],
    /// For each slot the panel and lane of an atom to be left out; no panel at all is `usize::MAX`.
    excluded: Vec<(usize, usize)>,
    excludes_any: bool,
}

impl<T: Scalar> Classes<T> {
    /// For up to `capacity` samples.
    pub(crate) fn new(panels: &Panels<T>, capacity: usize, largest: Largest) -> Self {
        let lanes = panels.width / VECTORS;
        let count = panels.count().div_ceil(RUN) * lanes;
        let stride = count + PADDING;
        let slots = capacity.next_multiple_of(TILE);
        Self {
            largest,
            n_atoms: panels.atoms,
            lanes,
            count,
            stride,
            values: Aligned::zeros(slots * stride),
            run: [[T::ZERO; PADDING]; TILE],
            excluded: vec![(usize::MAX, 0); slots],
            excludes_any: false,
        }
    }

    /// Leaves one atom out for the sample in `slot`, or none.
    pub(crate) fn exclude(&mut self, slot: usize, atom: Option<usize>) {
        self.excluded[slot] =
            atom.map_or((usize::MAX, 0), |j| (j / (VECTORS * self.lanes), j % (VECTORS * self.lanes)));
        self.excludes_any |= atom.is_some();
    }

    /// What counts of a correlation.
    #[inline(always)]
    pub(crate) fn size(&self, correlation: f64) -> f64 {
        if self.largest == Largest::Magnitude { correlation.abs() } else { correlation }
    }

    /// The atoms of a class, in order; the excluded one is among them.
    #[inline(always)]
    fn atoms(&self, class: usize) -> ([u32; CLASS], usize) {
        let lane = class & (self.lanes - 1);
        let first = (class - lane) * CLASS + lane;
        let atoms = std::array::from_fn(|i| (first + i * self.lanes) as u32);
        // The last run may have fewer.
        let count = if first + (CLASS - 1) * self.lanes < self.n_atoms {
            CLASS
        } else {
            self.n_atoms.saturating_sub(first).div_ceil(self.lanes)
        };
        (atoms, count)
    }

    /// Puts the atoms of the class with the largest correlation into `out`, which is empty, in order; nothing if that is
    /// zero. Among them is the first of all atoms with that correlation.
    #[inline(always)]
    pub(crate) fn leaders<S: Simd>(&self, simd: S, slot: usize, out: &mut Vec<u32>) {
        let mut best = Best::<S, T>::above(simd, T::ZERO);
        for part in self.of(slot).chunks_exact(T::Native::<S>::LEN) {
            best.offer(T::Native::<S>::from_slice(simd, part));
        }
        if best.largest() > T::ZERO {
            // Equals in other lanes of the same run may come before.
            let mut found = 0;
            best.places().for_each(|class| {
                let (atoms, count) = self.atoms(class);
                out.extend_from_slice(&atoms[..count]);
                found += 1;
            });
            if found > 1 {
                out.sort_unstable();
            }
        }
    }

    #[inline(always)]
    fn of(&self, slot: usize) -> &[T] {
        &self.values[slot * self.stride..][..self.count]
    }
}

impl<T: Scalar> Epilogue<T> for Classes<T> {
    type Carry<S: Simd> = ();

    #[inline(always)]
    fn open<S: Simd>(&self, _: S, _: usize, _: usize) {}

    #[inline(always)]
    fn consume<S: Simd>(&mut self, simd: S, (): (), (panel, slot): (usize, usize), mut product: Product<T::Native<S>>) {
        if self.excludes_any {
            for (s, correlations) in product.iter_mut().enumerate() {
                let (excluded_panel, lane) = self.excluded[slot + s];
                if panel == excluded_panel {
                    *correlations = without_lane::<S, T>(simd, *correlations, lane);
                }
            }
        }
        if self.largest == Largest::Magnitude {
            product.as_flattened_mut().iter_mut().for_each(|c| *c = c.abs());
        }
        for (most, [low, high]) in self.run.iter_mut().zip(product) {
            let most = &mut most[..T::Native::<S>::LEN];
            low.max(high).max(T::Native::<S>::from_slice(simd, most)).store_slice(most);
        }
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, simd: S, (): (), panel: usize, slot: usize) {
        let (lanes, run) = (T::Native::<S>::LEN, panel / RUN);
        for (s, most) in self.run.iter_mut().enumerate() {
            let most = &mut most[..lanes];
            let to = (slot + s) * self.stride + run * lanes;
            T::Native::<S>::from_slice(simd, most).store_slice(&mut self.values[to..to + lanes]);
            // Zero is a bound from below for both kinds: an atom without correlation is never worth choosing.
            T::Native::<S>::splat(simd, T::ZERO).store_slice(most);
        }
    }
}
