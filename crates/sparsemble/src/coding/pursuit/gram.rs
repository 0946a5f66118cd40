//! Greedy coding with the Gram matrix: one fused sweep over the atoms for each choice.
//!
//! Let q_1 … q_k be an orthonormal basis of the chosen atoms and v_i = Dᵀq_i. Choosing atom j adds
//! q = (d_j − Σ w_i q_i) / ρ with w_i entry j of v_i, hence v = (G_j − Σ w_i v_i) / ρ from column j of the Gram matrix alone, and the
//! correlations with the new residual are c − (c_j/ρ)·v. One sweep computes v, updates c and, for ORMP, the distances of
//! all atoms to the span, and finds the next choice. Residuals are not needed unless an error is to be reached.

use std::ops::Range;

use fearless_simd::{Level, dispatch, prelude::*};

use super::selection::Selection;
use super::{Pursuit, PursuitKind};
use crate::blocks::Pulse;
use crate::coding::{Coding, CodingBasis, CodingReport, Samples, SparseCodes};
use crate::error::Result;
use crate::kernels::{Best, Columns, Store, Tiles, correlate, dots, subtract_combination};
use crate::scalar::Scalar;

/// Samples whose first correlations are computed in one pass.
pub(super) const BLOCK: usize = 48;

/// One thread's working space.
pub(super) struct Block<'a, T> {
    coder: &'a Pursuit,
    basis: &'a CodingBasis<T>,
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
    /// v_1 … v_k, one after the other.
    rows: Vec<T>,
    weights: Vec<T>,
    /// Squared distance of each unit atom to the span of the chosen ones (ORMP).
    distances: Vec<T>,
    /// Atoms that must not be chosen: the excluded one, and those found to lie in the span.
    blocked: Vec<u32>,
    residual: Vec<T>,
    products: Vec<T>,
    left_over: Vec<f64>,
}

impl<'a, T: Scalar> Block<'a, T> {
    pub(super) fn new(coder: &'a Pursuit, basis: &'a CodingBasis<T>, room: usize) -> Self {
        let panels = basis.unit();
        let x = Columns::zeros(basis.n_features(), room);
        let correlations = Store::new(panels, room);
        let stride = correlations.of(0).len();
        let order_recursive = coder.kind == PursuitKind::OrderRecursive;
        Self {
            coder,
            basis,
            level: panels.level(),
            scales: Vec::with_capacity(room),
            tiles: Tiles::new(basis.n_features(), room),
            correlations,
            sample: Space {
                selection: Selection::default(),
                rows: Vec::new(),
                weights: Vec::new(),
                distances: vec![T::ONE; if order_recursive { stride } else { 0 }],
                blocked: Vec::new(),
                residual: vec![T::ZERO; x.stride()],
                products: Vec::new(),
                left_over: Vec::new(),
            },
            x,
        }
    }

    pub(super) fn encode(
        &mut self,
        samples: &Samples<'_, T>,
        range: Range<usize>,
        pulse: &Pulse<'_>,
    ) -> Result<Coding<T>> {
        samples.load(range.clone(), &mut self.x, &mut self.scales)?;
        self.tiles.clear();
        (0..range.len()).for_each(|slot| self.tiles.push(self.x.column(slot)));
        correlate(self.basis.unit(), &self.tiles, &mut self.correlations);
        let mut block = Coding { codes: SparseCodes::new(self.basis.n_atoms()), report: CodingReport::empty() };
        for (slot, sample) in range.enumerate() {
            let excluded = samples.excluded_atom(sample);
            dispatch!(self.level, simd => self.encode_sample(simd, (slot, excluded), &mut block, pulse))?;
        }
        Ok(block)
    }

    #[inline(always)]
    fn encode_sample<S: Simd>(
        &mut self,
        simd: S,
        (slot, excluded): (usize, Option<usize>),
        block: &mut Coding<T>,
        pulse: &Pulse<'_>,
    ) -> Result<()> {
        let scale = self.scales[slot];
        let limits = self.coder.limits(self.basis, scale);
        let energy = squared(self.x.column(slot));
        let task = Task { simd, basis: self.basis, kind: self.coder.kind };
        let space = &mut self.sample;
        let c = self.correlations.of_mut(slot);
        space.start(excluded);
        let smallest = smallest_correlation::<T>(energy);
        let mut error = energy;
        let mut choices = 0;
        let mut best = task.scan(c, space);
        while choices < limits.choices && limits.error.is_none_or(|target| error > target) {
            // A choice may have to make a row of the Gram matrix first.
            pulse.count(c.len() * (self.basis.n_features() + space.selection.len()))?;
            while space.blocked.contains(&(best.0 as u32)) && best.1 > T::ZERO {
                space.blocked.iter().for_each(|&j| c[j as usize] = T::ZERO);
                best = task.scan(c, space);
            }
            if c[best.0].to_f64().abs() <= smallest {
                break;
            }
            let Some(distance) = task.distance(best.0, c.len(), space) else {
                space.blocked.push(best.0 as u32);
                c[best.0] = T::ZERO;
                best = task.scan(c, space);
                continue;
            };
            let correlation = c[best.0].to_f64();
            if !limits.is_worth(correlation * correlation / distance) {
                break;
            }
            let wave = task.choose(best.0, correlation, distance, space);
            choices += 1;
            if limits.error.is_some() {
                task.residual_of(&space.selection.coefficients(), self.x.padded(slot), space);
                error = squared(&space.residual);
            }
            if choices < limits.choices {
                best = task.sweep(&wave, c, space);
            }
        }
        let coefficients = task.finish(self.x.padded(slot), space);
        let entries = space.selection.atoms.iter().zip(coefficients);
        let basis = self.basis;
        block.codes.push(entries.map(|(&j, a)| (j, basis.coefficient(j, a * basis.inverse_norm(j), scale))));
        block.report.push(self.coder.status(error, limits, choices), choices, None);
        Ok(())
    }
}

impl<T: Scalar> Space<T> {
    fn start(&mut self, excluded: Option<usize>) {
        self.selection.clear();
        self.distances.fill(T::ONE);
        self.blocked.clear();
        self.blocked.extend(excluded.map(|j| j as u32));
    }
}

/// Where the next row begins: rows whose distance is a power of two would fight for the same lines of the cache.
fn row_stride(length: usize) -> usize {
    length + 16
}

/// Correlations this small are rounding errors of zero.
pub(super) fn smallest_correlation<T: Scalar>(energy: f64) -> f64 {
    8.0 * T::EPSILON.to_f64() * energy.sqrt()
}

/// A chosen atom must be at least this far (squared, of a unit atom) from the span of the others: the distance is what is
/// left of one after a subtraction, so of anything smaller less than half the digits would be right.
pub(super) fn smallest_distance<T: Scalar>() -> f64 {
    T::EPSILON.to_f64().sqrt()
}

/// The energy in double precision, in eight sums side by side so that they do not wait for each other.
pub(super) fn squared<T: Scalar>(values: &[T]) -> f64 {
    let mut sums = [0.0; 8];
    for values in values.chunks(8) {
        sums.iter_mut().zip(values).for_each(|(sum, v)| *sum += v.to_f64() * v.to_f64());
    }
    sums.iter().sum()
}

/// What one choice does to the correlations: v = (column − Σ w_i v_i)·factor and c −= step·v.
struct Wave<'a, T> {
    column: &'a [T],
    factor: T,
    step: T,
}

/// The steps of one sample, in one instruction set.
struct Task<'a, S, T> {
    simd: S,
    basis: &'a CodingBasis<T>,
    kind: PursuitKind,
}

impl<'a, S: Simd, T: Scalar> Task<'a, S, T> {
    /// The squared distance of an atom to the span of those chosen before, of which MP takes no notice, given the number of
    /// correlations; `None` if it lies in it. Its coordinates in the span are `space.weights` then.
    #[inline(always)]
    fn distance(&self, atom: usize, length: usize, space: &mut Space<T>) -> Option<f64> {
        space.weights.clear();
        if self.kind == PursuitKind::Matching {
            return Some(1.0);
        }
        let stride = row_stride(length);
        space.weights.extend((0..space.selection.len()).map(|i| space.rows[i * stride + atom]));
        let inside: f64 = space.weights.iter().map(|w| w.to_f64() * w.to_f64()).sum();
        Some((1.0 - inside).max(0.0)).filter(|distance| *distance > smallest_distance::<T>())
    }

    /// Chooses an atom whose correlation and distance are given and returns what that does to the correlations.
    #[inline(always)]
    fn choose(&self, atom: usize, correlation: f64, distance: f64, space: &mut Space<T>) -> Wave<'a, T> {
        let column = self.basis.unit_gram_row(atom);
        if self.kind == PursuitKind::Matching {
            space.selection.add_share(atom as u32, correlation);
            return Wave { column, factor: T::ONE, step: T::from_f64(correlation) };
        }
        let root = distance.sqrt();
        let coordinates = space.weights.iter().map(|w| w.to_f64());
        space.selection.push(atom as u32, coordinates, root, correlation / root);
        Wave { column, factor: T::from_f64(1.0 / root), step: T::from_f64(correlation / root) }
    }

    /// Carries out a wave, keeps v for later choices and returns the best score of the new correlations.
    #[inline(always)]
    fn sweep(&self, wave: &Wave<'_, T>, c: &mut [T], space: &mut Space<T>) -> (usize, T) {
        let (lanes, stride) = (T::Native::<S>::LEN, row_stride(c.len()));
        let known = space.weights.len();
        if self.kind != PursuitKind::Matching && space.rows.len() < (known + 1) * stride {
            space.rows.resize((known + 1) * stride, T::ZERO);
        }
        let mut best = Best::<S, T>::above(self.simd, T::ZERO);
        let mut at = 0;
        while at + 4 * lanes <= c.len() {
            self.sweep_part::<4>(at, wave, c, space, &mut best);
            at += 4 * lanes;
        }
        // The correlations are whole panels of two vectors.
        if at < c.len() {
            self.sweep_part::<2>(at, wave, c, space, &mut best);
        }
        best.reduce()
    }

    /// The sweep for `N` vectors of atoms from `at` on; several at once, because a single sum would wait for itself.
    #[inline(always)]
    fn sweep_part<const N: usize>(
        &self,
        at: usize,
        wave: &Wave<'_, T>,
        c: &mut [T],
        space: &mut Space<T>,
        best: &mut Best<S, T>,
    ) {
        let simd = self.simd;
        let (lanes, stride) = (T::Native::<S>::LEN, row_stride(c.len()));
        let part = at..at + N * lanes;
        let (rows, new) = space.rows.split_at_mut(space.weights.len() * stride);
        let mut v = load::<S, T, N>(simd, &wave.column[part.clone()]);
        for (&w, row) in space.weights.iter().zip(rows.chunks_exact(stride)) {
            let w = T::Native::<S>::splat(simd, -w);
            for (v, row) in v.iter_mut().zip(load::<S, T, N>(simd, &row[part.clone()])) {
                *v = row.mul_add(w, *v);
            }
        }
        let (factor, step) = (T::Native::<S>::splat(simd, wave.factor), T::Native::<S>::splat(simd, -wave.step));
        for (i, (v, c)) in v.into_iter().zip(c[part].chunks_exact_mut(lanes)).enumerate() {
            let v = v * factor;
            let start = at + i * lanes;
            if self.kind != PursuitKind::Matching {
                v.store_slice(&mut new[start..start + lanes]);
            }
            let updated = v.mul_add(step, T::Native::<S>::from_slice(simd, c));
            updated.store_slice(c);
            let score = if self.kind == PursuitKind::OrderRecursive {
                let distances = &mut space.distances[start..start + lanes];
                let left = T::Native::<S>::from_slice(simd, distances) - v * v;
                left.store_slice(distances);
                order_recursive_score::<S, T>(simd, updated, left)
            } else {
                updated.abs()
            };
            best.offer(score);
        }
    }

    /// The best score of the correlations as they are.
    #[inline(always)]
    fn scan(&self, c: &[T], space: &Space<T>) -> (usize, T) {
        let (simd, lanes) = (self.simd, T::Native::<S>::LEN);
        let mut best = Best::<S, T>::above(simd, T::ZERO);
        for (at, c) in c.chunks_exact(lanes).enumerate() {
            let c = T::Native::<S>::from_slice(simd, c);
            let score = if self.kind == PursuitKind::OrderRecursive {
                let left = T::Native::<S>::from_slice(simd, &space.distances[at * lanes..(at + 1) * lanes]);
                order_recursive_score::<S, T>(simd, c, left)
            } else {
                c.abs()
            };
            best.offer(score);
        }
        best.reduce()
    }

    /// residual = x − D_S a for coefficients on the unit atoms.
    #[inline(always)]
    fn residual_of(&self, coefficients: &[f64], x: &[T], space: &mut Space<T>) {
        let unit = |j: u32, a: f64| T::from_f64(a * self.basis.inverse_norm(j));
        let terms = space.selection.atoms.iter().zip(coefficients).map(|(&j, &a)| (j, unit(j, a)));
        subtract_combination(self.simd, self.basis.columns(), &terms, x, &mut space.residual);
    }

    /// The coefficients on unit atoms; those of a fit are corrected once by the correlations they leave over.
    #[inline(always)]
    fn finish(&self, x: &[T], space: &mut Space<T>) -> Vec<f64> {
        let mut coefficients = space.selection.coefficients();
        if self.kind == PursuitKind::Matching {
            return coefficients;
        }
        self.residual_of(&coefficients, x, space);
        dots(self.simd, self.basis.columns(), &space.selection.atoms, &space.residual, &mut space.products);
        let left_over = space.products.iter().zip(&space.selection.atoms);
        space.left_over.clear();
        space.left_over.extend(left_over.map(|(c, &j)| c.to_f64() * self.basis.inverse_norm(j)));
        space.selection.correct(&mut space.left_over);
        coefficients.iter_mut().zip(&space.left_over).for_each(|(a, change)| *a += change);
        coefficients
    }
}

#[inline(always)]
fn load<S: Simd, T: Scalar, const N: usize>(simd: S, from: &[T]) -> [T::Native<S>; N] {
    let lanes = T::Native::<S>::LEN;
    std::array::from_fn(|i| T::Native::<S>::from_slice(simd, &from[i * lanes..(i + 1) * lanes]))
}

/// c² / distance, and nothing for atoms in the span.
#[inline(always)]
fn order_recursive_score<S: Simd, T: Scalar>(simd: S, c: T::Native<S>, left: T::Native<S>) -> T::Native<S> {
    let outside = left.simd_gt(T::Native::<S>::splat(simd, T::from_f64(smallest_distance::<T>())));
    outside.select(c * c / left, T::Native::<S>::splat(simd, T::ZERO))
}
