//! The one best atom by integers: maxima of small classes of atoms, and which of them the best may be in.
//!
//! Rounding moves a product of [integers](super::coarse) by no more than is known beforehand. So the best atom is one of those
//! that come as near to the largest as that: nearly always those of one small class. Who wants the best looks at the products
//! of these few again, in floats, and has the answer of a pass in floats.

use fearless_simd::{dispatch, prelude::*};

use super::aligned::Aligned;
use super::classes::{CLASS, atoms_of};
use super::coarse::{CoarsePanels, CoarseTiles, integer_products};
use super::columns::PADDING;
use super::correlate::{Largest, Product, RUN};
use super::panels::{TILE, VECTORS};

/// The largest correlation of each class of atoms with each sample of a block, of unit atoms and samples in integers.
#[derive(Debug)]
pub(crate) struct CoarseClasses {
    largest: Largest,
    n_atoms: usize,
    lanes: usize,
    margin: i32,
    /// Classes of a sample.
    count: usize,
    /// More than the classes: samples whose distance is a power of two would fight for the same lines of the cache.
    stride: usize,
    values: Aligned<i32>,
    /// For each slot the panel and lane of an atom to be left out; no panel at all is `usize::MAX`.
    excluded: Vec<(usize, usize)>,
    excludes_any: bool,
}

impl CoarseClasses {
    /// For up to `capacity` samples.
    pub(crate) fn new(atoms: &CoarsePanels, capacity: usize, largest: Largest) -> Self {
        let lanes = atoms.width / VECTORS;
        let count = atoms.count.div_ceil(CLASS * lanes) * lanes;
        let stride = count + PADDING;
        let slots = capacity.next_multiple_of(TILE);
        Self {
            largest,
            n_atoms: atoms.count,
            lanes,
            margin: atoms.margin(),
            count,
            stride,
            values: Aligned::zeros(slots * stride),
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

    /// Multiplies all atoms with all samples.
    pub(crate) fn find(&mut self, atoms: &CoarsePanels, samples: &CoarseTiles) {
        debug_assert_eq!(atoms.pairs, samples.pairs);
        dispatch!(atoms.level(), simd => self.pass(simd, atoms, samples));
    }

    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, atoms: &CoarsePanels, samples: &CoarseTiles) {
        let lanes = S::i32s::LEN;
        let panel_size = atoms.pairs * VECTORS * 2 * lanes;
        let tile_size = samples.pairs * TILE;
        for (run, panels) in atoms.data.chunks(RUN * panel_size).enumerate() {
            for (t, tile) in samples.used().chunks_exact(tile_size).enumerate() {
                // Zero is a bound from below for both kinds.
                let mut most = [S::i32s::splat(simd, 0); TILE];
                for (p, panel) in panels.chunks_exact(panel_size).enumerate() {
                    let product = self.sized(simd, integer_products(simd, panel, tile), (run * RUN + p, t * TILE));
                    for (most, [low, high]) in most.iter_mut().zip(product) {
                        *most = low.max(high).max(*most);
                    }
                }
                for (s, most) in most.iter().enumerate() {
                    let to = (t * TILE + s) * self.stride + run * lanes;
                    most.store_slice(&mut self.values[to..to + lanes]);
                }
            }
        }
    }

    /// What counts of the products with the panel and the samples from this slot on.
    #[inline(always)]
    fn sized<S: Simd>(
        &self,
        simd: S,
        mut product: Product<S::i32s>,
        (panel, slot): (usize, usize),
    ) -> Product<S::i32s> {
        if self.excludes_any {
            for (s, correlations) in product.iter_mut().enumerate() {
                let (excluded_panel, lane) = self.excluded[slot + s];
                if panel == excluded_panel {
                    *correlations = without_lane(simd, *correlations, lane);
                }
            }
        }
        if self.largest == Largest::Magnitude {
            product.as_flattened_mut().iter_mut().for_each(|c| *c = c.abs());
        }
        product
    }

    /// Writes for each sample the one class that holds its best atom; `None` where more than one may, or the sample is zero.
    #[inline(always)]
    pub(crate) fn leading<S: Simd>(&self, simd: S, samples: &CoarseTiles, out: &mut Vec<Option<u32>>) {
        let splat = |value: i32| S::i32s::splat(simd, value);
        out.clear();
        // No branch hangs on the data: the work on one sample is done while the one before waits.
        for (slot, nonzero) in samples.nonzero.iter().enumerate() {
            let (mut most, mut at, mut here) = (splat(0), splat(0), splat(0));
            for part in self.of(simd, slot) {
                at = part.simd_gt(most).select(here, at);
                most = part.max(most);
                here += 1;
            }
            let largest = most.reduce_max();
            let least = splat(largest - self.margin);
            let near = self.of(simd, slot).fold(splat(0), |near, part| near - part.simd_ge(least).to_vector());
            let lane = most.simd_ge(largest).to_bitmask().trailing_zeros() as usize;
            let class = at[lane] as usize * S::i32s::LEN + lane;
            out.push((*nonzero && near.reduce_sum() == 1).then_some(class as u32));
        }
    }

    /// The atoms of a class, in order; if there are fewer than others have, the last is repeated.
    #[inline(always)]
    pub(crate) fn atoms(&self, class: u32) -> [u32; CLASS] {
        let (atoms, count) = atoms_of(class as usize, self.lanes, self.n_atoms);
        let last = atoms[count.max(1) - 1];
        atoms.map(|atom| atom.min(last))
    }

    /// Puts the atoms of all classes that may have the largest correlation with a sample into `out`, which is empty, in order;
    /// nothing if the sample is zero. The excluded atom may be among them.
    #[inline(always)]
    pub(crate) fn leaders<S: Simd>(&self, simd: S, samples: &CoarseTiles, slot: usize, out: &mut Vec<u32>) {
        if !samples.nonzero[slot] {
            return;
        }
        let most = self.of(simd, slot).fold(S::i32s::splat(simd, 0), S::i32s::max);
        let least = S::i32s::splat(simd, most.reduce_max() - self.margin);
        for (v, part) in self.of(simd, slot).enumerate() {
            let mut hits = part.simd_ge(least).to_bitmask();
            while hits != 0 {
                let class = v * S::i32s::LEN + hits.trailing_zeros() as usize;
                let (atoms, count) = atoms_of(class, self.lanes, self.n_atoms);
                out.extend_from_slice(&atoms[..count]);
                hits &= hits - 1;
            }
        }
        out.sort_unstable();
    }

    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, slot: usize) -> impl Iterator<Item = S::i32s> {
        let values = &self.values[slot * self.stride..][..self.count];
        values.chunks_exact(S::i32s::LEN).map(move |part| S::i32s::from_slice(simd, part))
    }
}

/// Sets one lane of a panel's correlations to zero, by comparison: an index would force them all out of registers.
#[inline(always)]
fn without_lane<S: Simd>(simd: S, mut correlations: [S::i32s; VECTORS], lane: usize) -> [S::i32s; VECTORS] {
    let lanes = S::i32s::LEN;
    for (v, correlation) in correlations.iter_mut().enumerate() {
        let numbers = S::i32s::from_fn(simd, |i| (v * lanes + i) as i32);
        let excluded = numbers.simd_eq(S::i32s::splat(simd, lane as i32));
        *correlation = excluded.select(S::i32s::splat(simd, 0), *correlation);
    }
    correlations
}
