//! Models for pictures, which are worked on in numbers of 32 bits.

use std::path::Path;

use anyhow::{Result, bail};
use sparsemble::model_file::{self, Loaded};
use sparsemble::{Model, Scalar};

/// The model of a file.
pub(super) fn load(path: &Path) -> Result<Model<f32>> {
    Ok(load_recorded(path)?.model)
}

/// The model of a file and what is written beside it.
pub(super) fn load_recorded(path: &Path) -> Result<Loaded<f32>> {
    if model_file::inspect(path)?.dtype != f32::NAME {
        bail!("{} holds numbers of 64 bits, pictures take 32; train it with --dtype f32", path.display());
    }
    Ok(model_file::load(path)?)
}
