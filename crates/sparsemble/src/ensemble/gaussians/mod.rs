//! Local Gaussians: an ensemble whose weak members are linear estimators, each good near its own atoms.
//!
//! A Gaussian of mean zero and covariance C_k says which patches are likely, and gives the best linear estimate of a patch
//! from anything measured of it. One Gaussian is the linear minimum-mean-square estimator. Many, each fitted to the patches
//! nearest to it, make an ensemble in the sense of Eq. (4), except that β depends on the sample: the weight of a member is
//! how likely it is that the measurements are its own.
//!
//! | what | where |
//! | --- | --- |
//! | the ensemble | [`LocalGaussians`] |
//! | learning it from patches | [`GaussianLearner`] |
//! | estimates of patches from measurements | [`GaussianEstimator`] |

mod adapting;
mod estimator;
mod learner;
mod members;
mod scatter;

pub(crate) use estimator::EstimatorScratch;
pub use estimator::{Estimate, GaussianEstimator, SampleMean, Seen};
pub use learner::{GaussianLearner, GaussianLearning};

use crate::eigen::Eigen;
use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::Training;

/// K Gaussians around zero, for samples without their mean, and one for the mean.
///
/// # Example
/// ```
/// use sparsemble::ensemble::{LocalGaussians, MeanPrior, SampleMean, Seen};
/// use sparsemble::{Matrix, Run};
///
/// // Samples of two numbers that are often opposite and sometimes both near zero.
/// let covariance = |size: f64| Matrix::from_fn(2, 2, |i, j| if i == j { size + 0.1 } else { -size });
/// let mean = MeanPrior { mean: 0.0, deviation: 1.0 };
/// let gaussians = LocalGaussians::new(vec![0.5, 0.5], &[covariance(100.0), covariance(0.1)], mean)?;
///
/// // Seen with noise of deviation 1: a large difference is kept, a small one is taken for noise.
/// let seen = Seen { phi: None, noise: 1.0, mean: SampleMean::Removed };
/// let noisy = Matrix::from_columns(vec![10.0, -10.0, 0.5, -0.5], 2, 2)?;
/// let clean = gaussians.estimator(&seen, Run::default())?.estimate(noisy.view(), Run::default())?.values;
/// assert!(clean.column(0)[0] > 9.8 && clean.column(1)[0] < 0.2);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LocalGaussians<T> {
    weights: Vec<f64>,
    covariances: Vec<Matrix<T>>,
    eigen: Vec<Eigen>,
    mean: MeanPrior,
    training: Training,
}

/// What the mean of a sample is likely to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanPrior {
    /// On average.
    pub mean: f64,
    /// How far from that, as a standard deviation.
    pub deviation: f64,
}

impl<T: Scalar> LocalGaussians<T> {
    /// Puts weights, of which only the ratios matter, and covariances together.
    ///
    /// # Errors
    /// If there is none, a weight or a deviation is not positive and finite, a covariance is not a finite symmetric
    /// matrix with positive eigenvalues, or they differ in size.
    pub fn new(weights: Vec<f64>, covariances: &[Matrix<T>], mean: MeanPrior) -> Result<Self> {
        expect_size("weights: number of covariances", covariances.len(), weights.len())?;
        let Some(first) = covariances.first() else {
            return Err(Error::Empty { what: "local Gaussians", unit: "covariance" });
        };
        if let Some(bad) = weights.iter().find(|weight| !(**weight > 0.0 && weight.is_finite())) {
            return Err(Error::parameter("weights", bad, "every weight must be positive and finite"));
        }
        if !(mean.deviation > 0.0 && mean.deviation.is_finite() && mean.mean.is_finite()) {
            return Err(Error::parameter("mean deviation", mean.deviation, "must be positive and finite"));
        }
        for covariance in covariances {
            check_covariance(covariance.view(), first.rows())?;
        }
        let total: f64 = weights.iter().sum();
        // Weights that sum to one already keep their bits, through a file and back.
        let scale = if (total - 1.0).abs() < 1e-9 { 1.0 } else { total };
        let weights = weights.into_iter().map(|weight| weight / scale).collect();
        let eigen = covariances.iter().map(|covariance| Eigen::new(&covariance.view().converted())).collect::<Vec<_>>();
        for (covariance, eigen) in covariances.iter().zip(&eigen) {
            let least = least_eigenvalue(covariance, eigen);
            // Also refuses NaN, which an overflow would give.
            if least.is_nan() || least <= 0.0 {
                return Err(Error::parameter("covariance eigenvalue", least, "must be positive; add to the diagonal"));
            }
        }
        Ok(Self { weights, covariances: covariances.to_vec(), eigen, mean, training: Training::default() })
    }

    /// The same Gaussians with this record of their training.
    #[must_use]
    pub fn with_training(self, training: Training) -> Self {
        Self { training, ..self }
    }

    /// How they came about.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// M, the length of a sample.
    pub fn n_features(&self) -> usize {
        self.covariances[0].rows()
    }

    /// K.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// How often a sample is of each Gaussian; they sum to one.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The covariances, M × M each.
    pub fn covariances(&self) -> &[Matrix<T>] {
        &self.covariances
    }

    /// The prior of the mean of a sample.
    pub fn mean(&self) -> MeanPrior {
        self.mean
    }

    /// For each Gaussian the direction of norm 1 in which its samples vary most, M × K.
    pub fn directions(&self) -> Matrix<T> {
        Matrix::from_fn(self.n_features(), self.count(), |r, k| T::from_f64(self.eigen[k].vectors.column(0)[r]))
    }

    pub(super) fn eigen(&self) -> &[Eigen] {
        &self.eigen
    }
}

fn check_covariance<T: Scalar>(covariance: MatrixView<'_, T>, size: usize) -> Result<()> {
    expect_size("covariance: number of rows (that of the first)", size, covariance.rows())?;
    expect_size("covariance: number of columns (that of its rows)", size, covariance.columns())?;
    if size == 0 {
        return Err(Error::Empty { what: "covariance", unit: "feature" });
    }
    covariance.expect_finite("covariance")?;
    let largest = (0..size).map(|i| covariance.get(i, i).to_f64()).fold(0.0, f64::max);
    for i in 0..size {
        for j in 0..i {
            let apart = (covariance.get(i, j).to_f64() - covariance.get(j, i).to_f64()).abs();
            if apart > 1e-4 * largest {
                return Err(Error::parameter("covariance", format!("entry ({i}, {j})"), "must be symmetric"));
            }
        }
    }
    Ok(())
}

/// The least uᵀCu over the eigenvectors: their lengths alone do not tell the sign.
fn least_eigenvalue<T: Scalar>(covariance: &Matrix<T>, eigen: &Eigen) -> f64 {
    let size = covariance.rows();
    let value = |j: usize| -> f64 {
        let u = eigen.vectors.column(j);
        let column = |c: usize| covariance.column(c).iter().zip(u).map(|(entry, u)| entry.to_f64() * u).sum::<f64>();
        (0..size).map(|c| u[c] * column(c)).sum()
    };
    (0..size).map(value).fold(f64::INFINITY, |least, value| if value < least || value.is_nan() { value } else { least })
}
