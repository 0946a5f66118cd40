//! Non-local estimation: the weak members are the patches of the picture itself.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};
use rand::RngExt;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::image::{GrayImage, Size};
use crate::kernels::best_level;
use crate::rng::Draw;
use crate::sums::total;

mod canvas;
mod group;
mod matching;
mod plane;
mod system;

use canvas::{Canvas, means};
use group::{GroupEstimator, Groups};
use matching::{Matcher, window};
use plane::Plane;

pub(super) use plane::check_samples;

/// Takes noise out of a picture by what its own patches have in common.
///
/// | field | symbol | default | [`white_noise`](Self::white_noise) | purpose | range |
/// | --- | --- | --- | --- | --- | --- |
/// | `side` | | 6 | 8 | the side of a patch | 2 to 16 |
/// | `stride` | | 6 | 4 | the distance between the patches that groups are made for | 1 to `side` |
/// | `group` | n | 32 | 32 | patches in a group | 2 to 256 |
/// | `reach` | | 16 | 24 | how far, up, down and sideways, the patches of a group may be | 2 to 127 |
/// | `passes` | | 1 | 4 | passes over the picture, each guided by the result of the one before | ≥ 1 |
/// | `caution` | | 1 | 12 | factor on σ² in a first pass without a pilot, see below | > 0 |
///
/// For every patch of a grid, the n patches nearest to it make a group: a local Gaussian with their mean m and covariance
/// C. All of them are estimated by m + C(C + σ²I)⁻¹(y − m), and where estimates overlap, their mean is taken. A patch
/// that was estimated in the group of another is not asked to make its own.
///
/// Patches are compared, and C and m taken, in the *pilot*: a picture nearer to the truth, which each pass but the first
/// has from the one before. Without one it is the noisy picture itself, whose C has the noise in it. In the turns of
/// [an image-level restoration](super) that is as it should be: there the picture is an estimate and σ says how far to go
/// in one turn. White noise, though, would be taken for structure; `caution` is what keeps the first pass from it.
///
/// # Cost
/// For each group about 4·`reach`²·`side`² multiply-adds to find it and 1.5·`side`²·n² + n³/2 to estimate it, with a pilot
/// 2.5·`side`²·n² + 1.5·n³. Memory for about eight pictures in single precision, which are worked through in strips, and
/// for some matrices of 16·n² and 16·n·`side`² numbers in each thread.
///
/// # Errors
/// If a field is out of range, the picture is smaller than a patch, the pilot is of another size, a value or σ is not
/// finite, or σ is negative; if the run was interrupted.
///
/// # Example
/// ```
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::NonLocal;
/// use sparsemble::Run;
///
/// let size = Size { width: 64, height: 64 };
/// let stripes = |row: usize, column: usize| if (row + 2 * column) % 24 < 12 { 60.0 } else { 180.0 };
/// let clean = GrayImage::from_fn(size, stripes)?;
/// let mut state = 1_u64;
/// let mut noise = || {
///     state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
///     96.0 * ((state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5) // a deviation of 28
/// };
/// let noisy = GrayImage::from_fn(size, |row, column| stripes(row, column) + noise())?;
///
/// let found = NonLocal::white_noise().estimate(&noisy, 28.0, None, Run::default())?;
/// assert!(psnr(&clean, &found)? > psnr(&clean, &noisy)? + 6.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// The members are those of §II, examples of the data themselves, and their weights are chosen for each sample; groups of
/// like patches and the two kinds of pass are those of non-local Bayes (Lebrun, Buades and Morel, 2013).
#[doc(alias = "NL-Bayes")]
#[doc(alias = "BM3D")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NonLocal {
    /// The side of a patch.
    pub side: usize,
    /// The distance between the patches that groups are made for.
    pub stride: usize,
    /// n, the patches in a group.
    pub group: usize,
    /// How far the patches of a group may be.
    pub reach: usize,
    /// Passes over the picture.
    pub passes: usize,
    /// Factor on σ² in a first pass without a pilot.
    pub caution: f64,
}

impl Default for NonLocal {
    /// For the turns of an image-level restoration.
    fn default() -> Self {
        Self { side: 6, stride: 6, group: 32, reach: 16, passes: 1, caution: 1.0 }
    }
}

/// About how many rows of a picture one thread does at a time; a strip also sums up what lies in reach of them.
const STRIP: usize = 64;

/// What a [`NonLocal`] has found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) image: GrayImage,
    /// How much of its own noise each pixel has kept in the last pass: the variance that its Gaussians leave to it, by σ².
    /// Empty unless it was wanted.
    pub(super) kept: Vec<f64>,
    multiply_adds: u64,
}

impl NonLocal {
    /// For pictures with white noise of a known deviation.
    #[must_use]
    pub fn white_noise() -> Self {
        Self { side: 8, stride: 4, group: 32, reach: 24, passes: 4, caution: 12.0 }
    }

    /// The picture without its noise of standard deviation `sigma`, in grey levels; `pilot` guides the first pass.
    ///
    /// # Errors
    /// See [`NonLocal`].
    pub fn estimate(
        &self,
        image: &GrayImage,
        sigma: f64,
        pilot: Option<&GrayImage>,
        run: Run<'_>,
    ) -> Result<GrayImage> {
        Ok(self.find(image, sigma, (0, pilot), false, run)?.image)
    }

    /// A turn of an image-level restoration, as [`PicturePrior`](super::PicturePrior) has it, and its multiply-adds in
    /// finding groups and estimating them: what the speed of this machine is compared with.
    ///
    /// # Errors
    /// See [`NonLocal`].
    pub fn denoise_and_count(
        &self,
        image: &GrayImage,
        sigma: f64,
        turn: usize,
        run: Run<'_>,
    ) -> Result<(GrayImage, u64)> {
        let found = self.find(image, sigma, (turn, None), false, run)?;
        Ok((found.image, found.multiply_adds))
    }

    /// As [`estimate`](Self::estimate), and what else there is to know, what each pixel keeps of its noise only if
    /// it is wanted. Every turn has other grids of patches, so that over some turns no pixel is always at the border of its patches.
    pub(super) fn find(
        &self,
        image: &GrayImage,
        sigma: f64,
        (turn, pilot): (usize, Option<&GrayImage>),
        wants_kept: bool,
        run: Run<'_>,
    ) -> Result<Found> {
        self.check(image.size(), sigma)?;
        let samples = image.samples();
        let mean = total(samples) / samples.len() as f64;
        let noisy = Plane::new(image, "image", self.side, mean, run)?;
        let (mut pilot, mut kept, mut multiply_adds) = (pilot.cloned(), Vec::new(), 0);
        for pass in 0..self.passes {
            let part = run.passes(pass..pass + 1, self.passes, image.samples().len());
            let guide = match &pilot {
                Some(pilot) => {
                    pilot.expect_size(image.size())?;
                    Some(Plane::new(pilot, "pilot", self.side, mean, run)?)
                }
                None => None,
            };
            let factor = if guide.is_some() { 1.0 } else { self.caution.sqrt() };
            let noise = (sigma * factor) as f32;
            let wants_kept = wants_kept && pass + 1 == self.passes;
            let step = Pass { settings: self, noisy: &noisy, pilot: guide.as_ref(), mean, noise, wants_kept };
            let (found, groups);
            (found, kept, groups) = step.estimate(turn * self.passes + pass, part)?;
            pilot = Some(found);
            multiply_adds += groups * self.group_cost(image.size(), guide.is_some());
        }
        // There is at least one pass.
        Ok(Found { image: pilot.unwrap_or_else(|| image.clone()), kept, multiply_adds })
    }

    /// Refuses settings out of range, pictures that are too small, and what is no standard deviation.
    pub(super) fn check(&self, image: Size, sigma: f64) -> Result<()> {
        let within = |name: &'static str, value: usize, range: Range<usize>| {
            let reason = || format!("must be from {} to {}", range.start, range.end - 1);
            if range.contains(&value) { Ok(()) } else { Err(Error::parameter(name, value, reason())) }
        };
        within("side", self.side, 2..17)?;
        within("stride", self.stride, 1..self.side + 1)?;
        within("group", self.group, 2..257)?;
        within("reach", self.reach, 2..128)?;
        within("passes", self.passes, 1..usize::MAX)?;
        if self.side > image.width.min(image.height) {
            return Err(Error::parameter("side", self.side, "must be at most the shorter side of the image"));
        }
        if !(self.caution > 0.0 && self.caution.is_finite()) {
            return Err(Error::parameter("caution", self.caution, "must be positive and finite"));
        }
        if !(sigma >= 0.0 && sigma.is_finite()) {
            return Err(Error::parameter("sigma", sigma, "must be zero or more, and finite"));
        }
        Ok(())
    }

    /// The multiply-adds of a group: distances of all patches in reach; XᵀX, half of which is known by symmetry; its inverse;
    /// the estimates; Xᵀ(Y − m) and its product with the inverse if Y is not X.
    fn group_cost(&self, image: Size, has_pilot: bool) -> u64 {
        let [side, n, reach] = [self.side, self.patches(image), self.reach].map(|count| count as u64);
        let halves = if has_pilot { (5, 3) } else { (3, 1) };
        (2 * reach * side).pow(2) + halves.0 * (side * n).pow(2) / 2 + halves.1 * n.pow(3) / 2
    }

    /// How many patches every group of a picture has: as many as are asked for, or all in reach.
    fn patches(&self, image: Size) -> usize {
        let in_reach = |length: usize| window(0, self.reach, length - self.side + 1).len();
        self.group.min(in_reach(image.width) * in_reach(image.height))
    }
}

/// The first row or column of each patch of a grid: at the stride from an offset, and at both ends.
pub(super) fn origins(length: usize, (side, stride): (usize, usize), offset: usize) -> Vec<usize> {
    let last = length - side;
    let mut origins: Vec<usize> = [0].into_iter().chain((offset..last).step_by(stride)).chain([last]).collect();
    origins.dedup();
    origins
}

/// One pass over a picture.
struct Pass<'a> {
    settings: &'a NonLocal,
    noisy: &'a Plane,
    pilot: Option<&'a Plane>,
    /// What the planes lack.
    mean: f64,
    noise: f32,
    wants_kept: bool,
}

impl Pass<'_> {
    /// The estimate, what it keeps of the noise of each pixel if that is wanted, and of how many groups it is.
    fn estimate(&self, number: usize, run: Run<'_>) -> Result<(GrayImage, Vec<f64>, u64)> {
        let NonLocal { side, stride, group, reach, .. } = *self.settings;
        let size = self.noisy.size();
        let mut offsets = Draw { seed: 0, round: number as u64 }.stream("non-local grid");
        let mut offset = || offsets.random_range(0..stride);
        let rows = origins(size.height, (side, stride), offset());
        let columns = origins(size.width, (side, stride), offset());
        let canvases = run.map_blocks(
            rows.len(),
            STRIP.div_ceil(stride),
            || {
                (
                    Matcher::new(side, reach, group),
                    GroupEstimator::new(side, group, (self.pilot.is_some(), self.wants_kept)),
                )
            },
            |space, strip| Ok(dispatch!(best_level(), simd => self.strip(simd, &rows[strip.clone()], &columns, space))),
        )?;
        let groups = canvases.iter().map(Canvas::groups).sum();
        let (estimates, kept) = means(&canvases, size, self.mean, run)?;
        Ok((GrayImage::new(size, estimates)?, kept, groups))
    }

    /// The sums of the estimates of some rows of groups.
    #[inline(always)]
    fn strip<S: Simd>(
        &self,
        simd: S,
        rows: &[usize],
        columns: &[usize],
        (matcher, estimator): &mut (Matcher, GroupEstimator),
    ) -> Canvas {
        let NonLocal { side, reach, .. } = *self.settings;
        let height = self.noisy.size().height;
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        let within_reach = |row: usize| window(row, reach, height - side + 1);
        let covered = within_reach(first).start..within_reach(last).end + side - 1;
        let mut canvas = Canvas::new(covered, self.noisy.size().width, side);
        let patches = self.settings.patches(self.noisy.size());
        let mut places = Vec::with_capacity(S::f32s::LEN * patches);
        for &row in rows {
            for &column in columns {
                if canvas.has((row, column)) {
                    continue;
                }
                let found = matcher.find(simd, self.pilot.unwrap_or(self.noisy), (row, column));
                canvas.count(found);
                places.extend_from_slice(found);
                if places.len() == S::f32s::LEN * patches {
                    self.add(simd, Groups { places: &places, patches }, estimator, &mut canvas);
                    places.clear();
                }
            }
        }
        if !places.is_empty() {
            self.add(simd, Groups { places: &places, patches }, estimator, &mut canvas);
        }
        canvas.complete()
    }

    /// Estimates groups and adds their patches.
    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, groups: Groups<'_>, estimator: &mut GroupEstimator, canvas: &mut Canvas) {
        estimator.prepare(simd, (self.noisy, self.pilot), groups, self.noise);
        let mut first = 0;
        while first < groups.patches {
            let count = estimator.estimate(simd, first, groups.patches);
            for number in 0..count {
                let places = groups.places.chunks_exact(groups.patches).map(|group| group[first + number]);
                for (place, estimate) in places.zip(estimator.estimates(simd, number)) {
                    canvas.add(simd, place, estimate);
                }
            }
            first += count;
        }
        if let Some(kept) = estimator.kept(simd) {
            for (group, kept) in groups.places.chunks_exact(groups.patches).zip(kept) {
                for &place in group {
                    canvas.add_kept(simd, place, kept);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
