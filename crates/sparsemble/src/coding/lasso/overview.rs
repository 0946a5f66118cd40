//! All atoms at a glance: their correlations with a residual from a Gram matrix.
//!
//! Where the Gram matrix G is small enough to be kept, the correlations of all atoms with x − D_S a are Dᵀx − G_S a. The
//! active set then needs no candidates, no residual and no further pass: each step sweeps over a few rows of G and takes
//! the atom that violates the most of all.

use fearless_simd::Level;

use super::certificate::product;
use crate::coding::CodingBasis;
use crate::kernels::{Largest, largest_left};
use crate::scalar::Scalar;

/// What is known of all atoms for one sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overview<'a, 'b, T> {
    pub(super) basis: &'b CodingBasis<T>,
    /// Dᵀx, as long as a row of the Gram matrix.
    pub(super) correlations: &'a [T],
    pub(super) largest: Largest,
    pub(super) level: Level,
}

/// One thread's working space for sweeps.
#[derive(Debug)]
pub(super) struct Space<'b, T> {
    /// The correlation that members of the support are left with.
    pub(super) mu: f64,
    /// The rows of the members of the support, in their order.
    rows: Vec<&'b [T]>,
    /// Dᵀx, less what the members are left with: a sweep leaves them nothing, and so finds the largest of the others.
    start: Vec<T>,
    coefficients: Vec<T>,
    left: Vec<T>,
    /// The largest correlation outside of the support; infinite until a sweep has found no atom to enter.
    pub(super) outside: f64,
}

impl<T: Scalar> Space<'_, T> {
    pub(super) fn new() -> Self {
        Self {
            mu: 0.0,
            rows: Vec::new(),
            start: Vec::new(),
            coefficients: Vec::new(),
            left: Vec::new(),
            outside: f64::INFINITY,
        }
    }
}

impl<'b, T: Scalar> Overview<'_, 'b, T> {
    /// The largest correlation with the sample itself.
    #[inline(always)]
    pub(super) fn largest(&self) -> f64 {
        largest_left(self.level, self.correlations, (&[], &[]), self.largest, &mut []).1.to_f64()
    }

    /// The products of an atom with all of them.
    #[inline(always)]
    pub(super) fn products_with(&self, atom: u32) -> &'b [T] {
        self.basis.gram_row(atom as usize)
    }

    /// Begins a walk at μ with no members.
    pub(super) fn begin(&self, mu: f64, space: &mut Space<'b, T>) {
        space.mu = mu;
        space.rows.clear();
        space.start.clear();
        space.start.extend_from_slice(self.correlations);
        space.left.resize(self.correlations.len(), T::ZERO);
        space.outside = f64::INFINITY;
    }

    /// Adds a member with the sign of its coefficient.
    #[inline(always)]
    pub(super) fn enter(&self, atom: u32, sign: f64, space: &mut Space<'b, T>) {
        space.rows.push(self.products_with(atom));
        space.start[atom as usize] -= T::from_f64(space.mu * sign);
    }

    /// Takes out a member; the last one moves into its place.
    #[inline(always)]
    pub(super) fn leave(&self, place: usize, atom: u32, space: &mut Space<'b, T>) {
        space.rows.swap_remove(place);
        space.start[atom as usize] = self.correlations[atom as usize];
    }

    /// The atom outside of the support whose correlation exceeds `limit` the most, and its correlation; `gram` gets its
    /// products with the members.
    #[inline(always)]
    pub(super) fn most_violating(
        &self,
        (atoms, coefficients): (&[u32], &[f64]),
        limit: f64,
        space: &mut Space<'b, T>,
        gram: &mut Vec<f64>,
    ) -> Option<(u32, f64)> {
        if atoms.len() == self.basis.n_atoms() {
            space.outside = 0.0;
            return None;
        }
        space.coefficients.clear();
        space.coefficients.extend(coefficients.iter().map(|&a| T::from_f64(a)));
        let rows = (&space.coefficients[..], &space.rows[..]);
        let (atom, size) = largest_left(self.level, &space.start, rows, self.largest, &mut space.left);
        space.outside = size.to_f64();
        if space.outside <= limit {
            return None;
        }
        let row = self.products_with(atom as u32);
        gram.clear();
        gram.extend(atoms.iter().map(|&member| row[member as usize].to_f64()));
        let correlation = self.correlations[atom].to_f64() - product(gram, coefficients);
        let excess = if self.largest == Largest::Magnitude { correlation.abs() } else { correlation } - limit;
        // An atom that exceeds the limit in the sweep but not here does so by a rounding error, and could even enter with
        // the wrong sign.
        if excess <= 0.0 {
            return None;
        }
        space.outside = f64::INFINITY;
        Some((atom as u32, correlation))
    }

    /// How far off a correlation computed here can be from that of the residual as it is stored: as many roundings as there
    /// are terms in both, each of the size of the whole sum at most.
    #[inline(always)]
    pub(super) fn error(&self, penalty: f64, members: usize, sample_norm: f64) -> f64 {
        let norm = self.basis.largest_norm();
        let terms = (self.basis.n_features() + 2 * members) as f64;
        0.5 * T::EPSILON.to_f64() * terms * norm * (sample_norm + norm * penalty)
    }
}
