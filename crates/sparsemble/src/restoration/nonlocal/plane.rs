//! A picture as the non-local estimator reads it.

use fearless_simd::{Simd, dispatch};

use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};
use crate::kernels::best_level;

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
            let pixels = image.row(row);
            if !dispatch!(best_level(), simd => shifted(simd, pixels, offset, line)) {
                return Err(refused(what, row, pixels));
            }
        }
        let energies = dispatch!(best_level(), simd => energies(simd, &samples, pitch, side));
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

/// Writes pixels less the offset, and says whether all of them can be taken.
#[inline(always)]
fn shifted<S: Simd>(simd: S, pixels: &[f64], offset: f64, out: &mut [f32]) -> bool {
    out.iter_mut().zip(pixels).for_each(|(out, sample)| *out = (sample - offset) as f32);
    can_be_taken(simd, pixels)
}

/// Refuses pictures with samples that cannot be taken.
pub(in crate::restoration) fn check_samples(image: &GrayImage, what: &'static str) -> Result<()> {
    for (row, pixels) in image.samples().chunks_exact(image.size().width.max(1)).enumerate() {
        if !dispatch!(best_level(), simd => can_be_taken(simd, pixels)) {
            return Err(refused(what, row, pixels));
        }
    }
    Ok(())
}

/// Whether all pixels are finite and not too large.
#[inline(always)]
fn can_be_taken<S: Simd>(_: S, pixels: &[f64]) -> bool {
    pixels.iter().fold(true, |fine, sample| fine & (sample.abs() <= MOST))
}

/// Why a row of samples cannot be taken.
fn refused(what: &'static str, row: usize, pixels: &[f64]) -> Error {
    let first = |refuses: fn(&f64) -> bool| pixels.iter().position(refuses);
    if let Some(column) = first(|sample| !sample.is_finite()) {
        return Error::NotFinite { what, row, column };
    }
    let sample = first(|sample| sample.abs() > MOST).map_or(MOST, |column| pixels[column]);
    Error::parameter(what, sample, "samples must be at most 1e12 in size")
}

/// The sums of squares over squares of pixels, by where they begin; beyond the last whole ones anything. Inlined into the
/// instruction set of the caller.
#[inline(always)]
fn energies<S: Simd>(_: S, samples: &[f32], pitch: usize, side: usize) -> Vec<f32> {
    let add = |sums: &mut [f32], others: &[f32]| sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
    let (mut lines, mut squares) = (vec![0.0; samples.len()], vec![0.0; pitch]);
    for (line, row) in lines.chunks_exact_mut(pitch).zip(samples.chunks_exact(pitch)) {
        squares.iter_mut().zip(row).for_each(|(square, sample)| *square = sample * sample);
        (0..side).for_each(|c| add(line, &squares[c..]));
    }
    let mut energies = lines.clone();
    for (row, sums) in energies.chunks_exact_mut(pitch).enumerate() {
        lines[row * pitch..].chunks_exact(pitch).take(side).skip(1).for_each(|line| add(sums, line));
    }
    energies
}
