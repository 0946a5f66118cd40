//! A picture as the non-local estimator reads it.

use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};

/// Zeros that follow a row, so that vectors may be read beyond its right border: four of the widest.
pub(super) const BEYOND: usize = 64;

/// Pixels of a row of a patch that are read or written together: most patches are no wider, and what lies beyond them is
/// touched in vain.
pub(super) const NARROW: usize = 8;

/// The largest sample: energies of groups and products of them are far from overflowing.
const MOST: f64 = 1e12;

/// A picture in single precision, less a constant, and the energies of its patches.
#[derive(Debug)]
pub(super) struct Plane {
    size: Size,
    /// The distance from one row to the next.
    pitch: usize,
    samples: Vec<f32>,
    /// ‖x‖² of the patch that begins at each pixel.
    energies: Vec<f32>,
}

impl Plane {
    /// `offset` is what is subtracted: with the mean of the picture, least is lost to rounding.
    pub(super) fn new(image: &GrayImage, what: &'static str, side: usize, offset: f64) -> Result<Self> {
        let size = image.size();
        let pitch = size.width + BEYOND;
        let mut samples = vec![0.0; pitch * size.height];
        for (row, line) in samples.chunks_exact_mut(pitch).enumerate() {
            for (column, (out, &sample)) in line.iter_mut().zip(image.row(row)).enumerate() {
                *out = (sample - offset) as f32;
                // The offset is not finite either then.
                if !(sample as f32).is_finite() {
                    return Err(Error::NotFinite { what, row, column });
                }
                if sample.abs() > MOST {
                    return Err(Error::parameter(what, sample, "samples must be at most 1e12 in size"));
                }
            }
        }
        let energies = energies(&samples, pitch, side);
        Ok(Self { size, pitch, samples, energies })
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// The samples from this pixel on, to the right border and the zeros beyond it.
    #[inline(always)]
    pub(super) fn from(&self, row: usize, column: usize) -> &[f32] {
        &self.samples[row * self.pitch + column..(row + 1) * self.pitch]
    }

    /// The samples from this pixel on, in its row and in all below it.
    #[inline(always)]
    pub(super) fn lines(&self, row: usize, column: usize) -> impl Iterator<Item = &[f32]> {
        self.samples[row * self.pitch + column..].chunks(self.pitch)
    }

    /// The energies of the patch that begins at this pixel and of those to the right of it.
    #[inline(always)]
    pub(super) fn energies(&self, row: usize, column: usize) -> &[f32] {
        &self.energies[row * self.pitch + column..(row + 1) * self.pitch]
    }
}

/// The sums of squares over squares of pixels, by where they begin; beyond the last whole ones anything.
fn energies(samples: &[f32], pitch: usize, side: usize) -> Vec<f32> {
    let add = |sums: &mut [f32], others: &[f32]| sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
    let squares: Vec<f32> = samples.iter().map(|sample| sample * sample).collect();
    let mut lines = squares.clone();
    (1..side).for_each(|c| add(&mut lines, &squares[c..]));
    let mut energies = lines.clone();
    (1..side).for_each(|r| add(&mut energies, &lines[r * pitch..]));
    energies
}
