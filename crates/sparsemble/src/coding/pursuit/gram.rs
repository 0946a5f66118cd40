//! Greedy coding with the Gram matrix: one fused sweep over the atoms for each choice.
//!
//! Let q_1 … q_k be an orthonormal basis of the chosen atoms and v_i = Dᵀq_i. Choosing atom j adds
//! q = (d_j − Σ w_i q_i) / ρ with w_i = v_i[j], hence v = (G_j − Σ w_i v_i) / ρ from column j of the Gram matrix alone, and the
//! correlations with the new residual are c − (c_j/ρ)·v. One sweep computes v, updates c and, for ORMP, the distances of
//! all atoms to the span, and finds the next choice. Residuals are not needed unless an error is to be reached.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use super::selection::Selection;
use super::{Pursuit, PursuitKind};
use crate::coding::basis::inverse;
use crate::coding::{Coding, CodingBasis, CodingReport, Samples, SparseCodes};
use crate::error::Result;
use crate::kernels::{Columns, Store, Tiles, correlate, dots, subtract_combination};
use crate::scalar::Scalar;

/// Samples whose first correlations are computed in one pass.
pub(super) const BLOCK: usize = 48;

/// One thread's working space.
pub(super) struct Block<'a, T> {
    coder: &'a Pursuit,
    basis: &'a CodingBasis<T>,
    gram: &'a [T],
    level: Level,
    x: Columns<T>,
    scales: Vec<f64>,
    tiles: Tiles<T>,
    correlations: Store<T>,
    sample: Space<T>,
}

/// What one sample needs while it is coded.
struct Space<T> {
    selection: Selection,
    /// MP only: the coefficients of `selection.atoms` on unit atoms.
    sums: Vec<f64>,
    /// v_1 … v_k, one after the other.
    rows: Vec<T>,
    weights: Vec<T>,
    /// Squared distance of each unit atom to the span of the chosen ones (ORMP).
    distances: Vec<T>,
    /// Atoms that must not be chosen: the excluded one, and those found to lie in the span.
    blocked: Vec<u32>,
    residual: Vec<T>,
    products: Vec<T>,
}

/// The atom with the best score so far.
#[derive(Clone, Copy)]
struct Best<T> {
    atom: usize,
    score: T,
}

impl<'a, T: Scalar> Block<'a, T> {
    pub(super) fn new(coder: &'a Pursuit, basis: &'a CodingBasis<T>, gram: &'a [T]) -> Self {
        let panels = basis.unit();
        let x = Columns::zeros(basis.n_features(), BLOCK);
        let stride = panels.count() * panels.width();
        let order_recursive = coder.kind == PursuitKind::OrderRecursive;
        Self {
            coder,
            basis,
            gram,
            level: panels.level(),
            scales: Vec::with_capacity(BLOCK),
            tiles: Tiles::new(basis.n_features(), BLOCK),
            correlations: Store::new(panels, BLOCK),
            sample: Space {
                selection: Selection::default(),
                sums: Vec::new(),
                rows: Vec::new(),
                weights: Vec::new(),
                distances: vec![T::ONE; if order_recursive { stride } else { 0 }],
                blocked: Vec::new(),
                residual: vec![T::ZERO; x.stride()],
                products: Vec::new(),
            },
            x,
        }
    }

    pub(super) fn encode(&mut self, samples: &Samples<'_, T>, range: Range<usize>) -> Result<Coding<T>> {
        samples.load(range.clone(), &mut self.x, &mut self.scales)?;
        self.tiles.clear();
        (0..range.len()).for_each(|slot| self.tiles.push(self.x.column(slot)));
        correlate(self.basis.unit(), &self.tiles, &mut self.correlations);
        let mut block = Coding { codes: SparseCodes::new(self.basis.n_atoms()), report: CodingReport::empty() };
        for (slot, sample) in range.enumerate() {
            let excluded = samples.excluded_atom(sample);
            dispatch!(self.level, simd => self.encode_sample(simd, slot, excluded, &mut block));
        }
        Ok(block)
    }

    #[inline(always)]
    fn encode_sample<S: Simd>(&mut self, simd: S, slot: usize, excluded: Option<usize>, block: &mut Coding<T>) {
        let scale = self.scales[slot];
        let target = self.coder.error.map(|error| error / scale / scale);
        let energy = squared(self.x.column(slot));
        let mut task = Task { simd, basis: self.basis, gram: self.gram, kind: self.coder.kind };
        let space = &mut self.sample;
        let c = self.correlations.of_mut(slot);
        space.start(excluded);
        let smallest = smallest_correlation::<T>(energy);
        let most = self.coder.most_choices(self.basis);
        let mut error = energy;
        let mut choices = 0;
        let mut best = task.scan(c, space);
        while choices < most && target.is_none_or(|target| error > target) {
            while space.blocked.contains(&(best.atom as u32)) && best.score > T::ZERO {
                space.blocked.iter().for_each(|&j| c[j as usize] = T::ZERO);
                best = task.scan(c, space);
            }
            if c[best.atom].to_f64().abs() <= smallest {
                break;
            }
            match task.choose(best.atom, c, space) {
                Some(next) => {
                    best = next;
                    choices += 1;
                    if target.is_some() {
                        task.update_residual(self.x.padded(slot), space);
                        error = squared(&space.residual);
                    }
                }
                None => {
                    space.blocked.push(best.atom as u32);
                    c[best.atom] = T::ZERO;
                    best = task.scan(c, space);
                }
            }
        }
        let coefficients = task.finish(self.x.padded(slot), space);
        let entries = space.selection.atoms.iter().zip(coefficients);
        let basis = self.basis;
        block.codes.push(entries.map(|(&j, a)| (j, basis.coefficient(j, a * inverse(basis.norm(j as usize)), scale))));
        block.report.push(self.coder.status(error, target, choices), choices, None);
    }
}

impl<T: Scalar> Space<T> {
    fn start(&mut self, excluded: Option<usize>) {
        self.selection.clear();
        self.sums.clear();
        self.rows.clear();
        self.distances.fill(T::ONE);
        self.blocked.clear();
        self.blocked.extend(excluded.map(|j| j as u32));
    }
}

/// Correlations this small are rounding errors of zero.
pub(super) fn smallest_correlation<T: Scalar>(energy: f64) -> f64 {
    8.0 * T::EPSILON.to_f64() * energy.sqrt()
}

/// A chosen atom must be at least this far (squared, relative) from the span of the others.
pub(super) fn smallest_distance<T: Scalar>() -> f64 {
    64.0 * T::EPSILON.to_f64()
}

pub(super) fn squared<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|v| v.to_f64() * v.to_f64()).sum()
}

/// The steps of one sample, in one instruction set.
struct Task<'a, S, T> {
    simd: S,
    basis: &'a CodingBasis<T>,
    gram: &'a [T],
    kind: PursuitKind,
}

impl<S: Simd, T: Scalar> Task<'_, S, T> {
    /// Chooses an atom and returns the next best; `None` if it lies in the span of those chosen before.
    #[inline(always)]
    fn choose(&mut self, atom: usize, c: &mut [T], space: &mut Space<T>) -> Option<Best<T>> {
        let column = &self.gram[atom * c.len()..][..c.len()];
        let correlation = c[atom].to_f64();
        if self.kind == PursuitKind::Matching {
            match space.selection.atoms.iter().position(|&j| j as usize == atom) {
                Some(place) => space.sums[place] += correlation,
                None => {
                    space.selection.atoms.push(atom as u32);
                    space.sums.push(correlation);
                }
            }
            space.weights.clear();
            return Some(self.sweep(column, T::ONE, T::from_f64(correlation), c, space));
        }
        let stride = c.len();
        space.weights.clear();
        space.weights.extend((0..space.selection.len()).map(|i| space.rows[i * stride + atom]));
        let inside: f64 = space.weights.iter().map(|w| w.to_f64() * w.to_f64()).sum();
        let distance = (1.0 - inside).max(0.0);
        if distance <= smallest_distance::<T>() {
            return None;
        }
        let root = distance.sqrt();
        let coordinates = space.weights.iter().map(|w| w.to_f64());
        space.selection.push(atom as u32, coordinates, root, correlation / root);
        Some(self.sweep(column, T::from_f64(1.0 / root), T::from_f64(correlation / root), c, space))
    }

    /// v = (column − Σ w_i v_i)·factor, kept for later; c −= step·v; and the best score of the new correlations.
    #[inline(always)]
    fn sweep(&self, column: &[T], factor: T, step: T, c: &mut [T], space: &mut Space<T>) -> Best<T> {
        let simd = self.simd;
        let (lanes, stride) = (T::Native::<S>::LEN, c.len());
        let keep = self.kind != PursuitKind::Matching;
        let order_recursive = self.kind == PursuitKind::OrderRecursive;
        let known = space.weights.len();
        if keep {
            space.rows.resize((known + 1) * stride, T::ZERO);
        }
        let (rows, new) = space.rows.split_at_mut(known * stride);
        let (factor, step) = (T::Native::<S>::splat(simd, factor), T::Native::<S>::splat(simd, -step));
        let mut best = Lanes::<S, T>::new(simd);
        // Two vectors at a time: the sums over i wait for themselves less.
        let wide = 2 * lanes;
        for (at, c) in c.chunks_exact_mut(wide).enumerate() {
            let at = at * wide;
            let load = |from: &[T]| {
                [T::Native::<S>::from_slice(simd, &from[..lanes]), T::Native::<S>::from_slice(simd, &from[lanes..wide])]
            };
            let [mut low, mut high] = load(&column[at..at + wide]);
            for (i, &w) in space.weights.iter().enumerate() {
                let w = T::Native::<S>::splat(simd, -w);
                let row = load(&rows[i * stride + at..][..wide]);
                low = row[0].mul_add(w, low);
                high = row[1].mul_add(w, high);
            }
            let (low, high) = (low * factor, high * factor);
            if keep {
                low.store_slice(&mut new[at..at + lanes]);
                high.store_slice(&mut new[at + lanes..at + wide]);
            }
            for (half, (v, c)) in [low, high].into_iter().zip(c.chunks_exact_mut(lanes)).enumerate() {
                let updated = v.mul_add(step, T::Native::<S>::from_slice(simd, c));
                updated.store_slice(c);
                let start = at + half * lanes;
                let score = if order_recursive {
                    let distances = &mut space.distances[start..start + lanes];
                    let left = T::Native::<S>::from_slice(simd, distances) - v * v;
                    left.store_slice(distances);
                    order_recursive_score::<S, T>(simd, updated, left)
                } else {
                    updated.abs()
                };
                best.offer(simd, score, start / lanes);
            }
        }
        best.reduce()
    }

    /// The best score of the correlations as they are.
    #[inline(always)]
    fn scan(&self, c: &[T], space: &Space<T>) -> Best<T> {
        let (simd, lanes) = (self.simd, T::Native::<S>::LEN);
        let mut best = Lanes::<S, T>::new(simd);
        for (at, c) in c.chunks_exact(lanes).enumerate() {
            let c = T::Native::<S>::from_slice(simd, c);
            let score = if self.kind == PursuitKind::OrderRecursive {
                let left = T::Native::<S>::from_slice(simd, &space.distances[at * lanes..(at + 1) * lanes]);
                order_recursive_score::<S, T>(simd, c, left)
            } else {
                c.abs()
            };
            best.offer(simd, score, at);
        }
        best.reduce()
    }

    /// residual = x − D_S a for the coefficients of the current fit.
    #[inline(always)]
    fn update_residual(&self, x: &[T], space: &mut Space<T>) {
        let coefficients =
            if self.kind == PursuitKind::Matching { space.sums.clone() } else { space.selection.fit() };
        self.residual_of(&coefficients, x, space);
    }

    #[inline(always)]
    fn residual_of(&self, coefficients: &[f64], x: &[T], space: &mut Space<T>) {
        let unit = |j: u32, a: f64| T::from_f64(a * inverse(self.basis.norm(j as usize)));
        let terms = space.selection.atoms.iter().zip(coefficients).map(|(&j, &a)| (j, unit(j, a)));
        subtract_combination(self.simd, self.basis.columns(), terms, x, &mut space.residual);
    }

    /// The coefficients on unit atoms; those of a fit are corrected once by the correlations they leave over.
    #[inline(always)]
    fn finish(&self, x: &[T], space: &mut Space<T>) -> Vec<f64> {
        if self.kind == PursuitKind::Matching {
            return std::mem::take(&mut space.sums);
        }
        let mut coefficients = space.selection.fit();
        self.residual_of(&coefficients, x, space);
        space.products.clear();
        dots(self.simd, self.basis.columns(), &space.selection.atoms, &space.residual, &mut space.products);
        let left_over = space.products.iter().zip(&space.selection.atoms);
        let left_over = left_over.map(|(c, &j)| c.to_f64() * inverse(self.basis.norm(j as usize))).collect();
        let correction = space.selection.correction(left_over);
        coefficients.iter_mut().zip(correction).for_each(|(a, change)| *a += change);
        coefficients
    }
}

/// c² / distance, and nothing for atoms in the span.
#[inline(always)]
fn order_recursive_score<S: Simd, T: Scalar>(simd: S, c: T::Native<S>, left: T::Native<S>) -> T::Native<S> {
    let outside = left.simd_gt(T::Native::<S>::splat(simd, T::from_f64(smallest_distance::<T>())));
    outside.select(c * c / left, T::Native::<S>::splat(simd, T::ZERO))
}

/// The best score in each lane and where it was.
struct Lanes<S: Simd, T: Scalar> {
    scores: T::Native<S>,
    places: T::Native<S>,
}

impl<S: Simd, T: Scalar> Lanes<S, T> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let zero = T::Native::<S>::splat(simd, T::ZERO);
        Self { scores: zero, places: zero }
    }

    #[inline(always)]
    fn offer(&mut self, simd: S, scores: T::Native<S>, place: usize) {
        let improves = scores.simd_gt(self.scores);
        self.scores = improves.select(scores, self.scores);
        self.places = improves.select(T::Native::<S>::splat(simd, T::from_f64(place as f64)), self.places);
    }

    /// The best of all lanes; the first atom among equals.
    #[inline(always)]
    fn reduce(&self) -> Best<T> {
        let lanes = T::Native::<S>::LEN;
        let mut best = Best { atom: 0, score: T::ZERO };
        for (lane, (&score, &place)) in self.scores.as_slice().iter().zip(self.places.as_slice()).enumerate() {
            let atom = place.to_f64() as usize * lanes + lane;
            if score > best.score || (score >= best.score && atom < best.atom) {
                best = Best { atom, score };
            }
        }
        best
    }
}
