//! Photographs and a table that are part of the program, so that nothing need be downloaded (data/README.md has their
//! licences).

use sparsemble::Result;
use sparsemble::image::{self, GrayImage};

pub(crate) const ASTRONAUT: &[u8] = include_bytes!("../../../data/cc0/astronaut.png");
pub(crate) const CAMERA: &[u8] = include_bytes!("../../../data/cc0/camera.png");
pub(crate) const CHELSEA: &[u8] = include_bytes!("../../../data/cc0/chelsea.png");
pub(crate) const COFFEE: &[u8] = include_bytes!("../../../data/cc0/coffee.png");

/// Digits of 8 × 8 pixels, one a line, the last column the digit.
pub(crate) const DIGITS: &str = include_str!("../../../data/digits.csv");

/// The photographs to learn from.
pub(crate) fn training() -> Result<Vec<GrayImage>> {
    [CHELSEA, COFFEE].into_iter().map(image::decode).collect()
}
