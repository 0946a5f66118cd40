//! Φ as a dense matrix.

use std::sync::OnceLock;

use fearless_simd::{Simd, dispatch};

use crate::error::{Error, Result};
use crate::kernels::best_level;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::singular::Singular;
use super::{Degradation, add_multiple_by, conjugate};

/// Partial sums of a product of columns, so that the additions do not wait for each other.
const PARTIAL_SUMS: usize = 16;

/// Any N × M matrix as a degradation.
///
/// # Cost
/// N·M multiply-adds for each use; N·M values of memory. If the shorter side is at most 256, the first
/// [`reconcile`](Degradation::reconcile) decomposes the matrix and keeps what it finds, and every one costs three
/// times as much as another use.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::degradation::{Degradation, Dense};
///
/// // One measurement of two features: their difference.
/// let phi = Dense::new(Matrix::from_columns(vec![1.0, -1.0], 1, 2)?.view())?;
/// let mut measured = [0.0];
/// phi.apply(&[5.0, 3.0], &mut measured);
/// assert_eq!(measured, [2.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV, Eq. (14).
#[derive(Debug, Clone)]
pub struct Dense<T> {
    matrix: Matrix<T>,
    /// Found when first needed.
    singular: OnceLock<Option<Singular>>,
}

impl<T: PartialEq> PartialEq for Dense<T> {
    fn eq(&self, other: &Self) -> bool {
        self.matrix == other.matrix
    }
}

impl<T: Scalar> Dense<T> {
    /// Copies the matrix: a row for each measurement, a column for each feature.
    ///
    /// # Errors
    /// If there is no row or no column, or a value is not finite.
    pub fn new(matrix: MatrixView<'_, T>) -> Result<Self> {
        if matrix.rows() == 0 {
            return Err(Error::Empty { what: "degradation matrix", unit: "measurement" });
        }
        if matrix.columns() == 0 {
            return Err(Error::Empty { what: "degradation matrix", unit: "feature" });
        }
        matrix.expect_finite("degradation matrix")?;
        Ok(Self { matrix: matrix.to_matrix(), singular: OnceLock::new() })
    }

    /// The matrix of any degradation: what it makes of each feature alone.
    ///
    /// # Errors
    /// If it has no measurement or no feature.
    pub fn of(phi: &dyn Degradation<T>) -> Result<Self> {
        let mut matrix = Matrix::zeros(phi.n_measurements(), phi.n_features());
        let mut unit = vec![T::ZERO; phi.n_features()];
        for feature in 0..phi.n_features() {
            unit[feature] = T::ONE;
            phi.apply(&unit, matrix.column_mut(feature));
            unit[feature] = T::ZERO;
        }
        Self::new(matrix.view())
    }

    /// The matrix.
    pub fn matrix(&self) -> MatrixView<'_, T> {
        self.matrix.view()
    }

    /// Its singular values and vectors, unless there are too many.
    pub(super) fn singular(&self) -> Option<&Singular> {
        self.singular.get_or_init(|| Singular::of(self.matrix.view())).as_ref()
    }
}

impl<T: Scalar> Degradation<T> for Dense<T> {
    fn n_features(&self) -> usize {
        self.matrix.columns()
    }

    fn n_measurements(&self) -> usize {
        self.matrix.rows()
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        assert_eq!(features.len(), self.matrix.columns(), "number of features");
        assert_eq!(measurements.len(), self.matrix.rows(), "number of measurements");
        measurements.fill(T::ZERO);
        dispatch!(best_level(), simd => add_combination(simd, self.matrix.as_slice(), features, measurements));
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        assert_eq!(measurements.len(), self.matrix.rows(), "number of measurements");
        assert_eq!(features.len(), self.matrix.columns(), "number of features");
        for (column, feature) in self.matrix.as_slice().chunks_exact(self.matrix.rows()).zip(features) {
            *feature = product(column, measurements);
        }
    }

    fn reconcile(&self, measurements: &[T], mu: f64, features: &mut [T]) {
        let Some(singular) = self.singular() else {
            return conjugate::reconcile(self, measurements, mu, features);
        };
        let mut residual = vec![T::ZERO; measurements.len()];
        self.apply(features, &mut residual);
        residual.iter_mut().zip(measurements).for_each(|(residual, &z)| *residual = z - *residual);
        singular.correct(&residual, mu, features);
    }
}

/// Adds the combination of columns by the features to sums.
#[inline(always)]
fn add_combination<S: Simd, T: Scalar>(simd: S, columns: &[T], features: &[T], sums: &mut [T]) {
    for (column, &feature) in columns.chunks_exact(sums.len()).zip(features) {
        add_multiple_by(simd, feature, column, sums);
    }
}

fn product<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; PARTIAL_SUMS];
    for (a, b) in a.chunks(PARTIAL_SUMS).zip(b.chunks(PARTIAL_SUMS)) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.into_iter().fold(T::ZERO, |total, sum| total + sum)
}
