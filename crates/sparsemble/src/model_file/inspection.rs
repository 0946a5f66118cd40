//! What a model file says about itself, told without reading its tensors.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use safetensors::Dtype;

use crate::error::Result;
use crate::files;
use crate::scalar::Scalar;

use super::checkpoint::is_checkpoint;
use super::container::Container;
use super::{FORMAT_VERSION, checkpoint, encode};
use crate::reason::{Outcome, Reason};

/// The name of the format in the header.
pub(super) const FORMAT: &str = "sparsemble";

/// What kind of model a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// One dictionary.
    Dictionary,
    /// A dictionary that goes on learning.
    Online,
    /// An ensemble of sparse models.
    Ensemble,
    /// A multilevel dictionary.
    Multilevel,
    /// Local Gaussians.
    Gaussians,
    /// Stages that enlarge pictures.
    Upscaler,
}

impl Kind {
    /// The name of the kind in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dictionary => "dictionary",
            Self::Online => "online",
            Self::Ensemble => "ensemble",
            Self::Multilevel => "multilevel",
            Self::Gaussians => "gaussians",
            Self::Upscaler => "upscaler",
        }
    }

    fn of(name: &str) -> Outcome<Self> {
        let known = [Self::Dictionary, Self::Online, Self::Ensemble, Self::Multilevel, Self::Gaussians, Self::Upscaler];
        let known = known.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| "the file holds a kind of model that this version does not know; update sparsemble".into())
    }
}

/// What a model file says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// What kind of model it is.
    pub kind: Kind,
    /// Whether its training has ended; `false` for a checkpoint.
    pub complete: bool,
    /// The type of its numbers as NumPy writes it: `float32` or `float64`.
    pub dtype: &'static str,
    /// The version of the format.
    pub format_version: u32,
    /// Its tensors, by name.
    pub tensors: Vec<TensorShape>,
    /// All texts of its header, by key.
    pub texts: BTreeMap<String, String>,
}

/// A tensor of a model file. Its rows are the columns of our matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorShape {
    /// Its name.
    pub name: String,
    /// The type of its numbers as NumPy writes it.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
}

/// Reads the header of a model file: what it is, its sizes and its texts. Tensors are neither read nor checked.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be opened; [`Error::Model`](crate::Error::Model) if it is not a
/// model file, its header is damaged or it is of a newer version.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::Training;
/// use sparsemble::model_file::{self, Record};
/// use sparsemble::Matrix;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let dictionary = Dictionary::new(Matrix::from_columns(vec![3.0_f32, 4.0, 1.0, 0.0], 2, 2)?)?;
/// model_file::save(&path, (&dictionary, &Training::default()), &Record::default())?;
///
/// let inspection = model_file::inspect(&path)?;
/// assert_eq!((inspection.dtype, inspection.tensors.len()), ("float32", 1));
/// assert_eq!(inspection.tensors[0].shape, [2, 2]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn inspect(path: impl AsRef<Path>) -> Result<Inspection> {
    let path = path.as_ref();
    if is_checkpoint(path)? {
        return inspected_checkpoint(path);
    }
    let (file, length) = files::open(path)?;
    inspected(file, length).map_err(|reason| reason.about_model(path))
}

/// What the file of the model of all steps so far would say.
fn inspected_checkpoint(path: &Path) -> Result<Inspection> {
    let told = |bytes: Vec<u8>| {
        let length = bytes.len() as u64;
        inspected(Cursor::new(bytes), length)
    };
    let about = |reason: Reason| reason.about_model(path);
    let first = told(checkpoint::first_model(path)?).map_err(about)?;
    let bytes = if first.dtype == f32::NAME { written_anew::<f32>(path)? } else { written_anew::<f64>(path)? };
    told(bytes).map_err(about)
}

fn written_anew<T: Scalar>(path: &Path) -> Result<Vec<u8>> {
    let loaded = checkpoint::loaded::<T>(path)?;
    encode::bytes((&loaded.model).into(), &loaded.record, false).map_err(|reason| reason.about_model(path))
}

fn inspected(file: impl Read + Seek, length: u64) -> Outcome<Inspection> {
    let mut container = Container::open(file, length)?;
    let texts = container.texts.clone();
    let about = identify(&mut container)?;
    let tensors = container.tensors.into_iter().map(|(name, info)| {
        let dtype = match info.dtype {
            Dtype::F32 => "float32".into(),
            Dtype::F64 => "float64".into(),
            Dtype::U64 => "uint64".into(),
            Dtype::F16 => "float16".into(),
            Dtype::I8 => "int8".into(),
            other => other.to_string(),
        };
        TensorShape { name, dtype, shape: info.shape }
    });
    let Identity { kind, complete, dtype, format_version } = about;
    Ok(Inspection { kind, complete, dtype, format_version, tensors: tensors.collect(), texts })
}

/// The texts that say what a file is.
pub(super) struct Identity {
    pub(super) kind: Kind,
    pub(super) complete: bool,
    pub(super) dtype: &'static str,
    pub(super) format_version: u32,
}

/// Takes the texts that say what a file is. The version comes first: of a newer format nothing else is known.
pub(super) fn identify<R: Read + Seek>(container: &mut Container<R>) -> Outcome<Identity> {
    if container.texts.remove("format").as_deref() != Some(FORMAT) {
        return Err(
            "this is a safetensors file, but not a model of sparsemble; give one that sparsemble has saved".into()
        );
    }
    let format_version = container.parsed("format_version")?;
    if format_version > FORMAT_VERSION {
        return Err(format!(
            "this file has format version {format_version}, made by a newer version of sparsemble; this one knows up to \
             {FORMAT_VERSION}: update sparsemble"
        ).into());
    }
    if format_version == 0 {
        return Err("there is no format version 0; the file is damaged".into());
    }
    let dtype = container.text("dtype")?;
    let dtype = [f32::NAME, f64::NAME].into_iter().find(|name| *name == dtype);
    let dtype = dtype.ok_or("the text `dtype` names neither float32 nor float64; the file is damaged")?;
    let kind = Kind::of(&container.text("kind")?)?;
    Ok(Identity { kind, complete: container.parsed("complete")?, dtype, format_version })
}
