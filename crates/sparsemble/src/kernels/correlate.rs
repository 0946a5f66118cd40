//! The fused pass: every atom against every sample, each tile of the product consumed while it is in registers.
//!
//! Cost: `rows × atoms × samples` multiply-adds at the speed of a good matrix product, plus a few instructions per
//! `rows` of them for the epilogue. Nothing of the size of the product is touched unless the epilogue stores it.

use fearless_simd::{dispatch, prelude::*};

use super::aligned::Aligned;
use super::best::Best;
use super::columns::PADDING;
use super::panels::{Panels, TILE, Tiles, VECTORS};
use crate::scalar::Scalar;

/// Panels in a run: worked through before the next tile of samples is loaded, few enough to stay in the first-level
/// cache.
const RUN: usize = 4;

/// Atoms in a class of [`Maxima`]: one lane of each vector of a run.
const CLASS: usize = RUN * VECTORS;

/// The product of one panel and one tile: `VECTORS` vectors of correlations for each of `TILE` samples.
pub(crate) type Product<V> = [[V; VECTORS]; TILE];

/// What happens to the correlations of the atoms with a tile of samples.
pub(crate) trait Epilogue<T: Scalar> {
    /// Takes the product of one panel; `place` is its number and the slot of the first sample.
    fn consume<S: Simd>(&mut self, simd: S, place: (usize, usize), product: Product<T::Native<S>>);

    /// Called after the last panel of a run; `place` is the number of the run and the slot of the first sample.
    fn close<S: Simd>(&mut self, simd: S, place: (usize, usize));
}

/// Correlates all atoms with all samples in use (and with what lies in the rest of the last tile).
pub(crate) fn correlate<T: Scalar, E: Epilogue<T>>(panels: &Panels<T>, tiles: &Tiles<T>, epilogue: &mut E) {
    debug_assert_eq!(panels.rows, tiles.rows);
    dispatch!(panels.level, simd => pass(simd, panels, tiles, epilogue));
}

#[inline(always)]
fn pass<S: Simd, T: Scalar, E: Epilogue<T>>(simd: S, panels: &Panels<T>, tiles: &Tiles<T>, epilogue: &mut E) {
    let panel_size = panels.rows * panels.width;
    let tile_size = tiles.rows * TILE;
    let used_tiles = &tiles.data[..tiles.used.div_ceil(TILE) * tile_size];
    for (run, panels) in panels.data.chunks(RUN * panel_size).enumerate() {
        for (t, tile) in used_tiles.chunks_exact(tile_size).enumerate() {
            for (p, panel) in panels.chunks_exact(panel_size).enumerate() {
                let product = multiply::<S, T>(simd, panel, tile);
                epilogue.consume(simd, (run * RUN + p, t * TILE), product);
            }
            epilogue.close(simd, (run, t * TILE));
        }
    }
}

/// One panel times one tile, in registers from the first feature to the last.
#[inline(always)]
fn multiply<S: Simd, T: Scalar>(simd: S, panel: &[T], tile: &[T]) -> Product<T::Native<S>> {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [[T::Native::<S>::splat(simd, T::ZERO); VECTORS]; TILE];
    for (atoms, samples) in panel.chunks_exact(VECTORS * lanes).zip(tile.chunks_exact(TILE)) {
        let low = T::Native::<S>::from_slice(simd, &atoms[..lanes]);
        let high = T::Native::<S>::from_slice(simd, &atoms[lanes..]);
        for (sum, &sample) in sums.iter_mut().zip(samples) {
            let sample = T::Native::<S>::splat(simd, sample);
            sum[0] = low.mul_add(sample, sum[0]);
            sum[1] = high.mul_add(sample, sum[1]);
        }
    }
    sums
}

/// Which correlations count as large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Largest {
    /// The largest magnitude, for signed coefficients.
    Magnitude,
    /// The largest value, for coefficients that must not be negative.
    Value,
}

/// Keeps the largest correlation of each *class* of atoms with each sample.
///
/// A class is one lane of one run of panels: the atoms [`Maxima::atoms`]. Which of them it was is not kept: the few who
/// ask are served more cheaply by the products of those atoms than by an index that every tile has to carry.
#[derive(Debug)]
pub(crate) struct Maxima<T> {
    largest: Largest,
    n_atoms: usize,
    lanes: usize,
    /// Classes of a sample.
    classes: usize,
    /// More than the classes: samples whose distance is a power of two would fight for the same lines of the cache.
    stride: usize,
    values: Aligned<T>,
    /// The maxima of the run being worked through, a vector each.
    run: [[T; PADDING]; TILE],
    /// For each slot the panel and lane of an atom to be left out; no panel at all is `usize::MAX`.
    excluded: Vec<(usize, usize)>,
    excludes_any: bool,
}

impl<T: Scalar> Maxima<T> {
    /// For up to `capacity` samples.
    pub(crate) fn new(panels: &Panels<T>, capacity: usize, largest: Largest) -> Self {
        let lanes = panels.width / VECTORS;
        let classes = panels.count().div_ceil(RUN) * lanes;
        let stride = classes + PADDING;
        let slots = capacity.next_multiple_of(TILE);
        Self {
            largest,
            n_atoms: panels.atoms,
            lanes,
            classes,
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

    /// The class of an atom.
    #[inline(always)]
    pub(crate) fn class(&self, atom: u32) -> usize {
        // The number of lanes is a power of two, so no division is needed.
        let (vector, lane) = (atom as usize >> self.lanes.trailing_zeros(), atom as usize & (self.lanes - 1));
        vector / CLASS * self.lanes + lane
    }

    /// What counts of a correlation.
    #[inline(always)]
    pub(crate) fn size(&self, correlation: f64) -> f64 {
        if self.largest == Largest::Magnitude { correlation.abs() } else { correlation }
    }

    /// The atoms of a class, in order; the excluded one is among them.
    #[inline(always)]
    pub(crate) fn atoms(&self, class: usize) -> impl Iterator<Item = u32> + use<T> {
        let lane = class & (self.lanes - 1);
        let first = (class - lane) * CLASS + lane;
        let (lanes, end) = (self.lanes, self.n_atoms);
        (0..CLASS).map(move |i| first + i * lanes).take_while(move |atom| *atom < end).map(|atom| atom as u32)
    }

    /// Gives `take` each class whose largest correlation (its magnitude, unless values count) exceeds `threshold`, which
    /// must not be negative, and that correlation.
    #[inline(always)]
    pub(crate) fn above<S: Simd>(&self, simd: S, slot: usize, threshold: T, mut take: impl FnMut(usize, T)) {
        let lanes = T::Native::<S>::LEN;
        let limit = T::Native::<S>::splat(simd, threshold);
        let values = self.of(slot);
        for (v, part) in values.chunks_exact(lanes).enumerate() {
            let mut hits = T::Native::<S>::from_slice(simd, part).simd_gt(limit).to_bitmask();
            while hits != 0 {
                let class = v * lanes + hits.trailing_zeros() as usize;
                take(class, values[class]);
                hits &= hits - 1;
            }
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
            let mut classes = 0;
            best.places().for_each(|class| {
                out.extend(self.atoms(class));
                classes += 1;
            });
            if classes > 1 {
                out.sort_unstable();
            }
        }
    }

    /// The largest correlation of all, zero if none is positive.
    #[inline(always)]
    pub(crate) fn largest<S: Simd>(&self, simd: S, slot: usize) -> T {
        let mut largest = T::Native::<S>::splat(simd, T::ZERO);
        for part in self.of(slot).chunks_exact(T::Native::<S>::LEN) {
            largest = largest.max(T::Native::<S>::from_slice(simd, part));
        }
        largest.reduce_max()
    }

    #[inline(always)]
    fn of(&self, slot: usize) -> &[T] {
        &self.values[slot * self.stride..][..self.classes]
    }
}

impl<T: Scalar> Epilogue<T> for Maxima<T> {
    #[inline(always)]
    fn consume<S: Simd>(&mut self, simd: S, (panel, slot): (usize, usize), mut product: Product<T::Native<S>>) {
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
    fn close<S: Simd>(&mut self, simd: S, (run, slot): (usize, usize)) {
        let lanes = T::Native::<S>::LEN;
        for (s, most) in self.run.iter_mut().enumerate() {
            let most = &mut most[..lanes];
            let to = (slot + s) * self.stride + run * lanes;
            T::Native::<S>::from_slice(simd, most).store_slice(&mut self.values[to..to + lanes]);
            // Zero is a bound from below for both kinds: an atom without correlation is never worth choosing.
            T::Native::<S>::splat(simd, T::ZERO).store_slice(most);
        }
    }
}

/// Sets one lane of a panel's correlations to zero, by comparison: an index would force them all out of registers.
#[inline(always)]
fn without_lane<S: Simd, T: Scalar>(
    simd: S,
    correlations: [T::Native<S>; VECTORS],
    lane: usize,
) -> [T::Native<S>; VECTORS] {
    let lanes = T::Native::<S>::LEN;
    let zero = T::Native::<S>::splat(simd, T::ZERO);
    let keep = |vector: T::Native<S>, first: usize| {
        let numbers = T::Native::<S>::from_fn(simd, |i| T::from_f64((first + i) as f64));
        numbers.simd_eq(T::Native::<S>::splat(simd, T::from_f64(lane as f64))).select(zero, vector)
    };
    [keep(correlations[0], 0), keep(correlations[1], lanes)]
}

/// Stores the product: for each slot the correlations with all atoms, one after the other.
#[derive(Debug)]
pub(crate) struct Store<T> {
    length: usize,
    /// Longer than what is stored: samples whose distance is a power of two would fight for the same lines of the cache.
    stride: usize,
    data: Aligned<T>,
}

impl<T: Scalar> Store<T> {
    /// For up to `capacity` samples.
    pub(crate) fn new(panels: &Panels<T>, capacity: usize) -> Self {
        let length = (panels.count() * panels.width).next_multiple_of(PADDING);
        let stride = length + PADDING;
        Self { length, stride, data: Aligned::zeros(stride * capacity.next_multiple_of(TILE)) }
    }

    /// The correlations of all atoms with the sample in `slot`; zeros beyond the last atom, up to a multiple of
    /// `PADDING`.
    #[inline(always)]
    pub(crate) fn of(&self, slot: usize) -> &[T] {
        &self.data[slot * self.stride..][..self.length]
    }

    /// The same, to be updated in place.
    pub(crate) fn of_mut(&mut self, slot: usize) -> &mut [T] {
        &mut self.data[slot * self.stride..][..self.length]
    }
}

impl<T: Scalar> Epilogue<T> for Store<T> {
    #[inline(always)]
    fn consume<S: Simd>(&mut self, _: S, (panel, slot): (usize, usize), product: Product<T::Native<S>>) {
        let lanes = T::Native::<S>::LEN;
        for (s, correlations) in product.into_iter().enumerate() {
            let start = (slot + s) * self.stride + panel * VECTORS * lanes;
            let out = self.data[start..start + VECTORS * lanes].chunks_exact_mut(lanes);
            out.zip(correlations).for_each(|(out, correlation)| correlation.store_slice(out));
        }
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, _: (usize, usize)) {}
}
