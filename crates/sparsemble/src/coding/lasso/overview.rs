//! All atoms at a glance: their correlations with a residual from a Gram matrix.
//!
//! Where the Gram matrix G is small enough to be kept, the correlations of all atoms with x − D_S a are Dᵀx − G_S a. The
//! active set then needs no candidates, no residual and no further pass: each step sweeps over a few rows of G and takes
//! the atom that violates the most of all.

use fearless_simd::Level;

use crate::coding::CodingBasis;
use crate::kernels::{Largest, largest_left, subtract_rows};
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
    /// The rows of the members of the support, in their order.
    pub(super) rows: Vec<&'b [T]>,
    coefficients: Vec<T>,
    left: Vec<T>,
    /// The largest correlation outside of the support; infinite until a sweep has found no atom to enter.
    pub(super) outside: f64,
}

impl<T: Scalar> Space<'_, T> {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), coefficients: Vec::new(), left: Vec::new(), outside: f64::INFINITY }
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

    /// The atom outside of the support whose correlation exceeds `limit` the most, and its correlation.
    pub(super) fn most_violating(
        &self,
        (atoms, coefficients): (&[u32], &[f64]),
        limit: f64,
        space: &mut Space<'b, T>,
    ) -> Option<(u32, f64)> {
        space.coefficients.clear();
        space.coefficients.extend(coefficients.iter().map(|&a| T::from_f64(a)));
        if space.left.len() < self.correlations.len() {
            space.left.resize(self.correlations.len(), T::ZERO);
        }
        let left = &mut space.left[..self.correlations.len()];
        let rows = (&space.coefficients[..], &space.rows[..]);
        let (mut atom, mut size) = largest_left(self.level, self.correlations, rows, self.largest, left);
        if size.to_f64() <= limit || atoms.contains(&(atom as u32)) {
            // A member that is off by a rounding error hides the others, and the certificate wants to know of the others.
            subtract_rows(self.level, self.correlations, rows, left);
            for &member in atoms {
                left[member as usize] = T::ZERO;
            }
            (atom, size) = largest_left(self.level, left, (&[], &[]), self.largest, &mut []);
            space.outside = size.to_f64();
        }
        if size.to_f64() <= limit {
            return None;
        }
        let row = self.products_with(atom as u32);
        let taken: f64 = atoms.iter().zip(coefficients).map(|(&member, a)| a * row[member as usize].to_f64()).sum();
        let correlation = self.correlations[atom].to_f64() - taken;
        let excess = if self.largest == Largest::Magnitude { correlation.abs() } else { correlation } - limit;
        // An atom that exceeds the limit in the sweep but not here does so by a rounding error, and could even enter with
        // the wrong sign.
        space.outside = if excess > 0.0 { f64::INFINITY } else { size.to_f64() };
        (excess > 0.0).then_some((atom as u32, correlation))
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
