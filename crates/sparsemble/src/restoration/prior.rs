//! What a picture is likely to look like.

use std::fmt::Debug;

use crate::blocks::Run;
use crate::error::Result;
use crate::image::GrayImage;

use super::nonlocal::NonLocal;

/// A model of pictures that can tell signal from noise.
pub trait PicturePrior: Debug {
    /// The likeliest picture behind one with white noise of deviation `sigma`, in grey levels.
    ///
    /// A restoration calls it once a turn; what was learned in earlier turns may be used in later ones. Pictures of more than
    /// 4 megapixels are restored tile by tile, each from turn 0 on.
    ///
    /// # Errors
    /// If the picture is too small for the prior's patches, or the run was interrupted.
    fn denoise(&mut self, image: &GrayImage, sigma: f64, turn: usize, run: Run<'_>) -> Result<GrayImage>;
}

impl PicturePrior for NonLocal {
    fn denoise(&mut self, image: &GrayImage, sigma: f64, turn: usize, run: Run<'_>) -> Result<GrayImage> {
        Ok(self.find(image, sigma, (turn, None), false, run)?.image)
    }
}
