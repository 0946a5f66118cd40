//! What μ has to achieve, and the search for the one that does.

use fearless_simd::{Level, dispatch};

use super::Penalty;
use super::active_set::{Problem, Work};
use super::rounds::{State, energy};
use crate::scalar::Scalar;

/// What a sample's μ has to achieve.
///
/// A constraint is met if it is exceeded by no more than `leeway`, and it is met *well enough* if falling short of it
/// costs no more than `shortfall`: what a constrained problem loses is at most the gap plus λ times the unused norm, or the
/// unused error.
pub(super) enum Goal {
    /// Nothing: μ is given.
    Given,
    /// ‖r‖² = `target`.
    Error { target: f64, leeway: f64, shortfall: f64 },
    /// Σ w|a| = `target`.
    L1Norm { target: f64, leeway: f64, shortfall: f64 },
}

/// μ is sought down to this fraction of the one that gives the zero code; what needs a smaller one is out of reach.
const SMALLEST_MU: f64 = 1e-7;

/// The search goes down to this fraction of the smallest μ tried so far, and not further, at first.
const LONGEST_FALL: f64 = 0.25;

/// So near to the μ that was tried, the support is likely to be the same.
const NEAR: f64 = 0.8;

impl Goal {
    pub(super) fn new<T: Scalar>(penalty: Penalty, tolerance: f64, sample_energy: f64) -> Self {
        let shortfall = tolerance * sample_energy;
        // As good as the number type allows, but no better than the target itself calls for.
        let leeway =
            |size: f64, target: f64| (64.0 * T::EPSILON.to_f64() * size).max((0.01 * shortfall).min(1e-3 * target));
        match penalty {
            Penalty::Lambda(_) | Penalty::Relative(_) => Self::Given,
            Penalty::Error(target) => Self::Error { target, leeway: leeway(sample_energy, target), shortfall },
            Penalty::L1Norm(target) => {
                Self::L1Norm { target, leeway: (64.0 * T::EPSILON.to_f64()).max(1e-10) * target, shortfall }
            }
        }
    }

    /// Whether the constraint holds, with equality where it binds.
    #[inline(always)]
    pub(super) fn is_reached<T: Scalar>(&self, state: &State, residual: &[T]) -> bool {
        match *self {
            Self::Given => true,
            Self::Error { target, leeway, shortfall } => {
                let unused = target - energy(residual);
                unused >= -leeway && (state.active.atoms.is_empty() || unused <= shortfall.max(2.0 * leeway))
            }
            Self::L1Norm { target, leeway, shortfall } => {
                let unused = target - state.active.penalty();
                // With next to no penalty left the constraint does not bind.
                let cheap = unused <= 2.0 * leeway || 2.0 * state.mu * unused <= shortfall;
                unused >= -leeway && (cheap || is_smallest(state))
            }
        }
    }

    /// Whether no μ can reach it: the error is still too large with all the atoms that help.
    pub(super) fn is_out_of_reach<T: Scalar>(&self, state: &State, residual: &[T]) -> bool {
        matches!(*self, Self::Error { target, leeway, .. } if is_smallest(state) && energy(residual) > target + leeway)
    }

    /// Solves on the candidates; where μ is not given, looks for the one that reaches the goal on them.
    pub(super) fn solve<'b, T: Scalar>(
        &self,
        level: Level,
        problem: &Problem<'_, 'b, T>,
        state: &mut State,
        tolerance: f64,
        work: &mut Work<'b, T>,
    ) {
        let slack = |mu: f64| slack::<T>(mu, tolerance);
        state.active.solve(level, problem, (state.mu, slack(state.mu)), work);
        if matches!(self, Self::Given) {
            return;
        }
        // Both the error and the norm are monotone in μ, so every solution narrows down where it can lie. A few candidates
        // may not do whatever μ is: it falls only so far before the next round looks for others.
        let smallest = SMALLEST_MU * state.mu_max;
        let smallest = if problem.overview.is_some() { smallest } else { smallest.max(LONGEST_FALL * state.mu) };
        state.wants_smaller_mu = false;
        let (mut low, mut high) = (smallest, state.mu_max);
        // Below the smallest μ tried so far codes have more and more atoms, so that going too far is dear. If it is far after
        // all, the steps become longer and longer.
        let mut fall = LONGEST_FALL;
        for _ in 0..60 {
            if self.is_reached(state, &work.residual) {
                return;
            }
            if self.wants_smaller(state, &work.residual) {
                high = state.mu;
                state.wants_smaller_mu = high <= smallest && !is_smallest(state);
            } else {
                low = state.mu;
            }
            if high <= low * (1.0 + 1e-12) {
                return;
            }
            let (on_support, by_slope) = self.guesses(level, state, work);
            state.mu = if low > smallest {
                if on_support > low && on_support < high { on_support } else { (low * high).sqrt() }
            } else if on_support >= NEAR * high && on_support < high {
                on_support
            } else if by_slope >= fall * high && by_slope < high {
                by_slope
            } else {
                let lowest = (fall * high).max(smallest);
                fall *= fall;
                lowest
            };
            state.active.solve(level, problem, (state.mu, slack(state.mu)), work);
        }
    }

    #[inline(always)]
    fn wants_smaller<T: Scalar>(&self, state: &State, residual: &[T]) -> bool {
        match *self {
            Self::Given => false,
            Self::Error { target, leeway, .. } => energy(residual) > target - 0.5 * leeway,
            Self::L1Norm { target, leeway, .. } => state.active.penalty() < target - 0.5 * leeway,
        }
    }

    /// The wanted μ, guessed in two ways.
    ///
    /// On a fixed support ‖r‖² = e + μ²h and Σ w|a| = b − μh with h the growth, so it is known in closed form. As μ falls atoms
    /// enter, and h grows: over a longer way, both are more like a power of μ with the slope they have here.
    fn guesses<T: Scalar>(&self, level: Level, state: &State, work: &mut Work<'_, T>) -> (f64, f64) {
        let mu = state.mu;
        let growth = dispatch!(level, simd => state.active.growth(simd, work));
        match *self {
            Self::Given => (mu, mu),
            Self::Error { target, leeway, .. } => {
                let (target, error) = (target - 0.5 * leeway, energy(&work.residual));
                let least = error - mu * mu * growth;
                let power = 2.0 * mu * mu * growth / error;
                (((target - least).max(0.0) / growth).sqrt(), mu * (target / error).powf(1.0 / power))
            }
            Self::L1Norm { target, leeway, .. } => {
                let (target, norm) = (target - 0.5 * leeway, state.active.penalty());
                let power = mu * growth / norm;
                (mu + (norm - target) / growth, mu * (norm / target).powf(1.0 / power))
            }
        }
    }
}

fn is_smallest(state: &State) -> bool {
    state.mu <= SMALLEST_MU * state.mu_max * (1.0 + 1e-6)
}

/// How far off a correlation may be without costing more of the gap than its share.
pub(super) fn slack<T: Scalar>(mu: f64, tolerance: f64) -> f64 {
    0.5 * mu * tolerance.max(T::EPSILON.to_f64())
}
