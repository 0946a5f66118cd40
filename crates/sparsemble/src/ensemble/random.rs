//! Random dictionaries with equal weights: RandExAv (§III-A).

use crate::blocks::Run;
use crate::dictionary::{Dictionary, WeakLearner};
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::{Ensemble, SparseModel, Training};

/// L dictionaries learned independently of each other, each with β = 1/L.
///
/// With a learner that draws K samples at random this is *random example averaging*, the paper's RandExAv.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `learner` | | – | makes each dictionary | |
/// | `n_models` | L | 20 | how many | ≥ 1 |
/// | `seed` | | 0 | of the random choices | |
/// | `masses` | p | all alike | how much each sample counts | ≥ 0, not all 0 |
///
/// The paper uses L = 20 (§II-B) and 50 (§IV).
///
/// # Shapes
/// Samples M × T; each dictionary is M × K, where K is the learner's.
///
/// # Cost
/// L calls of the learner; nothing is coded.
///
/// # Errors
/// Those of the learner, or if there is to be no model.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::Averaging;
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 30, |r, i| ((r * i + 3 * r + i) as f64).sin());
/// let learner = Examples { n_atoms: 3 };
/// let averaging = Averaging { n_models: 2, ..Averaging::new(&learner) };
/// let ensemble = averaging.fit(samples.view(), Run::default())?;
/// assert_eq!(ensemble.training().method, "rand-ex-av");
/// assert_eq!(ensemble.beta(), [0.5, 0.5]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §III-A.
#[doc(alias = "RandExAv")]
#[derive(Clone)]
pub struct Averaging<'a, T> {
    /// Makes each dictionary.
    pub learner: &'a dyn WeakLearner<T>,
    /// L, how many.
    pub n_models: usize,
    /// The seed of the random choices.
    pub seed: u64,
    /// How much each sample counts; all alike if `None`.
    pub masses: Option<&'a [f64]>,
}

impl<'a, T: Scalar> Averaging<'a, T> {
    /// The default settings with this learner.
    pub fn new(learner: &'a dyn WeakLearner<T>) -> Self {
        Self { learner, n_models: 20, seed: 0, masses: None }
    }

    /// Learns all members.
    ///
    /// # Errors
    /// Those of the learner, or if there is to be no model.
    pub fn fit(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Ensemble<T>> {
        let part = |number: usize| run.passes(number..number + 1, self.n_models, samples.columns());
        let members = (0..self.n_models).map(|number| self.member(samples, number, part(number)));
        self.combine(&members.collect::<Result<Vec<_>>>()?)
    }

    /// Learns the member of this number alone; no member depends on another.
    ///
    /// # Errors
    /// Those of the learner.
    pub fn member(&self, samples: MatrixView<'_, T>, number: usize, run: Run<'_>) -> Result<Dictionary<T>> {
        let masses = Masses::new(self.masses, samples.columns())?;
        self.learner.fit(samples, &masses.values(), Draw { seed: self.seed, round: number as u64 }, run)
    }

    /// The ensemble of members learned one by one.
    ///
    /// # Errors
    /// If there are none or they differ in their number of features.
    pub fn combine(&self, members: &[Dictionary<T>]) -> Result<Ensemble<T>> {
        if members.is_empty() {
            return Err(Error::parameter("n_models", 0, "must be at least 1"));
        }
        let models = members.iter().map(SparseModel::plain).collect::<Result<Vec<_>>>()?;
        let training = Training {
            method: format!("rand-{}-av", self.learner.name()),
            learner: self.learner.to_string(),
            seed: self.seed,
            ..Training::default()
        };
        let weight = 1.0 / members.len() as f64;
        Ok(Ensemble::new(models, vec![weight; members.len()])?.with_training(training))
    }
}
