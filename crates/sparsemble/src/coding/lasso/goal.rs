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
        // Both the error and the norm are monotone in μ, so every solution halves, or better, where it can lie.
        let (mut low, mut high) = (SMALLEST_MU * state.mu_max, state.mu_max);
        for _ in 0..60 {
            if self.is_reached(state, &work.residual) {
                return;
            }
            if self.wants_smaller(state, &work.residual) {
                high = state.mu;
            } else {
                low = state.mu;
            }
            if high <= low * (1.0 + 1e-12) {
                return;
            }
            let guess = self.guess(level, state, &work.residual);
            state.mu = if guess > low && guess < high { guess } else { (low * high).sqrt() };
            if high < low * 1.001 && state.mu <= SMALLEST_MU * state.mu_max * 1.001 {
                state.mu = SMALLEST_MU * state.mu_max;
            }
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

    /// On a fixed support ‖r‖² = e + μ²h and Σ w|a| = b − μh with h the growth, so the wanted μ is known in closed form.
    fn guess<T: Scalar>(&self, level: Level, state: &State, residual: &[T]) -> f64 {
        let growth = dispatch!(level, simd => state.active.growth(simd, &mut Vec::new()));
        match *self {
            Self::Given => state.mu,
            Self::Error { target, leeway, .. } => {
                let least = energy(residual) - state.mu * state.mu * growth;
                ((target - 0.5 * leeway - least).max(0.0) / growth).sqrt()
            }
            Self::L1Norm { target, leeway, .. } => state.mu + (state.active.penalty() - target + 0.5 * leeway) / growth,
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
