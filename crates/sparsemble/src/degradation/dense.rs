//! Φ as a dense matrix.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::Degradation;

/// Partial sums of a product of columns, so that the additions do not wait for each other.
const PARTIAL_SUMS: usize = 16;

/// Any N × M matrix as a degradation.
///
/// # Cost
/// N·M multiply-adds for each use; N·M values of memory.
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
#[derive(Debug, Clone, PartialEq)]
pub struct Dense<T> {
    matrix: Matrix<T>,
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
        Ok(Self { matrix: matrix.to_matrix() })
    }

    /// The matrix.
    pub fn matrix(&self) -> MatrixView<'_, T> {
        self.matrix.view()
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
        for (column, &feature) in self.matrix.as_slice().chunks_exact(self.matrix.rows()).zip(features) {
            for (sum, &value) in measurements.iter_mut().zip(column) {
                *sum += value * feature;
            }
        }
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        assert_eq!(measurements.len(), self.matrix.rows(), "number of measurements");
        assert_eq!(features.len(), self.matrix.columns(), "number of features");
        for (column, feature) in self.matrix.as_slice().chunks_exact(self.matrix.rows()).zip(features) {
            *feature = product(column, measurements);
        }
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
