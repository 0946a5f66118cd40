//! The exact solution of the lasso on a few candidate atoms, by an active-set method.
//!
//! On a support S with signs θ the minimum of ½‖x − Da‖² + μ‖a‖₁ solves D_SᵀD_S a = D_Sᵀx − μθ. The method walks from one
//! such minimum to the next: the candidate whose correlation with the residual exceeds μ the most enters; the
//! coefficients move towards the minimum on the new support; a coefficient that would change its sign on the way stops
//! the move, leaves, and the rest goes on. Each move lowers the objective, so no support occurs twice.
//!
//! Every step starts from a fresh residual of the coefficients *as they will be returned*, so the inverse below only has
//! to be good enough to point the way and rounding errors do not add up.

use fearless_simd::prelude::*;

use super::inverse::Inverse;
use crate::kernels::{Columns, axpy, dot, dots, subtract_combination};
use crate::scalar::Scalar;

/// What is to be approximated by what.
pub(super) struct Problem<'a, T> {
    pub(super) columns: &'a Columns<T>,
    /// The sample, padded, zero where it was not observed.
    pub(super) x: &'a [T],
    /// Ones where it was observed, padded; `None` if everywhere.
    pub(super) mask: Option<&'a [T]>,
    /// The factor on μ for each atom; `None` for all ones.
    pub(super) weights: Option<&'a [f64]>,
    pub(super) nonnegative: bool,
}

impl<T: Scalar> Problem<'_, T> {
    #[inline(always)]
    pub(super) fn weight(&self, atom: u32) -> f64 {
        self.weights.map_or(1.0, |weights| weights[atom as usize])
    }
}

/// A support, its coefficients and signs, and the inverse of its Gram matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveSet {
    pub(super) atoms: Vec<u32>,
    pub(super) coefficients: Vec<f64>,
    /// The weight of the atom with the sign of its coefficient, so that μ times it is the wanted correlation.
    pull: Vec<f64>,
    inverse: Inverse,
    /// The inverse has seen a nearly dependent atom and must be made anew when one leaves.
    shaky: bool,
}

/// One thread's working space for active sets.
#[derive(Debug, Clone)]
pub(super) struct Work<T> {
    /// Atoms that may enter.
    pub(super) candidates: Vec<u32>,
    /// The residual of the last solution, padded, zero where the sample was not observed.
    pub(super) residual: Vec<T>,
    /// The correlations of the support, then of the candidates, with the residual.
    correlations: Vec<T>,
    products: Vec<T>,
    vector: Vec<T>,
    gram: Vec<f64>,
    right: Vec<f64>,
    change: Vec<f64>,
}

impl<T: Scalar> Work<T> {
    pub(super) fn new(stride: usize) -> Self {
        Self {
            candidates: Vec::new(),
            residual: vec![T::ZERO; stride],
            correlations: Vec::new(),
            products: Vec::new(),
            vector: vec![T::ZERO; stride],
            gram: Vec::new(),
            right: Vec::new(),
            change: Vec::new(),
        }
    }
}

/// An atom this close to the span of the support (relative, squared) counts as lying in it.
fn dependence_floor<T: Scalar>() -> f64 {
    64.0 * T::EPSILON.to_f64().powi(2)
}

impl ActiveSet {
    /// Forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.atoms.clear();
        self.coefficients.clear();
        self.pull.clear();
        self.inverse.clear();
        self.shaky = false;
    }

    /// Σ w_j|a_j|.
    #[inline(always)]
    pub(super) fn penalty(&self) -> f64 {
        self.coefficients.iter().zip(&self.pull).map(|(a, p)| (a * p).abs()).sum()
    }

    /// θᵀ(D_SᵀD_S)⁻¹θ: how fast correlations of the support make the residual grow with μ.
    #[inline(always)]
    pub(super) fn growth<S: Simd>(&self, simd: S, space: &mut Vec<f64>) -> f64 {
        self.inverse.apply(simd, &self.pull, space);
        space.iter().zip(&self.pull).map(|(a, b)| a * b).sum()
    }

    /// Moves to the minimum over the support and the candidates of `work`, whose residual is then that of the minimum.
    ///
    /// Stops when no correlation is off by more than `slack`, or where rounding allows no better.
    #[inline(always)]
    pub(super) fn solve<S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, T>,
        (mu, slack): (f64, f64),
        work: &mut Work<T>,
    ) {
        let most_steps = 50 + 8 * (self.atoms.len() + work.candidates.len());
        let mut corrections = 0;
        for _ in 0..most_steps {
            self.update_residual(simd, problem, work);
            work.correlations.clear();
            dots(simd, problem.columns, &self.atoms, &work.residual, &mut work.correlations);
            dots(simd, problem.columns, &work.candidates, &work.residual, &mut work.correlations);
            let off = self.right_side(mu, work);
            if let Some((place, excess)) = most_violating(problem, mu, self.atoms.len(), work)
                && excess > slack
            {
                self.enter(simd, problem, mu, place, work);
                corrections = 0;
            } else if off <= slack || corrections == 2 {
                return;
            } else {
                corrections += 1;
            }
            self.advance(simd, problem, work);
        }
    }

    /// residual = x − D_S a with the coefficients rounded as they will be returned.
    #[inline(always)]
    fn update_residual<S: Simd, T: Scalar>(&self, simd: S, problem: &Problem<'_, T>, work: &mut Work<T>) {
        let terms = self.atoms.iter().zip(&self.coefficients).map(|(&atom, &a)| (atom, T::from_f64(a)));
        subtract_combination(simd, problem.columns, terms, problem.x, &mut work.residual);
        if let Some(mask) = problem.mask {
            work.residual.iter_mut().zip(mask).for_each(|(r, &m)| *r = *r * m);
        }
    }

    /// right = D_Sᵀr − μθ, which is zero at the minimum on S; returns its largest magnitude.
    #[inline(always)]
    fn right_side<T: Scalar>(&self, mu: f64, work: &mut Work<T>) -> f64 {
        work.right.clear();
        work.right.extend(work.correlations.iter().zip(&self.pull).map(|(c, pull)| c.to_f64() - mu * pull));
        work.right.iter().fold(0.0, |largest, value| value.abs().max(largest))
    }

    /// Takes a candidate into the support with coefficient zero.
    #[inline(always)]
    fn enter<S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, T>, mu: f64, place: usize, work: &mut Work<T>) {
        let correlation = work.correlations[self.atoms.len() + place].to_f64();
        let atom = work.candidates.swap_remove(place);
        let pull = problem.weight(atom).copysign(correlation);
        if self.border(simd, problem, atom, work) {
            work.right.push(correlation - mu * pull);
            self.push(atom, 0.0, pull);
        } else if let Some(coefficient) = self.exchange(simd, problem, pull.signum(), work)
            && self.border(simd, problem, atom, work)
        {
            // The residual is as it was: the newcomer took over what the leaving atom and the others gave up.
            work.right.push(0.0);
            self.push(atom, coefficient, pull);
        }
    }

    fn push(&mut self, atom: u32, coefficient: f64, pull: f64) {
        self.atoms.push(atom);
        self.coefficients.push(coefficient);
        self.pull.push(pull);
    }

    /// Adds an atom to the inverse; `false` if it lies in the span of the support, which leaves the inverse as it was.
    ///
    /// Either way `work.change` holds its coordinates in the support.
    #[inline(always)]
    fn border<S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, T>, atom: u32, work: &mut Work<T>) -> bool {
        work.vector.copy_from_slice(problem.columns.padded(atom as usize));
        if let Some(mask) = problem.mask {
            work.vector.iter_mut().zip(mask).for_each(|(d, &m)| *d = *d * m);
        }
        let own = dot(simd, &work.vector, &work.vector).to_f64();
        work.products.clear();
        dots(simd, problem.columns, &self.atoms, &work.vector, &mut work.products);
        work.gram.clear();
        work.gram.extend(work.products.iter().map(|g| g.to_f64()));
        self.inverse.apply(simd, &work.gram, &mut work.change);
        let mut schur = own - work.gram.iter().zip(&work.change).map(|(g, u)| g * u).sum::<f64>();
        if schur < 0.01 * own {
            // The difference has lost its digits; the distance to the span, squared, has not.
            for (&member, &u) in self.atoms.iter().zip(&work.change) {
                axpy(simd, T::from_f64(-u), problem.columns.padded(member as usize), &mut work.vector);
            }
            if let Some(mask) = problem.mask {
                work.vector.iter_mut().zip(mask).for_each(|(d, &m)| *d = *d * m);
            }
            schur = dot(simd, &work.vector, &work.vector).to_f64();
        }
        if schur <= own * dependence_floor::<T>() {
            return false;
        }
        self.shaky |= schur < 1e-8 * own;
        self.inverse.border(simd, &work.change, schur);
        true
    }

    /// Makes room for an atom in the span of the support, whose coordinates are `work.change`.
    ///
    /// Moving weight onto it along those coordinates leaves the residual alone and lowers ‖a‖₁ until a coefficient
    /// reaches zero; that atom leaves. Returns the newcomer's coefficient, or `None` if nothing can make room.
    #[inline(always)]
    fn exchange<S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, T>,
        sign: f64,
        work: &mut Work<T>,
    ) -> Option<f64> {
        let (leaving, weight) = (0..self.atoms.len())
            .filter(|&i| self.coefficients[i] * sign * work.change[i] > 0.0 && self.pull[i].abs() > 0.0)
            .map(|i| (i, self.coefficients[i] / (sign * work.change[i])))
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        for (a, u) in self.coefficients.iter_mut().zip(&work.change) {
            *a -= weight * sign * u;
        }
        self.leave(simd, problem, leaving, work);
        Some(weight * sign)
    }

    /// Moves the coefficients to the minimum on the support, dropping those whose sign would change on the way.
    #[inline(always)]
    fn advance<S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, T>, work: &mut Work<T>) {
        while !self.atoms.is_empty() {
            self.inverse.apply(simd, &work.right, &mut work.change);
            let mut step = 1.0;
            let mut blocking = None;
            for (i, ((&a, &change), &pull)) in self.coefficients.iter().zip(&work.change).zip(&self.pull).enumerate() {
                let crosses = (a + change) * pull < 0.0;
                if crosses && a / -change < step {
                    step = a / -change;
                    blocking = Some(i);
                }
            }
            for (a, change) in self.coefficients.iter_mut().zip(&work.change) {
                *a += step * change;
            }
            let Some(blocking) = blocking else { return };
            // Along the way the right side shrinks in proportion, so it need not be computed again.
            work.right.iter_mut().for_each(|value| *value *= 1.0 - step);
            self.leave(simd, problem, blocking, work);
        }
    }

    /// Takes an atom out of the support and makes it a candidate again.
    #[inline(always)]
    fn leave<S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, T>, place: usize, work: &mut Work<T>) {
        work.candidates.push(self.atoms.swap_remove(place));
        self.coefficients.swap_remove(place);
        self.pull.swap_remove(place);
        work.right.swap_remove(place);
        self.inverse.remove(simd, place);
        if self.shaky {
            self.rebuild(simd, problem, work);
        }
    }

    /// Makes the inverse anew.
    #[inline(never)]
    fn rebuild<S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, T>, work: &mut Work<T>) {
        let members = std::mem::take(&mut self.atoms);
        self.inverse.clear();
        self.shaky = false;
        for atom in members {
            // An atom that turns out dependent keeps its coefficient for now: the identity row holds it in place.
            if !self.border(simd, problem, atom, work) {
                let none = vec![0.0; self.atoms.len()];
                self.inverse.border(simd, &none, f64::INFINITY);
            }
            self.atoms.push(atom);
        }
    }
}

/// The candidate whose correlation exceeds what is allowed the most, and by how much.
#[inline(always)]
fn most_violating<T: Scalar>(problem: &Problem<'_, T>, mu: f64, support: usize, work: &Work<T>) -> Option<(usize, f64)> {
    let mut worst: Option<(usize, f64)> = None;
    for (place, (&atom, c)) in work.candidates.iter().zip(&work.correlations[support..]).enumerate() {
        let size = if problem.nonnegative { c.to_f64() } else { c.to_f64().abs() };
        let excess = size - mu * problem.weight(atom);
        if worst.is_none_or(|(_, most)| excess > most) {
            worst = Some((place, excess));
        }
    }
    worst
}
