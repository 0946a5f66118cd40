//! Errors between samples and their approximations.

use crate::error::{Error, Result, expect_size};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// How far approximations are from their samples, summed in `f64`.
///
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::metrics::Residuals;
///
/// let samples = Matrix::from_columns(vec![3.0, 4.0, 0.0, 5.0], 2, 2)?;
/// let approximations = Matrix::from_columns(vec![3.0, 3.0, 0.0, 2.0], 2, 2)?;
/// let residuals = Residuals::of(samples.view(), approximations.view())?;
/// assert_eq!(residuals, Residuals { mean: 5.0, relative: 0.2, worst: 9.0, worst_sample: 1 });
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residuals {
    /// The mean of ‖x − x̂‖².
    pub mean: f64,
    /// The sum of ‖x − x̂‖² as a fraction of that of ‖x‖²; zero if all samples are zero and so are all approximations.
    pub relative: f64,
    /// The largest ‖x − x̂‖².
    pub worst: f64,
    /// Where it is; the first one of several.
    pub worst_sample: usize,
}

impl Residuals {
    /// Compares samples with approximations of the same shape.
    ///
    /// # Errors
    /// If the shapes differ or there is no sample.
    pub fn of<T: Scalar>(samples: MatrixView<'_, T>, approximations: MatrixView<'_, T>) -> Result<Self> {
        expect_size("approximations: number of features", samples.rows(), approximations.rows())?;
        expect_size("approximations: number of samples", samples.columns(), approximations.columns())?;
        if samples.columns() == 0 {
            return Err(Error::Empty { what: "samples", unit: "sample" });
        }
        let (mut sample, mut approximation) = (vec![T::ZERO; samples.rows()], vec![T::ZERO; samples.rows()]);
        let (mut sum, mut energy, mut worst, mut worst_sample) = (0.0, 0.0, -1.0, 0);
        for index in 0..samples.columns() {
            samples.copy_column(index, &mut sample);
            approximations.copy_column(index, &mut approximation);
            let pairs = sample.iter().zip(&approximation).map(|(x, y)| (x.to_f64(), y.to_f64()));
            let residual: f64 = pairs.map(|(x, y)| (x - y) * (x - y)).sum();
            energy += sample.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
            sum += residual;
            if residual > worst {
                (worst, worst_sample) = (residual, index);
            }
        }
        let relative = if sum > 0.0 { sum / energy } else { 0.0 };
        Ok(Self { mean: sum / samples.columns() as f64, relative, worst, worst_sample })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn exact_approximations_have_no_error_even_of_zero_samples() {
        for samples in [Matrix::<f32>::zeros(2, 3), Matrix::from_fn(2, 3, |r, c| (r + c) as f32)] {
            let residuals = Residuals::of(samples.view(), samples.view()).unwrap();
            assert_eq!(residuals, Residuals { mean: 0.0, relative: 0.0, worst: 0.0, worst_sample: 0 });
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        let samples = Matrix::<f64>::zeros(2, 3);
        for (rows, columns) in [(2, 2), (3, 3)] {
            assert!(Residuals::of(samples.view(), Matrix::zeros(rows, columns).view()).is_err());
        }
        assert!(Residuals::of(Matrix::<f64>::zeros(2, 0).view(), Matrix::zeros(2, 0).view()).is_err());
    }
}
