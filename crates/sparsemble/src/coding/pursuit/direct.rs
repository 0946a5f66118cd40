//! Greedy coding without a Gram matrix: the correlations of each round are computed from the residuals of the block.
//!
//! The route for dictionaries whose Gram matrix would be too large, and for samples with missing entries, where every
//! sample has a Gram matrix of its own: with the mask m the atoms are m∘d_j, and their energies take part in the choice.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use super::gram::{smallest_correlation, smallest_distance, squared};
use super::selection::Selection;
use super::{Limits, Pursuit, PursuitKind};
use crate::blocks::Pulse;
use crate::coding::basis::inverse;
use crate::coding::one_sparse::mask_energies;
use crate::coding::{Coding, CodingBasis, CodingReport, Samples, SparseCodes};
use crate::error::Result;
use crate::kernels::{Columns, Store, Tiles, axpy, correlate, dot};
use crate::scalar::Scalar;

/// Samples worked on together.
pub(super) const BLOCK: usize = 48;

/// One thread's working space.
pub(super) struct Block<'a, T> {
    coder: &'a Pursuit,
    basis: &'a CodingBasis<T>,
    x: Columns<T>,
    scales: Vec<f64>,
    tiles: Tiles<T>,
    /// The correlations of the unit atoms with the residuals, or with the last directions.
    products: Store<T>,
    masked_energies: Option<Store<T>>,
    states: Vec<State<T>>,
}

/// Where one sample stands.
struct State<T> {
    mask: Option<Vec<T>>,
    residual: Vec<T>,
    /// The orthonormal basis of the chosen atoms, the last direction at its end.
    directions: Vec<Vec<T>>,
    selection: Selection,
    /// Squared distance of each atom to the span: what it keeps under the mask, for ORMP less with every choice.
    distances: Vec<f64>,
    blocked: Vec<bool>,
    limits: Limits,
    smallest: f64,
    choices: usize,
    live: bool,
}

/// What has become of an atom that was to be taken.
enum Choice {
    Made,
    /// It lies in the span of those before.
    Dependent,
    /// It would not gain enough, which ends the pursuit.
    NotWorthIt,
}

impl<'a, T: Scalar> Block<'a, T> {
    pub(super) fn new(coder: &'a Pursuit, basis: &'a CodingBasis<T>, room: usize) -> Self {
        let x = Columns::zeros(basis.n_features(), room);
        Self {
            coder,
            basis,
            scales: Vec::with_capacity(room),
            tiles: Tiles::new(basis.n_features(), room),
            products: Store::new(basis.unit(), room),
            masked_energies: None,
            states: Vec::with_capacity(room),
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
        self.start(samples, range);
        loop {
            for state in &mut self.states {
                let reached = state.limits.error.is_some_and(|target| squared(&state.residual) <= target);
                state.live &= state.choices < state.limits.choices && !reached;
            }
            if !self.states.iter().any(|state| state.live) {
                break;
            }
            pulse.count(self.states.len() * self.basis.work())?;
            self.pass(|state| Some(&state.residual));
            let level = self.basis.unit().level();
            dispatch!(level, simd => self.choose(simd));
            if self.coder.kind == PursuitKind::OrderRecursive {
                self.shorten_distances();
            }
        }
        Ok(self.collect())
    }

    fn start(&mut self, samples: &Samples<'_, T>, range: Range<usize>) {
        let energies = mask_energies(self.basis, samples, range.clone(), &mut self.tiles, &mut self.masked_energies);
        self.states.clear();
        for (slot, sample) in range.enumerate() {
            let mut mask = vec![T::ZERO; self.x.stride()];
            let masked = samples.load_mask(sample, &mut mask);
            let energy = squared(self.x.column(slot));
            let scale = self.scales[slot];
            let mut blocked: Vec<bool> = (0..self.basis.n_atoms()).map(|j| self.basis.norm(j) <= 0.0).collect();
            if let Some(atom) = samples.excluded_atom(sample) {
                blocked[atom] = true;
            }
            let distance = |j: usize| energies.map_or(1.0, |store| store.of(slot)[j].to_f64());
            self.states.push(State {
                mask: masked.then_some(mask),
                residual: self.x.padded(slot).to_vec(),
                directions: Vec::new(),
                selection: Selection::default(),
                distances: (0..self.basis.n_atoms()).map(distance).collect(),
                blocked,
                limits: self.coder.limits(self.basis, scale),
                smallest: smallest_correlation::<T>(energy),
                choices: 0,
                live: true,
            });
        }
    }

    /// Correlates a vector of each sample with all atoms; one without a vector gets zeros.
    fn pass(&mut self, vector: impl Fn(&State<T>) -> Option<&Vec<T>>) {
        let nothing = vec![T::ZERO; self.x.rows()];
        self.tiles.clear();
        for state in &self.states {
            self.tiles.push(vector(state).map_or(&nothing, |vector| &vector[..nothing.len()]));
        }
        correlate(self.basis.unit(), &self.tiles, &mut self.products);
    }

    /// Takes the best atom of every live sample.
    #[inline(always)]
    fn choose<S: Simd>(&mut self, simd: S) {
        for (slot, state) in self.states.iter_mut().enumerate().filter(|(_, state)| state.live) {
            let c = self.products.of(slot);
            loop {
                let score = |j: usize| c[j].to_f64().powi(2) * inverse(state.distances[j]);
                let allowed = (0..state.blocked.len()).filter(|&j| !state.blocked[j]);
                // `max_by` keeps the last of equals, so go backwards to keep the first.
                let best = allowed.rev().max_by(|&a, &b| score(a).total_cmp(&score(b)));
                let Some(atom) = best.filter(|&j| c[j].to_f64().abs() > state.smallest) else {
                    state.live = false;
                    break;
                };
                match state.take(simd, self.coder.kind, self.basis, atom, c[atom].to_f64()) {
                    Choice::Made => state.choices += 1,
                    Choice::NotWorthIt => state.live = false,
                    Choice::Dependent => {
                        state.blocked[atom] = true;
                        continue;
                    }
                }
                break;
            }
        }
    }

    /// ORMP: the last direction brings every atom closer to the span.
    fn shorten_distances(&mut self) {
        self.pass(|state| state.directions.last());
        for (slot, state) in self.states.iter_mut().enumerate().filter(|(_, state)| state.live) {
            for ((distance, v), blocked) in
                state.distances.iter_mut().zip(self.products.of(slot)).zip(&mut state.blocked)
            {
                *distance -= v.to_f64() * v.to_f64();
                *blocked |= *distance <= smallest_distance::<T>();
            }
        }
    }

    fn collect(&self) -> Coding<T> {
        let mut block = Coding { codes: SparseCodes::new(self.basis.n_atoms()), report: CodingReport::empty() };
        let basis = self.basis;
        for (state, &scale) in self.states.iter().zip(&self.scales) {
            let entries = state.selection.atoms.iter().zip(state.selection.coefficients());
            block
                .codes
                .push(entries.map(|(&j, a)| (j, basis.coefficient(j, a * inverse(basis.norm(j as usize)), scale))));
            let status = self.coder.status(squared(&state.residual), state.limits, state.choices);
            block.report.push(status, state.choices, None);
        }
        block
    }
}

impl<T: Scalar> State<T> {
    /// Takes an atom whose correlation with the residual is given, if it can be and is worth it.
    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, kind: PursuitKind, basis: &CodingBasis<T>, atom: usize, c: f64) -> Choice {
        let unit = T::from_f64(inverse(basis.norm(atom)));
        let mut direction: Vec<T> = basis.columns().padded(atom).iter().map(|&d| d * unit).collect();
        if let Some(mask) = &self.mask {
            direction.iter_mut().zip(mask).for_each(|(d, &m)| *d *= m);
        }
        let energy = squared(&direction);
        if kind == PursuitKind::Matching {
            let share = c * inverse(energy);
            if !self.limits.is_worth(share * c) {
                return Choice::NotWorthIt;
            }
            axpy(simd, T::from_f64(-share), &direction, &mut self.residual);
            self.selection.add_share(atom as u32, share);
            return if energy > 0.0 { Choice::Made } else { Choice::Dependent };
        }
        let mut coordinates = vec![0.0; self.directions.len()];
        // Twice, because once leaves the direction orthogonal only to half the digits when it is short.
        for _ in 0..2 {
            for (coordinate, q) in coordinates.iter_mut().zip(&self.directions) {
                let w = dot(simd, q, &direction);
                axpy(simd, -w, q, &mut direction);
                *coordinate += w.to_f64();
            }
        }
        let distance = squared(&direction);
        if distance <= smallest_distance::<T>() * energy {
            return Choice::Dependent;
        }
        let root = distance.sqrt();
        for d in &mut direction {
            *d = T::from_f64(d.to_f64() / root);
        }
        let projection = dot(simd, &direction, &self.residual);
        if !self.limits.is_worth(projection.to_f64().powi(2)) {
            return Choice::NotWorthIt;
        }
        axpy(simd, -projection, &direction, &mut self.residual);
        self.selection.push(atom as u32, coordinates.into_iter(), root, projection.to_f64());
        self.directions.push(direction);
        Choice::Made
    }
}
