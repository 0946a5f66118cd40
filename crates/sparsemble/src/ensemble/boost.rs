//! Boosting: one weak dictionary a round, learned for the samples the last one represents badly (§III-B, Eqs. (9)–(12)).
//!
//! Round l learns D_l with the masses p_l, codes **all samples** (not residuals) in it, and moves the approximation
//! towards D_lA_l as far as is best: X_l = (1 − α_l)X_{l−1} + α_l D_lA_l, Eq. (9). The next masses are the energies of the
//! residuals of **this round's member**, e_l(i) = ‖x_i − D_l a_{l,i}‖². With a degradation Φ the codes are those of ΦX in
//! ΦD_l, and everything else stays in the full domain (§IV, Fig. 4). Where the full domain is a part of a sample, as the patch
//! of a pair is in super-resolution (§IV-B), errors and α are those of that part.
//!
//! BoostEx is this loop with a learner that draws examples by mass, BoostKM with one that makes weighted K-Means centres.

mod aside;
mod division;
mod products;
mod state;

pub use state::Boosting;
pub(crate) use state::CodedRound;

use crate::blocks::Run;
use crate::coding::{CodeStrips, SparseCoder};
use crate::degradation::Degradation;
use crate::dictionary::{Dictionary, WeakLearner};
use crate::error::{Error, Result, expect_size};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::{Ensemble, Training};

/// How a boosted ensemble is trained.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `learner` | | – | makes each dictionary from samples and masses | |
/// | `coder` | | – | codes the samples in each round | |
/// | `n_models` | L | 20 | the most rounds | ≥ 1 |
/// | `seed` | | 0 | of the random choices | |
/// | `masses` | p_1 | all alike | how much each sample counts, in the masses and in the error | ≥ 0, not all 0 |
/// | `phi` | Φ | none | what the samples are seen through when coded | M features |
/// | `n_judged` | | all | how many of the features, from the first, errors and α are taken of | 1 to M |
/// | `exclude_own` | | `false` | forbid each sample the atom it has become itself | learners whose atoms are samples |
/// | `validation` | | none | when to stop early, see [`Validation`] | |
///
/// The paper uses L = 20 (§III-C) and 50 (§IV), uniform masses and no validation.
///
/// # Shapes
/// Samples M × T; each dictionary M × K, where K is the learner's.
///
/// # Cost
/// L calls of the learner and of the coder; the rest of a round is about 10·M operations a sample. Samples are coded and
/// compared strip by strip. Between two passes over them there are kept X_l, which is M × T in the type of the samples, and
/// the codes of the round, as α_l needs all of them before the first approximation can move: in memory, or in files by
/// [`Run::scratch_in`]. A few numbers a sample are always in memory.
///
/// # Errors
/// Those of the learner and of [`SparseCoder::encode`]; if sizes disagree, or a parameter is out of range.
///
/// # Example
/// ```
/// use sparsemble::coding::OneSparse;
/// use sparsemble::dictionary::Centers;
/// use sparsemble::ensemble::Boost;
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 30, |r, i| ((r * i + 3 * r + i) as f64).sin());
/// let (learner, coder) = (Centers::new(3), OneSparse::default());
/// let boost = Boost { n_models: 5, ..Boost::new(&learner, &coder) };
/// let ensemble = boost.fit(samples.view(), Run::default())?;
///
/// assert_eq!(ensemble.training().method, "boost-km");
/// let curve = &ensemble.training().curve;
/// assert!(curve.windows(2).all(|rounds| rounds[1].error <= rounds[0].error)); // the training error never rises
/// assert!((ensemble.beta().iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §III-B, Eqs. (9)–(12); degraded: §IV, Eq. (15), Fig. 4.
#[doc(alias = "BoostEx")]
#[doc(alias = "BoostKM")]
#[derive(Clone)]
pub struct Boost<'a, T> {
    /// Makes each dictionary.
    pub learner: &'a dyn WeakLearner<T>,
    /// Codes the samples in each round.
    pub coder: &'a (dyn SparseCoder<T> + Sync),
    /// L, the most rounds.
    pub n_models: usize,
    /// The seed of the random choices.
    pub seed: u64,
    /// How much each sample counts; all alike if `None`.
    pub masses: Option<&'a [f64]>,
    /// Φ, what the samples are seen through when coded; nothing if `None`.
    ///
    /// The trained ensemble has the plain models (D_l, D_l): use [`Ensemble::degraded_by`] for degraded samples.
    pub phi: Option<&'a dyn Degradation<T>>,
    /// How many features, from the first, the masses, the errors and α are taken of; all if `None`.
    ///
    /// Of pairs these are the pixels of the patch, which is what will be asked for:
    /// [`PairLayout::n_hi`](crate::restoration::super_resolution::PairLayout::n_hi).
    pub n_judged: Option<usize>,
    /// Whether a sample must not be coded by the atom that is this sample, the constraint a_ii = 0 of Eq. (17).
    ///
    /// Without it the samples a round has drawn have no error left, and the next rounds never draw them.
    pub exclude_own: bool,
    /// When to stop early; never if `None`.
    pub validation: Option<Validation>,
}

/// Early stopping: samples held out from training, and for how long they may see no gain.
///
/// The held-out samples count nothing in the masses and in α, so no learner sees them. The ensemble is that of the round
/// with the least error on them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    /// The fraction of the samples to hold out, between 0 and 1.
    pub fraction: f64,
    /// Stop after this many rounds in a row without a new least error.
    pub patience: usize,
}

/// One row of the training curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// α_l, Eq. (12); 1 in the first round.
    pub alpha: f64,
    /// The mean of ‖x − D_l a_l‖² over the training samples: this round's member alone.
    pub member_error: f64,
    /// The mean of ‖x − x_l‖² over the training samples: the ensemble so far.
    pub error: f64,
    /// The same over the samples held out.
    pub validation_error: Option<f64>,
    /// Samples whose coder did not reach what was asked for.
    pub unconverged: usize,
}

/// All that is needed of a round to go on after it: see [`Boost::resume`].
#[derive(Debug, Clone)]
pub struct BoostedRound<T> {
    /// D_l.
    pub dictionary: Dictionary<T>,
    /// Its row of the training curve.
    pub round: Round,
    /// The codes of all samples in it, as [`Boosting::step_with_codes`] gives them.
    pub codes: CodeStrips<T>,
}

/// Why boosting has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// All rounds are done.
    AllRounds,
    /// The training samples are represented to the precision of their number type: there is no error left to learn from.
    NoErrorLeft,
    /// The learner finds too few samples that still have an error.
    TooFewSamplesLeft,
    /// The error on the samples held out has not fallen for as long as was allowed.
    Validation,
}

impl<'a, T: Scalar> Boost<'a, T> {
    /// The default settings with this learner and this coder.
    pub fn new(learner: &'a dyn WeakLearner<T>, coder: &'a (dyn SparseCoder<T> + Sync)) -> Self {
        Self {
            learner,
            coder,
            n_models: 20,
            seed: 0,
            masses: None,
            phi: None,
            n_judged: None,
            exclude_own: false,
            validation: None,
        }
    }

    /// Runs all rounds.
    ///
    /// `run` tells of the samples done, two passes a round, and can interrupt it. To see the rounds, or to keep what was
    /// trained until then, call [`start`](Self::start) and [`Boosting::step`] instead.
    ///
    /// # Errors
    /// See [`Boost`].
    pub fn fit(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Ensemble<T>> {
        let mut boosting = self.start(samples, run)?;
        let part = |round: usize| run.passes(round..round + 1, self.n_models, samples.columns().saturating_mul(2));
        while boosting.step(part(boosting.curve().len()))?.is_some() {}
        boosting.ensemble()
    }

    /// The state before the first round.
    ///
    /// # Errors
    /// If there are no samples, a parameter is out of range, or a file of [`Run::scratch_in`] cannot be made.
    pub fn start<'b>(&'b self, samples: MatrixView<'b, T>, run: Run<'_>) -> Result<Boosting<'b, T>> {
        Boosting::new(self, samples, run)
    }

    /// The state after these rounds, given one by one so that the codes of no more than one of them are in memory: the
    /// same bits as if it had never been left.
    ///
    /// # Cost
    /// About 10·M operations a sample and round: nothing is learned, and nothing is coded.
    ///
    /// # Errors
    /// If there are more rounds than asked for, one cannot be had, or is not one that these samples and this validation
    /// give.
    pub fn resume<'b>(
        &'b self,
        samples: MatrixView<'b, T>,
        rounds: &mut dyn ExactSizeIterator<Item = Result<BoostedRound<T>>>,
        run: Run<'_>,
    ) -> Result<Boosting<'b, T>> {
        let count = rounds.len();
        if count > self.n_models {
            return Err(Error::parameter("n_models", self.n_models, "is less than the members there already are"));
        }
        let mut boosting = self.start(samples, run)?;
        for (number, done) in rounds.enumerate() {
            let BoostedRound { dictionary, round, codes } = done?;
            let part = run.passes(number..number + 1, count, samples.columns());
            boosting.take(dictionary, Some((round, codes)), part)?;
        }
        Ok(boosting)
    }

    fn check(&self, samples: MatrixView<'_, T>) -> Result<()> {
        if samples.columns() == 0 {
            return Err(Error::Empty { what: "samples", unit: "sample" });
        }
        if self.n_models == 0 {
            return Err(Error::parameter("n_models", 0, "must be at least 1"));
        }
        if let Some(phi) = self.phi {
            expect_size("phi: number of features (that of the samples)", samples.rows(), phi.n_features())?;
        }
        if let Some(n_judged) = self.n_judged.filter(|count| *count == 0 || *count > samples.rows()) {
            return Err(Error::parameter("n_judged", n_judged, "must be from 1 to the number of features"));
        }
        if let Some(validation) = self.validation {
            if !(validation.fraction > 0.0 && validation.fraction < 1.0) {
                return Err(Error::parameter("validation fraction", validation.fraction, "must be between 0 and 1"));
            }
            if validation.patience == 0 {
                return Err(Error::parameter("validation patience", 0, "must be at least 1"));
            }
        }
        Ok(())
    }

    pub(crate) fn training(&self, curve: &[Round]) -> Training {
        Training {
            method: format!("boost-{}", self.learner.name()),
            learner: self.learner.to_string(),
            coder: self.coder.to_string(),
            seed: self.seed,
            curve: curve.to_vec(),
            objective: Vec::new(),
        }
    }
}

/// For each sample the atom that is this sample, if there is one.
///
/// # Errors
/// If the dictionary does not say which samples its atoms are.
pub(crate) fn own_atoms<T: Scalar>(dictionary: &Dictionary<T>, n_samples: usize) -> Result<Vec<Option<usize>>> {
    let Some(sources) = dictionary.sources() else {
        return Err(Error::parameter("exclude_own", true, "needs a learner whose atoms are samples"));
    };
    let mut own = vec![None; n_samples];
    for (atom, &source) in sources.iter().enumerate() {
        let Some(slot) = own.get_mut(source) else {
            return Err(Error::parameter("dictionary: source", source, "must be below the number of samples"));
        };
        *slot = Some(atom);
    }
    Ok(own)
}

/// β from α, Eq. (10): β_l = α_l Π_{t>l} (1 − α_t). They sum to one if α_1 = 1.
///
/// # Example
/// ```
/// use sparsemble::ensemble::weights_of_rounds;
///
/// // The second round keeps half of the first, the third three quarters of both.
/// assert_eq!(weights_of_rounds(&[1.0, 0.5, 0.25]), [0.375, 0.375, 0.25]);
/// ```
///
/// Paper: §III-B, Eq. (10).
pub fn weights_of_rounds(alphas: &[f64]) -> Vec<f64> {
    let mut beta: Vec<f64> = Vec::with_capacity(alphas.len());
    let mut kept = 1.0;
    for alpha in alphas.iter().rev() {
        beta.push(alpha * kept);
        kept *= 1.0 - alpha;
    }
    beta.reverse();
    beta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atom_that_is_a_sample_is_that_samples_own() {
        let dictionary = Dictionary::new(crate::Matrix::from_fn(2, 2, |r, j| (1 + r + j) as f64)).unwrap();
        assert!(own_atoms(&dictionary, 3).is_err());
        let dictionary = dictionary.with_sources(vec![2, 0]).unwrap();
        assert_eq!(own_atoms(&dictionary, 3).unwrap(), [Some(1), None, Some(0)]);
        assert!(own_atoms(&dictionary, 2).is_err());
    }

    #[test]
    fn weights_of_rounds_are_the_products_of_equation_10() {
        let beta = weights_of_rounds(&[1.0, 0.5, -0.25]);
        assert_eq!(beta, [0.625, 0.625, -0.25]);
        assert!(weights_of_rounds(&[]).is_empty());
    }
}
