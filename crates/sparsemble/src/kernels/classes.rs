//! The epilogue for the one best atom: maxima of small classes of atoms, without their places.

use fearless_simd::prelude::*;

use super::aligned::Aligned;
use super::best::Best;
use super::columns::PADDING;
use super::correlate::{Epilogue, Product, RUN};
use super::panels::{Panels, TILE, VECTORS};
use crate::scalar::Scalar;

/// Atoms in a class: one lane of each vector of a run.
pub(super) const CLASS: usize = RUN * VECTORS;

/// Keeps the largest correlation of each *class* of atoms with each sample, or zero if none is positive.
///
/// A class is one lane of one run of panels. Which of its atoms it was is not kept, which makes this the cheapest epilogue
/// there is: who wants the single best atom looks at the products of the few [`leaders`](Classes::leaders) again. For many
/// atoms at a time that would cost more than it saves, see [`Maxima`](super::Maxima).
#[derive(Debug)]
pub(crate) struct Classes<T> {
    n_atoms: usize,
    lanes: usize,
    /// Classes of a sample.
    count: usize,
    /// More than the classes: samples whose distance is a power of two would fight for the same lines of the cache.
    stride: usize,
    values: Aligned<T>,
    /// The maxima of the run being worked through, a vector each.
    run: [[T; PADDING]; TILE],
}

impl<T: Scalar> Classes<T> {
    /// For up to `capacity` samples.
    pub(crate) fn new(panels: &Panels<T>, capacity: usize) -> Self {
        let lanes = panels.width / VECTORS;
        let count = panels.count().div_ceil(RUN) * lanes;
        let stride = count + PADDING;
        let slots = capacity.next_multiple_of(TILE);
        Self {
            n_atoms: panels.atoms,
            lanes,
            count,
            stride,
            values: Aligned::zeros(slots * stride),
            run: [[T::ZERO; PADDING]; TILE],
        }
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
                let (atoms, count) = atoms_of(class, self.lanes, self.n_atoms);
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

/// The atoms of a class, in order, and how many there are of it among so many.
#[inline(always)]
pub(super) fn atoms_of(class: usize, lanes: usize, n_atoms: usize) -> ([u32; CLASS], usize) {
    let lane = class & (lanes - 1);
    let first = (class - lane) * CLASS + lane;
    let atoms = std::array::from_fn(|i| (first + i * lanes) as u32);
    // The last run may have fewer.
    let whole = first + (CLASS - 1) * lanes < n_atoms;
    (atoms, if whole { CLASS } else { n_atoms.saturating_sub(first).div_ceil(lanes) })
}

impl<T: Scalar> Epilogue<T> for Classes<T> {
    type Carry<S: Simd> = ();

    #[inline(always)]
    fn open<S: Simd>(&self, _: S, _: usize, _: usize) {}

    #[inline(always)]
    fn consume<S: Simd>(&mut self, simd: S, (): (), _: (usize, usize), product: Product<T::Native<S>>) {
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
            T::Native::<S>::splat(simd, T::ZERO).store_slice(most);
        }
    }
}
