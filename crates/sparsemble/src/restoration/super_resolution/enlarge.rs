//! What every way to enlarge a picture can do, and the plain ones.

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::image::{GrayImage, Interpolation, Resampling};

use super::super::Restored;

/// A way to make a grey picture larger by a whole number.
pub trait Enlarge: Sync {
    /// How many times as wide and as high.
    fn scale(&self) -> usize;

    /// How many rows above and below can change what a row becomes; all of them if `None`.
    ///
    /// A strip of the picture with as many rows more on both sides gives the bits that the whole picture gives.
    fn reach(&self) -> Option<usize>;

    /// What the method is if it is interpolation alone, which needs no scale to reach any size.
    fn interpolation(&self) -> Option<Interpolation> {
        None
    }

    /// The larger picture, and how sure of it the method is; where it cannot tell, the deviation is zero.
    ///
    /// # Errors
    /// If the picture is too small or too large for the method, or a value is not finite; if the run was interrupted.
    fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored>;
}

impl<E: Enlarge + ?Sized> Enlarge for &E {
    fn scale(&self) -> usize {
        (**self).scale()
    }

    fn reach(&self) -> Option<usize> {
        (**self).reach()
    }

    fn interpolation(&self) -> Option<Interpolation> {
        (**self).interpolation()
    }

    fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored> {
        (**self).enlarge(image, run)
    }
}

/// Interpolation alone: what every other method is to be better than.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Interpolation, Size};
/// use sparsemble::restoration::super_resolution::{Enlarge, Interpolated};
///
/// let image = GrayImage::from_fn(Size { width: 5, height: 4 }, |row, column| (9 * row + column) as f64)?;
/// let bicubic = Interpolated::new(3, Interpolation::Bicubic)?;
/// assert_eq!(bicubic.enlarge(&image, Run::default())?.image.size(), Size { width: 15, height: 12 });
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interpolated {
    scale: usize,
    interpolation: Interpolation,
}

impl Interpolated {
    /// By this scale.
    ///
    /// # Errors
    /// If the scale is zero.
    pub fn new(scale: usize, interpolation: Interpolation) -> Result<Self> {
        if scale == 0 {
            return Err(Error::parameter("scale", scale, "must be at least 1"));
        }
        Ok(Self { scale, interpolation })
    }
}

impl Enlarge for Interpolated {
    fn scale(&self) -> usize {
        self.scale
    }

    fn reach(&self) -> Option<usize> {
        Some(self.interpolation.pixels())
    }

    fn interpolation(&self) -> Option<Interpolation> {
        Some(self.interpolation)
    }

    fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored> {
        let image = Resampling::by_factor(image.size(), self.scale as f64, self.interpolation)?.apply(image, run)?;
        let deviation = GrayImage::from_fn(image.size(), |_, _| 0.0)?;
        Ok(Restored { image, deviation })
    }
}
