//! A picture as the non-local estimator reads it.

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};
use crate::kernels::best_level;

/// Zeros that follow a row, so that vectors may be read beyond its right border: four of the widest.
pub(super) const BEYOND: usize = 64;

/// Pixels of a row of a patch that are read or written together: most patches are no wider, and what lies beyond them is
/// touched in vain.
pub(super) const NARROW: usize = 8;

/// Rows that one thread reads at a time.
const ROWS: usize = 64;

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
    pub(super) fn new(image: &GrayImage, what: &'static str, side: usize, offset: f64, run: Run<'_>) -> Result<Self> {
        let size = image.size();
        let pitch = size.width + BEYOND;
        let [mut samples, mut energies] = [(); 2].map(|()| vec![0.0; pitch * size.height]);
        let pieces = samples.chunks_mut(ROWS * pitch).zip(energies.chunks_mut(ROWS * pitch)).enumerate();
        run.each(pieces, |(i, (samples, energies))| {
            let mut sums = vec![0.0; energies.len() + (side - 1) * pitch];
            for (r, sums) in sums.chunks_exact_mut(pitch).enumerate().take(size.height - i * ROWS) {
                let (row, mut beyond) = (i * ROWS + r, Vec::new());
                let pixels = image.row(row);
                let line = samples.get_mut(r * pitch..(r + 1) * pitch).unwrap_or_else(|| {
                    beyond.resize(pitch, 0.0);
                    &mut beyond
                });
                if !dispatch!(best_level(), simd => shifted(simd, pixels, offset, line)) {
                    return Err(refused(what, row, pixels));
                }
                dispatch!(best_level(), simd => add_squares(simd, line, side, sums));
            }
            dispatch!(best_level(), simd => add_lines(simd, &sums, pitch, side, energies));
            Ok(())
        })?;
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

/// Adds the sums of squares over so many pixels of a row, by where they begin; beyond the last whole ones anything. Inlined into
/// the instruction set of the caller.
#[inline(always)]
fn add_squares<S: Simd>(_: S, row: &[f32], side: usize, sums: &mut [f32]) {
    for c in 0..side {
        sums.iter_mut().zip(&row[c..]).for_each(|(sum, sample)| *sum += sample * sample);
    }
}

/// Adds up so many rows of sums, by the first of them; beyond the last whole ones anything. Inlined into the instruction set of the
/// caller.
#[inline(always)]
fn add_lines<S: Simd>(_: S, sums: &[f32], pitch: usize, side: usize, energies: &mut [f32]) {
    for r in 0..side {
        energies.iter_mut().zip(&sums[r * pitch..]).for_each(|(energy, sum)| *energy += sum);
    }
}
