//! What patches of photographs look like: a model that is part of the library.

use crate::ensemble::LocalGaussians;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::model_file;

/// How it was made is in the folder's README.
const PATCHES: &[u8] = include_bytes!("../../models/natural-patches.safetensors");

/// Local Gaussians of 8 × 8 patches of photographs, black 0 and white 255, learned from 91 pictures.
///
/// ```
/// let gaussians = sparsemble::restoration::natural_gaussians()?;
/// assert_eq!((gaussians.count(), gaussians.n_features()), (64, 64));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// None, unless the library was built from damaged sources.
pub fn natural_gaussians() -> Result<LocalGaussians<f32>> {
    match model_file::decode::<f32>(PATCHES)?.model {
        Model::Gaussians(gaussians) => Ok(gaussians),
        _ => Err(Error::Model { name: "natural patches".into(), reason: "these are no local Gaussians".into() }),
    }
}
