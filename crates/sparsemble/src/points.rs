//! Samples and their masses, checked once and kept away from the ends of the number range.

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// Samples checked at a time.
const BLOCK: usize = 1024;

/// Samples and masses, with the power of two that keeps all squares inside the range of the number type.
///
/// Learners work on the samples times that power, which changes no digit. Samples of mass zero have no say in it: they
/// may overflow, and count nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Points<'a, T> {
    samples: MatrixView<'a, T>,
    masses: &'a [f64],
    total_mass: f64,
    /// Nearly always none.
    scale: Option<f64>,
}

impl<'a, T: Scalar> Points<'a, T> {
    /// Refuses what is not finite in the samples or the given centres, and masses that make no distribution.
    pub(crate) fn new(
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
            let mut sizes = range.map(|i| Ok((masses[i], largest(samples, i, column, "samples")?)));
            sizes.try_fold(0.0_f64, |most, size| size.map(|(mass, x)| if mass > 0.0 { most.max(x) } else { most }))
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
    pub(crate) fn tame(samples: MatrixView<'a, T>, masses: &'a [f64]) -> Self {
        Self { samples, masses, total_mass: masses.iter().sum(), scale: None }
    }

    /// T.
    pub(crate) fn count(&self) -> usize {
        self.samples.columns()
    }

    /// M.
    pub(crate) fn rows(&self) -> usize {
        self.samples.rows()
    }

    pub(crate) fn masses(&self) -> &'a [f64] {
        self.masses
    }

    pub(crate) fn total_mass(&self) -> f64 {
        self.total_mass
    }

    /// The samples as they were given.
    pub(crate) fn samples(&self) -> MatrixView<'a, T> {
        self.samples
    }

    /// The power of two.
    pub(crate) fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// Writes one scaled sample to the front of `out`.
    #[inline]
    pub(crate) fn copy(&self, sample: usize, out: &mut [T]) {
        self.samples.copy_column(sample, out);
        if let Some(scale) = self.scale {
            out[..self.rows()].iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() * scale));
        }
    }

    /// The scaled samples of these names.
    pub(crate) fn gather(&self, names: &[usize]) -> Matrix<T> {
        let mut matrix = Matrix::zeros(self.rows(), names.len());
        names.iter().enumerate().for_each(|(j, &i)| self.copy(i, matrix.column_mut(j)));
        matrix
    }

    /// A matrix in the units of the caller, in those of the scaled samples.
    pub(crate) fn scaled(&self, matrix: MatrixView<'_, T>) -> Matrix<T> {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| T::from_f64(matrix.get(r, c).to_f64() * self.scale()))
    }

    /// The way back.
    pub(crate) fn unscaled(&self, matrix: &Matrix<T>) -> Matrix<T> {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| {
            T::from_f64(matrix.column(c)[r].to_f64() / self.scale())
        })
    }

    /// The way back for a squared distance; the largest number if it is beyond all.
    pub(crate) fn unscaled_energy(&self, energy: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_samples_that_count_set_the_scale() {
        let samples = Matrix::from_columns(vec![1e-200, 3.0, 1e250], 1, 3).unwrap();
        let scale = |masses: &[f64]| Points::new(samples.view(), masses, None, Run::threads(1)).unwrap().scale();
        assert!((scale(&[0.0, 1.0, 0.0]) - 1.0).abs() < 1e-15);
        assert!(scale(&[1.0, 0.0, 0.0]) > 1e199 && scale(&[1.0, 1.0, 1.0]) < 1e-249);
    }
}
