//! Boosting on disk: what is needed to go on where a run was left.

use crate::blocks::Run;
use crate::dictionary::Dictionary;
use crate::ensemble::{Boost, Boosting, Ensemble, SparseModel, Training, weights_of_rounds};
use crate::error::{Error, Result, expect_size};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::ALGORITHM_VERSION;

/// The rounds of boosting so far: their dictionaries and the training curve, which has their α.
///
/// Written after each round by [`save`](super::save), a run that is stopped at any point loses at most the round it was in.
/// [`resume`](Self::resume) goes on to the bits of a run that was never left. Everything else that decides these bits, the
/// samples, their masses, Φ and the validation, is the caller's to give again; [`Record`](super::Record) has room to write
/// down what they were.
///
/// # Example
/// ```
/// use sparsemble::coding::OneSparse;
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::Boost;
/// use sparsemble::model_file::{self, Checkpoint, Model, Record};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 30, |r, i| ((r * i + 3 * r + i) as f64).sin());
/// let (learner, coder) = (Examples { n_atoms: 3 }, OneSparse::default());
/// let boost = Boost { n_models: 4, ..Boost::new(&learner, &coder) };
///
/// let mut boosting = boost.start(samples.view())?;
/// boosting.step(Run::default())?;
/// let bytes = model_file::encode(&Checkpoint::of(&boosting)?, &Record::default())?; // or save(path, …)
///
/// let Model::Checkpoint(checkpoint) = model_file::decode(&bytes)?.model else { unreachable!() };
/// let mut resumed = checkpoint.resume(&boost, samples.view(), Run::default())?;
/// while resumed.step(Run::default())?.is_some() {}
/// assert_eq!(resumed.members().len(), 4);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint<T> {
    members: Vec<Dictionary<T>>,
    training: Training,
    algorithm_version: u32,
}

impl<T: Scalar> Checkpoint<T> {
    pub(super) fn new(members: Vec<Dictionary<T>>, training: Training, algorithm_version: u32) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::Empty { what: "checkpoint", unit: "round" });
        }
        expect_size("training curve: number of rounds (that of members)", members.len(), training.curve.len())?;
        for member in &members {
            expect_size("members: number of features", members[0].n_features(), member.n_features())?;
        }
        Ok(Self { members, training, algorithm_version })
    }

    /// What there is after the last round.
    ///
    /// # Errors
    /// If there has been no round yet.
    pub fn of(boosting: &Boosting<'_, T>) -> Result<Self> {
        let training = boosting.ensemble()?.training().clone();
        Self::new(boosting.members().to_vec(), training, ALGORITHM_VERSION)
    }

    /// Goes on with these settings, which may ask for more rounds, on the samples of the run that was left.
    ///
    /// # Cost
    /// That of [`Boost::resume`]: one call of the coder for each round.
    ///
    /// # Errors
    /// If the seed, the learner or the coder is not that of the checkpoint, if it was made by other versions of the
    /// algorithms, and those of [`Boost::resume`], which notices other samples.
    pub fn resume<'b>(
        &self,
        boost: &'b Boost<'b, T>,
        samples: MatrixView<'b, T>,
        run: Run<'_>,
    ) -> Result<Boosting<'b, T>> {
        const OTHER: &str = "is not that of the checkpoint; resume with the settings it was made with";
        if self.algorithm_version != ALGORITHM_VERSION {
            let reason = "this version would go on to another model; resume with the version that made the checkpoint";
            return Err(Error::parameter("checkpoint: algorithm version", self.algorithm_version, reason));
        }
        if boost.seed != self.training.seed {
            return Err(Error::parameter("seed", boost.seed, OTHER));
        }
        let given = boost.training(&[]);
        if given.learner != self.training.learner {
            return Err(Error::parameter("learner", given.learner, OTHER));
        }
        if given.coder != self.training.coder {
            return Err(Error::parameter("coder", given.coder, OTHER));
        }
        boost.resume(samples, self.members.clone(), &self.alphas(), run)
    }

    /// The ensemble of all rounds so far.
    ///
    /// # Errors
    /// None for a checkpoint that exists; the result is that of [`Ensemble::new`].
    pub fn ensemble(&self) -> Result<Ensemble<T>> {
        let models = self.members.iter().map(SparseModel::plain).collect::<Result<Vec<_>>>()?;
        Ok(Ensemble::new(models, weights_of_rounds(&self.alphas()))?.with_training(self.training.clone()))
    }

    /// D_l of each round.
    pub fn members(&self) -> &[Dictionary<T>] {
        &self.members
    }

    /// α_l of each round.
    pub fn alphas(&self) -> Vec<f64> {
        self.training.curve.iter().map(|round| round.alpha).collect()
    }

    /// The settings and the curve.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The version of the algorithms that made it: see [`ALGORITHM_VERSION`].
    pub fn algorithm_version(&self) -> u32 {
        self.algorithm_version
    }
}
