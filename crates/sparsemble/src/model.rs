//! A trained model of any kind: what all of them can do, whatever they are made of.

use crate::blocks::Run;
use crate::coding::{Coder, Coding, SparseCoder, SparseCodes};
use crate::degradation::Degradation;
use crate::dictionary::{Dictionary, OnlineLearner};
use crate::ensemble::{Approximation, Ensemble, LocalGaussians, MultilevelDictionary, SparseModel, Training, Upscaler};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// A model of any kind.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::Training;
/// use sparsemble::{Matrix, Model, Run};
///
/// let dictionary = Dictionary::new(Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0], 2, 2)?)?;
/// let training = Training { coder: "omp:sparsity=1".into(), ..Training::default() };
/// let model = Model::Dictionary(dictionary, training);
///
/// let samples = Matrix::from_columns(vec![3.0, 0.5], 2, 1)?;
/// let codes = model.transform(samples.view(), &model.coder()?, Run::default())?.codes;
/// assert_eq!(model.reconstruct(&codes, Run::default())?.column(0), [3.0, 0.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Model<T> {
    /// One dictionary, and how it was learned.
    Dictionary(Dictionary<T>, Training),
    /// A dictionary that goes on learning, and how it came about.
    Online(Box<OnlineLearner<T>>, Training),
    /// An ensemble of sparse models.
    Ensemble(Ensemble<T>),
    /// A dictionary in levels, which always codes with one atom of each model of a level.
    Multilevel(MultilevelDictionary<T>),
    /// Local Gaussians. They have no atoms to code with: see [`LocalGaussians::estimator`].
    Gaussians(LocalGaussians<T>),
    /// Stages of anchored ensembles that enlarge pictures. They have no codes: see [`Upscaler::enlarge`].
    Upscaler(Upscaler<T>),
}

impl<T: Scalar> Model<T> {
    /// How the model came about.
    pub fn training(&self) -> &Training {
        match self {
            Self::Dictionary(_, training) | Self::Online(_, training) => training,
            Self::Ensemble(ensemble) => ensemble.training(),
            Self::Multilevel(multilevel) => multilevel.training(),
            Self::Gaussians(gaussians) => gaussians.training(),
            Self::Upscaler(upscaler) => upscaler.training(),
        }
    }

    /// The same model with this record of its training.
    #[must_use]
    pub fn with_training(self, training: Training) -> Self {
        match self {
            Self::Dictionary(dictionary, _) => Self::Dictionary(dictionary, training),
            Self::Online(learner, _) => Self::Online(learner, training),
            Self::Ensemble(ensemble) => Self::Ensemble(ensemble.with_training(training)),
            Self::Multilevel(multilevel) => Self::Multilevel(multilevel.with_training(training)),
            Self::Gaussians(gaussians) => Self::Gaussians(gaussians.with_training(training)),
            Self::Upscaler(upscaler) => Self::Upscaler(upscaler.with_training(training)),
        }
    }

    /// The coder the model was trained with or is meant for.
    ///
    /// # Errors
    /// If its training does not name one that is known here.
    pub fn coder(&self) -> Result<Coder> {
        let coder = &self.training().coder;
        if coder.is_empty() {
            return Err(Error::parameter("coder", "none", "the model does not name one; give it"));
        }
        coder.parse()
    }

    /// N, the length of what is coded. Of an upscaler, the pixels its first stage sees.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Dictionary(dictionary, _) => dictionary.n_features(),
            Self::Online(learner, _) => learner.dictionary().n_features(),
            Self::Ensemble(ensemble) => ensemble.n_inputs(),
            Self::Multilevel(multilevel) => multilevel.n_inputs(),
            Self::Gaussians(gaussians) => gaussians.n_features(),
            Self::Upscaler(upscaler) => upscaler.n_inputs(),
        }
    }

    /// M, the length of an approximation. Of an upscaler, the pixels it makes of 3 × 3.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Dictionary(dictionary, _) => dictionary.n_features(),
            Self::Online(learner, _) => learner.dictionary().n_features(),
            Self::Ensemble(ensemble) => ensemble.n_features(),
            Self::Multilevel(multilevel) => multilevel.n_features(),
            Self::Gaussians(gaussians) => gaussians.n_features(),
            Self::Upscaler(upscaler) => upscaler.n_outputs(),
        }
    }

    /// All atoms together: the length of a code. Of local Gaussians, how many there are.
    pub fn n_atoms(&self) -> usize {
        match self {
            Self::Dictionary(dictionary, _) => dictionary.n_atoms(),
            Self::Online(learner, _) => learner.dictionary().n_atoms(),
            Self::Ensemble(ensemble) => ensemble.n_atoms(),
            Self::Multilevel(multilevel) => multilevel.n_atoms(),
            Self::Gaussians(gaussians) => gaussians.count(),
            Self::Upscaler(upscaler) => upscaler.n_atoms(),
        }
    }

    /// What approximations are made of, M × (all atoms), in the order of a code. Of each local Gaussian the direction in
    /// which its samples vary most; of each atom of an upscaler the pixels it makes of what it stands for.
    pub fn atoms(&self) -> Matrix<T> {
        let parts: Vec<&Matrix<T>> = match self {
            Self::Gaussians(gaussians) => return gaussians.directions(),
            Self::Upscaler(upscaler) => return upscaler.atoms(),
            Self::Dictionary(dictionary, _) => vec![dictionary.atoms()],
            Self::Online(learner, _) => vec![learner.dictionary().atoms()],
            Self::Ensemble(ensemble) => ensemble.models().iter().map(SparseModel::synthesis).collect(),
            Self::Multilevel(multilevel) => {
                multilevel.levels().iter().flat_map(Ensemble::models).map(SparseModel::synthesis).collect()
            }
        };
        let mut atoms = Matrix::zeros(self.n_features(), self.n_atoms());
        let mut columns = parts.iter().flat_map(|part| (0..part.columns()).map(|j| part.column(j)));
        for j in 0..atoms.columns() {
            if let Some(column) = columns.next() {
                atoms.column_mut(j).copy_from_slice(column);
            }
        }
        atoms
    }

    /// The codes of every sample in all atoms: see [`Ensemble::transform`]. A multilevel dictionary has its own way of
    /// coding and does not use `coder`.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`].
    pub fn transform(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        match self {
            Self::Dictionary(dictionary, _) => alone(dictionary)?.transform(samples, coder, run),
            Self::Online(learner, _) => alone(learner.dictionary())?.transform(samples, coder, run),
            Self::Ensemble(ensemble) => ensemble.transform(samples, coder, run),
            Self::Multilevel(multilevel) => multilevel.transform(samples, run),
            Self::Gaussians(_) => Err(no_codes("gaussians")),
            Self::Upscaler(_) => Err(no_codes("upscaler")),
        }
    }

    /// The approximation of every sample: see [`Ensemble::approximate`] and [`MultilevelDictionary::approximate`]. One
    /// dictionary has no members that differ, and so no spread.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`].
    pub fn approximate(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Approximation<T>> {
        match self {
            Self::Dictionary(dictionary, _) => alone(dictionary)?.approximate(samples, coder, run),
            Self::Online(learner, _) => alone(learner.dictionary())?.approximate(samples, coder, run),
            Self::Ensemble(ensemble) => ensemble.approximate(samples, coder, run),
            Self::Multilevel(multilevel) => multilevel.approximate(samples, run),
            Self::Gaussians(_) => Err(no_codes("gaussians")),
            Self::Upscaler(_) => Err(no_codes("upscaler")),
        }
    }

    /// Approximations from codes: the bits that [`approximate`](Self::approximate) gives for the codes of
    /// [`transform`](Self::transform).
    ///
    /// # Errors
    /// If the codes do not have one row for each atom, or the run was interrupted.
    pub fn reconstruct(&self, codes: &SparseCodes<T>, run: Run<'_>) -> Result<Matrix<T>> {
        match self {
            Self::Dictionary(dictionary, _) => alone(dictionary)?.reconstruct(codes, run),
            Self::Online(learner, _) => alone(learner.dictionary())?.reconstruct(codes, run),
            Self::Ensemble(ensemble) => ensemble.reconstruct(codes, run),
            Self::Multilevel(multilevel) => multilevel.reconstruct(codes, run),
            Self::Gaussians(_) => Err(no_codes("gaussians")),
            Self::Upscaler(_) => Err(no_codes("upscaler")),
        }
    }

    /// The model for samples that reach us through Φ: it codes in ΦD and still approximates by D.
    ///
    /// # Errors
    /// If Φ does not take as many features as the model takes now.
    pub fn degraded_by(&self, phi: &dyn Degradation<T>) -> Result<Self> {
        match self {
            Self::Dictionary(dictionary, training) => degraded(dictionary, training, phi),
            Self::Online(learner, training) => degraded(learner.dictionary(), training, phi),
            Self::Ensemble(ensemble) => ensemble.degraded_by(phi).map(Self::Ensemble),
            Self::Multilevel(multilevel) => multilevel.degraded_by(phi).map(Self::Multilevel),
            Self::Gaussians(_) => Err(no_codes("gaussians")),
            Self::Upscaler(_) => Err(no_codes("upscaler")),
        }
    }
}

fn no_codes(model: &str) -> Error {
    Error::parameter("model", model, "has no sparse codes; restore pictures with it, or take another model")
}

/// The ensemble of one dictionary.
fn alone<T: Scalar>(dictionary: &Dictionary<T>) -> Result<Ensemble<T>> {
    Ensemble::new(vec![SparseModel::plain(dictionary)?], vec![1.0])
}

fn degraded<T: Scalar>(dictionary: &Dictionary<T>, training: &Training, phi: &dyn Degradation<T>) -> Result<Model<T>> {
    Ok(Model::Ensemble(alone(dictionary)?.degraded_by(phi)?.with_training(training.clone())))
}
