//! The walk of [`super::active_set`], of one sample in each lane of a vector.
//!
//! On a support S with signs θ the minimum solves G_SS a = D_Sᵀx − μθ. Here every lane keeps a tableau, the Gram matrix G
//! *swept* by its support: (G_SS)⁻¹ with the sign turned where both atoms are members, the coordinates of the other atoms in
//! S, and the products of what these coordinates leave of them. A last column, swept along, is the minimum itself for members
//! and the correlation at that minimum for all others. An atom enters or leaves by one pivot, K²/2 multiply-adds for all
//! lanes, and no lane asks what the others do: what differs is which atom is the pivot, and a lane without one stays as it is.
//!
//! An atom in the span of the support cannot be a pivot. Moving weight onto it leaves the residual alone and lowers ‖a‖₁ until a
//! coefficient reaches zero; that one leaves, and then the newcomer is in the span no longer.

use fearless_simd::prelude::*;

use super::few::{IN_SPAN, NONE};

/// The most atoms for which all lanes going over all of them is cheaper than a walk of each sample to the few that it needs.
pub(super) const MOST_ATOMS: usize = 16;

/// A number of each sample for every atom.
pub(super) type PerAtom<S> = [<S as Simd>::f64s; MOST_ATOMS];

/// Small lassos, one a lane.
pub(super) struct SideBySide<S: Simd> {
    simd: S,
    nonnegative: bool,
    /// The tableau below its diagonal and on it, row by row.
    rows: Vec<S::f64s>,
    /// The energies of the atoms.
    energies: Vec<f64>,
    /// The last column.
    wanted: PerAtom<S>,
    mu: S::f64s,
    /// θ, zero outside of the support.
    signs: PerAtom<S>,
    coefficients: PerAtom<S>,
    /// Atoms that enter next, as others have just made room for them, and their signs.
    waiting: S::f64s,
    waiting_signs: S::f64s,
    /// The atoms that are or were in the support of any lane; all others have no coefficient.
    members: Atoms,
}

/// Some of the atoms, a bit for each.
#[derive(Clone, Copy)]
struct Atoms(u32);

/// What is left of them.
struct EachAtom(u32);

impl IntoIterator for Atoms {
    type Item = usize;
    type IntoIter = EachAtom;

    #[inline(always)]
    fn into_iter(self) -> EachAtom {
        EachAtom(self.0)
    }
}

impl Iterator for EachAtom {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let first = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (first < MOST_ATOMS).then_some(first)
    }
}

/// The numbers of some atoms, at most one a lane.
#[derive(Clone, Copy)]
struct Chosen<S: Simd> {
    each: S::f64s,
    /// All of them.
    all: Atoms,
}

/// The atoms that enter and those that leave, at most one of them a lane.
struct Pivots<S: Simd> {
    entering: Chosen<S>,
    leaving: Chosen<S>,
}

impl<S: Simd> SideBySide<S> {
    /// Room for so many atoms.
    pub(super) fn new(simd: S, nonnegative: bool, n_atoms: usize) -> Self {
        let zero = S::f64s::splat(simd, 0.0);
        Self {
            simd,
            nonnegative,
            rows: vec![zero; n_atoms * (n_atoms + 1) / 2],
            energies: vec![0.0; n_atoms],
            wanted: [zero; MOST_ATOMS],
            mu: zero,
            signs: [zero; MOST_ATOMS],
            coefficients: [zero; MOST_ATOMS],
            waiting: zero,
            waiting_signs: zero,
            members: Atoms(0),
        }
    }

    /// The minima for samples with these correlations at their μ; correlations may exceed μ by `slack`.
    ///
    /// `gram` has no entry above one. The steps are bounded: where rounding does not let a walk come to its end, what is
    /// returned is no minimum.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        gram: &[f64],
        correlations: &PerAtom<S>,
        mu: S::f64s,
        slack: S::f64s,
    ) -> &PerAtom<S> {
        self.begin(gram, correlations, mu);
        // Far more than it takes.
        for _ in 0..8 + 4 * self.energies.len() {
            let leaving = self.advance();
            let entering = self.chosen(self.most_violating(leaving, slack));
            let mut pivots = Pivots { entering, leaving: self.chosen(leaving) };
            if pivots.entering.all.0 | pivots.leaving.all.0 == 0 {
                break;
            }
            self.exchange_in_span(&mut pivots);
            self.pivot(&pivots);
        }
        &self.coefficients
    }

    /// Empty supports.
    #[inline(always)]
    fn begin(&mut self, gram: &[f64], correlations: &PerAtom<S>, mu: S::f64s) {
        let (n_atoms, zero) = (self.energies.len(), self.splat(0.0));
        let mut entries = self.rows.iter_mut();
        for (i, row) in gram.chunks_exact(n_atoms.max(1)).enumerate() {
            self.energies[i] = row[i];
            for (entry, &product) in entries.by_ref().take(i + 1).zip(row) {
                *entry = S::f64s::splat(self.simd, product);
            }
        }
        (self.wanted, self.mu) = (*correlations, mu);
        (self.signs, self.coefficients) = ([zero; MOST_ATOMS], [zero; MOST_ATOMS]);
        (self.waiting, self.waiting_signs, self.members) = (self.splat(NONE), zero, Atoms(0));
    }

    /// Moves the coefficients to the minimum on the support, or on the way to it until one of them reaches zero; returns which
    /// did.
    #[inline(always)]
    fn advance(&mut self) -> S::f64s {
        let zero = self.splat(0.0);
        let stays = self.is_some(self.waiting);
        let (mut step, mut leaving) = (self.splat(1.0), self.splat(NONE));
        for j in self.members {
            let (a, wanted) = (self.coefficients[j], self.wanted[j]);
            let crosses = (wanted * self.signs[j]).simd_lt(zero) & !stays;
            if crosses.to_bitmask() != 0 {
                let reaches_zero = a / (a - wanted);
                let first = crosses & reaches_zero.simd_lt(step);
                step = first.select(reaches_zero, step);
                leaving = first.select(self.splat(j as f64), leaving);
            }
        }
        let blocked = self.is_some(leaving);
        for j in self.members {
            let (a, wanted) = (self.coefficients[j], self.wanted[j]);
            let moves = self.signs[j].abs().simd_gt(zero) & !stays;
            let a = moves.select(blocked.select((wanted - a).mul_add(step, a), wanted), a);
            self.coefficients[j] = self.is_atom(leaving, j).select(zero, a);
        }
        leaving
    }

    /// The atoms whose correlation exceeds what is allowed the most, where nothing leaves and none waits already.
    #[inline(always)]
    fn most_violating(&self, leaving: S::f64s, slack: S::f64s) -> S::f64s {
        let zero = self.splat(0.0);
        let settled = !(self.is_some(leaving) | self.is_some(self.waiting));
        let (mut most, mut entering) = (self.mu + slack, self.waiting);
        for j in 0..self.energies.len() {
            let size = if self.nonnegative { self.wanted[j] } else { self.wanted[j].abs() };
            let violates = settled & size.simd_gt(most) & self.signs[j].simd_eq(zero);
            most = violates.select(size, most);
            entering = violates.select(self.splat(j as f64), entering);
        }
        entering
    }

    /// Where an atom that would enter lies in the span of the support, lets another make room for it.
    #[inline(always)]
    fn exchange_in_span(&mut self, pivots: &mut Pivots<S>) {
        let (zero, none) = (self.splat(0.0), self.splat(NONE));
        let waited = self.is_some(self.waiting);
        let (mut outside, mut correlation) = (zero, zero);
        for j in pivots.entering.all {
            let here = self.is_atom(pivots.entering.each, j);
            let left = self.rows[place(j, j)] - self.splat(IN_SPAN * self.energies[j]);
            outside = here.select(left, outside);
            correlation = here.select(self.wanted[j], correlation);
        }
        let signs = waited.select(self.waiting_signs, self.splat(1.0).copysign(correlation));
        let in_span = self.is_some(pivots.entering.each) & outside.simd_le(zero) & !waited;
        self.waiting = none;
        self.waiting_signs = signs;
        if in_span.to_bitmask() == 0 {
            return;
        }
        let newcomers = self.chosen(in_span.select(pivots.entering.each, none));
        let coordinates = self.column(newcomers);
        let (mut weight, mut leaving) = (self.splat(f64::INFINITY), none);
        for j in self.members {
            let loss = coordinates[j] * signs;
            let shrinks = in_span & (loss * self.signs[j]).simd_gt(zero);
            let reaches_zero = self.coefficients[j] / loss;
            let first = shrinks & reaches_zero.simd_lt(weight);
            weight = first.select(reaches_zero, weight);
            leaving = first.select(self.splat(j as f64), leaving);
        }
        let found = self.is_some(leaving);
        for j in Atoms(self.members.0 | newcomers.all.0) {
            let a = self.coefficients[j];
            let moves = found & self.signs[j].abs().simd_gt(zero);
            let a = moves.select(a - weight * coordinates[j] * signs, a);
            let a = (found & self.is_atom(newcomers.each, j)).select(weight * signs, a);
            self.coefficients[j] = self.is_atom(leaving, j).select(zero, a);
        }
        self.waiting = found.select(newcomers.each, none);
        pivots.leaving = self.chosen(found.select(leaving, pivots.leaving.each));
        pivots.entering = self.chosen(in_span.select(none, pivots.entering.each));
    }

    /// Takes atoms into the support, and others out of it.
    #[inline(always)]
    fn pivot(&mut self, pivots: &Pivots<S>) {
        let (zero, one) = (self.splat(0.0), self.splat(1.0));
        for j in pivots.entering.all {
            let enters = self.is_atom(pivots.entering.each, j);
            self.signs[j] = enters.select(self.waiting_signs, self.signs[j]);
            self.wanted[j] -= enters.select(self.mu * self.waiting_signs, zero);
            self.members.0 |= 1 << j;
        }
        let each = pivots.entering.each.max(pivots.leaving.each);
        let atoms = Chosen { each, all: Atoms(pivots.entering.all.0 | pivots.leaving.all.0) };
        let direction = self.is_some(pivots.entering.each).select(one, -one);
        let mut column = self.column(atoms);
        let (mut pivot, mut wanted) = (one, zero);
        for j in atoms.all {
            let here = self.is_atom(atoms.each, j);
            pivot = here.select(column[j], pivot);
            wanted = here.select(self.wanted[j], wanted);
            // So that what is subtracted below leaves the pivot's own row divided by the pivot.
            column[j] = here.select(column[j] - direction, column[j]);
            self.rows[place(j, j)] -= here.select(direction + direction, zero);
        }
        let inverse = -one / pivot;
        let wanted = wanted * inverse;
        let mut rest = &mut self.rows[..];
        for i in 0..self.energies.len() {
            let factor = column[i] * inverse;
            self.wanted[i] = column[i].mul_add(wanted, self.wanted[i]);
            let (row, below) = rest.split_at_mut(i + 1);
            for (entry, &other) in row.iter_mut().zip(&column) {
                *entry = factor.mul_add(other, *entry);
            }
            rest = below;
        }
        for j in pivots.leaving.all {
            let leaves = self.is_atom(pivots.leaving.each, j);
            self.wanted[j] += leaves.select(self.mu * self.signs[j], zero);
            self.signs[j] = leaves.select(zero, self.signs[j]);
        }
    }

    /// The columns of the tableau that belong to these atoms, zeros where there is none.
    #[inline(always)]
    fn column(&self, atoms: Chosen<S>) -> PerAtom<S> {
        let (zero, one) = (self.splat(0.0), self.splat(1.0));
        let mut column = [zero; MOST_ATOMS];
        for j in atoms.all {
            let here = self.is_atom(atoms.each, j).select(one, zero);
            for (sum, &entry) in column.iter_mut().zip(&self.rows[place(j, 0)..=place(j, j)]) {
                *sum = entry.mul_add(here, *sum);
            }
            for (i, sum) in column.iter_mut().enumerate().take(self.energies.len()).skip(j + 1) {
                *sum = self.rows[place(i, j)].mul_add(here, *sum);
            }
        }
        column
    }

    /// These atoms, and which of them are that of any lane.
    #[inline(always)]
    fn chosen(&self, each: S::f64s) -> Chosen<S> {
        let mut bits = 0;
        if self.is_some(each).to_bitmask() != 0 {
            for lane in 0..S::f64s::LEN {
                bits |= if each[lane] >= 0.0 { 1 << each[lane] as u32 } else { 0 };
            }
        }
        Chosen { each, all: Atoms(bits) }
    }

    #[inline(always)]
    fn is_atom(&self, atoms: S::f64s, j: usize) -> S::mask64s {
        atoms.simd_eq(self.splat(j as f64))
    }

    #[inline(always)]
    fn is_some(&self, atoms: S::f64s) -> S::mask64s {
        atoms.simd_ge(self.splat(0.0))
    }

    #[inline(always)]
    fn splat(&self, value: f64) -> S::f64s {
        S::f64s::splat(self.simd, value)
    }
}

/// Where the tableau has the entry of two atoms, of which the first is not the smaller.
#[inline(always)]
fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}
