//! The samples of a K-Means and their masses, checked once.

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// Samples checked at a time.
const BLOCK: usize = 1024;

/// Samples and masses, with the power of two that keeps all squares inside the range of the number type.
///
/// Everything behind the public functions works on the samples times that power, which changes no digit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Points<'a, T> {
    samples: MatrixView<'a, T>,
    masses: &'a [f64],
    total_mass: f64,
    /// Nearly always none.
    scale: Option<f64>,
}

impl<'a, T: Scalar> Points<'a, T> {
    /// Refuses what is not finite in the samples or the given centres, and masses that make no distribution.
    pub(super) fn new(
        samples: MatrixView<'a, T>,
        masses: &'a [f64],
        centers: Option<MatrixView<'_, T>>,
        run: Run<'_>,
    ) -> Result<Self> {
        if samples.columns() == 0 {
            return Err(Error::Empty { what: "samples", unit: "sample" });
        }
        if samples.rows() == 0 {
            return Err(Error::Empty { what: "samples", unit: "feature" });
        }
        let total_mass = Masses::new(Some(masses), samples.columns())?.total();
        let column = || vec![T::ZERO; samples.rows()];
        let blocks = run.map_blocks(samples.columns(), BLOCK, column, |column, range| {
            range.map(|i| largest(samples, i, column, "samples")).try_fold(0.0_f64, |most, x| Ok(most.max(x?)))
        })?;
        let mut most = blocks.into_iter().fold(0.0_f64, f64::max);
        if let Some(centers) = centers {
            let mut column = column();
            for j in 0..centers.columns() {
                most = most.max(largest(centers, j, &mut column, "centres")?);
            }
        }
        Ok(Self { samples, masses, total_mass, scale: taming(most) })
    }

    /// Points that are scaled and checked already.
    pub(super) fn tame(samples: MatrixView<'a, T>, masses: &'a [f64]) -> Self {
        Self { samples, masses, total_mass: masses.iter().sum(), scale: None }
    }

    /// T.
    pub(super) fn count(&self) -> usize {
        self.samples.columns()
    }

    /// M.
    pub(super) fn rows(&self) -> usize {
        self.samples.rows()
    }

    pub(super) fn masses(&self) -> &'a [f64] {
        self.masses
    }

    pub(super) fn total_mass(&self) -> f64 {
        self.total_mass
    }

    fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// Writes one scaled sample to the front of `out`.
    #[inline]
    pub(super) fn copy(&self, sample: usize, out: &mut [T]) {
        self.samples.copy_column(sample, out);
        if let Some(scale) = self.scale {
            out[..self.rows()].iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() * scale));
        }
    }

    /// The scaled samples of these names.
    pub(super) fn gather(&self, names: &[usize]) -> Matrix<T> {
        let mut matrix = Matrix::zeros(self.rows(), names.len());
        names.iter().enumerate().for_each(|(j, &i)| self.copy(i, matrix.column_mut(j)));
        matrix
    }

    /// A matrix in the units of the caller, in those of the scaled samples.
    pub(super) fn scaled(&self, matrix: MatrixView<'_, T>) -> Matrix<T> {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| T::from_f64(matrix.get(r, c).to_f64() * self.scale()))
    }

    /// The way back.
    pub(super) fn unscaled(&self, matrix: &Matrix<T>) -> Matrix<T> {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| {
            T::from_f64(matrix.column(c)[r].to_f64() / self.scale())
        })
    }

    /// The way back for a squared distance; the largest number if it is beyond all.
    pub(super) fn unscaled_energy(&self, energy: f64) -> f64 {
        (energy / self.scale() / self.scale()).min(f64::MAX)
    }
}

/// The largest magnitude in a column; names the place of what is not finite.
fn largest<T: Scalar>(matrix: MatrixView<'_, T>, j: usize, column: &mut [T], what: &'static str) -> Result<f64> {
    matrix.copy_finite_column(j, column, what)?;
    Ok(column.iter().fold(T::ZERO, |most, x| if x.abs() > most { x.abs() } else { most }).to_f64())
}

/// For extreme samples, the power of two that brings the largest entry near one.
fn taming(largest: f64) -> Option<f64> {
    const TAME: std::ops::Range<f64> = 1e-6..1e6;
    // Not beyond the powers whose inverse is a number too.
    let scale = || (-largest.log2().floor()).clamp(-1022.0, 1022.0).exp2();
    (largest > 0.0 && !TAME.contains(&largest)).then(scale)
}
