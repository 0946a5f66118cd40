//! A picture as the non-local estimator reads it.

use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};

use super::group::LANES;

/// A picture in single precision whose rows go on with zeros, so that vectors may be read beyond its right border.
#[derive(Debug)]
pub(super) struct Plane {
    size: Size,
    /// The distance from one row to the next.
    pitch: usize,
    samples: Vec<f32>,
}

impl Plane {
    pub(super) fn new(image: &GrayImage, what: &'static str) -> Result<Self> {
        let size = image.size();
        let pitch = size.width + LANES;
        let mut samples = vec![0.0; pitch * size.height];
        for (row, line) in samples.chunks_exact_mut(pitch).enumerate() {
            for (column, (out, &sample)) in line.iter_mut().zip(image.row(row)).enumerate() {
                *out = sample as f32;
                if !out.is_finite() {
                    return Err(Error::NotFinite { what, row, column });
                }
            }
        }
        Ok(Self { size, pitch, samples })
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// The samples from this pixel on, to the right border and the zeros beyond it.
    #[inline(always)]
    pub(super) fn from(&self, row: usize, column: usize) -> &[f32] {
        &self.samples[row * self.pitch + column..(row + 1) * self.pitch]
    }
}
