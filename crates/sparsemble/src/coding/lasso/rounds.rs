//! The rounds of a block of samples: pass, certify or harvest, solve, and again.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use super::active_set::{ActiveSet, Problem, Work};
use super::certificate::{product, relative_gap};
use super::few::{Few, Lanes, MOST_LANES};
use super::goal::{Goal, slack};
use super::outcome::{Code, collect};
use super::overview::Overview;
use super::{Lasso, Penalty};
use crate::blocks::Pulse;
use crate::coding::basis::inverse;
use crate::coding::{Coding, CodingBasis, SampleStatus, Samples};
use crate::error::Result;
use crate::kernels::{
    CoarsePanels, CoarseTiles, Columns, Marks, Maxima, Store, Tiles, best_level, correlate, correlate_coarsely, dots,
};
use crate::scalar::Scalar;

/// Samples coded at a time: enough to amortise a walk through the dictionary, few enough that their small problems
/// stay in cache.
pub(super) const BLOCK: usize = 96;

/// Classes of atoms whose largest correlation the first pass reports: the most atoms of the first working set.
const CLASSES: usize = 32;

/// Atoms whose correlation reaches this fraction of μ join the working set although they do not violate anything yet:
/// the next solution often needs them, and a pass costs more than a few idle candidates.
const HARVEST: f64 = 0.95;

/// The most atoms that can join a working set in a later round; each of them is multiplied with every residual.
const NEWCOMERS: usize = 64;

/// The largest Gram matrix, in bytes, that serves as an overview. The rows of a larger one come from memory too slowly, and
/// passes over the dictionary are better.
const LARGEST_OVERVIEW: usize = 2 << 20;

/// The features from which on passes cost so much more that it may be twice as large.
const LONG: usize = 128;

/// What all blocks of a call share.
pub(super) struct Plan<'a, T> {
    coder: &'a Lasso,
    basis: &'a CodingBasis<T>,
    /// The atoms divided by their weights, so that one μ is the limit for all of them; `None` if there are no weights, for
    /// those of the basis.
    own_panels: Option<CoarsePanels>,
    /// The weights of the tamed atoms; `None` for all ones.
    weights: Option<Vec<f64>>,
    /// What the weights were divided by.
    unit: f64,
    /// Atoms of weight zero, which belong to every support.
    free: Vec<u32>,
    /// Whether the first solution comes from a view of all atoms: there is a Gram matrix that is right for all samples but
    /// those with an excluded atom.
    overlooks: bool,
    /// Where atoms or features are so few that samples are coded side by side before anything else.
    few: Option<Few>,
}

impl<'a, T: Scalar> Plan<'a, T> {
    /// `atom_weights` are those of the coder, or of the only sample that the plan is for.
    pub(super) fn new(
        coder: &'a Lasso,
        basis: &'a CodingBasis<T>,
        samples: &Samples<'_, T>,
        atom_weights: Option<&[f64]>,
    ) -> Self {
        // A tamed atom is the given one divided by its scale, so its coefficient, and what that costs, is larger.
        let weight = |j: usize| atom_weights.map_or(1.0, |weights| weights[j]) / basis.scale(j);
        let tame = (0..basis.n_atoms()).all(|j| basis.scale(j).to_bits() == 1.0_f64.to_bits());
        let mut weights: Option<Vec<f64>> =
            (!tame || atom_weights.is_some()).then(|| (0..basis.n_atoms()).map(weight).collect());
        // Only ratios of weights matter: with the largest at one, μ is of the size of the correlations, however extreme the
        // atoms were.
        let finite = weights.iter().flatten().copied().filter(|w| *w > 0.0 && w.is_finite());
        let unit = finite.fold(0.0, f64::max);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        weights.iter_mut().flatten().for_each(|w| *w /= unit);
        let own_panels = weights.as_ref().map(|weights| basis.coarse_times(|j| inverse(weights[j])));
        let is_free = |j: &usize| weights.as_ref().is_some_and(|weights| weights[*j] <= 0.0);
        let free = (0..basis.n_atoms()).filter(is_free).map(|j| j as u32).collect();
        let largest = if basis.n_features() < LONG { LARGEST_OVERVIEW } else { 2 * LARGEST_OVERVIEW };
        let alike = weights.is_none() && !samples.is_masked();
        let overlooks = alike && basis.has_gram() && basis.n_atoms().saturating_pow(2) <= largest / size_of::<T>();
        let given = matches!(coder.penalty, Penalty::Lambda(_) | Penalty::Relative(_));
        let few = if alike && given { Few::new(basis.columns()) } else { None };
        Self { coder, basis, own_panels, weights, unit, free, overlooks, few }
    }

    /// Packed when they are first wanted: samples of few atoms or features make no pass.
    fn panels(&self) -> &CoarsePanels {
        self.own_panels.as_ref().unwrap_or_else(|| self.basis.coarse())
    }
}

/// One thread's block of samples.
pub(super) struct Block<'b, T> {
    x: Columns<T>,
    residuals: Columns<T>,
    masks: Option<Columns<T>>,
    scales: Vec<f64>,
    /// None before the first pass.
    passes: Option<Passes>,
    /// The samples and their correlations with all atoms, once a Gram matrix makes use of them.
    correlations: Option<(Tiles<T>, Store<T>)>,
    /// The codes of the samples that were coded side by side.
    side_by_side: Vec<(u32, f64)>,
    states: Vec<State>,
    /// Samples not finished yet; the sample in slot s of the pass is `live[s]`.
    live: Vec<usize>,
    work: Work<'b, T>,
}

/// What passes over the whole dictionary need.
struct Passes {
    tiles: CoarseTiles,
    /// Of the first pass.
    maxima: Maxima<f32>,
    /// Of those after it.
    marks: Marks,
}

/// Where one sample stands.
#[derive(Default)]
pub(super) struct State {
    pub(super) active: ActiveSet,
    pub(super) mu: f64,
    /// The μ above which the code is zero.
    pub(super) mu_max: f64,
    /// Whether the candidates of the last solution did not let μ fall as far as it has to.
    pub(super) wants_smaller_mu: bool,
    /// Whether the code is not in `active` but with those that were found side by side.
    is_side_by_side: bool,
    /// ‖x‖².
    energy: f64,
    excluded: Option<usize>,
    /// ‖r‖.
    norm: f64,
    gap: f64,
    rounds: usize,
    status: Option<SampleStatus>,
}

impl<'b, T: Scalar> Block<'b, T> {
    /// Room for so many samples at a time.
    pub(super) fn new(plan: &Plan<'b, T>, room: usize) -> Self {
        let rows = plan.basis.n_features();
        let x = Columns::zeros(rows, room);
        Self {
            residuals: Columns::zeros(rows, room),
            masks: None,
            scales: Vec::with_capacity(room),
            passes: None,
            correlations: None,
            side_by_side: vec![(0, 0.0); room * plan.few.as_ref().map_or(0, Few::width)],
            states: (0..room).map(|_| State::default()).collect(),
            live: Vec::with_capacity(room),
            work: Work::new(x.stride()),
            x,
        }
    }

    pub(super) fn encode(
        &mut self,
        plan: &Plan<'b, T>,
        samples: &Samples<'_, T>,
        range: Range<usize>,
        pulse: &Pulse<'_>,
    ) -> Result<Coding<T>> {
        let level = best_level();
        dispatch!(level, simd => self.load(simd, samples, range.clone()))?;
        if !plan.free.is_empty() {
            self.fit_free_atoms(plan, pulse);
        }
        if let Some(few) = &plan.few {
            pulse.count(self.live.len() * plan.basis.work())?;
            dispatch!(level, simd => self.solve_few(simd, plan, few));
            self.live.retain(|&i| self.states[i].status.is_none());
        }
        if plan.overlooks {
            dispatch!(level, simd => self.solve_overlooking(simd, plan, pulse));
            self.live.retain(|&i| self.states[i].status.is_none());
        }
        dispatch!(level, simd => self.begin(simd, plan, pulse));
        let mut round = 1;
        while !self.live.is_empty() {
            round += 1;
            // Also after a small problem was left half solved, as nobody wants its solution.
            pulse.count(self.live.len() * plan.basis.work())?;
            dispatch!(level, simd => self.correlate_residuals(simd, plan));
            // What the last round has solved is still certified.
            dispatch!(level, simd => self.certify_or_solve(simd, plan, round <= plan.coder.max_rounds, pulse));
            self.live.retain(|&i| self.states[i].status.is_none());
        }
        pulse.count(0)?;
        let width = plan.few.as_ref().map_or(0, Few::width);
        collect(plan.coder, (plan.basis, samples), range, pulse, |i| {
            let state = &self.states[i];
            let code = if state.is_side_by_side {
                Code::Sorted(&self.side_by_side[i * width..][..width])
            } else {
                Code::Support(&state.active.atoms, &state.active.coefficients)
            };
            (code, self.scales[i], state.status, (state.rounds, state.gap))
        })
    }

    #[inline(always)]
    fn load<S: Simd>(&mut self, _: S, samples: &Samples<'_, T>, range: Range<usize>) -> Result<()> {
        samples.load(range.clone(), &mut self.x, &mut self.scales)?;
        self.live.clear();
        self.live.extend(0..range.len());
        for (i, sample) in range.enumerate() {
            let state = &mut self.states[i];
            state.active.clear();
            (state.gap, state.rounds, state.status, state.is_side_by_side) = (0.0, 0, None, false);
            state.energy = energy(self.x.padded(i));
            state.excluded = samples.excluded_atom(sample);
            if samples.is_masked() {
                let masks = self.masks.get_or_insert_with(|| Columns::zeros(self.x.rows(), self.x.count()));
                samples.load_mask(sample, masks.padded_mut(i));
            }
        }
        Ok(())
    }

    /// Codes samples side by side, where all but their numbers is alike; most are finished by it.
    #[inline(always)]
    fn solve_few<S: Simd>(&mut self, simd: S, plan: &Plan<'b, T>, few: &Few) {
        let nonnegative = plan.coder.nonnegative;
        match few {
            Few::TwoFeatures(features) => self.solve_lanes(plan, few, features.lanes(simd, nonnegative)),
            Few::ThreeFeatures(features) => self.solve_lanes(plan, few, features.lanes(simd, nonnegative)),
            Few::FourFeatures(features) => self.solve_lanes(plan, few, features.lanes(simd, nonnegative)),
            Few::EightFeatures(features) => self.solve_lanes(plan, few, features.lanes(simd, nonnegative)),
            Few::Atoms(atoms) => self.solve_lanes(plan, few, atoms.lanes(simd, nonnegative)),
        }
    }

    /// The same in these lanes.
    #[inline(always)]
    fn solve_lanes<S: Simd>(&mut self, plan: &Plan<'b, T>, few: &Few, mut lanes: impl Lanes<S>) {
        let enough = small_enough::<T>(plan.coder.tolerance);
        // Where an atom is excluded, not all is alike.
        let alike: Vec<usize> = self.live.iter().copied().filter(|&i| self.states[i].excluded.is_none()).collect();
        for samples in alike.chunks(S::f64s::LEN) {
            let x = |lane: usize, row: usize| samples.get(lane).map_or(0.0, |&i| self.x.column(i)[row].to_f64());
            let largest = lanes.load(x);
            let (mut mu, mut slacks) = ([0.0; MOST_LANES], [0.0; MOST_LANES]);
            for (lane, &i) in samples.iter().enumerate() {
                self.states[i].start(plan.penalty(self.scales[i]), largest[lane]);
                mu[lane] = self.states[i].mu;
                slacks[lane] = slack::<f64>(mu[lane], plan.coder.tolerance);
            }
            let gaps = lanes.solve::<T>((&mu, &slacks), enough);
            for (lane, &i) in samples.iter().enumerate() {
                let state = &mut self.states[i];
                if gaps[lane] <= enough {
                    (state.gap, state.rounds, state.status) = (gaps[lane], 1, Some(SampleStatus::Converged));
                    state.is_side_by_side = true;
                    lanes.code(lane, &mut self.side_by_side[i * few.width()..][..few.width()]);
                }
            }
        }
    }

    /// The first solution where all atoms can be seen at once; most samples are finished by it.
    #[inline(always)]
    fn solve_overlooking<S: Simd>(&mut self, simd: S, plan: &Plan<'b, T>, pulse: &Pulse<'_>) {
        if self.live.is_empty() {
            return;
        }
        let (level, rows, room) = (simd.level(), self.x.rows(), self.states.len());
        let fresh = || (Tiles::new(rows, room), Store::new(plan.basis.raw(), room));
        let (tiles, correlations) = self.correlations.get_or_insert_with(fresh);
        tiles.clear();
        self.live.iter().for_each(|&i| tiles.push(self.x.column(i)));
        correlate(plan.basis.raw(), tiles, correlations);
        let tolerance = plan.coder.tolerance;
        for (slot, &i) in self.live.iter().enumerate() {
            let (x, state) = (self.x.padded(i), &mut self.states[i]);
            if state.excluded.is_some() {
                continue;
            }
            let overview = Overview {
                basis: plan.basis,
                correlations: correlations.of(slot),
                largest: plan.coder.largest(),
                level,
            };
            let penalty = plan.penalty(self.scales[i]);
            let largest = overview.largest();
            state.start(penalty, largest);
            state.rounds = 1;
            let goal = Goal::new::<T>(penalty, tolerance, state.energy);
            if largest <= state.mu && goal.is_reached(state, x) {
                let largest = largest + overview.error(0.0, 0, state.energy.sqrt());
                state.gap = relative_gap((x, state.energy), x, state.mu, 0.0, largest);
                if state.gap <= small_enough::<T>(tolerance) {
                    state.status = Some(SampleStatus::Converged);
                    continue;
                }
            }
            let problem = Problem { overview: Some(overview), ..plan.problem((x, state.energy), None, pulse) };
            self.work.residual.copy_from_slice(x);
            goal.solve(level, &problem, state, tolerance, &mut self.work);
            if state.give_up_if_diverged(x, &mut self.work.residual) {
                self.work.overlooking.outside = f64::INFINITY;
            }
            let inside = state.active.largest_correlation(simd, &problem, &mut self.work);
            let outside = self.work.overlooking.outside
                + overview.error(state.active.penalty(), state.active.atoms.len(), state.energy.sqrt());
            let residual = &self.work.residual;
            state.gap =
                relative_gap((x, state.energy), residual, state.mu, state.active.penalty(), inside.max(outside));
            if state.gap <= small_enough::<T>(tolerance) && goal.is_reached(state, residual) {
                state.status = Some(SampleStatus::Converged);
            }
            self.residuals.padded_mut(i).copy_from_slice(residual);
        }
    }

    /// The first pass and solution of the samples that have none yet: of each class of atoms the one with the largest
    /// correlation is a candidate.
    #[inline(always)]
    fn begin<S: Simd>(&mut self, simd: S, plan: &Plan<'b, T>, pulse: &Pulse<'_>) {
        let fresh: Vec<usize> = self.live.iter().copied().filter(|&i| self.states[i].rounds == 0).collect();
        if fresh.is_empty() {
            return;
        }
        let passes = self.passes.get_or_insert_with(|| Passes::new(plan, self.states.len()));
        passes.tiles.clear();
        passes.maxima.clear();
        for (slot, &i) in fresh.iter().enumerate() {
            if plan.free.is_empty() {
                self.residuals.padded_mut(i).copy_from_slice(self.x.padded(i));
            }
            passes.push(simd, self.residuals.padded(i), &mut self.states[i]);
            passes.maxima.exclude(slot, self.states[i].excluded);
        }
        correlate_coarsely(plan.panels(), &passes.tiles, &mut passes.maxima);
        if matches!(plan.coder.penalty, Penalty::Relative(_)) {
            // Here the largest of all has to be known exactly, so the atoms that may have it are looked for.
            for slot in 0..fresh.len() {
                passes.marks.limit(slot, f64::from(passes.maxima.largest(slot)) - plan.panels().largest_error());
            }
            correlate_coarsely(plan.panels(), &passes.tiles, &mut passes.marks);
        }
        for (slot, &i) in fresh.iter().enumerate() {
            self.solve_first(simd, plan, (slot, i), pulse);
        }
        self.live.retain(|&i| self.states[i].status.is_none());
    }

    /// The first solution of sample i, which was in this slot of the first pass.
    #[inline(always)]
    fn solve_first<S: Simd>(&mut self, simd: S, plan: &Plan<'b, T>, (slot, i): (usize, usize), pulse: &Pulse<'_>) {
        let Some(passes) = &self.passes else { return };
        let (x, state) = (self.x.padded(i), &mut self.states[i]);
        self.work.residual.copy_from_slice(self.residuals.padded(i));
        let problem = plan.problem((x, state.energy), self.masks.as_ref().map(|masks| masks.padded(i)), pulse);
        let largest = if matches!(plan.coder.penalty, Penalty::Relative(_)) {
            state.find_candidates(&passes.marks, slot, &mut self.work);
            largest_of_candidates(simd, &problem, &mut self.work)
        } else {
            // A bound on it will do.
            (f64::from(passes.maxima.largest(slot)) + plan.panels().largest_error()) * state.norm
        };
        state.start(plan.penalty(self.scales[i]), largest);
        state.rounds = 1;
        state.gap = relative_gap((x, state.energy), &self.work.residual, state.mu, state.active.penalty(), largest);
        let goal = Goal::new::<T>(plan.penalty(self.scales[i]), plan.coder.tolerance, state.energy);
        if goal.is_reached(state, &self.work.residual) && state.gap <= small_enough::<T>(plan.coder.tolerance) {
            state.status = Some(SampleStatus::Converged);
            return;
        }
        self.work.candidates.clear();
        let least = (HARVEST * state.mu / state.norm) as f32;
        passes.maxima.above(simd, slot, least, |atom, _| {
            if !state.active.atoms.contains(&(atom as u32)) {
                self.work.candidates.push(atom as u32);
            }
        });
        goal.solve(simd.level(), &problem, state, plan.coder.tolerance, &mut self.work);
        if state.give_up_if_diverged(x, &mut self.work.residual) {
            state.gap = relative_gap((x, state.energy), x, state.mu, 0.0, state.mu_max);
            state.status = Some(SampleStatus::PrecisionLimit);
        }
        self.residuals.padded_mut(i).copy_from_slice(&self.work.residual);
    }

    /// One pass of the live residuals over the whole dictionary.
    #[inline(always)]
    fn correlate_residuals<S: Simd>(&mut self, simd: S, plan: &Plan<'b, T>) {
        let passes = self.passes.get_or_insert_with(|| Passes::new(plan, self.states.len()));
        passes.tiles.clear();
        for (slot, &i) in self.live.iter().enumerate() {
            let state = &mut self.states[i];
            passes.push(simd, self.residuals.padded(i), state);
            passes.marks.limit(slot, HARVEST * state.mu / state.norm);
        }
        correlate_coarsely(plan.panels(), &passes.tiles, &mut passes.marks);
    }

    /// Atoms of weight zero are in every support, so they come first: least squares on them alone.
    fn fit_free_atoms(&mut self, plan: &Plan<'b, T>, pulse: &Pulse<'_>) {
        let level = best_level();
        for i in 0..self.live.len() {
            let state = &mut self.states[i];
            self.work.candidates.clear();
            self.work.candidates.extend(plan.free.iter().filter(|j| state.excluded != Some(**j as usize)));
            self.work.residual.copy_from_slice(self.x.padded(i));
            let mask = self.masks.as_ref().map(|masks| masks.padded(i));
            let problem = plan.problem((self.x.padded(i), state.energy), mask, pulse);
            state.active.solve(level, &problem, (0.0, 0.0), &mut self.work);
            self.residuals.padded_mut(i).copy_from_slice(&self.work.residual);
        }
    }

    /// Finishes the samples whose gap is small enough; gives the others what they miss and solves again, if they may go on.
    #[inline(always)]
    fn certify_or_solve<S: Simd>(&mut self, simd: S, plan: &Plan<'b, T>, go_on: bool, pulse: &Pulse<'_>) {
        let Some(passes) = &self.passes else { return };
        let level = simd.level();
        let tolerance = plan.coder.tolerance;
        for (slot, &i) in self.live.iter().enumerate() {
            let (x, residual) = (self.x.padded(i), self.residuals.padded(i));
            let state = &mut self.states[i];
            let mask = self.masks.as_ref().map(|masks| masks.padded(i));
            let problem = plan.problem((x, state.energy), mask, pulse);
            self.work.residual.copy_from_slice(residual);
            let inside = state.active.largest_correlation(simd, &problem, &mut self.work);
            state.find_candidates(&passes.marks, slot, &mut self.work);
            let outside = largest_of_candidates(simd, &problem, &mut self.work);
            let largest = inside.max(outside);
            let before = state.gap;
            state.rounds += usize::from(go_on);
            state.gap = relative_gap((x, state.energy), residual, state.mu, state.active.penalty(), largest);
            let goal = Goal::new::<T>(plan.penalty(self.scales[i]), tolerance, state.energy);
            let reached = goal.is_reached(state, residual);
            if reached && state.gap <= small_enough::<T>(tolerance) {
                state.status = Some(SampleStatus::Converged);
                continue;
            }
            let within = (reached && state.gap <= tolerance).then_some(SampleStatus::Converged);
            if !go_on {
                state.status = within.or(Some(SampleStatus::IterationLimit));
                continue;
            }
            let news = outside > state.mu + slack::<T>(state.mu, tolerance) || state.wants_smaller_mu;
            if !news && state.rounds > 2 && state.gap >= 0.5 * before {
                // Nothing violates and the last solution was not better: this is the best there is.
                let unreachable = goal.is_out_of_reach(state, residual);
                let status = if unreachable { SampleStatus::Unreachable } else { SampleStatus::PrecisionLimit };
                state.status = within.or(Some(status));
                continue;
            }
            keep_largest(&problem, NEWCOMERS, &mut self.work);
            goal.solve(level, &problem, state, tolerance, &mut self.work);
            if state.give_up_if_diverged(x, &mut self.work.residual) {
                state.gap = relative_gap((x, state.energy), x, state.mu, 0.0, state.mu_max);
                state.status = Some(SampleStatus::PrecisionLimit);
            }
            self.residuals.padded_mut(i).copy_from_slice(&self.work.residual);
        }
    }
}

impl Passes {
    fn new<T: Scalar>(plan: &Plan<'_, T>, room: usize) -> Self {
        Self {
            tiles: CoarseTiles::new(plan.basis.n_features(), room),
            maxima: Maxima::new(plan.panels().shape(), room, CLASSES, plan.coder.largest()),
            marks: Marks::new(plan.panels(), room, plan.coder.largest()),
        }
    }

    /// Puts a residual into the next slot of the pass.
    #[inline(always)]
    fn push<S: Simd, T: Scalar>(&mut self, simd: S, residual: &[T], state: &mut State) {
        state.norm = energy(residual).sqrt();
        self.tiles.push(simd, residual, state.norm);
    }
}

impl<'b, T: Scalar> Plan<'b, T> {
    /// The penalty in terms of the tamed atoms, their weights and a sample divided by `scale`.
    fn penalty(&self, scale: f64) -> Penalty {
        match self.coder.penalty {
            Penalty::Lambda(lambda) => Penalty::Lambda(lambda / scale * self.unit),
            Penalty::Relative(fraction) => Penalty::Relative(fraction),
            Penalty::Error(error) => Penalty::Error(error / scale / scale),
            Penalty::L1Norm(norm) => Penalty::L1Norm(norm / scale / self.unit),
        }
    }

    fn problem<'p>(
        &'p self,
        (x, energy): (&'p [T], f64),
        mask: Option<&'p [T]>,
        pulse: &'p Pulse<'p>,
    ) -> Problem<'p, 'b, T> {
        Problem {
            columns: self.basis.columns(),
            x,
            mask,
            weights: self.weights.as_deref(),
            nonnegative: self.coder.nonnegative,
            ridge: 0.0,
            overview: None,
            floor: 0.25 * T::EPSILON.to_f64() * energy.sqrt(),
            pulse,
        }
    }
}

/// The largest correlation of a candidate with the residual, in units of its weight. The products stay in the working space.
#[inline(always)]
fn largest_of_candidates<'b, S: Simd, T: Scalar>(simd: S, problem: &Problem<'_, 'b, T>, work: &mut Work<'b, T>) -> f64 {
    dots(simd, problem.columns, &work.candidates, &work.residual, &mut work.products);
    let sizes = work.candidates.iter().zip(&work.products).map(|(&atom, &c)| size_of_product(problem, atom, c));
    sizes.fold(0.0, f64::max)
}

/// What counts of the product of an atom with the residual, in units of the atom's weight.
#[inline(always)]
fn size_of_product<T: Scalar>(problem: &Problem<'_, '_, T>, atom: u32, product: T) -> f64 {
    let size = if problem.nonnegative { product.to_f64() } else { product.to_f64().abs() };
    problem.weights.map_or(size, |weights| size * inverse(weights[atom as usize]))
}

/// Keeps only so many of the candidates, those with the largest products.
fn keep_largest<T: Scalar>(problem: &Problem<'_, '_, T>, count: usize, work: &mut Work<'_, T>) {
    if work.candidates.len() > count {
        let products = work.candidates.iter().zip(&work.products);
        let mut order: Vec<(f64, u32)> =
            products.map(|(&atom, &c)| (size_of_product(problem, atom, c), atom)).collect();
        order.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        work.candidates.clear();
        work.candidates.extend(order[..count].iter().map(|(_, atom)| *atom));
    }
}

impl State {
    /// Makes candidates of the marked atoms that are not in the support.
    #[inline(always)]
    fn find_candidates<T: Scalar>(&self, marks: &Marks, slot: usize, work: &mut Work<'_, T>) {
        work.candidates.clear();
        marks.of(slot, |j| {
            if self.excluded != Some(j as usize) && !self.active.atoms.contains(&j) {
                work.candidates.push(j);
            }
        });
    }

    /// Goes back to the zero code if rounding has made the coefficients infinite; `true` if it had.
    fn give_up_if_diverged<T: Scalar>(&mut self, x: &[T], residual: &mut [T]) -> bool {
        let diverged = !self.active.penalty().is_finite();
        if diverged {
            self.active.clear();
            residual.copy_from_slice(x);
        }
        diverged
    }

    fn start(&mut self, penalty: Penalty, largest: f64) {
        self.mu_max = largest;
        self.mu = match penalty {
            Penalty::Lambda(lambda) => 0.5 * lambda,
            Penalty::Relative(fraction) => fraction * largest,
            Penalty::Error(error) if error >= self.energy => largest,
            // A guess between nothing and everything; the solution corrects it.
            Penalty::Error(_) | Penalty::L1Norm(_) => 0.5 * largest,
        };
    }
}

/// The gap that is sure to be within the tolerance although it was computed from rounded residuals and correlations.
fn small_enough<T: Scalar>(tolerance: f64) -> f64 {
    tolerance - (2.0 * T::EPSILON.to_f64()).min(0.25 * tolerance)
}

/// ‖v‖².
#[inline(always)]
pub(super) fn energy<T: Scalar>(values: &[T]) -> f64 {
    product(values, values)
}
