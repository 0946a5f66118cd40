//! What is to be coded: the samples, and what is special about single ones.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use crate::blocks::Pulse;
use crate::error::{Error, Result, expect_size};
use crate::kernels::{Columns, best_level, dot};
use crate::matrix::{Matrix, MatrixView, first_not_finite};
use crate::scalar::Scalar;

use super::basis::tame;
use super::{Coding, CodingBasis, SparseCoder};

/// Samples in columns, with an optional mask of observed entries, an optional excluded atom and optional prices of the atoms
/// each.
///
/// ```
/// use sparsemble::coding::Samples;
/// use sparsemble::Matrix;
///
/// let x = Matrix::from_columns(vec![1.0_f32, f32::NAN, 3.0, 4.0], 2, 2)?;
/// let observed = Matrix::from_columns(vec![true, false, true, true], 2, 2)?;
/// let own_column = [Some(0), Some(1)];
/// let samples = Samples::new(x.view()).observed(observed.view()).excluding(&own_column);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a, T> {
    values: MatrixView<'a, T>,
    mask: Option<MatrixView<'a, bool>>,
    excluded: Option<&'a [Option<usize>]>,
    weights: Option<MatrixView<'a, f64>>,
}

impl<'a, T: Scalar> Samples<'a, T> {
    /// Every entry observed, every atom allowed, at the price that the coder says.
    pub fn new(values: MatrixView<'a, T>) -> Self {
        Self { values, mask: None, excluded: None, weights: None }
    }

    /// Only the entries marked `true` count; the others may hold anything, NaN included.
    #[must_use]
    pub fn observed(self, mask: MatrixView<'a, bool>) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// The i-th sample must not use the i-th of these atoms: the constraint a_ii = 0 of Eq. (17).
    #[must_use]
    pub fn excluding(self, atoms: &'a [Option<usize>]) -> Self {
        Self { excluded: Some(atoms), ..self }
    }

    /// The i-th sample pays the prices in the i-th of these columns (K × T), in the place of the coder's `atom_weights`.
    /// Only [`Lasso`](super::Lasso) has prices; the other coders refuse them.
    #[must_use]
    pub fn weighing(self, weights: MatrixView<'a, f64>) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Codes some of the samples in double precision.
    ///
    /// # Errors
    /// Those of the coder.
    pub(super) fn encode_in_doubles(
        &self,
        coder: &impl SparseCoder<f64>,
        basis: &CodingBasis<T>,
        some: &[usize],
        pulse: &Pulse<'_>,
    ) -> Result<Coding<f64>> {
        let values = Matrix::from_fn(self.values.rows(), some.len(), |row, i| self.values.get(row, some[i]).to_f64());
        let mask = self.mask.map(|mask| Matrix::from_fn(mask.rows(), some.len(), |row, i| mask.get(row, some[i])));
        let weights = self.weights.map(|own| Matrix::from_fn(own.rows(), some.len(), |atom, i| own.get(atom, some[i])));
        let excluded: Vec<Option<usize>> = some.iter().map(|&sample| self.excluded_atom(sample)).collect();
        let samples = Samples {
            values: values.view(),
            mask: mask.as_ref().map(Matrix::view),
            excluded: Some(&excluded),
            weights: weights.as_ref().map(Matrix::view),
        };
        pulse.within(|run| coder.encode(basis.in_doubles(), &samples, run))
    }

    /// The number of samples.
    pub fn count(&self) -> usize {
        self.values.columns()
    }

    pub(crate) fn is_masked(&self) -> bool {
        self.mask.is_some()
    }

    /// The prices of each sample's own, if they have any.
    pub(super) fn weights(&self) -> Option<MatrixView<'a, f64>> {
        self.weights
    }

    pub(crate) fn excluded_atom(&self, sample: usize) -> Option<usize> {
        self.excluded.and_then(|atoms| atoms[sample])
    }

    /// Checks every size against the basis, for a coder without prices.
    pub(crate) fn check(&self, basis: &CodingBasis<T>) -> Result<()> {
        if self.weights.is_some() {
            return Err(Error::parameter(
                "atom weight",
                "one for each sample",
                "only the lasso has them; leave them out",
            ));
        }
        self.check_weighed(basis)
    }

    /// The same for a coder that has prices; it checks their values when it comes to them.
    pub(super) fn check_weighed(&self, basis: &CodingBasis<T>) -> Result<()> {
        expect_size("samples: number of features (that of the basis)", basis.n_features(), self.values.rows())?;
        if let Some(mask) = self.mask {
            expect_size("mask: number of features (that of the samples)", self.values.rows(), mask.rows())?;
            expect_size("mask: number of samples", self.count(), mask.columns())?;
        }
        if let Some(excluded) = self.excluded {
            expect_size("excluded atoms: number of samples", self.count(), excluded.len())?;
            if let Some(atom) = excluded.iter().flatten().find(|atom| **atom >= basis.n_atoms()) {
                return Err(Error::parameter("excluded atom", atom, "must be below the number of atoms"));
            }
        }
        if let Some(weights) = self.weights {
            expect_size("atom weights: number of atoms", basis.n_atoms(), weights.rows())?;
            expect_size("atom weights: number of samples", self.count(), weights.columns())?;
        }
        Ok(())
    }

    /// Copies a range of samples into the front of `out`, unobserved entries as zeros, and divides those of extreme
    /// norm by a power of two, which goes to `scales` (one for most).
    pub(crate) fn load(&self, range: Range<usize>, out: &mut Columns<T>, scales: &mut Vec<f64>) -> Result<()> {
        dispatch!(best_level(), simd => self.load_with(simd, range, out, scales))
    }

    #[inline(always)]
    fn load_with<S: Simd>(
        &self,
        simd: S,
        range: Range<usize>,
        out: &mut Columns<T>,
        scales: &mut Vec<f64>,
    ) -> Result<()> {
        scales.clear();
        for (slot, sample) in range.enumerate() {
            let column = out.padded_mut(slot);
            self.values.copy_column(sample, column);
            if let Some(mask) = self.mask {
                for (row, value) in column[..mask.rows()].iter_mut().enumerate() {
                    if !mask.get(row, sample) {
                        *value = T::ZERO;
                    }
                }
            }
            // The energy tells both whether all is finite and whether all is tame; only the odd sample is looked at twice.
            let energy = dot(simd, column, column).to_f64();
            if (1e-12..1e12).contains(&energy) {
                scales.push(1.0);
                continue;
            }
            if let Some(row) = first_not_finite(column) {
                return Err(Error::NotFinite { what: "samples", row, column: sample });
            }
            scales.push(tame(column));
        }
        Ok(())
    }

    /// Copies the mask of one sample into the front of `out` as zeros and ones; `false` if everything is observed.
    pub(crate) fn load_mask(&self, sample: usize, out: &mut [T]) -> bool {
        let Some(mask) = self.mask else { return false };
        for (row, value) in out[..mask.rows()].iter_mut().enumerate() {
            *value = if mask.get(row, sample) { T::ONE } else { T::ZERO };
        }
        true
    }
}
