//! Random dictionaries with equal weights: RandExAv (§III-A).

use std::fmt::Debug;

use crate::blocks::Run;
use crate::dictionary::{Dictionary, Draw, WeakLearner};
use crate::error::{Error, Result};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::strips::checked_masses;
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
/// | `method`, `learner_name` | | | written into [`Training`] | |
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
/// use sparsemble::dictionary::{Dictionary, Draw, WeakLearner};
/// use sparsemble::ensemble::Averaging;
/// use sparsemble::{Matrix, MatrixView, Result, Run};
///
/// /// The sample with the number of the round.
/// #[derive(Debug)]
/// struct ByNumber;
///
/// impl WeakLearner<f64> for ByNumber {
///     fn learn(&self, samples: MatrixView<'_, f64>, _: &[f64], draw: Draw, _: Run<'_>) -> Result<Dictionary<f64>> {
///         Dictionary::new(Matrix::from_fn(samples.rows(), 1, |r, _| samples.get(r, draw.round as usize)))
///     }
/// }
///
/// let samples = Matrix::from_columns(vec![2.0, 0.0, 0.0, 3.0], 2, 2)?;
/// let averaging = Averaging { n_models: 2, ..Averaging::new(&ByNumber) };
/// let ensemble = averaging.train(samples.view(), Run::default())?;
/// assert_eq!(ensemble.beta(), [0.5, 0.5]);
/// assert_eq!(ensemble.models()[1].synthesis().column(0), [0.0, 1.0]);
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
    /// What the method is called in [`Training`].
    pub method: String,
    /// What the learner is called in [`Training`].
    pub learner_name: String,
}

impl<'a, T: Scalar> Averaging<'a, T> {
    /// The default settings with this learner.
    pub fn new<W: WeakLearner<T> + Debug>(learner: &'a W) -> Self {
        Self {
            learner,
            n_models: 20,
            seed: 0,
            masses: None,
            method: "averaging".into(),
            learner_name: format!("{learner:?}"),
        }
    }

    /// Learns all members.
    ///
    /// # Errors
    /// Those of the learner, or if there is to be no model.
    pub fn train(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Ensemble<T>> {
        let members = (0..self.n_models).map(|number| self.member(samples, number, run));
        self.combine(&members.collect::<Result<Vec<_>>>()?)
    }

    /// Learns the member of this number alone; no member depends on another.
    ///
    /// # Errors
    /// Those of the learner.
    pub fn member(&self, samples: MatrixView<'_, T>, number: usize, run: Run<'_>) -> Result<Dictionary<T>> {
        let masses = checked_masses(self.masses, samples.columns())?;
        self.learner.learn(samples, &masses, Draw { seed: self.seed, round: number as u64 }, run)
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
            method: self.method.clone(),
            learner: self.learner_name.clone(),
            coder: String::new(),
            seed: self.seed,
            curve: Vec::new(),
        };
        let weight = 1.0 / members.len() as f64;
        Ok(Ensemble::new(models, vec![weight; members.len()])?.with_training(training))
    }
}
