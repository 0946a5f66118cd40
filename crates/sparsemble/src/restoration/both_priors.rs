//! Two ensembles that take turns: the picture's own patches, and Gaussians of other pictures that adapt to this one.

use std::ops::Range;

use rand::RngExt;

use crate::blocks::Run;
use crate::ensemble::{EstimatorScratch, GaussianEstimator, LocalGaussians, STRIP, SampleMean, Seen};
use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};
use crate::matrix::Matrix;
use crate::patch::{copy_patch, remove_mean};
use crate::rng::Draw;

use super::image_level::moved;
use super::nonlocal::{NonLocal, check_samples, origins};
use super::prior::PicturePrior;

/// What is likely by the picture's own patches and by Gaussians of patches of other pictures, in turn.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `non_local` | | [`NonLocal::default`] | what the picture's own patches have in common | |
/// | `caution` | | 0.4 | what the Gaussians take for noise, as a part of what is noise by the turn | > 0 |
/// | `weight` | w | 0.85 | what they count in their turns, beside the non-local prior of the turn before | above 0, at most 1 |
/// | `listening` | | 8 | turns before their first | |
/// | `period` | | 8 | turns from one lesson to the next | ≥ 1 |
/// | `prior_samples` | ν | 8 | how many patches of the picture count as much as what was known before | > 0 |
/// | `stride` | | 3 | the distance between their patches | 1 to the side of a patch |
///
/// Turns are numbered from 0. From number `listening` on, the even ones are those of the Gaussians: they estimate the patches of
/// a grid that is shifted from turn to turn, each by the members that are likely for it, and average where patches overlap. What
/// comes of it is (1 − w)·y + w·x, with x what they say and y what the non-local prior has said in the turn before. All other turns
/// are the non-local prior's. The first turn of the Gaussians in each period begins with a lesson: from C_k, what other pictures
/// have taught, they go to (Σ p x xᵀ + ν C_k)/(Σ p + ν) over the patches x of y, p being how likely each is of member k, and half
/// of the way to the share of these patches. Structures that no other picture has are then known. Before the non-local prior has
/// found them the Gaussians would take them for noise, so they wait for it first (decision 0017).
///
/// # Cost
/// A turn of the non-local prior is that of [`NonLocal`]. One of the Gaussians, and each lesson, has for each patch of the grid
/// at most K·M² multiply-adds to compare it with the members and M² for each that counts, and K·M³ for the members; a lesson
/// also solves K eigenvalue problems of size M, and holds all patches of the grid, M/`stride`² pictures in single precision.
///
/// # Errors
/// Those of [`NonLocal`], in every turn; if a field is out of range, or M is not the number of pixels of a square.
#[derive(Debug)]
pub struct BothPriors {
    /// What the picture's own patches have in common.
    pub non_local: NonLocal,
    /// What the Gaussians take for noise, as a part of what is noise by the turn.
    pub caution: f64,
    /// What they count in their turns.
    pub weight: f64,
    /// Turns before their first.
    pub listening: usize,
    /// Turns from one lesson to the next.
    pub period: usize,
    /// ν, how many patches of the picture count as much as what was known before.
    pub prior_samples: f64,
    /// The distance between their patches.
    pub stride: usize,
    learned: LocalGaussians<f32>,
    /// For this picture, once there was a lesson.
    adapted: Option<LocalGaussians<f32>>,
    /// The last one of the non-local prior.
    opinion: Option<Opinion>,
}

/// What a turn has made of the picture.
#[derive(Debug)]
struct Opinion {
    picture: GrayImage,
    /// What the Gaussians take for noise in it.
    noise: f64,
    turn: usize,
}

impl BothPriors {
    /// The default settings with these Gaussians; of tiny patches, no stride is longer than their side.
    pub fn new(gaussians: LocalGaussians<f32>) -> Self {
        let side = gaussians.n_features().isqrt();
        Self {
            non_local: NonLocal::default(),
            caution: 0.4,
            weight: 0.85,
            listening: 8,
            period: 8,
            prior_samples: 8.0,
            stride: side.min(3),
            learned: gaussians,
            adapted: None,
            opinion: None,
        }
    }

    /// A turn, as [`PicturePrior`] has it, and its multiply-adds: what the speed of this machine is compared with.
    ///
    /// # Errors
    /// See [`BothPriors`].
    pub fn denoise_and_count(
        &mut self,
        image: &GrayImage,
        sigma: f64,
        turn: usize,
        run: Run<'_>,
    ) -> Result<(GrayImage, u64)> {
        self.non_local.check(image.size(), sigma)?;
        let grid = self.grid(image.size(), turn)?;
        if turn == 0 {
            (self.adapted, self.opinion) = (None, None);
        }
        let noise = self.caution * sigma;
        if turn < self.listening || !turn.is_multiple_of(2) {
            let (own, multiply_adds) = self.non_local.denoise_and_count(image, sigma, turn, run)?;
            self.opinion = Some(Opinion { picture: own.clone(), noise, turn });
            return Ok((own, multiply_adds));
        }
        check_samples(image, "image")?;
        let part = |pass: usize| run.passes(pass..pass + 1, 2, grid.count());
        let is_first = turn < self.listening + 2 || turn / self.period != (turn - 2) / self.period;
        let learned = if is_first { self.learn(part(0))? } else { 0 };
        let seen = Seen { phi: None, noise, mean: SampleMean::Removed };
        let estimator = self.guides().estimator(&seen, run.silent())?;
        let (found, multiply_adds) = grid.estimate(image, &estimator, part(1))?;
        let found = match &self.opinion {
            Some(Opinion { picture, .. }) => moved(found, picture, 1.0 - self.weight, run)?,
            None => found,
        };
        Ok((found, multiply_adds + learned))
    }

    /// The Gaussians as they know this picture.
    fn guides(&self) -> &LocalGaussians<f32> {
        self.adapted.as_ref().unwrap_or(&self.learned)
    }

    /// The lesson about what the non-local prior has said, if it has; its multiply-adds.
    fn learn(&mut self, run: Run<'_>) -> Result<u64> {
        let Some(Opinion { picture, noise, turn }) = &self.opinion else { return Ok(0) };
        let grid = self.grid(picture.size(), *turn)?;
        let mut patches = Matrix::zeros(self.learned.n_features(), grid.count());
        let strip = STRIP * patches.rows();
        run.each(patches.as_mut_slice().chunks_mut(strip).enumerate(), |(i, strip)| {
            for (slot, patch) in strip.chunks_exact_mut(grid.side * grid.side).enumerate() {
                grid.copy_to(picture, i * STRIP + slot, patch);
            }
            Ok(())
        })?;
        let settings = (*noise, self.prior_samples);
        let (adapted, multiply_adds) = self.learned.adapted(self.guides(), patches.view(), settings, run)?;
        self.adapted = Some(adapted);
        Ok(multiply_adds)
    }

    /// The patches of a turn.
    fn grid(&self, size: Size, turn: usize) -> Result<Grid> {
        let side = self.learned.n_features().isqrt();
        if side * side != self.learned.n_features() || side > size.width.min(size.height) {
            let reason = "must be that of a square patch that is no larger than the image";
            return Err(Error::parameter("gaussians: number of features", self.learned.n_features(), reason));
        }
        if !(1..=side).contains(&self.stride) {
            return Err(Error::parameter("stride", self.stride, "must be from 1 to the side of a patch"));
        }
        if self.period == 0 {
            return Err(Error::parameter("period", self.period, "must be at least 1"));
        }
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            return Err(Error::parameter("weight", self.weight, "must be above 0 and at most 1"));
        }
        for (name, value) in [("caution", self.caution), ("prior_samples", self.prior_samples)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "must be positive and finite"));
            }
        }
        let mut offsets = Draw { seed: 0, round: turn as u64 }.stream("Gaussian grid");
        let mut along = |length: usize| origins(length, (side, self.stride), offsets.random_range(0..self.stride));
        Ok(Grid { size, side, rows: along(size.height), columns: along(size.width) })
    }
}

impl PicturePrior for BothPriors {
    fn denoise(&mut self, image: &GrayImage, sigma: f64, turn: usize, run: Run<'_>) -> Result<GrayImage> {
        Ok(self.denoise_and_count(image, sigma, turn, run)?.0)
    }
}

/// Where patches begin.
struct Grid {
    size: Size,
    side: usize,
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Grid {
    fn count(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// The first row and column of a patch.
    fn at(&self, patch: usize) -> (usize, usize) {
        (self.rows[patch / self.columns.len()], self.columns[patch % self.columns.len()])
    }

    /// How many patches of one direction there are over each pixel.
    fn cover(&self, origins: &[usize], length: usize) -> Vec<u32> {
        let mut cover = vec![0; length];
        for &origin in origins {
            cover[origin..origin + self.side].iter_mut().for_each(|count| *count += 1);
        }
        cover
    }

    /// Some patches without their means, and these.
    fn patches(&self, image: &GrayImage, range: Range<usize>) -> (Matrix<f32>, Vec<f64>) {
        let mut patches = Matrix::zeros(self.side * self.side, range.len());
        let mut means = Vec::with_capacity(range.len());
        for (slot, patch) in range.enumerate() {
            means.push(self.copy_to(image, patch, patches.column_mut(slot)));
        }
        (patches, means)
    }

    /// Copies a patch without its mean, which is returned.
    fn copy_to(&self, image: &GrayImage, patch: usize, values: &mut [f32]) -> f64 {
        copy_patch(image, self.at(patch), self.side, values);
        remove_mean(values)
    }

    /// The means of the estimates of all patches over each pixel, and the multiply-adds.
    fn estimate(
        &self,
        image: &GrayImage,
        estimator: &GaussianEstimator<f32>,
        run: Run<'_>,
    ) -> Result<(GrayImage, u64)> {
        let scratch = || (estimator.scratch(), vec![0.0; STRIP * self.side * self.side]);
        // Whole rows of patches: of wide pictures many strips would have the same rows of sums.
        let rows = (STRIP / self.columns.len()).max(1);
        let strips = run.map_blocks(self.rows.len(), rows, scratch, |(scratch, values), range| {
            Ok(self.strip(image, estimator, (scratch, values), range))
        })?;
        let weights = |origins: &[usize], length: usize| {
            let cover = self.cover(origins, length);
            cover.into_iter().map(|count| 1.0 / f64::from(count)).collect::<Vec<f64>>()
        };
        let down = weights(&self.rows, self.size.height);
        let across = weights(&self.columns, self.size.width);
        // In the order of the strips, whatever the threads.
        let mut samples = vec![0.0; self.size.pixels()];
        for strip in &strips {
            let lines = samples[strip.first * self.size.width..].chunks_exact_mut(self.size.width);
            let rows = down[strip.first..].iter().zip(strip.sums.chunks_exact(self.size.width));
            for (line, (down, sums)) in lines.zip(rows) {
                let pixels = line.iter_mut().zip(sums).zip(&across);
                pixels.for_each(|((pixel, &sum), across)| *pixel += down * across * f64::from(sum));
            }
        }
        let multiply_adds = strips.iter().map(|strip| strip.multiply_adds).sum();
        Ok((GrayImage::new(self.size, samples)?, multiply_adds))
    }

    /// The sums of the estimates of some rows of patches.
    fn strip(
        &self,
        image: &GrayImage,
        estimator: &GaussianEstimator<f32>,
        (scratch, values): (&mut EstimatorScratch<f32>, &mut [f32]),
        rows: Range<usize>,
    ) -> Strip {
        let (first, last) = (self.rows[rows.start], self.rows[rows.end - 1]);
        let mut strip =
            Strip { first, sums: vec![0.0; (last + self.side - first) * self.size.width], multiply_adds: 0 };
        let end = rows.end * self.columns.len();
        for start in (rows.start * self.columns.len()..end).step_by(STRIP) {
            let range = start..(start + STRIP).min(end);
            let (mut patches, means) = self.patches(image, range.clone());
            strip.multiply_adds += estimator.strip(scratch, &mut patches, values, None);
            for ((patch, mean), values) in range.zip(means).zip(values.chunks_exact(self.side * self.side)) {
                let (row, column) = self.at(patch);
                let lines = strip.sums[(row - first) * self.size.width..].chunks_mut(self.size.width);
                for (line, values) in lines.zip(values.chunks_exact(self.side)) {
                    let pixels = line[column..column + self.side].iter_mut();
                    pixels.zip(values).for_each(|(sum, value)| *sum += value + mean as f32);
                }
            }
        }
        strip
    }
}

/// The sums of the estimates of some rows of patches, from a first row of the picture on.
struct Strip {
    first: usize,
    sums: Vec<f32>,
    multiply_adds: u64,
}
