//! The rounds of a block of samples: pass, certify or harvest, solve, and again.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use super::active_set::{ActiveSet, Problem, Work};
use super::certificate::relative_gap;
use super::{Lasso, Penalty};
use crate::coding::{Coding, CodingBasis, CodingReport, SampleStatus, Samples, SparseCodes};
use crate::error::Result;
use crate::kernels::{Columns, Maxima, Panels, Tiles, correlate};
use crate::scalar::Scalar;

/// Samples coded at a time: enough to amortise a walk through the dictionary, few enough that their small problems
/// stay in cache.
pub(super) const BLOCK: usize = 96;

/// Classes of atoms whose largest correlation a pass reports: the most atoms that can join a working set in a round.
const CLASSES: usize = 64;

/// Atoms whose correlation reaches this fraction of μ join the working set although they do not violate anything yet:
/// the next solution often needs them, and a pass costs more than a few idle candidates.
const HARVEST: f64 = 0.85;

/// What all blocks of a call share.
pub(super) struct Plan<'a, T> {
    coder: &'a Lasso,
    basis: &'a CodingBasis<T>,
    /// The atoms divided by their weights, so that one μ is the limit for all of them.
    panels: PanelsOf<'a, T>,
    /// Weights for the tamed atoms of the basis; `None` for all ones.
    weights: Option<Vec<f64>>,
    /// Atoms of weight zero, which belong to every support.
    free: Vec<u32>,
}

enum PanelsOf<'a, T> {
    Basis(&'a Panels<T>),
    Own(Panels<T>),
}

impl<'a, T: Scalar> Plan<'a, T> {
    pub(super) fn new(coder: &'a Lasso, basis: &'a CodingBasis<T>) -> Self {
        let all_tame = (0..basis.n_atoms()).all(|j| basis.scale(j).to_bits() == 1.0_f64.to_bits());
        // A tamed atom is the given one divided by its scale, so its coefficient, and what that costs, is larger.
        let weight = |j: usize| coder.atom_weights.as_ref().map_or(1.0, |w| w[j]) / basis.scale(j);
        let plain = all_tame && coder.atom_weights.is_none();
        let weights: Option<Vec<f64>> = (!plain).then(|| (0..basis.n_atoms()).map(weight).collect());
        let panels = match &weights {
            None => PanelsOf::Basis(basis.raw()),
            Some(w) => PanelsOf::Own(basis.pack(|j| T::from_f64(super::super::basis::inverse(w[j])))),
        };
        let is_free = |j: &usize| weights.as_ref().is_some_and(|w| w[*j] <= 0.0);
        let free = (0..basis.n_atoms()).filter(is_free).map(|j| j as u32).collect();
        Self { coder, basis, panels, weights, free }
    }

    fn panels(&self) -> &Panels<T> {
        match &self.panels {
            PanelsOf::Basis(panels) => panels,
            PanelsOf::Own(panels) => panels,
        }
    }
}

/// One thread's block of samples.
pub(super) struct Block<T> {
    x: Columns<T>,
    residuals: Columns<T>,
    masks: Option<Columns<T>>,
    scales: Vec<f64>,
    tiles: Tiles<T>,
    maxima: Maxima<T>,
    states: Vec<State>,
    /// Samples not finished yet; the sample in slot s of the pass is `live[s]`.
    live: Vec<usize>,
    work: Work<T>,
}

/// Where one sample stands.
#[derive(Default)]
struct State {
    active: ActiveSet,
    mu: f64,
    /// The μ above which the code is zero.
    mu_max: f64,
    excluded: Option<usize>,
    gap: f64,
    rounds: usize,
    status: Option<SampleStatus>,
}

impl<T: Scalar> Block<T> {
    pub(super) fn new(plan: &Plan<'_, T>) -> Self {
        let rows = plan.basis.n_features();
        let x = Columns::zeros(rows, BLOCK);
        Self {
            residuals: x.clone(),
            masks: None,
            scales: Vec::with_capacity(BLOCK),
            tiles: Tiles::new(rows, BLOCK),
            maxima: Maxima::new(plan.panels(), BLOCK, CLASSES, plan.coder.largest()),
            states: (0..BLOCK).map(|_| State::default()).collect(),
            live: Vec::with_capacity(BLOCK),
            work: Work::new(x.stride()),
            x,
        }
    }

    pub(super) fn encode(
        &mut self,
        plan: &Plan<'_, T>,
        samples: &Samples<'_, T>,
        range: Range<usize>,
    ) -> Result<Coding<T>> {
        let count = range.len();
        self.load(samples, range)?;
        let level = plan.panels().level();
        if !plan.free.is_empty() {
            dispatch!(level, simd => self.fit_free_atoms(simd, plan));
        }
        for round in 1..=plan.coder.max_rounds {
            self.correlate_residuals(plan);
            dispatch!(level, simd => self.certify_or_solve(simd, plan, round));
            self.live.retain(|&i| self.states[i].status.is_none());
            if self.live.is_empty() {
                break;
            }
        }
        Ok(self.collect(plan, count))
    }

    fn load(&mut self, samples: &Samples<'_, T>, range: Range<usize>) -> Result<()> {
        samples.load(range.clone(), &mut self.x, &mut self.scales)?;
        self.live.clear();
        self.live.extend(0..range.len());
        for (i, sample) in range.enumerate() {
            self.residuals.padded_mut(i).copy_from_slice(self.x.padded(i));
            let state = &mut self.states[i];
            state.active.clear();
            (state.gap, state.rounds, state.status) = (0.0, 0, None);
            state.excluded = samples.excluded_atom(sample);
            if samples.is_masked() {
                let masks = self.masks.get_or_insert_with(|| Columns::zeros(self.x.rows(), BLOCK));
                samples.load_mask(sample, masks.padded_mut(i));
            }
        }
        Ok(())
    }

    /// One pass of the live residuals over the whole dictionary.
    fn correlate_residuals(&mut self, plan: &Plan<'_, T>) {
        self.tiles.clear();
        self.maxima.clear();
        for (slot, &i) in self.live.iter().enumerate() {
            self.tiles.push(self.residuals.column(i));
            self.maxima.exclude(slot, self.states[i].excluded);
        }
        correlate(plan.panels(), &self.tiles, &mut self.maxima);
    }

    /// Atoms of weight zero are in every support, so they come first: least squares on them alone.
    #[inline(always)]
    fn fit_free_atoms<S: Simd>(&mut self, simd: S, plan: &Plan<'_, T>) {
        for i in 0..self.live.len() {
            let state = &mut self.states[i];
            let slack = T::EPSILON.to_f64() * crate::coding::basis::norm(self.x.column(i));
            self.work.candidates.clear();
            self.work.candidates.extend(plan.free.iter().filter(|j| state.excluded != Some(**j as usize)));
            let mask = self.masks.as_ref().map(|masks| masks.padded(i));
            let problem = plan.problem(self.x.padded(i), mask);
            state.active.solve(simd, &problem, (0.0, slack), &mut self.work);
            self.residuals.padded_mut(i).copy_from_slice(&self.work.residual);
        }
    }

    /// Finishes the samples whose gap is small enough; gives the others what they miss and solves again.
    #[inline(always)]
    fn certify_or_solve<S: Simd>(&mut self, simd: S, plan: &Plan<'_, T>, round: usize) {
        for (slot, &i) in self.live.iter().enumerate() {
            let (x, residual) = (self.x.padded(i), self.residuals.padded(i));
            let state = &mut self.states[i];
            let largest = self.maxima.largest(slot).to_f64();
            if round == 1 {
                state.start(plan.coder.penalty, largest, self.scales[i], x);
            }
            let before = state.gap;
            state.rounds = round;
            state.gap = relative_gap(x, residual, state.mu, state.active.penalty(), largest);
            let goal = Goal::new(plan.coder.penalty, self.scales[i], x);
            let reached = goal.is_reached(state, residual, plan.coder.tolerance);
            if reached && state.gap <= plan.coder.tolerance {
                state.status = Some(SampleStatus::Converged);
                continue;
            }
            let slack = state.mu * plan.coder.tolerance.max(T::EPSILON.to_f64()) * 0.5;
            let news = harvest(&self.maxima, slot, state, &mut self.work.candidates, slack);
            if reached && !news && round > 2 && state.gap >= 0.5 * before {
                // Nothing violates and the last solution was not better: this is what the number type can do.
                state.status = Some(SampleStatus::PrecisionLimit);
                continue;
            }
            let mask = self.masks.as_ref().map(|masks| masks.padded(i));
            let problem = plan.problem(x, mask);
            goal.solve(simd, &problem, state, slack, &mut self.work);
            self.residuals.padded_mut(i).copy_from_slice(&self.work.residual);
        }
    }

    fn collect(&self, plan: &Plan<'_, T>, count: usize) -> Coding<T> {
        let mut block = Coding { codes: SparseCodes::new(plan.basis.n_atoms()), report: CodingReport::empty() };
        for (state, &scale) in self.states[..count].iter().zip(&self.scales) {
            let entries = state.active.atoms.iter().zip(&state.active.coefficients);
            block.codes.push(entries.map(|(&j, &a)| (j, plan.basis.coefficient(j, a, scale))));
            let status = state.status.unwrap_or(SampleStatus::IterationLimit);
            block.report.push(status, state.rounds, Some(state.gap));
        }
        block
    }
}

impl<T: Scalar> Plan<'_, T> {
    fn problem<'p>(&'p self, x: &'p [T], mask: Option<&'p [T]>) -> Problem<'p, T> {
        Problem {
            columns: self.basis.columns(),
            x,
            mask,
            weights: self.weights.as_deref(),
            nonnegative: self.coder.nonnegative,
        }
    }
}

/// Puts the atoms worth having into the candidates; `true` if one of them violates the optimality conditions.
#[inline(always)]
fn harvest<T: Scalar>(
    maxima: &Maxima<T>,
    slot: usize,
    state: &State,
    candidates: &mut Vec<u32>,
    slack: f64,
) -> bool {
    candidates.clear();
    let mut violated = false;
    for (atom, value) in maxima.above(slot, T::from_f64(HARVEST * state.mu)) {
        if !state.active.atoms.contains(&(atom as u32)) {
            candidates.push(atom as u32);
            violated |= value.to_f64() > state.mu + slack;
        }
    }
    violated
}

impl State {
    fn start<T: Scalar>(&mut self, penalty: Penalty, largest: f64, scale: f64, x: &[T]) {
        self.mu_max = largest;
        self.mu = match penalty {
            Penalty::Lambda(lambda) => 0.5 * lambda / scale,
            Penalty::Relative(fraction) => fraction * largest,
            // A guess between nothing and everything; the solution corrects it.
            Penalty::Error(_) | Penalty::L1Norm(_) => match Goal::new(penalty, scale, x) {
                Goal::Error { target, .. } if target >= energy(x) => largest,
                _ => 0.5 * largest,
            },
        };
    }
}

/// What a sample's μ has to achieve.
enum Goal {
    /// Nothing: μ is given.
    Given,
    /// ‖r‖² = `target`, to within `leeway`.
    Error { target: f64, leeway: f64 },
    /// Σ w|a| = `target`, to within `leeway`.
    L1Norm { target: f64, leeway: f64 },
}

/// μ is sought down to this fraction of the one that gives the zero code; what needs a smaller one is out of reach.
const SMALLEST_MU: f64 = 1e-7;

impl Goal {
    fn new<T: Scalar>(penalty: Penalty, scale: f64, x: &[T]) -> Self {
        let precision = 64.0 * T::EPSILON.to_f64();
        match penalty {
            Penalty::Lambda(_) | Penalty::Relative(_) => Self::Given,
            Penalty::Error(error) => Self::Error { target: error / scale / scale, leeway: precision * energy(x) },
            Penalty::L1Norm(norm) => Self::L1Norm { target: norm / scale, leeway: precision * norm / scale },
        }
    }

    /// Whether the constraint holds, with equality where it binds.
    fn is_reached<T: Scalar>(&self, state: &State, residual: &[T], _tolerance: f64) -> bool {
        let at_zero = state.active.atoms.is_empty();
        match *self {
            Self::Given => true,
            Self::Error { target, leeway } => {
                let error = energy(residual);
                (error <= target + leeway) && (at_zero || error >= target - 2.0 * leeway)
            }
            Self::L1Norm { target, leeway } => {
                let norm = state.active.penalty();
                norm <= target + leeway && (norm >= target - 2.0 * leeway || state.mu <= SMALLEST_MU * state.mu_max)
            }
        }
    }

    /// Solves on the candidates; where μ is not given, alternates with the μ that the support found calls for.
    #[inline(always)]
    fn solve<S: Simd, T: Scalar>(
        &self,
        simd: S,
        problem: &Problem<'_, T>,
        state: &mut State,
        slack: f64,
        work: &mut Work<T>,
    ) {
        for _ in 0..50 {
            state.active.solve(simd, problem, (state.mu, slack), work);
            let Some(mu) = self.better_mu(simd, state, &work.residual) else { return };
            let change = (mu - state.mu).abs();
            state.mu = mu;
            if change <= 1e-12 * mu {
                return;
            }
        }
    }

    /// On a fixed support ‖r‖² = e + μ²h and Σ w|a| = b − μh with h the growth, so the wanted μ is known in closed form.
    #[inline(always)]
    fn better_mu<S: Simd, T: Scalar>(&self, simd: S, state: &State, residual: &[T]) -> Option<f64> {
        if matches!(self, Self::Given) {
            return None;
        }
        let floor = (SMALLEST_MU * state.mu_max).max(0.1 * state.mu);
        let growth = state.active.growth(simd, &mut Vec::new());
        let wanted = match *self {
            Self::Given => return None,
            Self::Error { target, leeway } => {
                let least = energy(residual) - state.mu * state.mu * growth;
                ((target - 0.5 * leeway - least).max(0.0) / growth).sqrt()
            }
            Self::L1Norm { target, .. } => state.mu + (state.active.penalty() - target) / growth,
        };
        if wanted.is_finite() { Some(wanted.clamp(floor, state.mu_max)) } else { Some(floor) }
    }
}

fn energy<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|v| v.to_f64() * v.to_f64()).sum()
}
