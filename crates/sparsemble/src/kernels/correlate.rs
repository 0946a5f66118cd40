//! The fused pass: every atom against every sample, each tile of the product consumed while it is in registers.
//!
//! Cost: `rows × atoms × samples` multiply-adds at the speed of a good matrix product, plus a few instructions per
//! `rows` of them for the epilogue. Nothing of the size of the product is touched unless the epilogue stores it.

use fearless_simd::{dispatch, prelude::*};

use super::aligned::Aligned;
use super::columns::PADDING;
use super::panels::{Panels, TILE, Tiles, VECTORS};
#[cfg(target_arch = "x86_64")]
use super::wide::Wide;
use crate::scalar::Scalar;

/// Panels in a run: worked through before the next tile of samples is loaded, few enough to stay in the first-level
/// cache.
pub(super) const RUN: usize = 4;

/// Bytes of the vectors that come with thirty-two registers.
const WIDEST: usize = 64;

/// The product of one panel and one tile: `VECTORS` vectors of correlations for each of `TILE` samples.
pub(crate) type Product<V> = [[V; VECTORS]; TILE];

/// What happens to the correlations of the atoms with a tile of samples.
///
/// A run of neighbouring panels is consumed between [`open`](Self::open) and [`close`](Self::close). What lives from
/// panel to panel is passed along by value rather than kept in memory: a conditional store to memory is compiled to a
/// masked store, which costs more than the whole product on some processors.
pub(crate) trait Epilogue<T: Scalar> {
    /// Whether the products of two panels are formed at once, where there are registers for both: worth it where little is
    /// carried. By `wide.rs` whole runs are formed at once, for every epilogue.
    const PAIRS: bool = false;

    /// What is carried through a run.
    type Carry<S: Simd>: Copy;

    /// Starts the run that begins with panel number `panel` for the samples from slot `slot` on.
    fn open<S: Simd>(&self, simd: S, panel: usize, slot: usize) -> Self::Carry<S>;

    /// Takes the product of one panel; `place` is its number and the slot of the first sample.
    fn consume<S: Simd>(
        &mut self,
        simd: S,
        carry: Self::Carry<S>,
        place: (usize, usize),
        product: Product<T::Native<S>>,
    ) -> Self::Carry<S>;

    /// Ends the run that began with panel number `panel`.
    fn close<S: Simd>(&mut self, simd: S, carry: Self::Carry<S>, panel: usize, slot: usize);
}

/// Correlates all atoms with all samples in use (and with what lies in the rest of the last tile).
pub(crate) fn correlate<T: Scalar, E: Epilogue<T>>(panels: &Panels<T>, tiles: &Tiles<T>, epilogue: &mut E) {
    debug_assert_eq!(panels.rows, tiles.rows);
    let sizes = (panels.rows * panels.width, tiles.rows * TILE);
    let used_tiles = &tiles.data[..tiles.used.div_ceil(TILE) * sizes.1];
    let operands = (&*panels.data, used_tiles);
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = Wide::of(panels.level) {
        return wide.vectorize(
            #[inline(always)]
            |avx2| {
                let multiply = |panels: [&[T]; RUN], tile: &[T]| T::multiply_wide(wide, panels, tile);
                pass_in_groups(avx2, operands, sizes, multiply, epilogue);
            },
        );
    }
    dispatch!(panels.level, simd => all(simd, operands, sizes, epilogue));
}

#[inline(always)]
fn all<S: Simd, T: Scalar, E: Epilogue<T>>(simd: S, operands: (&[T], &[T]), sizes: (usize, usize), epilogue: &mut E) {
    if E::PAIRS && size_of::<T>() * T::Native::<S>::LEN == WIDEST {
        pass_in_groups(simd, operands, sizes, |panels, tile| multiply_pair::<_, T>(simd, panels, tile), epilogue);
    } else {
        pass(simd, operands, sizes, |panel, tile, _| multiply::<_, T>(simd, panel, tile), epilogue);
    }
}

/// The same for samples that lie anywhere: where atoms are few, packing the samples would take as long as the products.
///
/// There are whole tiles of samples, each with at least as many values as there are features.
pub(crate) fn correlate_loose<T: Scalar, E: Epilogue<T>>(panels: &Panels<T>, samples: &[&[T]], epilogue: &mut E) {
    debug_assert!(samples.len().is_multiple_of(TILE));
    let sizes = (panels.rows * panels.width, TILE);
    dispatch!(panels.level, simd => {
        // Of few atoms, half of the last panel may be nothing but filling.
        let (last, half) = (panels.count() - 1, panels.atoms <= (panels.count() - 1) * panels.width + panels.width / 2);
        let multiply = |panel: &[T], tile: &[&[T]], number| {
            if half && number == last {
                multiply_loose::<_, T, 1>(simd, panel, tile)
            } else {
                multiply_loose::<_, T, VECTORS>(simd, panel, tile)
            }
        };
        pass(simd, (&panels.data, samples), sizes, multiply, epilogue);
    });
}

/// Multiplies all panels with all tiles, whose sizes are given, and hands the products to the epilogue.
///
/// `multiply` gets a panel, a tile and the number of the panel.
#[inline(always)]
pub(super) fn pass<S: Simd, T: Scalar, P, X>(
    simd: S,
    (panels, tiles): (&[P], &[X]),
    (panel_size, tile_size): (usize, usize),
    multiply: impl Fn(&[P], &[X], usize) -> Product<T::Native<S>>,
    epilogue: &mut impl Epilogue<T>,
) {
    for (run, panels) in panels.chunks(RUN * panel_size).enumerate() {
        let first = run * RUN;
        for (t, tile) in tiles.chunks_exact(tile_size).enumerate() {
            let mut carry = epilogue.open(simd, first, t * TILE);
            for (p, panel) in panels.chunks_exact(panel_size).enumerate() {
                let product = multiply(panel, tile, first + p);
                carry = epilogue.consume(simd, carry, (first + p, t * TILE), product);
            }
            epilogue.close(simd, carry, first, t * TILE);
        }
    }
}

/// [`pass`], N panels at a time: what is read of the samples serves all of them, and their sums wait less for each other.
#[expect(clippy::needless_range_loop, reason = "the compiler keeps the products in registers if it is written so")]
#[inline(always)]
fn pass_in_groups<S: Simd, T: Scalar, const N: usize>(
    simd: S,
    (panels, tiles): (&[T], &[T]),
    (panel_size, tile_size): (usize, usize),
    multiply_all: impl Fn([&[T]; N], &[T]) -> [Product<T::Native<S>>; N],
    epilogue: &mut impl Epilogue<T>,
) {
    for (run, panels) in panels.chunks(RUN * panel_size).enumerate() {
        let first = run * RUN;
        for (t, tile) in tiles.chunks_exact(tile_size).enumerate() {
            let mut carry = epilogue.open(simd, first, t * TILE);
            let mut number = first;
            let groups = panels.chunks_exact(N * panel_size);
            let rest = groups.remainder();
            for group in groups {
                let products =
                    multiply_all(std::array::from_fn(|p| &group[p * panel_size..(p + 1) * panel_size]), tile);
                for p in 0..N {
                    carry = epilogue.consume(simd, carry, (number + p, t * TILE), products[p]);
                }
                number += N;
            }
            for panel in rest.chunks_exact(panel_size) {
                carry = epilogue.consume(simd, carry, (number, t * TILE), multiply::<_, T>(simd, panel, tile));
                number += 1;
            }
            epilogue.close(simd, carry, first, t * TILE);
        }
    }
}

/// One panel times one tile, in registers from the first feature to the last.
#[inline(always)]
pub(super) fn multiply<S: Simd, T: Scalar>(simd: S, panel: &[T], tile: &[T]) -> Product<T::Native<S>> {
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

/// The same for two panels, with the same bits.
#[inline(always)]
fn multiply_pair<S: Simd, T: Scalar>(simd: S, [panel, other]: [&[T]; 2], tile: &[T]) -> [Product<T::Native<S>>; 2] {
    let lanes = T::Native::<S>::LEN;
    let zero = T::Native::<S>::splat(simd, T::ZERO);
    let (mut sums, mut others) = ([[zero; VECTORS]; TILE], [[zero; VECTORS]; TILE]);
    let atoms = panel.chunks_exact(VECTORS * lanes).zip(other.chunks_exact(VECTORS * lanes));
    for ((atoms, more), samples) in atoms.zip(tile.as_chunks::<TILE>().0) {
        let low = T::Native::<S>::from_slice(simd, &atoms[..lanes]);
        let high = T::Native::<S>::from_slice(simd, &atoms[lanes..]);
        let more_low = T::Native::<S>::from_slice(simd, &more[..lanes]);
        let more_high = T::Native::<S>::from_slice(simd, &more[lanes..]);
        for s in 0..TILE {
            let sample = T::Native::<S>::splat(simd, samples[s]);
            sums[s][0] = low.mul_add(sample, sums[s][0]);
            sums[s][1] = high.mul_add(sample, sums[s][1]);
            others[s][0] = more_low.mul_add(sample, others[s][0]);
            others[s][1] = more_high.mul_add(sample, others[s][1]);
        }
    }
    [sums, others]
}

/// The first N vectors of the product of a panel and a tile of samples one beside the other.
#[inline(always)]
fn multiply_loose<S: Simd, T: Scalar, const N: usize>(simd: S, panel: &[T], tile: &[&[T]]) -> Product<T::Native<S>> {
    let lanes = T::Native::<S>::LEN;
    let mut sums = [[T::Native::<S>::splat(simd, T::ZERO); VECTORS]; TILE];
    let &[a, b, c, d, e, f] = tile else { return sums };
    // Side by side and not by index, so that no index has to be checked.
    let samples = a.iter().zip(b).zip(c).zip(d).zip(e).zip(f);
    for (atoms, (((((a, b), c), d), e), f)) in panel.chunks_exact(VECTORS * lanes).zip(samples) {
        let atoms: [T::Native<S>; N] =
            std::array::from_fn(|v| T::Native::<S>::from_slice(simd, &atoms[v * lanes..(v + 1) * lanes]));
        for (sum, &sample) in sums.iter_mut().zip([a, b, c, d, e, f]) {
            let sample = T::Native::<S>::splat(simd, sample);
            for (sum, atoms) in sum.iter_mut().zip(atoms) {
                *sum = atoms.mul_add(sample, *sum);
            }
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
/// The panels are cut into groups of neighbours, and a class is one lane of one group: more groups give the lasso more
/// candidates from the same pass. The largest of all is the largest of the classes.
#[derive(Debug)]
pub(crate) struct Maxima<T> {
    largest: Largest,
    groups: usize,
    panels_per_group: usize,
    width: usize,
    values: Aligned<T>,
    /// The panel of the maximum; a float so that it lives in the same registers (exact below 2²⁴ panels).
    places: Aligned<T>,
    /// For each slot the panel and lane of an atom to be left out; no panel at all is `usize::MAX`.
    excluded: Vec<(usize, usize)>,
    excludes_any: bool,
}

impl<T: Scalar> Maxima<T> {
    /// For so many panels of a width, and up to `capacity` samples with about `classes` classes each.
    pub(crate) fn new((panels, width): (usize, usize), capacity: usize, classes: usize, largest: Largest) -> Self {
        // Whole runs of panels, so that a tile's maxima stay in the first-level cache from one panel to the next.
        let wanted = panels.div_ceil((classes / width).max(1));
        let panels_per_group = wanted.next_multiple_of(RUN);
        let groups = panels.div_ceil(panels_per_group);
        let slots = capacity.next_multiple_of(TILE);
        let size = slots * groups * width;
        Self {
            largest,
            groups,
            panels_per_group,
            width,
            values: Aligned::zeros(size),
            places: Aligned::zeros(size),
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

    /// Gives `take` the atom and the correlation (its magnitude, unless values count) of every class where that exceeds
    /// `threshold`, which must not be negative.
    #[inline(always)]
    pub(crate) fn above<S: Simd>(&self, simd: S, slot: usize, threshold: T, mut take: impl FnMut(usize, T)) {
        let lanes = T::Native::<S>::LEN;
        let start = slot * self.groups * self.width;
        let limit = T::Native::<S>::splat(simd, threshold);
        let values = &self.values[start..start + self.groups * self.width];
        for (v, part) in values.chunks_exact(lanes).enumerate() {
            let mut hits = T::Native::<S>::from_slice(simd, part).simd_gt(limit).to_bitmask();
            while hits != 0 {
                let class = v * lanes + hits.trailing_zeros() as usize;
                let panel = self.places[start + class].to_f64() as usize;
                // The width of a panel is a power of two, and a division here would cost more than all the rest.
                take(panel * self.width + (class & (self.width - 1)), values[class]);
                hits &= hits - 1;
            }
        }
    }

    /// The largest correlation of all, zero if none is positive.
    #[inline(always)]
    pub(crate) fn largest(&self, slot: usize) -> T {
        let classes = self.groups * self.width;
        let values = &self.values[slot * classes..][..classes];
        values.iter().fold(T::ZERO, |largest, &value| if value > largest { value } else { largest })
    }

    /// Where the maxima of the run that begins with `panel` lie for one sample.
    #[inline(always)]
    fn range(&self, panel: usize, slot: usize) -> std::ops::Range<usize> {
        let start = (slot * self.groups + panel / self.panels_per_group) * self.width;
        start..start + self.width
    }
}

impl<T: Scalar> Epilogue<T> for Maxima<T> {
    /// The maxima so far and the panels they were found in.
    type Carry<S: Simd> = [Product<T::Native<S>>; 2];

    #[inline(always)]
    fn open<S: Simd>(&self, simd: S, panel: usize, slot: usize) -> Self::Carry<S> {
        let lanes = T::Native::<S>::LEN;
        let zero = T::Native::<S>::splat(simd, T::ZERO);
        let mut carry = [[[zero; VECTORS]; TILE]; 2];
        for s in 0..TILE {
            let range = self.range(panel, slot + s);
            for (carry, from) in carry.iter_mut().zip([&self.values[range.clone()], &self.places[range]]) {
                let vectors = from.chunks_exact(lanes).map(|part| T::Native::<S>::from_slice(simd, part));
                carry[s].iter_mut().zip(vectors).for_each(|(out, vector)| *out = vector);
            }
        }
        carry
    }

    #[inline(always)]
    fn consume<S: Simd>(
        &mut self,
        simd: S,
        [mut values, mut places]: Self::Carry<S>,
        (panel, slot): (usize, usize),
        mut product: Product<T::Native<S>>,
    ) -> Self::Carry<S> {
        if self.excludes_any {
            for (s, correlations) in product.iter_mut().enumerate() {
                let (excluded_panel, lane) = self.excluded[slot + s];
                if panel == excluded_panel {
                    *correlations = without_lane::<S, T>(simd, *correlations, lane);
                }
            }
        }
        let here = T::Native::<S>::splat(simd, T::from_f64(f64::from(panel as u32)));
        for ((values, places), correlations) in values.iter_mut().zip(&mut places).zip(product) {
            for ((value, place), correlation) in values.iter_mut().zip(places).zip(correlations) {
                let size = if self.largest == Largest::Magnitude { correlation.abs() } else { correlation };
                *place = size.simd_gt(*value).select(here, *place);
                *value = size.max(*value);
            }
        }
        [values, places]
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, carry: Self::Carry<S>, panel: usize, slot: usize) {
        let lanes = T::Native::<S>::LEN;
        for s in 0..TILE {
            let range = self.range(panel, slot + s);
            for (carry, to) in carry.iter().zip([&mut self.values[range.clone()], &mut self.places[range]]) {
                to.chunks_exact_mut(lanes).zip(&carry[s]).for_each(|(out, vector)| vector.store_slice(out));
            }
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
    type Carry<S: Simd> = ();

    #[inline(always)]
    fn open<S: Simd>(&self, _: S, _: usize, _: usize) {}

    #[inline(always)]
    fn consume<S: Simd>(&mut self, _: S, (): (), (panel, slot): (usize, usize), product: Product<T::Native<S>>) {
        let lanes = T::Native::<S>::LEN;
        for (s, correlations) in product.into_iter().enumerate() {
            let start = (slot + s) * self.stride + panel * VECTORS * lanes;
            let out = self.data[start..start + VECTORS * lanes].chunks_exact_mut(lanes);
            out.zip(correlations).for_each(|(out, correlation)| correlation.store_slice(out));
        }
    }

    #[inline(always)]
    fn close<S: Simd>(&mut self, _: S, (): (), _: usize, _: usize) {}
}
