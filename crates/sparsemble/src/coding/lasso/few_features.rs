//! The walk of [`super::active_set`], of one sample in each lane of a vector, for any number of atoms of a few features.
//!
//! A support has no more members than there are features, M. For each of them a lane keeps the atom d_s and its *dual* b_s:
//! the vector in the span of the support with b_sᵀd_s = 1 that is orthogonal to all other members. On a support with signs θ
//! the minimum has the coefficients b_sᵀ(x − μ Σ_t θ_t b_t), and what lies outside of the span of any atom d is
//! u = d − Σ_s (b_sᵀd) d_s. So a step costs some M² multiply-adds, and K·M for the correlations of all atoms with the
//! residual. No lane asks what the others do: one without anything to do takes a step that changes nothing.
//!
//! An atom in the span of the support cannot just enter. Moving weight onto it leaves the residual alone and lowers ‖a‖₁ until a
//! coefficient reaches zero; the newcomer takes the place of that one.

use fearless_simd::prelude::*;

use super::few::{IN_SPAN, Lanes, MOST_LANES, NONE, PerLane, Reached, rounded};
use super::few_members::{Member, Vectors};
use crate::kernels::Columns;
use crate::scalar::Scalar;

/// Atoms whose correlations are compared apart from each other, so that one comparison need not wait for the last.
const ABREAST: usize = 4;

/// The most atoms times M², the features filled up: each of up to some M steps asks all atoms in double precision, which
/// passes in sixteen bits do faster where they are many.
const MOST_WORK: usize = 1 << 15;

/// Steps of a walk, far more than it takes: where rounding does not let it come to its end, it has no minimum.
const MOST_STEPS: usize = 48;

/// Atoms of at most `M` features, in double precision.
pub(super) struct FewFeatures<const M: usize> {
    n_features: usize,
    /// Filled up with zeros and with zero atoms, which never enter.
    atoms: Vec<[[f64; M]; ABREAST]>,
    largest_norm: f64,
}

/// The samples and where they stand.
pub(super) struct FeatureLanes<'a, S: Simd, const M: usize> {
    few: &'a FewFeatures<M>,
    simd: S,
    nonnegative: bool,
    x: Vectors<S, M>,
    mu: S::f64s,
    /// The correlation from which on an atom enters.
    limit: S::f64s,
    /// The largest correlation with the residual, and the atom that has it.
    largest: S::f64s,
    best: S::f64s,
    members: [Member<S, M>; M],
}

impl<const M: usize> FewFeatures<M> {
    /// `None` if the features are more, or the atoms too many.
    pub(super) fn new<T: Scalar>(columns: &Columns<T>) -> Option<Self> {
        if columns.rows() > M || columns.count().saturating_mul(M * M) > MOST_WORK {
            return None;
        }
        let mut atoms = vec![[[0.0; M]; ABREAST]; columns.count().div_ceil(ABREAST)];
        for (j, atom) in atoms.as_flattened_mut().iter_mut().enumerate().take(columns.count()) {
            atom.iter_mut().zip(columns.column(j)).for_each(|(entry, value)| *entry = value.to_f64());
        }
        let energies = atoms.as_flattened().iter().map(|atom| atom.iter().map(|entry| entry * entry).sum());
        let largest_norm = energies.fold(0.0, f64::max).sqrt();
        Some(Self { n_features: columns.rows(), atoms, largest_norm })
    }

    #[inline(always)]
    pub(super) fn lanes<S: Simd>(&self, simd: S, nonnegative: bool) -> FeatureLanes<'_, S, M> {
        let zero = S::f64s::splat(simd, 0.0);
        FeatureLanes {
            few: self,
            simd,
            nonnegative,
            x: Vectors([zero; M]),
            mu: zero,
            limit: zero,
            largest: zero,
            best: zero,
            members: [Member::none(simd); M],
        }
    }
}

impl<S: Simd, const M: usize> Lanes<S> for FeatureLanes<'_, S, M> {
    #[inline(always)]
    fn load(&mut self, value: impl Fn(usize, usize) -> f64) -> S::f64s {
        for (row, x) in self.x.0.iter_mut().enumerate().take(self.few.n_features) {
            *x = S::f64s::from_fn(self.simd, |lane| value(lane, row));
        }
        self.members = [Member::none(self.simd); M];
        self.look(self.x);
        self.largest
    }

    #[inline(always)]
    fn solve<T: Scalar>(&mut self, (mu, slack): (&PerLane, &PerLane), enough: f64) -> PerLane {
        // How far off a sum of products can be, as a fraction of what its terms can add up to.
        let noise = f64::EPSILON * (4 * M) as f64;
        let energies = self.x.dot(&self.x);
        let [of_mu, of_slack] = [mu, slack].map(|values| S::f64s::from_slice(self.simd, &values[..S::f64s::LEN]));
        self.mu = of_mu;
        self.limit = energies.sqrt().mul_add(noise * self.few.largest_norm, of_mu + of_slack);
        let mut residual = self.x;
        for _ in 0..MOST_STEPS {
            let enters = self.largest.simd_gt(self.limit);
            if enters.to_bitmask() == 0 {
                break;
            }
            self.enter(enters, &residual);
            self.settle();
            residual = self.residual();
            self.look(residual);
        }
        if T::EPSILON.to_f64() > f64::EPSILON {
            for member in &mut self.members {
                member.coefficient = rounded::<S, T>(self.simd, member.coefficient);
            }
            residual = self.residual();
            self.look(residual);
        }
        let penalty = self.members.iter().fold(self.splat(0.0), |sum, member| sum + member.coefficient.abs());
        let (with_residual, left) = (self.x.dot(&residual), residual.dot(&residual));
        self.sort();
        let reached = Reached::<S> { energies, with_residual, left, penalty, largest: self.largest };
        reached.gaps((noise, self.few.largest_norm), mu, enough)
    }

    #[inline(always)]
    fn code(&self, lane: usize, code: &mut [(u32, f64)]) {
        for (entry, member) in code.iter_mut().zip(&self.members) {
            *entry = (member.number[lane] as u32, member.coefficient[lane]);
        }
    }
}

impl<S: Simd, const M: usize> FeatureLanes<'_, S, M> {
    /// Finds the largest correlation with these residuals.
    #[inline(always)]
    fn look(&mut self, residual: Vectors<S, M>) {
        let zero = self.splat(0.0);
        let (mut largest, mut best, mut number) = ([zero; ABREAST], [zero; ABREAST], zero);
        for atoms in &self.few.atoms {
            for ((largest, best), atom) in largest.iter_mut().zip(&mut best).zip(atoms) {
                let mut correlation = zero;
                for (&r, &entry) in residual.0.iter().zip(atom) {
                    correlation = r.mul_add(entry, correlation);
                }
                let size = if self.nonnegative { correlation } else { correlation.abs() };
                let larger = size.simd_gt(*largest);
                *largest = larger.select(size, *largest);
                *best = larger.select(number, *best);
            }
            number += ABREAST as f64;
        }
        (self.largest, self.best) = (largest[0], best[0]);
        for (offset, (&size, &number)) in largest.iter().zip(&best).enumerate().skip(1) {
            let larger = size.simd_gt(self.largest);
            self.largest = larger.select(size, self.largest);
            self.best = larger.select(number + offset as f64, self.best);
        }
    }

    /// Takes the atom with the largest correlation into the support, in the place of another where it lies in its span.
    #[inline(always)]
    fn enter(&mut self, enters: S::mask64s, residual: &Vectors<S, M>) {
        let zero = self.splat(0.0);
        // Only rounding can make a member violate anything; where it does, the walk is at its end.
        let is_best = |member: &Member<S, M>| member.is_some() & member.number.simd_eq(self.best);
        let newcomers = self.members.iter().fold(enters, |new, member| new & !is_best(member));
        self.limit = (enters & !newcomers).select(self.splat(f64::INFINITY), self.limit);
        let enters = newcomers;
        let atom = Vectors::select(enters, &self.atoms(self.best), &Vectors([zero; M]));
        let sign = self.splat(1.0).copysign(atom.dot(residual));
        let full = self.members.iter().fold(enters, |full, member| full & member.is_some());
        let (mut coordinates, mut outside) = self.split(&atom);
        let mut energy_outside = atom.dot(&outside);
        let in_span = enters & (full | energy_outside.simd_le(atom.dot(&atom) * IN_SPAN));
        let (mut enters, mut coefficient) = (enters, zero);
        if in_span.to_bitmask() != 0 {
            let made_room;
            (made_room, coefficient) = self.make_room(in_span, &coordinates, sign);
            // Where rounding has left none to leave, the walk is at its end.
            let stuck = in_span & !made_room;
            self.limit = stuck.select(self.splat(f64::INFINITY), self.limit);
            enters &= !stuck;
            (coordinates, outside) = self.split(&atom);
            energy_outside = atom.dot(&outside);
        }
        let inverse = enters.select(self.splat(1.0) / energy_outside, zero);
        let dual = outside.times(inverse);
        let mut homeless = enters;
        for (member, &coordinate) in self.members.iter_mut().zip(&coordinates) {
            member.dual = member.dual.minus(coordinate, &dual);
            let here = homeless & !member.is_some();
            homeless &= !here;
            let newcomer = Member { number: self.best, sign, coefficient, atom, dual };
            *member = Member::select(here, &newcomer, member);
        }
    }

    /// Moves weight onto newcomers with these coordinates in the support until a member has no weight left, which leaves.
    /// Returns where there was one, and the newcomers' coefficients.
    #[inline(always)]
    fn make_room(&mut self, in_span: S::mask64s, coordinates: &[S::f64s; M], sign: S::f64s) -> (S::mask64s, S::f64s) {
        let zero = self.splat(0.0);
        let (mut weight, mut leaving) = (self.splat(f64::INFINITY), self.splat(NONE));
        for (s, (member, &coordinate)) in self.members.iter().zip(coordinates).enumerate() {
            let loss = coordinate * sign;
            let shrinks = in_span & (loss * member.sign).simd_gt(zero);
            let reaches_zero = member.coefficient / loss;
            let first = shrinks & reaches_zero.simd_lt(weight);
            weight = first.select(reaches_zero, weight);
            leaving = first.select(self.splat(s as f64), leaving);
        }
        let found = leaving.simd_ge(zero);
        let coefficient = found.select(weight * sign, zero);
        for (member, &coordinate) in self.members.iter_mut().zip(coordinates) {
            member.coefficient = found.select(member.coefficient - coefficient * coordinate, member.coefficient);
        }
        self.leave(leaving);
        (found, coefficient)
    }

    /// Moves the coefficients to the minimum on the support; members whose coefficients reach zero on the way leave.
    #[inline(always)]
    fn settle(&mut self) {
        // Each time a member leaves.
        for _ in 0..=M {
            let leaving = self.advance();
            if leaving.simd_ge(self.splat(0.0)).to_bitmask() == 0 {
                break;
            }
            self.leave(leaving);
        }
    }

    /// Moves the coefficients to the minimum on the support, or on the way to it until one of them reaches zero; returns the
    /// place of the member that did.
    #[inline(always)]
    fn advance(&mut self) -> S::f64s {
        let zero = self.splat(0.0);
        let mut point = self.x;
        for member in &self.members {
            point = point.minus(self.mu * member.sign, &member.dual);
        }
        let mut wanted = [zero; M];
        let (mut step, mut leaving) = (self.splat(f64::INFINITY), self.splat(NONE));
        for (s, (member, wanted)) in self.members.iter().zip(&mut wanted).enumerate() {
            *wanted = member.dual.dot(&point);
            let crosses = (*wanted * member.sign).simd_lt(zero);
            if crosses.to_bitmask() != 0 {
                // Rounding may have left one that has just reached zero on the other side of it.
                let size = (member.coefficient * member.sign).max(zero);
                let reaches_zero = size / (size - *wanted * member.sign);
                let first = crosses & reaches_zero.simd_lt(step);
                step = first.select(reaches_zero, step);
                leaving = first.select(self.splat(s as f64), leaving);
            }
        }
        let blocked = leaving.simd_ge(zero);
        for (member, wanted) in self.members.iter_mut().zip(wanted) {
            let part = (wanted - member.coefficient).mul_add(step, member.coefficient);
            member.coefficient = blocked.select(part, wanted);
        }
        leaving
    }

    /// Takes the members in these places out of the support.
    #[inline(always)]
    fn leave(&mut self, places: S::f64s) {
        let zero = self.splat(0.0);
        let mut gone = Vectors([zero; M]);
        for (s, member) in self.members.iter().enumerate() {
            let here = places.simd_eq(self.splat(s as f64));
            gone = Vectors::select(here, &member.dual, &gone);
        }
        let inverse = places.simd_ge(zero).select(self.splat(1.0) / gone.dot(&gone), zero);
        for (s, member) in self.members.iter_mut().enumerate() {
            let here = places.simd_eq(S::f64s::splat(self.simd, s as f64));
            member.dual = member.dual.minus(member.dual.dot(&gone) * inverse, &gone);
            *member = Member::select(here, &Member::none(self.simd), member);
        }
    }

    /// The coordinates of atoms in the support, and what lies outside of its span.
    #[inline(always)]
    fn split(&self, atom: &Vectors<S, M>) -> ([S::f64s; M], Vectors<S, M>) {
        let (mut coordinates, mut outside) = ([self.splat(0.0); M], *atom);
        for (member, coordinate) in self.members.iter().zip(&mut coordinates) {
            *coordinate = member.dual.dot(atom);
            outside = outside.minus(*coordinate, &member.atom);
        }
        (coordinates, outside)
    }

    #[inline(always)]
    fn residual(&self) -> Vectors<S, M> {
        let mut residual = self.x;
        for member in &self.members {
            residual = residual.minus(member.coefficient, &member.atom);
        }
        residual
    }

    /// The atoms with these numbers.
    #[inline(always)]
    fn atoms(&self, numbers: S::f64s) -> Vectors<S, M> {
        let mut rows = [[0.0; MOST_LANES]; M];
        for lane in 0..S::f64s::LEN {
            let atom = self.few.atoms.as_flattened().get(numbers[lane] as usize).unwrap_or(&[0.0; M]);
            rows.iter_mut().zip(atom).for_each(|(row, &entry)| row[lane] = entry);
        }
        let mut atoms = [self.splat(0.0); M];
        for (entries, row) in atoms.iter_mut().zip(&rows) {
            *entries = S::f64s::from_slice(self.simd, &row[..S::f64s::LEN]);
        }
        Vectors(atoms)
    }

    /// Puts the members in the order of their numbers.
    #[inline(always)]
    fn sort(&mut self) {
        for round in 0..M {
            for s in (round % 2..M - 1).step_by(2) {
                let (a, b) = (self.members[s], self.members[s + 1]);
                let swap = a.number.simd_gt(b.number);
                (self.members[s].number, self.members[s + 1].number) = (a.number.min(b.number), a.number.max(b.number));
                self.members[s].coefficient = swap.select(b.coefficient, a.coefficient);
                self.members[s + 1].coefficient = swap.select(a.coefficient, b.coefficient);
            }
        }
    }

    #[inline(always)]
    fn splat(&self, value: f64) -> S::f64s {
        S::f64s::splat(self.simd, value)
    }
}
