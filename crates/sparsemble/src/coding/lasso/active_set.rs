//! The exact solution of the lasso on a few candidate atoms, by an active-set method.
//!
//! On a support S with signs θ the minimum of ½‖x − Da‖² + μ‖a‖₁ solves D_SᵀD_S a = D_Sᵀx − μθ. The method walks from one
//! such minimum to the next: the candidate whose correlation with the residual exceeds μ the most enters; the
//! coefficients move towards the minimum on the new support; a coefficient that would change its sign on the way stops
//! the move, leaves, and the rest goes on. Each move lowers the objective, so no support occurs twice.
//! The ridge ½ρ‖a‖² of an elastic net adds ρ to the diagonal of D_SᵀD_S and nothing else.
//!
//! Every step starts from correlations computed afresh from the coefficients *as they will be returned*, by the residual or
//! by a Gram matrix ([`super::overview`]), so the inverse below only has to be good enough to point the way and rounding
//! errors do not add up.

use fearless_simd::{Level, dispatch, prelude::*};

use super::certificate::product;
use super::inverse::Inverse;
use super::overview::{self, Overview};
use crate::blocks::Pulse;
use crate::coding::basis::inverse;
use crate::kernels::{Best, Columns, axpy, dot, dots, subtract_combination};
use crate::scalar::Scalar;

/// An atom whose squared distance to the span of the support is less than this fraction of its energy is not for the view
/// of all atoms: the correlations of a Gram matrix are too coarse for what its coefficient may become.
const NEARLY_DEPENDENT: f64 = 1e-4;

/// What is to be approximated by what.
pub(super) struct Problem<'a, 'b, T> {
    pub(super) columns: &'b Columns<T>,
    /// The sample, padded, zero where it was not observed.
    pub(super) x: &'a [T],
    /// Ones where it was observed, padded; `None` if everywhere.
    pub(super) mask: Option<&'a [T]>,
    /// The factor on μ for each atom; `None` for all ones.
    pub(super) weights: Option<&'a [f64]>,
    pub(super) nonnegative: bool,
    /// ρ, zero for the lasso; only without a view of all atoms.
    pub(super) ridge: f64,
    /// A view of all atoms at once; without it only the candidates of the working space may enter.
    pub(super) overview: Option<Overview<'a, 'b, T>>,
    /// Correlations with the sample smaller than this are rounding errors.
    pub(super) floor: f64,
    /// What a walk counts its steps on; one that is interrupted ends anywhere.
    pub(super) pulse: &'a Pulse<'a>,
}

impl<T: Scalar> Problem<'_, '_, T> {
    /// Whether the walk may take another step with so many members.
    #[inline(always)]
    fn goes_on(&self, members: usize) -> bool {
        let length = self.columns.rows() + self.overview.map_or(0, |overview| overview.correlations.len());
        self.pulse.count(members * (members + length)).is_ok()
    }

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
#[derive(Debug)]
pub(super) struct Work<'b, T> {
    /// Atoms that may enter.
    pub(super) candidates: Vec<u32>,
    /// The residual of the last solution, padded, zero where the sample was not observed.
    pub(super) residual: Vec<T>,
    pub(super) products: Vec<T>,
    vector: Vec<T>,
    gram: Vec<f64>,
    right: Vec<f64>,
    change: Vec<f64>,
    pub(super) overlooking: overview::Space<'b, T>,
}

impl<T: Scalar> Work<'_, T> {
    pub(super) fn new(stride: usize) -> Self {
        Self {
            candidates: Vec::new(),
            residual: vec![T::ZERO; stride],
            products: Vec::new(),
            vector: vec![T::ZERO; stride],
            gram: Vec::new(),
            right: Vec::new(),
            change: Vec::new(),
            overlooking: overview::Space::new(),
        }
    }
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
    pub(super) fn growth<S: Simd, T: Scalar>(&self, simd: S, work: &mut Work<'_, T>) -> f64 {
        self.inverse.apply(simd, &self.pull, &mut work.change);
        work.change.iter().zip(&self.pull).map(|(a, b)| a * b).sum()
    }

    /// The largest correlation of a member with the residual of `work`, in units of its weight; members without weight do not
    /// count.
    #[inline(always)]
    pub(super) fn largest_correlation<'b, S: Simd, T: Scalar>(
        &self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        work: &mut Work<'b, T>,
    ) -> f64 {
        dots(simd, problem.columns, &self.atoms, &work.residual, &mut work.products);
        let sizes = work.products.iter().zip(&self.pull).map(|(c, pull)| (c.to_f64() * inverse(pull.abs())).abs());
        sizes.fold(0.0, f64::max)
    }

    /// Moves to the minimum over the support and the candidates of `work`; `work.residual` must be the residual before and
    /// is that of the minimum after.
    ///
    /// Stops when no correlation is off by more than `slack` times its weight, or where rounding allows no better.
    pub(super) fn solve<'b, T: Scalar>(
        &mut self,
        level: Level,
        problem: &Problem<'_, 'b, T>,
        limits: (f64, f64),
        work: &mut Work<'b, T>,
    ) {
        dispatch!(level, simd => self.walk(simd, problem, limits, work));
    }

    #[inline(always)]
    fn walk<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        (mu, slack): (f64, f64),
        work: &mut Work<'b, T>,
    ) {
        self.enter_view(problem, mu, work);
        // A support found at another μ has its own minimum to go to before anything enters.
        self.settle(simd, problem, (mu, 100.0 * slack), work);
        // Far more than it takes, for either kind of candidates.
        let most_members = if problem.overview.is_some() { problem.columns.rows() } else { work.candidates.len() };
        let most_steps = 50 + 8 * (self.atoms.len() + most_members);
        let mut corrections = 0;
        for _ in 0..most_steps {
            if !problem.goes_on(self.atoms.len()) {
                return;
            }
            let violating = match &problem.overview {
                Some(overview) => {
                    let support = (&self.atoms[..], &self.coefficients[..]);
                    overview.most_violating(support, mu + slack + problem.floor, &mut work.overlooking, &mut work.gram)
                }
                None => most_violating(simd, problem, (mu, slack), work),
            };
            if let Some((atom, correlation)) = violating {
                let entered = self.enter(simd, problem, (mu, correlation), atom, work);
                if !entered && problem.overview.is_some() {
                    // It would be chosen again and again; the next round sees to it.
                    self.update_residual(simd, problem, work);
                    return;
                }
                if problem.overview.is_none() {
                    self.update_residual(simd, problem, work);
                }
                corrections = 0;
                continue;
            }
            if problem.overview.is_some() {
                self.update_residual(simd, problem, work);
            }
            if self.settle(simd, problem, (mu, slack), work) {
                return;
            }
            // The view was of the coefficients before the correction.
            work.overlooking.outside = f64::INFINITY;
            if corrections == 2 {
                return;
            }
            corrections += 1;
        }
        self.update_residual(simd, problem, work);
    }

    /// Corrects the coefficients if a correlation of the support is off by more than `slack` times its weight; `true` if
    /// none was.
    #[inline(always)]
    fn settle<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        (mu, slack): (f64, f64),
        work: &mut Work<'b, T>,
    ) -> bool {
        if self.atoms.is_empty() {
            return true;
        }
        dots(simd, problem.columns, &self.atoms, &work.residual, &mut work.products);
        work.right.clear();
        let members = self.pull.iter().zip(&self.coefficients);
        let off = |(c, (pull, a)): (&T, (&f64, &f64))| c.to_f64() - problem.ridge * a - mu * pull;
        work.right.extend(work.products.iter().zip(members).map(off));
        if work.right.iter().zip(&self.pull).all(|(off, pull)| off.abs() <= slack * pull.abs() + problem.floor) {
            return true;
        }
        self.correct(simd, problem, work);
        self.update_residual(simd, problem, work);
        false
    }

    /// residual = x − D_S a with the coefficients rounded as they will be returned.
    #[inline(always)]
    fn update_residual<'b, S: Simd, T: Scalar>(&self, simd: S, problem: &Problem<'_, 'b, T>, work: &mut Work<'b, T>) {
        let terms = self.atoms.iter().zip(&self.coefficients).map(|(&atom, &a)| (atom, T::from_f64(a)));
        subtract_combination(simd, problem.columns, &terms, problem.x, &mut work.residual);
        if let Some(mask) = problem.mask {
            work.residual.iter_mut().zip(mask).for_each(|(r, &m)| *r *= m);
        }
    }

    /// Takes an atom into the support, with coefficient zero unless it replaces another, and moves to the minimum; `false`
    /// if there is no room. A view of all atoms offers no replacements: what leaves would be seen and come back.
    #[inline(always)]
    fn enter<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        (mu, correlation): (f64, f64),
        atom: u32,
        work: &mut Work<'b, T>,
    ) -> bool {
        let pull = problem.weight(atom).copysign(correlation);
        // The support is at its minimum: only the newcomer is off.
        work.right.clear();
        work.right.resize(self.atoms.len(), 0.0);
        let own = match &problem.overview {
            // The view has told the other products already.
            Some(overview) => overview.products_with(atom)[atom as usize].to_f64(),
            None => self.multiply(simd, problem, atom, work),
        };
        let (schur, coefficient) = if let Some(schur) = self.border(simd, problem, (atom, own), work) {
            (schur, 0.0)
        } else if problem.overview.is_some() {
            return false;
        } else {
            // Replacing another leaves the residual as it was: the newcomer takes over what the others give up.
            let Some(coefficient) = self.exchange(simd, problem, pull.signum(), work) else { return false };
            let own = self.multiply(simd, problem, atom, work);
            let Some(schur) = self.border(simd, problem, (atom, own), work) else { return false };
            (schur, coefficient)
        };
        // So the way to the next minimum is the last column of the inverse: the newcomer's coordinates in the support, with
        // the opposite sign.
        let off = correlation - mu * pull;
        let step = off / schur;
        work.change.truncate(self.atoms.len());
        work.change.iter_mut().for_each(|u| *u *= -step);
        work.change.push(step);
        work.right.push(off);
        self.atoms.push(atom);
        self.coefficients.push(coefficient);
        self.pull.push(pull);
        if let Some(overview) = &problem.overview {
            overview.enter(atom, pull, &mut work.overlooking);
        }
        if self.advance(simd, problem, work) {
            self.correct(simd, problem, work);
        }
        true
    }

    /// Writes the products of an atom with the members to `work.gram` and returns that with itself.
    #[inline(always)]
    fn multiply<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        atom: u32,
        work: &mut Work<'b, T>,
    ) -> f64 {
        let column = problem.columns.padded(atom as usize);
        let column = match problem.mask {
            None => column,
            Some(mask) => {
                work.vector.iter_mut().zip(column).zip(mask).for_each(|((out, &d), &m)| *out = d * m);
                &work.vector
            }
        };
        // Its product with itself comes along; a mask on one of the two is a mask on both.
        self.atoms.push(atom);
        dots(simd, problem.columns, &self.atoms, column, &mut work.products);
        self.atoms.pop();
        work.gram.clear();
        work.gram.extend(work.products[..self.atoms.len()].iter().map(|g| g.to_f64()));
        work.products[self.atoms.len()].to_f64()
    }

    /// Adds an atom to the inverse, given its energy and, in `work.gram`, its products with the members, and returns its
    /// squared distance to the span of the support; `None` if it lies in that span (or too near to it for a view of all
    /// atoms), which leaves the inverse as it was. With a ridge none does.
    ///
    /// Either way `work.change` holds its coordinates in the support.
    #[inline(always)]
    fn border<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        (atom, own): (u32, f64),
        work: &mut Work<'b, T>,
    ) -> Option<f64> {
        self.inverse.apply(simd, &work.gram, &mut work.change);
        let own = own + problem.ridge;
        let mut schur = own - product(&work.gram, &work.change[..self.atoms.len()]);
        if schur < NEARLY_DEPENDENT * own && problem.overview.is_some() {
            return None;
        }
        if problem.ridge > 0.0 {
            schur = schur.max(problem.ridge);
        } else if schur < 0.01 * own {
            schur = self.distance(simd, problem, atom, work)?;
        }
        self.shaky |= schur < 1e-6 * own;
        self.inverse.border(simd, &work.change[..self.atoms.len()], schur);
        Some(schur)
    }

    /// The squared distance of an atom to the span of the support, `None` if rounding cannot tell it from zero.
    ///
    /// What a difference of squares loses when the atom is close, the square of the difference does not. The atom's
    /// coordinates in the support, `work.change`, are improved on the way.
    #[inline(always)]
    fn distance<'b, S: Simd, T: Scalar>(
        &self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        atom: u32,
        work: &mut Work<'b, T>,
    ) -> Option<f64> {
        let members = self.atoms.len();
        let mut coordinates = work.change[..members].to_vec();
        for improvement in 0..3 {
            work.vector.copy_from_slice(problem.columns.padded(atom as usize));
            for (&member, &u) in self.atoms.iter().zip(&coordinates) {
                axpy(simd, T::from_f64(-u), problem.columns.padded(member as usize), &mut work.vector);
            }
            if let Some(mask) = problem.mask {
                work.vector.iter_mut().zip(mask).for_each(|(d, &m)| *d *= m);
            }
            if improvement < 2 {
                dots(simd, problem.columns, &self.atoms, &work.vector, &mut work.products);
                work.gram.clear();
                work.gram.extend(work.products[..members].iter().map(|g| g.to_f64()));
                self.inverse.apply(simd, &work.gram, &mut work.change);
                coordinates.iter_mut().zip(&work.change).for_each(|(u, change)| *u += change);
            }
        }
        work.change[..members].copy_from_slice(&coordinates);
        // Each term is rounded to the precision of its size, and so is their sum.
        let norm = |atom: u32| {
            let column = problem.columns.padded(atom as usize);
            dot(simd, column, column).to_f64().sqrt()
        };
        let mut sizes = norm(atom);
        // A loop and not a sum over an iterator: that is not inlined, and its closure would not have the instruction set.
        for (&member, u) in self.atoms.iter().zip(&coordinates) {
            sizes += u.abs() * norm(member);
        }
        let noise = T::EPSILON.to_f64() * sizes;
        let distance = dot(simd, &work.vector, &work.vector).to_f64();
        (distance > (4.0 * noise).powi(2)).then_some(distance)
    }

    /// Makes room for an atom in the span of the support, whose coordinates are `work.change`.
    ///
    /// Moving weight onto it along those coordinates leaves the residual alone and lowers ‖a‖₁ until a coefficient
    /// reaches zero; that atom leaves. Returns the newcomer's coefficient, or `None` if nothing can make room.
    #[inline(always)]
    fn exchange<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        sign: f64,
        work: &mut Work<'b, T>,
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
    fn correct<'b, S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, 'b, T>, work: &mut Work<'b, T>) {
        while !self.atoms.is_empty() && problem.goes_on(self.atoms.len()) {
            self.inverse.apply(simd, &work.right, &mut work.change);
            if !self.advance(simd, problem, work) {
                return;
            }
        }
    }

    /// Moves along `work.change` until a coefficient would change its sign, and drops that one; `true` if one did.
    #[inline(always)]
    fn advance<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        work: &mut Work<'b, T>,
    ) -> bool {
        let mut step = 1.0;
        let mut blocking = None;
        for (i, ((&a, &change), &pull)) in self.coefficients.iter().zip(&work.change).zip(&self.pull).enumerate() {
            if (a + change) * pull < 0.0 && a / -change < step {
                step = a / -change;
                blocking = Some(i);
            }
        }
        for (a, change) in self.coefficients.iter_mut().zip(&work.change) {
            *a += step * change;
        }
        let Some(blocking) = blocking else { return false };
        // Along the way the right side shrinks in proportion, so it need not be computed again.
        work.right.iter_mut().for_each(|value| *value *= 1.0 - step);
        self.leave(simd, problem, blocking, work);
        true
    }

    /// Takes an atom out of the support and makes it a candidate again.
    #[inline(always)]
    fn leave<'b, S: Simd, T: Scalar>(
        &mut self,
        simd: S,
        problem: &Problem<'_, 'b, T>,
        place: usize,
        work: &mut Work<'b, T>,
    ) {
        let atom = self.atoms.swap_remove(place);
        self.coefficients.swap_remove(place);
        self.pull.swap_remove(place);
        work.right.swap_remove(place);
        match &problem.overview {
            Some(overview) => overview.leave(place, atom, &mut work.overlooking),
            None => work.candidates.push(atom),
        }
        self.inverse.remove(simd, place);
        if self.shaky {
            // Rare and large: compiled once, apart from the walk, and so in need of the instruction set anew.
            self.rebuild(simd.level(), problem, work);
        }
    }

    #[inline(never)]
    fn rebuild<'b, T: Scalar>(&mut self, level: Level, problem: &Problem<'_, 'b, T>, work: &mut Work<'b, T>) {
        dispatch!(level, simd => self.invert_anew(simd, problem, work));
    }

    /// Makes the inverse anew. A member that turns out to lie in the span of those before it hands its coefficient to them
    /// and leaves, which does not change the residual.
    #[inline(always)]
    fn invert_anew<'b, S: Simd, T: Scalar>(&mut self, simd: S, problem: &Problem<'_, 'b, T>, work: &mut Work<'b, T>) {
        let before = std::mem::take(self);
        let right = std::mem::take(&mut work.right);
        self.inverse = before.inverse;
        self.inverse.clear();
        for (i, &atom) in before.atoms.iter().enumerate().take_while(|(i, _)| problem.goes_on(*i)) {
            let own = self.multiply(simd, problem, atom, work);
            if self.border(simd, problem, (atom, own), work).is_some() {
                self.atoms.push(atom);
                self.coefficients.push(before.coefficients[i]);
                self.pull.push(before.pull[i]);
                work.right.push(right[i]);
            } else {
                let given = before.coefficients[i];
                self.coefficients.iter_mut().zip(&work.change).for_each(|(a, u)| *a += given * u);
                if problem.overview.is_none() {
                    work.candidates.push(atom);
                }
            }
        }
        self.shaky = false;
        self.enter_view(problem, work.overlooking.mu, work);
    }

    /// Tells the view of all atoms, where there is one, of the support.
    #[inline(always)]
    fn enter_view<'b, T: Scalar>(&self, problem: &Problem<'_, 'b, T>, mu: f64, work: &mut Work<'b, T>) {
        let Some(overview) = &problem.overview else { return };
        overview.begin(mu, &mut work.overlooking);
        let members = self.atoms.iter().zip(&self.pull);
        members.for_each(|(&atom, &pull)| overview.enter(atom, pull, &mut work.overlooking));
    }
}

/// The candidate whose correlation exceeds what is allowed the most, in units of its weight, and its correlation; `None` if
/// that is not more than `slack`. It is no longer a candidate.
#[inline(always)]
fn most_violating<'b, S: Simd, T: Scalar>(
    simd: S,
    problem: &Problem<'_, 'b, T>,
    (mu, slack): (f64, f64),
    work: &mut Work<'b, T>,
) -> Option<(u32, f64)> {
    dots(simd, problem.columns, &work.candidates, &work.residual, &mut work.products);
    let lanes = T::Native::<S>::LEN;
    let padded = work.candidates.len().next_multiple_of(lanes);
    let mut best = Best::<S, T>::above(simd, T::ZERO);
    for (number, c) in work.products[..padded].chunks_exact(lanes).enumerate() {
        let c = T::Native::<S>::from_slice(simd, c);
        let mut size = if problem.nonnegative { c } else { c.abs() };
        if let Some(weights) = problem.weights {
            // In units of the atom's weight, which is what the limit μ is about; an atom without weight is always short.
            let candidates = &work.candidates[number * lanes..];
            size = T::Native::<S>::from_fn(simd, |i| {
                candidates.get(i).map_or(T::ZERO, |&j| T::from_f64(size[i].to_f64() / weights[j as usize]))
            });
        }
        best.offer(size);
    }
    let (place, size) = best.reduce();
    let weight = problem.weight(*work.candidates.get(place)?);
    let excess = if weight > 0.0 { (size.to_f64() - mu) * weight } else { work.products[place].to_f64().abs() };
    (excess > slack * weight + problem.floor)
        .then(|| (work.candidates.swap_remove(place), work.products[place].to_f64()))
}
