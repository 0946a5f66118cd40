//! A few samples at a time, copied out of the caller's matrix.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use crate::coding::{CodingBasis, SparseCodes};
use crate::error::{Error, Result};
use crate::kernels::{Columns, best_level, dot, subtract_combination};
use crate::matrix::{MatrixView, first_not_finite};
use crate::scalar::Scalar;

/// The largest energy ‖x‖² of a sample: products of two such numbers are still finite.
const LARGEST_ENERGY: f64 = 1e100;

/// How many samples make a batch of about a million values.
pub(super) fn usual_size(n_features: usize) -> usize {
    ((1 << 20) / n_features.max(1)).clamp(256, 8192)
}

/// Samples in padded columns, with the weight of each and its number in the caller's matrix.
#[derive(Debug)]
pub(super) struct Batch<T> {
    values: Vec<T>,
    n_features: usize,
    stride: usize,
    weights: Vec<f64>,
    names: Vec<usize>,
}

impl<T: Scalar> Batch<T> {
    pub(super) fn new(n_features: usize) -> Self {
        let stride = Columns::<T>::zeros(n_features, 0).stride();
        Self { values: Vec::new(), n_features, stride, weights: Vec::new(), names: Vec::new() }
    }

    /// Replaces the content by the next samples, at most `most`; `false` if there are none left.
    pub(super) fn load(
        &mut self,
        samples: MatrixView<'_, T>,
        chosen: &mut impl Iterator<Item = (usize, f64)>,
        most: usize,
    ) -> Result<bool> {
        dispatch!(best_level(), simd => self.load_with(simd, samples, chosen, most))
    }

    #[inline(always)]
    fn load_with<S: Simd>(
        &mut self,
        simd: S,
        samples: MatrixView<'_, T>,
        chosen: &mut impl Iterator<Item = (usize, f64)>,
        most: usize,
    ) -> Result<bool> {
        self.names.clear();
        self.weights.clear();
        let mut squares = T::Native::<S>::splat(simd, T::ZERO);
        let at_least = chosen.size_hint().0.min(most);
        self.names.reserve(at_least);
        self.weights.reserve(at_least);
        if self.values.len() < at_least * self.stride {
            self.values.resize(at_least * self.stride, T::ZERO);
        }
        for (slot, (name, weight)) in chosen.take(most).enumerate() {
            if self.values.len() < (slot + 1) * self.stride {
                self.values.resize((slot + 1) * self.stride, T::ZERO);
            }
            let column = &mut self.values[slot * self.stride..][..self.stride];
            samples.copy_column(name, column);
            for part in column.chunks_exact(T::Native::<S>::LEN) {
                let part = T::Native::<S>::from_slice(simd, part);
                squares = part.mul_add(part, squares);
            }
            self.names.push(name);
            self.weights.push(weight);
        }
        // All together are looked at first, which is nearly always enough.
        let mut total = 0.0;
        for lane in 0..T::Native::<S>::LEN {
            total += squares[lane].to_f64();
        }
        if total.is_nan() || total >= LARGEST_ENERGY {
            for (slot, &name) in self.names.iter().enumerate() {
                check(simd, &self.values[slot * self.stride..][..self.stride], name)?;
            }
        }
        Ok(!self.names.is_empty())
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn names(&self) -> &[usize] {
        &self.names
    }

    pub(super) fn weight(&self, slot: usize) -> f64 {
        self.weights[slot]
    }

    pub(super) fn column(&self, slot: usize) -> &[T] {
        &self.values[slot * self.stride..][..self.n_features]
    }

    pub(super) fn view(&self) -> Result<MatrixView<'_, T>> {
        MatrixView::from_strided(&self.values, (self.n_features, self.len()), (1, self.stride))
    }

    /// ‖x − Da‖² of some samples; `residual` is space for a padded column.
    pub(super) fn errors(
        &self,
        basis: &CodingBasis<T>,
        codes: &SparseCodes<T>,
        slots: Range<usize>,
        residual: &mut Vec<T>,
    ) -> Vec<f64> {
        residual.resize(self.stride, T::ZERO);
        dispatch!(best_level(), simd => {
            let mut errors = Vec::with_capacity(slots.len());
            for slot in slots {
                let range = codes.starts()[slot]..codes.starts()[slot + 1];
                let coefficients = codes.coefficients()[range.clone()].iter().copied();
                let terms = codes.atoms()[range].iter().copied().zip(coefficients);
                let x = &self.values[slot * self.stride..][..self.stride];
                subtract_combination(simd, basis.columns(), &terms, x, residual);
                errors.push(residual[..self.n_features].iter().map(|r| r.to_f64() * r.to_f64()).sum());
            }
            errors
        })
    }
}

/// Refuses a sample that is not finite or too large to be squared; the padding is zero and does no harm.
#[inline(always)]
fn check<S: Simd, T: Scalar>(simd: S, column: &[T], name: usize) -> Result<()> {
    if dot(simd, column, column).to_f64() < LARGEST_ENERGY { Ok(()) } else { refuse_unless_finite(column, name) }
}

#[cold]
fn refuse_unless_finite<T: Scalar>(column: &[T], name: usize) -> Result<()> {
    if let Some(row) = first_not_finite(column) {
        return Err(Error::NotFinite { what: "samples", row, column: name });
    }
    let energy: f64 = column.iter().map(|value| value.to_f64() * value.to_f64()).sum();
    if energy < LARGEST_ENERGY {
        return Ok(()); // it was only too large for `f32`
    }
    Err(Error::parameter("samples: energy", energy, "too large to learn from; divide all samples by one factor"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// A batch of these samples with weights 1, 2, 3, …, and codes given densely.
    pub(in super::super) fn example(samples: &Matrix<f64>, dense: &Matrix<f64>) -> (Batch<f64>, SparseCodes<f64>) {
        let mut batch = Batch::new(samples.rows());
        let mut chosen = (0..samples.columns()).map(|i| (i, 1.0 + i as f64));
        assert!(batch.load(samples.view(), &mut chosen, usize::MAX).unwrap());
        let mut codes = SparseCodes::new(dense.rows());
        for i in 0..dense.columns() {
            codes.push(dense.column(i).iter().enumerate().map(|(j, &a)| (j as u32, a)));
        }
        (batch, codes)
    }

    #[test]
    fn a_batch_takes_what_is_left_and_says_when_nothing_is() {
        let samples = Matrix::from_fn(3, 5, |r, c| (10 * c + r) as f64);
        let mut batch = Batch::new(3);
        let mut chosen = [4, 0, 2].into_iter().map(|i| (i, 0.5));
        assert!(batch.load(samples.view(), &mut chosen, 2).unwrap());
        assert_eq!((batch.names(), batch.column(1)), (&[4, 0][..], samples.column(0)));
        assert!(batch.load(samples.view(), &mut chosen, 2).unwrap());
        assert_eq!((batch.names(), batch.column(0)), (&[2][..], samples.column(2)));
        assert!(!batch.load(samples.view(), &mut chosen, 2).unwrap());
    }

    #[test]
    fn the_error_is_that_of_the_residual() {
        let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0], 2, 2).unwrap();
        let samples = Matrix::from_columns(vec![3.0, 4.0], 2, 1).unwrap();
        let (batch, codes) = example(&samples, &Matrix::from_columns(vec![1.0, 0.5], 2, 1).unwrap());
        let error = batch.errors(&CodingBasis::new(atoms.view()).unwrap(), &codes, 0..1, &mut Vec::new())[0];
        assert!((error - (2.0 * 2.0 + 3.5 * 3.5)).abs() < 1e-12);
    }
}
