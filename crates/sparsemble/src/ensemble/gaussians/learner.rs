//! Learning local Gaussians by expectation maximisation.

use crate::blocks::Run;
use crate::coding::{CodingBasis, OneSparse, Samples, SparseCoder};
use crate::dictionary::{Examples, WeakLearner};
use crate::ensemble::Training;
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::patch::remove_mean;
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::members::BLOCK;
use super::scatter::{Scatter, Weights};
use super::{LocalGaussians, MeanPrior};

/// Samples whose means are taken at a time.
const MEANS: usize = 1024;

/// The least deviation of the means, in the unit of the samples.
const LEAST_DEVIATION: f64 = 1.0;

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
        let pass = |round: usize| run.passes(round..round + 1, self.iterations + 1, samples.columns());
        let mut learning = self.start(samples, masses, pass(0))?;
        while learning.step(pass(learning.rounds() + 1))?.is_some() {}
        Ok(learning.into_gaussians())
    }

    /// The first Gaussians, to be improved round by round; [`fit`](Self::fit) is this and all rounds.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn start<'a, T: Scalar>(
        &self,
        samples: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
        run: Run<'_>,
    ) -> Result<GaussianLearning<'a, T>> {
        (T::instances().gaussian_start)(self, samples, masses, run)
    }

    /// [`Self::start`]; see [`crate::instances`].
    pub(crate) fn start_here<'a, T: Scalar>(
        &self,
        samples: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
        run: Run<'_>,
    ) -> Result<GaussianLearning<'a, T>> {
        let data = self.data(samples, masses, run)?;
        let gaussians = self.fitted(&data, &self.first_weights(&data, run)?, run)?;
        Ok(GaussianLearning { learner: *self, data, gaussians })
    }

    /// Goes on from Gaussians that some rounds of this learner have made of these samples.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if they differ in number or in length of the samples.
    pub fn resume<'a, T: Scalar>(
        &self,
        samples: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
        so_far: LocalGaussians<T>,
        run: Run<'_>,
    ) -> Result<GaussianLearning<'a, T>> {
        expect_size("so_far: number of Gaussians", self.n_gaussians, so_far.count())?;
        expect_size("so_far: number of features", samples.rows(), so_far.n_features())?;
        Ok(GaussianLearning { learner: *self, data: self.data(samples, masses, run)?, gaussians: so_far })
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

    fn data<'a, T: Scalar>(
        &self,
        samples: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
        run: Run<'_>,
    ) -> Result<Data<'a, T>> {
        self.check()?;
        let masses = Masses::new(masses, samples.columns())?;
        if samples.rows() == 0 {
            return Err(Error::Empty { what: "samples", unit: "feature" });
        }
        let (mean, varied) = means(samples, &masses, run.silent())?;
        let one = vec![vec![(0, 1.0)]; samples.columns()];
        let nothing = Matrix::zeros(samples.rows(), samples.rows());
        let shared = Scatter::of_each(1, samples, &masses, &one, run.silent())?[0].covariance(&nothing, 0.0);
        Ok(Data { samples, masses, varied, shared, mean })
    }

    /// Every sample to the example whose line it is nearest to.
    fn first_weights<T: Scalar>(&self, data: &Data<'_, T>, run: Run<'_>) -> Result<Vec<Weights>> {
        // A constant sample has no line.
        let masses: Vec<f64> =
            data.varied.iter().enumerate().map(|(i, varied)| if *varied { data.masses.of(i) } else { 0.0 }).collect();
        let learner = Examples { n_atoms: self.n_gaussians };
        let examples = learner.fit(data.samples, &masses, Draw::first(self.seed), run.silent())?;
        let mut atoms = Matrix::zeros(data.samples.rows(), self.n_gaussians);
        for (j, &source) in examples.sources().unwrap_or_default().iter().enumerate() {
            data.samples.copy_column(source, atoms.column_mut(j));
            remove_mean(atoms.column_mut(j));
        }
        // Atoms without mean do not see that of the samples.
        let basis = CodingBasis::new(atoms.view())?;
        let coding = OneSparse::default().encode(&basis, &Samples::new(data.samples), run)?;
        let nearest = |i: usize| coding.codes.column(i).next().map_or(0, |(atom, _)| atom as u32);
        Ok((0..data.samples.columns()).map(|i| vec![(nearest(i), 1.0)]).collect())
    }

    /// C_k = (Σ w x xᵀ + ν C₀) / (Σ w + ν) + floor·I, and π_k in proportion to Σ w + 1.
    fn fitted<T: Scalar>(&self, data: &Data<'_, T>, weights: &[Weights], run: Run<'_>) -> Result<LocalGaussians<T>> {
        let scatters = Scatter::of_each(self.n_gaussians, data.samples, &data.masses, weights, run.silent())?;
        let covariance = |scatter: &Scatter| {
            let mut covariance = scatter.covariance(&data.shared, self.shared_samples);
            (0..covariance.columns()).for_each(|i| covariance.column_mut(i)[i] += T::from_f64(self.floor));
            covariance
        };
        let covariances: Vec<Matrix<T>> = scatters.iter().map(covariance).collect();
        let masses = scatters.iter().map(|scatter| scatter.mass + 1.0).collect();
        let training = Training { method: "gaussians".into(), seed: self.seed, ..Training::default() };
        Ok(LocalGaussians::new(masses, &covariances, data.mean)?.with_training(training))
    }
}

/// What is learned from.
#[derive(Debug)]
struct Data<'a, T> {
    samples: MatrixView<'a, T>,
    masses: Masses<'a>,
    /// Samples that are not constant.
    varied: Vec<bool>,
    /// C₀, the covariance of all samples without their means.
    shared: Matrix<T>,
    mean: MeanPrior,
}

/// Gaussians that are being learned.
#[derive(Debug)]
pub struct GaussianLearning<'a, T> {
    learner: GaussianLearner,
    data: Data<'a, T>,
    gaussians: LocalGaussians<T>,
}

impl<T: Scalar> GaussianLearning<'_, T> {
    /// The rounds that were made.
    pub fn rounds(&self) -> usize {
        self.gaussians.training().objective.len()
    }

    /// The Gaussians so far.
    pub fn gaussians(&self) -> &LocalGaussians<T> {
        &self.gaussians
    }

    /// The Gaussians so far, for good.
    pub fn into_gaussians(self) -> LocalGaussians<T> {
        self.gaussians
    }

    /// One more round, unless all were made: returns what a sample was worth before it, as minus its log likelihood.
    ///
    /// # Errors
    /// If a sample is not finite or the run was interrupted; the Gaussians are then as before.
    pub fn step(&mut self, run: Run<'_>) -> Result<Option<f64>> {
        (T::instances().gaussian_step)(self, run)
    }

    /// [`Self::step`]; see [`crate::instances`].
    pub(crate) fn step_here(&mut self, run: Run<'_>) -> Result<Option<f64>> {
        if self.rounds() >= self.learner.iterations {
            return Ok(None);
        }
        let (weights, cost) = self.weigh(run)?;
        let fitted = self.learner.fitted(&self.data, &weights, run)?;
        let mut training = self.gaussians.training().clone();
        training.objective.push(cost);
        self.gaussians = fitted.with_training(training);
        Ok(Some(cost))
    }

    /// The weights of the members for every sample, and minus the mean log likelihood of a sample.
    fn weigh(&self, run: Run<'_>) -> Result<(Vec<Weights>, f64)> {
        let Data { samples, masses, .. } = &self.data;
        let members = self.gaussians.members(0.0, run)?;
        let scratch = || (members.scratch(), Matrix::zeros(samples.rows(), BLOCK));
        let blocks = run.map_blocks(samples.columns(), BLOCK, scratch, |(scratch, block), range| {
            for (slot, i) in range.clone().enumerate() {
                samples.copy_finite_column(i, block.column_mut(slot), "samples")?;
                remove_mean(block.column_mut(slot));
            }
            let mut weights = Vec::with_capacity(range.len());
            let mut cost = 0.0;
            let columns = (0..range.len()).map(|slot| block.column(slot));
            members.weigh(scratch, columns, |slot, found, log_likelihood| {
                weights.push(found.iter().map(|&(k, weight)| (k as u32, weight as f32)).collect::<Weights>());
                cost -= masses.share(range.start + slot) * log_likelihood;
            });
            Ok((weights, cost))
        })?;
        let cost = blocks.iter().map(|(_, cost)| cost).sum();
        Ok((blocks.into_iter().flat_map(|(weights, _)| weights).collect(), cost))
    }
}

/// What is known of the means of the samples, and which samples are not constant.
fn means<T: Scalar>(samples: MatrixView<'_, T>, masses: &Masses<'_>, run: Run<'_>) -> Result<(MeanPrior, Vec<bool>)> {
    let column = || vec![T::ZERO; samples.rows()];
    let blocks = run.map_blocks(samples.columns(), MEANS, column, |column, range| {
        let of_sample = |i: usize| {
            samples.copy_finite_column(i, column, "samples")?;
            let mean = remove_mean(column);
            Ok((mean, column.iter().any(|value| *value != T::ZERO)))
        };
        range.map(of_sample).collect::<Result<Vec<_>>>()
    })?;
    let all: Vec<(f64, bool)> = blocks.into_iter().flatten().collect();
    let average =
        |f: &dyn Fn(f64) -> f64| all.iter().enumerate().map(|(i, (mean, _))| masses.share(i) * f(*mean)).sum::<f64>();
    let mean = average(&|mean| mean);
    let variance = average(&|value| (value - mean) * (value - mean));
    // Samples whose means are all alike still leave some doubt about the next one.
    let prior = MeanPrior { mean, deviation: variance.sqrt().max(LEAST_DEVIATION) };
    Ok((prior, all.into_iter().map(|(_, varied)| varied).collect()))
}
