//! The fused pass: every atom against every sample, each tile of the product consumed while it is in registers.
//!
//! Cost: `rows × atoms × samples` multiply-adds at the speed of a good matrix product, plus a few instructions per
//! `rows` of them for the epilogue. Nothing of the size of the product is touched unless the epilogue stores it.

use fearless_simd::{dispatch, prelude::*};

use super::panels::{Panels, TILE, Tiles, VECTORS};
use crate::scalar::Scalar;

/// Panels worked through before the next tile of samples is loaded: few enough to stay in the first-level cache.
const PANELS_AT_ONCE: usize = 4;

/// What happens to the correlations of one panel of atoms with one tile of samples.
pub(crate) trait Epilogue<T: Scalar> {
    /// `product[s]` are the correlations of panel number `panel` with the sample in slot `first_slot + s`.
    fn consume<S: Simd>(&mut self, simd: S, panel: usize, first_slot: usize, product: [[T::Native<S>; VECTORS]; TILE]);
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
    for (group, panels) in panels.data.chunks(PANELS_AT_ONCE * panel_size).enumerate() {
        for (t, tile) in used_tiles.chunks_exact(tile_size).enumerate() {
            for (p, panel) in panels.chunks_exact(panel_size).enumerate() {
                let product = multiply::<S, T>(simd, panel, tile);
                epilogue.consume(simd, group * PANELS_AT_ONCE + p, t * TILE, product);
            }
        }
    }
}

/// One panel times one tile, in registers from the first feature to the last.
#[inline(always)]
fn multiply<S: Simd, T: Scalar>(simd: S, panel: &[T], tile: &[T]) -> [[T::Native<S>; VECTORS]; TILE] {
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

/// Keeps the largest correlation of each *class* of atoms with each sample, and which atom it was.
///
/// The panels are cut into groups of neighbours, and a class is one lane of one group. One group gives what 1-sparse
/// coding needs at the least cost; more groups give the lasso more candidates from the same pass. Either way the largest
/// of all is the largest of the classes.
#[derive(Debug, Clone)]
pub(crate) struct Maxima<T> {
    largest: Largest,
    groups: usize,
    panels_per_group: usize,
    width: usize,
    values: Vec<T>,
    /// The panel of the maximum; a float so that it lives in the same registers (exact below 2²⁴ panels).
    places: Vec<T>,
    /// For each slot the panel and lane of an atom to be left out; no panel at all is `usize::MAX`.
    excluded: Vec<(usize, usize)>,
    excludes_any: bool,
}

impl<T: Scalar> Maxima<T> {
    /// For up to `capacity` samples, with about `classes` classes each.
    pub(crate) fn new(panels: &Panels<T>, capacity: usize, classes: usize, largest: Largest) -> Self {
        // Whole runs of panels, so that a tile's maxima stay in the first-level cache from one panel to the next.
        let wanted = panels.count().div_ceil((classes / panels.width).max(1));
        let panels_per_group = wanted.next_multiple_of(PANELS_AT_ONCE);
        let groups = panels.count().div_ceil(panels_per_group);
        let slots = capacity.next_multiple_of(TILE);
        let size = slots * groups * panels.width;
        Self {
            largest,
            groups,
            panels_per_group,
            width: panels.width,
            values: vec![T::ZERO; size],
            places: vec![T::ZERO; size],
            excluded: vec![(usize::MAX, 0); slots],
            excludes_any: false,
        }
    }

    /// Starts a new pass.
    pub(crate) fn clear(&mut self) {
        // Zero is a bound from below for both kinds: an atom without correlation is never worth choosing.
        self.values.fill(T::ZERO);
    }

    /// Leaves one atom out for the sample in `slot`, or none.
    pub(crate) fn exclude(&mut self, slot: usize, atom: Option<usize>) {
        self.excluded[slot] = atom.map_or((usize::MAX, 0), |j| (j / self.width, j % self.width));
        self.excludes_any |= atom.is_some();
    }

    /// The atom and the correlation (its magnitude, unless values count) of every class where that exceeds `threshold`,
    /// which must not be negative.
    #[inline(always)]
    pub(crate) fn above(&self, slot: usize, threshold: T) -> impl Iterator<Item = (usize, T)> + '_ {
        let classes = self.groups * self.width;
        let start = slot * classes;
        let values = self.values[start..start + classes].iter().enumerate();
        values.filter(move |(_, value)| **value > threshold).map(move |(class, &value)| {
            let panel = self.places[start + class].to_f64() as usize;
            (panel * self.width + class % self.width, value)
        })
    }

    /// The largest correlation of all, zero if none is positive.
    #[inline(always)]
    pub(crate) fn largest(&self, slot: usize) -> T {
        let classes = self.groups * self.width;
        let values = &self.values[slot * classes..][..classes];
        values.iter().fold(T::ZERO, |largest, &value| if value > largest { value } else { largest })
    }

    #[inline(always)]
    fn update<S: Simd>(&mut self, simd: S, panel: usize, slot: usize, size: [T::Native<S>; VECTORS]) {
        let lanes = T::Native::<S>::LEN;
        let start = (slot * self.groups + panel / self.panels_per_group) * VECTORS * lanes;
        let values = self.values[start..start + VECTORS * lanes].chunks_exact_mut(lanes);
        let places = self.places[start..start + VECTORS * lanes].chunks_exact_mut(lanes);
        let here = T::Native::<S>::splat(simd, T::from_f64(panel as f64));
        for ((value, place), size) in values.zip(places).zip(size) {
            let old = T::Native::<S>::from_slice(simd, value);
            let improves = size.simd_gt(old);
            improves.select(size, old).store_slice(value);
            improves.select(here, T::Native::<S>::from_slice(simd, place)).store_slice(place);
        }
    }
}

impl<T: Scalar> Epilogue<T> for Maxima<T> {
    #[inline(always)]
    fn consume<S: Simd>(
        &mut self,
        simd: S,
        panel: usize,
        first_slot: usize,
        mut product: [[T::Native<S>; VECTORS]; TILE],
    ) {
        if self.excludes_any {
            let lanes = T::Native::<S>::LEN;
            for (s, correlations) in product.iter_mut().enumerate() {
                let (excluded_panel, lane) = self.excluded[first_slot + s];
                if panel == excluded_panel {
                    correlations[lane / lanes][lane % lanes] = T::ZERO;
                }
            }
        }
        match self.largest {
            Largest::Magnitude => {
                for (s, [low, high]) in product.into_iter().enumerate() {
                    self.update(simd, panel, first_slot + s, [low.abs(), high.abs()]);
                }
            }
            Largest::Value => {
                for (s, correlations) in product.into_iter().enumerate() {
                    self.update(simd, panel, first_slot + s, correlations);
                }
            }
        }
    }
}

/// Stores the product: for each slot the correlations with all atoms, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Store<T> {
    stride: usize,
    data: Vec<T>,
}

impl<T: Scalar> Store<T> {
    /// For up to `capacity` samples.
    pub(crate) fn new(panels: &Panels<T>, capacity: usize) -> Self {
        let stride = panels.count() * panels.width;
        Self { stride, data: vec![T::ZERO; stride * capacity.next_multiple_of(TILE)] }
    }

    /// The correlations of all atoms with the sample in `slot`; zeros beyond the last atom, up to a whole panel.
    pub(crate) fn of(&self, slot: usize) -> &[T] {
        &self.data[slot * self.stride..][..self.stride]
    }

    /// The same, to be updated in place.
    pub(crate) fn of_mut(&mut self, slot: usize) -> &mut [T] {
        &mut self.data[slot * self.stride..][..self.stride]
    }
}

impl<T: Scalar> Epilogue<T> for Store<T> {
    #[inline(always)]
    fn consume<S: Simd>(&mut self, _: S, panel: usize, first_slot: usize, product: [[T::Native<S>; VECTORS]; TILE]) {
        let lanes = T::Native::<S>::LEN;
        for (s, correlations) in product.into_iter().enumerate() {
            let start = (first_slot + s) * self.stride + panel * VECTORS * lanes;
            let out = self.data[start..start + VECTORS * lanes].chunks_exact_mut(lanes);
            out.zip(correlations).for_each(|(out, correlation)| correlation.store_slice(out));
        }
    }
}
