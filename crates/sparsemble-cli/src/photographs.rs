//! Photographs that are part of the program, so that nothing need be downloaded (all CC0, see data/cc0/README.md).

use sparsemble::Result;
use sparsemble::image::{self, GrayImage};

/// To be looked at.
pub(crate) const PHOTO: &[u8] = include_bytes!("../../../data/cc0/camera.png");
pub(crate) const PHOTO_NAME: &str = "camera";

/// To learn from.
pub(crate) const TRAINING: [&[u8]; 2] =
    [include_bytes!("../../../data/cc0/chelsea.png"), include_bytes!("../../../data/cc0/coffee.png")];
pub(crate) const TRAINING_NAMES: [&str; 2] = ["chelsea", "coffee"];

/// The photographs to learn from.
pub(crate) fn training() -> Result<Vec<GrayImage>> {
    TRAINING.into_iter().map(image::decode).collect()
}
