//! Models to files and back (feature `io`): one safetensors format for every model.
//!
//! A model file holds what the model computes with, bit for bit, and how it came about. Matrices are tensors with an atom
//! a row, which in memory is our column-major matrix; everything else is text in the header, so that any program that
//! reads safetensors can show it.
//!
//! | tensor | type, shape | what |
//! | --- | --- | --- |
//! | `dictionary` | scalar, K × M | D of a single dictionary |
//! | `sources` | U64, K | the training sample each of its atoms came from, if they are samples |
//! | `member.l.dictionary` | scalar, K × M | D_l of a model (D_l, D_l), l from 0 |
//! | `member.l.coding`, `member.l.synthesis` | scalar, K × N, K × M | the two halves of any other model |
//! | `member.l.sources` | U64, K | as `sources` |
//! | `beta` | F64, L | β |
//! | `curve.alpha`, `.member_error`, `.error` | F64, rounds | the training curve |
//! | `curve.validation_error` | F64, rounds | if there was a validation |
//! | `curve.unconverged` | U64, rounds | the training curve |
//! | `objective` | F64, any | [`Training::objective`] |
//! | `level.v.member.l.…`, `level.v.beta` | as above | level v of a multilevel dictionary, v from 0 |
//! | `memory.products`, `.moments`, `.usage` | F64, K·K, K·M and K | the sums of an online learner: APAᵀ, XPAᵀ and masses |
//! | `memory.idle` | U64, K | how long each of its atoms has not been used |
//! | `covariance.k` | scalar, M × M | the covariance of local Gaussian k, from 0 |
//! | `weights` | F64, K | how often a sample is of each Gaussian |
//! | `stage.v.common`, `.features`, `.directions`, `.outputs` | scalar, M × N, F × N, r × N, m × M | the [`Frame`](crate::ensemble::Frame) of stage v of an upscaler, v from 0 |
//! | `stage.v.beta` | F64, L | the weights of its members |
//! | `stage.v.member.l.anchors` | scalar, K × F | the anchors of its member l |
//! | `stage.v.member.l.maps` | scalar, F16 or I8, K·m × r | and their maps, one after the other |
//! | `stage.v.member.l.scales` | scalar, K × m | what bytes are multiples of |
//! | `phi` | scalar, M × N | Φ of the training as a matrix, if it was kept: a feature a row |
//!
//! | text | what |
//! | --- | --- |
//! | `format`, `format_version` | `sparsemble`, and [`FORMAT_VERSION`] of the writer |
//! | `library_version`, `algorithm_version` | the library that wrote the file, and its [`ALGORITHM_VERSION`] |
//! | `kind`, `complete`, `dtype` | `dictionary`, `online`, `ensemble`, `multilevel`, `gaussians` or `upscaler`; `false` for a checkpoint; `float32` or `float64` |
//! | `online`, `seen`, `replaced`, `mass`, `unit` | of an online learner: settings; samples, replacements and mass so far; the first batch's mass |
//! | `levels`, `coefficients` | of a multilevel dictionary: how many; `least-squares` or `correlation` |
//! | `gaussians`, `mean`, `mean_deviation` | of local Gaussians: how many; [`MeanPrior`](crate::ensemble::MeanPrior) |
//! | `scale`, `stages`, `stage.v.low_side`, `stage.v.high_side` | of an upscaler: its factor, how many stages, and their windows |
//! | `method`, `learner`, `coder`, `seed` | [`Training`] |
//! | `data`, `data_samples`, `data_features`, `data_fingerprint` | [`TrainingData`] |
//! | `phi` | what Φ is, as the text of an [`Operator`](crate::degradation::Operator) or in words, if there was one |
//! | `parameter.…` | [`Record::parameters`] |
//!
//! A file is not trusted. Its header is at most 1 MiB, the file at most 4 GiB; every size is checked against the length of
//! the file before memory is spent on it; values must be finite, atoms of dictionaries of unit norm, and there must be
//! nothing in it that this version does not know. A file of a newer [`FORMAT_VERSION`] is refused, an older one is read.

mod checkpoint;
mod container;
mod contents;
mod decode;
mod encode;
mod inspection;
mod resuming;
mod state;
mod upscaling;

pub use checkpoint::{Checkpoint, PastSteps};
pub use inspection::{Inspection, Kind, TensorShape, inspect};

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use crate::degradation::Dense;
use crate::dictionary::{Dictionary, OnlineLearner};
use crate::ensemble::{Ensemble, LocalGaussians, MultilevelDictionary, Training, Upscaler};
use crate::error::Result;
use crate::files;
use crate::model::Model;
use crate::scalar::Scalar;

/// The version of the format that this library writes; it reads all up to this one.
pub const FORMAT_VERSION: u32 = 1;

/// The version of the training algorithms. Whoever changes a training so that the same samples and seed give other bits
/// raises it: a checkpoint of another version is not resumed.
pub const ALGORITHM_VERSION: u32 = 7;

/// What stands for the name of bytes in memory.
const IN_MEMORY: &str = "the model";

/// A model to be written.
///
/// Functions take it as `impl Into<ModelRef>`: give them `&model`, `&ensemble`, `&multilevel`, `&gaussians`,
/// `&upscaler` or `(&dictionary, &training)`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ModelRef<'a, T> {
    /// One dictionary, and how it was learned.
    Dictionary(&'a Dictionary<T>, &'a Training),
    /// An ensemble.
    Ensemble(&'a Ensemble<T>),
    /// A dictionary that goes on learning, and how it came about.
    Online(&'a OnlineLearner<T>, &'a Training),
    /// A multilevel dictionary.
    Multilevel(&'a MultilevelDictionary<T>),
    /// Local Gaussians.
    Gaussians(&'a LocalGaussians<T>),
    /// Stages that enlarge pictures.
    Upscaler(&'a Upscaler<T>),
}

impl<'a, T> From<&'a Model<T>> for ModelRef<'a, T> {
    fn from(model: &'a Model<T>) -> Self {
        match model {
            Model::Dictionary(dictionary, training) => Self::Dictionary(dictionary, training),
            Model::Online(learner, training) => Self::Online(learner, training),
            Model::Ensemble(ensemble) => Self::Ensemble(ensemble),
            Model::Multilevel(multilevel) => Self::Multilevel(multilevel),
            Model::Gaussians(gaussians) => Self::Gaussians(gaussians),
            Model::Upscaler(upscaler) => Self::Upscaler(upscaler),
        }
    }
}

impl<'a, T> From<(&'a Dictionary<T>, &'a Training)> for ModelRef<'a, T> {
    fn from((dictionary, training): (&'a Dictionary<T>, &'a Training)) -> Self {
        Self::Dictionary(dictionary, training)
    }
}

impl<'a, T> From<&'a Ensemble<T>> for ModelRef<'a, T> {
    fn from(ensemble: &'a Ensemble<T>) -> Self {
        Self::Ensemble(ensemble)
    }
}

impl<'a, T> From<&'a MultilevelDictionary<T>> for ModelRef<'a, T> {
    fn from(multilevel: &'a MultilevelDictionary<T>) -> Self {
        Self::Multilevel(multilevel)
    }
}

impl<'a, T> From<&'a LocalGaussians<T>> for ModelRef<'a, T> {
    fn from(gaussians: &'a LocalGaussians<T>) -> Self {
        Self::Gaussians(gaussians)
    }
}

impl<'a, T> From<&'a Upscaler<T>> for ModelRef<'a, T> {
    fn from(upscaler: &'a Upscaler<T>) -> Self {
        Self::Upscaler(upscaler)
    }
}

/// What a file tells beside the model; nothing here changes what the model computes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record<T> {
    /// Parameters by name, as text: `lambda`, `patch`, `n_models` …
    pub parameters: BTreeMap<String, String>,
    /// What the model was trained on.
    pub data: TrainingData,
    /// Φ of the training, if there was one.
    pub phi: Option<PhiRecord<T>>,
}

/// What a model was trained on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrainingData {
    /// In words: where the samples come from and what was done to them.
    pub description: String,
    /// T, the number of samples; 0 if unknown.
    pub n_samples: u64,
    /// M, the number of features; 0 if unknown.
    pub n_features: u64,
    /// [`TrainingSet::fingerprint`](crate::recipe::TrainingSet::fingerprint), which tells other samples; 0 if unknown.
    pub fingerprint: u64,
}

/// The degradation of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct PhiRecord<T> {
    /// What it is: the text of an [`Operator`](crate::degradation::Operator), the name of a file, or words.
    pub description: String,
    /// Its matrix, if that is to be kept.
    pub matrix: Option<Dense<T>>,
}

/// What a file held.
#[derive(Debug)]
pub struct Loaded<T> {
    /// The model; it computes the bits that the written one did.
    pub model: Model<T>,
    /// What else the file tells.
    pub record: Record<T>,
    /// Whether its training has ended; `false` for a checkpoint.
    pub complete: bool,
    /// The version of the library that wrote the file.
    pub library_version: String,
    /// The [`ALGORITHM_VERSION`] of that library.
    pub algorithm_version: u32,
}

/// Writes a model file, replacing any file of that name at once: no reader ever sees half a model.
///
/// The same model gives the same bytes.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the folder cannot be written to; [`Error::Model`](crate::Error::Model) if the model is one that could not be read again:
/// a value of the curve is not finite, or it is too large. A file of that name is then left as it was.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::Training;
/// use sparsemble::{Matrix, Model};
/// use sparsemble::model_file::{self, Record, TrainingData};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let dictionary = Dictionary::new(Matrix::from_columns(vec![3.0_f32, 4.0, 1.0, 0.0], 2, 2)?)?;
/// let training = Training { method: "alt-opt".into(), seed: 1, ..Training::default() };
/// let data = TrainingData { description: "two points".into(), n_samples: 2, n_features: 2, fingerprint: 0 };
/// model_file::save(&path, (&dictionary, &training), &Record { data, ..Record::default() })?;
///
/// assert_eq!(model_file::inspect(&path)?.dtype, "float32");
/// let loaded = model_file::load::<f32>(&path)?;
/// assert!(matches!(loaded.model, Model::Dictionary(again, _) if again == dictionary));
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn save<'a, T: Scalar>(
    path: impl AsRef<Path>,
    model: impl Into<ModelRef<'a, T>>,
    record: &Record<T>,
) -> Result<()> {
    let (path, model) = (path.as_ref(), model.into());
    let contents = encode::contents(model, record, true).map_err(|reason| reason.about_model(path))?;
    let header = contents.header().map_err(|reason| reason.about_model(path))?;
    files::write_atomically(path, |file| {
        file.write_all(&header)?;
        contents.write_body(file)
    })
}

/// The bytes of a model file; as [`save`].
///
/// # Errors
/// [`Error::Model`](crate::Error::Model) as [`save`].
pub fn encode<'a, T: Scalar>(model: impl Into<ModelRef<'a, T>>, record: &Record<T>) -> Result<Vec<u8>> {
    encode::bytes(model.into(), record, true).map_err(|reason| reason.about_model(Path::new(IN_MEMORY)))
}

/// Reads a model file, whose numbers must be of the type that is asked for: see [`inspect`]. Of a checkpoint it gives the
/// model of the steps that are done.
///
/// # Cost
/// The file is mapped while it is read, where that can be done. Memory is that of the model, which is a small multiple of
/// the file's length.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be opened; [`Error::Model`](crate::Error::Model) if it is not a model file, is damaged, too large, of a
/// newer version or of the other number type.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::Training;
/// use sparsemble::model_file::{self, Record};
/// use sparsemble::{Matrix, Model};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let dictionary = Dictionary::new(Matrix::from_columns(vec![3.0_f32, 4.0, 1.0, 0.0], 2, 2)?)?;
/// model_file::save(&path, (&dictionary, &Training::default()), &Record::default())?;
///
/// let loaded = model_file::load::<f32>(&path)?;
/// assert!(loaded.complete && matches!(loaded.model, Model::Dictionary(again, _) if again == dictionary));
/// assert!(model_file::load::<f64>(&path).is_err()); // the numbers stay of the type they are
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn load<T: Scalar>(path: impl AsRef<Path>) -> Result<Loaded<T>> {
    let path = path.as_ref();
    if checkpoint::is_checkpoint(path)? {
        return checkpoint::loaded(path);
    }
    let (file, length) = files::open(path)?;
    let loaded = match files::map(path) {
        Some(mapped) => decode::loaded(Cursor::new(&mapped[..]), mapped.len() as u64),
        None => decode::loaded(file, length),
    };
    loaded.map_err(|reason| reason.about_model(path))
}

/// The model in the bytes of a file; as [`load`].
///
/// # Errors
/// [`Error::Model`](crate::Error::Model) as [`load`].
pub fn decode<T: Scalar>(bytes: &[u8]) -> Result<Loaded<T>> {
    let loaded = decode::loaded(Cursor::new(bytes), bytes.len() as u64);
    loaded.map_err(|reason| reason.about_model(Path::new(IN_MEMORY)))
}
