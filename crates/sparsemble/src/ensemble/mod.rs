//! Ensembles of sparse models: many weak approximations, combined by weights β (§I-B, §II-A, §III).
//!
//! | what | where |
//! | --- | --- |
//! | a model, (coding basis, synthesis matrix) | [`SparseModel`] |
//! | models and weights, Σ β_l D_l a_l, Eq. (4) | [`Ensemble`] |
//! | the best weights under four constraints, Eqs. (5)–(8) | [`WeightConstraint`], [`MemberGram`] |
//! | the same for points that are no models: archetypes | [`simplex_weights`] |
//! | random dictionaries, averaged: RandExAv | [`Averaging`] |
//! | rounds of boosting, Eqs. (9)–(12): BoostEx, BoostKM | [`Boost`], [`Boosting`] |
//! | dictionaries whose atoms carry linear maps | [`AnchoredEnsemble`], [`AnchoredLearner`], [`Upscaler`] |
//! | levels that code each other's residuals: MLD, Ex-MLD | [`Multilevel`], [`MultilevelDictionary`] |

mod anchored;
mod boost;
mod gaussians;
mod model;
mod multilevel;
mod random;
mod represent;
mod strips;
mod weights;

#[cfg(feature = "io")]
pub(crate) use anchored::Kept;
pub(crate) use anchored::{ANCHORED_BLOCK, Pairs, check_window};
pub use anchored::{
    AnchoredEnsemble, AnchoredLearner, AnchoredMember, Frame, Maps, Precision, Upscaler, UpscalerStage,
};
pub(crate) use boost::CodedRound;
pub(crate) use boost::own_atoms;
pub use boost::{Boost, BoostedRound, Boosting, Round, Stop, Validation, weights_of_rounds};
pub(crate) use gaussians::EstimatorScratch;
pub use gaussians::{
    Estimate, GaussianEstimator, GaussianLearner, GaussianLearning, LocalGaussians, MeanPrior, SampleMean, Seen,
};
pub use model::SparseModel;
pub use multilevel::{Coefficients, Descent, Multilevel, MultilevelDictionary};
pub use random::Averaging;
pub use represent::Approximation;
pub(crate) use strips::STRIP;
pub(crate) use weights::simplex_weights_here;
pub use weights::{Certificate, MemberGram, OracleWeights, WeightConstraint, Weights, simplex_weights};

use crate::degradation::Degradation;
use crate::error::{Error, Result, expect_size};
use crate::scalar::Scalar;

/// L sparse models and their weights: x is approximated by Σ β_l D_l a_l.
///
/// # Shapes
/// Every model takes N features and gives M; β has L entries of any sign.
///
/// # Example
/// ```
/// use sparsemble::coding::OneSparse;
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::{Ensemble, SparseModel};
/// use sparsemble::{Matrix, Run};
///
/// // Two models of one atom each, and a sample between them.
/// let model = |atom: Vec<f64>| SparseModel::plain(&Dictionary::new(Matrix::from_columns(atom, 2, 1)?)?);
/// let ensemble = Ensemble::new(vec![model(vec![1.0, 0.0])?, model(vec![0.0, 1.0])?], vec![0.5, 0.5])?;
///
/// let sample = Matrix::from_columns(vec![2.0, 4.0], 2, 1)?;
/// let approximation = ensemble.approximate(sample.view(), &OneSparse::default(), Run::default())?;
/// assert_eq!(approximation.values.column(0), [1.0, 2.0]);
/// // The members say (2, 0) and (0, 4), each √5 away from (1, 2).
/// assert!((approximation.spread.unwrap()[0] - 5.0_f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-B, Eq. (4).
#[derive(Debug)]
pub struct Ensemble<T> {
    models: Vec<SparseModel<T>>,
    beta: Vec<f64>,
    training: Training,
}

/// How a model came about; kept with it and changed by nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Training {
    /// `alt-opt`, `boost-km`, `rand-ex-av` …; empty if unknown.
    pub method: String,
    /// The weak learner and its parameters.
    pub learner: String,
    /// The coder of the training, or the one the model is meant for, as [`Coder`](crate::coding::Coder) reads it; empty
    /// if there is none.
    pub coder: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// One row for each round of boosting; those beyond the best round of a validation are kept too.
    pub curve: Vec<Round>,
    /// For methods that have no rounds: the objective at the start and after each iteration of Alt-Opt, the mean energy of
    /// the samples and of their residuals after each level of a multilevel dictionary, minus the mean log likelihood of a
    /// sample before each round of local Gaussians.
    pub objective: Vec<f64>,
}

impl<T: Scalar> Ensemble<T> {
    /// Puts models and weights together.
    ///
    /// # Errors
    /// If there is no model, the models differ in their sizes, or there is not one finite weight for each.
    pub fn new(models: Vec<SparseModel<T>>, beta: Vec<f64>) -> Result<Self> {
        let Some(first) = models.first() else { return Err(Error::Empty { what: "ensemble", unit: "model" }) };
        for model in &models {
            expect_size("models: length of the samples they code", first.n_inputs(), model.n_inputs())?;
            expect_size("models: length of the approximations they make", first.n_features(), model.n_features())?;
        }
        let n_atoms: usize = models.iter().map(SparseModel::n_atoms).sum();
        if u32::try_from(n_atoms).is_err() {
            return Err(Error::parameter("atoms of all models", n_atoms, "must be below 2³²; take fewer models"));
        }
        Self { models, beta: Vec::new(), training: Training::default() }.with_beta(beta)
    }

    /// The same models with other weights, for example those of [`MemberGram::weights`].
    ///
    /// # Errors
    /// If there is not one finite weight for each model.
    pub fn with_beta(self, beta: Vec<f64>) -> Result<Self> {
        expect_size("beta: number of models", self.models.len(), beta.len())?;
        if let Some(bad) = beta.iter().find(|weight| !weight.is_finite()) {
            return Err(Error::parameter("beta", bad, "every weight must be finite"));
        }
        Ok(Self { beta, ..self })
    }

    /// The same ensemble with this record of its training.
    #[must_use]
    pub fn with_training(self, training: Training) -> Self {
        Self { training, ..self }
    }

    /// The ensemble for samples that reach us through Φ: each model codes in ΦD_l and still approximates by D_l.
    ///
    /// # Errors
    /// If Φ does not take as many features as the models take now.
    pub fn degraded_by(&self, phi: &dyn Degradation<T>) -> Result<Self> {
        let models = self.models.iter().map(|model| model.degraded_by(phi)).collect::<Result<_>>()?;
        Ok(Self { models, beta: self.beta.clone(), training: self.training.clone() })
    }

    /// The first models alone, with the weights they would have got: β scaled to a sum of one.
    ///
    /// That is what an average over fewer members is, and what boosting had after that many rounds, as a later round
    /// changes all earlier weights by the same factor (Eq. (10)).
    ///
    /// # Errors
    /// If there are not that many models, or their weights sum to zero.
    pub fn truncated(mut self, n_models: usize) -> Result<Self> {
        if n_models == 0 || n_models > self.n_models() {
            return Err(Error::parameter("n_models", n_models, "must be between 1 and that of the ensemble"));
        }
        self.models.truncate(n_models);
        let sum: f64 = self.beta[..n_models].iter().sum();
        if sum.abs() <= 0.0 {
            return Err(Error::parameter("n_models", n_models, "the weights of so few models sum to zero; take more"));
        }
        let beta = self.beta[..n_models].iter().map(|weight| weight / sum).collect();
        self.with_beta(beta)
    }

    /// The ensemble of what the steps of a training have added, each a member, with the weights they have got by then.
    #[cfg(feature = "io")]
    pub(crate) fn of_steps(steps: Vec<Self>) -> Result<Self> {
        let mut training = steps.first().map(|step| step.training.clone()).unwrap_or_default();
        training.curve = steps.iter().flat_map(|step| step.training.curve.iter().copied()).collect();
        let models: Vec<_> = steps.into_iter().flat_map(|step| step.models).collect();
        let beta = if training.curve.is_empty() {
            vec![1.0 / models.len().max(1) as f64; models.len()]
        } else {
            weights_of_rounds(&training.curve.iter().map(|round| round.alpha).collect::<Vec<_>>())
        };
        Ok(Self::new(models, beta)?.with_training(training))
    }

    /// The models.
    pub fn models(&self) -> &[SparseModel<T>] {
        &self.models
    }

    /// β, one weight for each model.
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// How the ensemble came about.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// L, the number of models.
    pub fn n_models(&self) -> usize {
        self.models.len()
    }

    /// The atoms of all models together: the length of a stacked code.
    pub fn n_atoms(&self) -> usize {
        self.models.iter().map(SparseModel::n_atoms).sum()
    }

    /// N, the length of what is coded.
    pub fn n_inputs(&self) -> usize {
        self.models[0].n_inputs()
    }

    /// M, the length of an approximation.
    pub fn n_features(&self) -> usize {
        self.models[0].n_features()
    }

    /// Where the atoms of each model start in a stacked code, and where the last one's end.
    fn offsets(&self) -> Vec<usize> {
        let ends = self.models.iter().scan(0, |end, model| {
            *end += model.n_atoms();
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }
}
