//! Learning local Gaussians by expectation maximisation.

use crate::blocks::Run;
use crate::coding::{CodingBasis, OneSparse, Samples, SparseCoder};
use crate::dictionary::{Examples, WeakLearner};
use crate::ensemble::Training;
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::patch::remove_means;
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::members::{BLOCK, Choice};
use super::scatter::{Scatter, Weights};
use super::{LocalGaussians, MeanPrior};

/// Learns K Gaussians from samples that have their mean.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `n_gaussians` | K | 64 | members of the ensemble; one is the linear estimator | ≥ 1, ≤ T |
/// | `iterations` | | 12 | rounds of weighing and fitting | ≥ 0 |
/// | `shared_samples` | ν | 5 | how many samples of the covariance of all count for each Gaussian | ≥ 0 |
/// | `floor` | | 1 | variance that every direction has at least, in squared grey levels | > 0 |
/// | `seed` | | 0 | of the first examples | |
///
/// The first members are those of an example dictionary: K samples drawn at random, each with the samples nearest to its
/// line (1-sparse coding). From there each round weighs every sample's members and fits each member to its samples.
///
/// # Cost
/// About K·M²·T multiply-adds for a round; memory beyond the samples is a few numbers for each sample.
///
/// # Example
/// ```
/// use sparsemble::ensemble::GaussianLearner;
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 200, |r, i| ((r * i) as f32).sin() * (i % 7) as f32);
/// let learner = GaussianLearner { n_gaussians: 3, ..GaussianLearner::default() };
/// let gaussians = learner.fit(samples.view(), None, Run::default())?;
/// assert_eq!((gaussians.count(), gaussians.n_features()), (3, 4));
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[doc(alias = "GMM")]
#[doc(alias = "EM")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianLearner {
    /// K.
    pub n_gaussians: usize,
    /// Rounds.
    pub iterations: usize,
    /// ν.
    pub shared_samples: f64,
    /// The least variance in any direction.
    pub floor: f64,
    /// The seed of the first examples.
    pub seed: u64,
}

impl Default for GaussianLearner {
    fn default() -> Self {
        Self { n_gaussians: 64, iterations: 12, shared_samples: 5.0, floor: 1.0, seed: 0 }
    }
}

impl GaussianLearner {
    /// Learns from samples, all counting alike unless there are masses.
    ///
    /// # Errors
    /// If a field is out of range, there are fewer samples of positive mass than Gaussians, or a sample is not finite.
    pub fn fit<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<LocalGaussians<T>> {
        self.check()?;
        let masses = Masses::new(masses, samples.columns())?;
        let (samples, mean) = centre(samples, &masses)?;
        let pass = |round: usize| run.passes(round..round + 1, self.iterations + 1, samples.columns());
        let all = vec![vec![(0, 1.0)]; samples.columns()];
        let nothing = Matrix::zeros(samples.rows(), samples.rows());
        let shared = Scatter::of_each(1, &samples, &masses, &all, run.silent())?[0].covariance(&nothing, 0.0);
        let fitted = |weights: &[Weights]| -> Result<LocalGaussians<T>> {
            let scatters = Scatter::of_each(self.n_gaussians, &samples, &masses, weights, run.silent())?;
            let covariances: Vec<Matrix<T>> = scatters
                .iter()
                .map(|scatter| with_ridge(scatter.covariance(&shared, self.shared_samples), self.floor))
                .collect();
            LocalGaussians::new(scatters.iter().map(|scatter| scatter.mass + 1.0).collect(), &covariances, mean)
        };
        let mut gaussians = fitted(&self.first_weights(&samples, &masses, pass(0))?)?;
        let mut objective = Vec::with_capacity(self.iterations);
        for round in 1..=self.iterations {
            let (weights, evidence) = weigh(&gaussians, &samples, &masses, pass(round))?;
            objective.push(evidence);
            gaussians = fitted(&weights)?;
        }
        let training = Training { method: "gaussians".into(), seed: self.seed, objective, ..Training::default() };
        Ok(gaussians.with_training(training))
    }

    fn check(&self) -> Result<()> {
        if self.n_gaussians == 0 {
            return Err(Error::parameter("n_gaussians", self.n_gaussians, "must be at least 1"));
        }
        if !(self.floor > 0.0 && self.floor.is_finite()) {
            return Err(Error::parameter("floor", self.floor, "must be positive and finite"));
        }
        if !(self.shared_samples >= 0.0 && self.shared_samples.is_finite()) {
            return Err(Error::parameter("shared_samples", self.shared_samples, "must be zero or more, and finite"));
        }
        Ok(())
    }

    /// Every sample to the example whose line it is nearest to.
    fn first_weights<T: Scalar>(&self, samples: &Matrix<T>, masses: &Masses<'_>, run: Run<'_>) -> Result<Vec<Weights>> {
        let learner = Examples { n_atoms: self.n_gaussians };
        let examples = learner.fit(samples.view(), &masses.values(), Draw::first(self.seed), run.silent())?;
        let basis = CodingBasis::new(examples.atoms().view())?;
        let coding = OneSparse::default().encode(&basis, &Samples::new(samples.view()), run)?;
        let nearest = |i: usize| coding.codes.column(i).next().map_or(0, |(atom, _)| atom as u32);
        Ok((0..samples.columns()).map(|i| vec![(nearest(i), 1.0)]).collect())
    }
}

/// The samples without their means, and what is known of the means.
fn centre<T: Scalar>(samples: MatrixView<'_, T>, masses: &Masses<'_>) -> Result<(Matrix<T>, MeanPrior)> {
    if samples.rows() == 0 {
        return Err(Error::Empty { what: "samples", unit: "feature" });
    }
    samples.expect_finite("samples")?;
    let mut centred = samples.to_matrix();
    let means = remove_means(&mut centred);
    let average = |f: &dyn Fn(f64) -> f64| means.iter().enumerate().map(|(i, &m)| masses.share(i) * f(m)).sum::<f64>();
    let mean = average(&|mean| mean);
    let variance = average(&|value| (value - mean) * (value - mean));
    // Samples whose means are all alike still leave some doubt about the next one.
    Ok((centred, MeanPrior { mean, deviation: variance.sqrt().max(1.0) }))
}

fn with_ridge<T: Scalar>(mut covariance: Matrix<T>, ridge: f64) -> Matrix<T> {
    (0..covariance.columns()).for_each(|i| covariance.column_mut(i)[i] += T::from_f64(ridge));
    covariance
}

/// The weights of the members for every sample, and the mean log likelihood of a sample.
fn weigh<T: Scalar>(
    gaussians: &LocalGaussians<T>,
    samples: &Matrix<T>,
    masses: &Masses<'_>,
    run: Run<'_>,
) -> Result<(Vec<Weights>, f64)> {
    let members = gaussians.members(0.0, run)?;
    let blocks = run.map_blocks(
        samples.columns(),
        BLOCK,
        || members.scratch(),
        |scratch, range| {
            let mut weights = Vec::with_capacity(range.len());
            let mut evidence = 0.0;
            let block = range.clone().map(|i| samples.column(i));
            members.weigh(scratch, block, Choice::Weighted, |slot, found, log_likelihood| {
                weights.push(found.iter().map(|&(k, weight)| (k as u32, weight as f32)).collect::<Weights>());
                evidence += masses.share(range.start + slot) * log_likelihood;
            });
            Ok((weights, evidence))
        },
    )?;
    let evidence = blocks.iter().map(|(_, evidence)| evidence).sum();
    Ok((blocks.into_iter().flat_map(|(weights, _)| weights).collect(), evidence))
}
