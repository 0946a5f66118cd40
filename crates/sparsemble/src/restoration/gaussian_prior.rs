//! Local Gaussians as a prior for whole pictures: each overlapping patch to its likeliest member.

use std::ops::Range;

use rand::RngExt;

use crate::blocks::Run;
use crate::ensemble::{Choice, LocalGaussians, Members, PATCHES, Scatter};
use crate::error::Result;
use crate::image::{GrayImage, Size};
use crate::masses::Masses;
use crate::matrix::Matrix;
use crate::rng::stream;

/// Rows of patches that a thread denoises at a time.
const ROWS: usize = 4;

/// The most patches that the Gaussians are adapted to.
const ADAPTED_TO: usize = 100_000;

/// The picture's own patches take part in what is likely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptation {
    /// The first step after which the Gaussians are adapted.
    pub first: usize,
    /// Steps from one adaptation to the next.
    pub every: usize,
    /// ν: how many of the picture's patches the learned covariance of a member counts for.
    pub prior_samples: f64,
}

/// The state of the prior during a restoration.
pub(crate) struct GaussianPrior<'a> {
    learned: &'a LocalGaussians<f32>,
    adapted: Option<LocalGaussians<f32>>,
    side: usize,
    stride: usize,
    seed: u64,
}

impl<'a> GaussianPrior<'a> {
    pub(crate) fn new(learned: &'a LocalGaussians<f32>, stride: usize, seed: u64) -> Self {
        let side = learned.n_features().isqrt();
        Self { learned, adapted: None, side, stride, seed }
    }

    fn gaussians(&self) -> &LocalGaussians<f32> {
        self.adapted.as_ref().unwrap_or(self.learned)
    }

    /// The picture without noise of deviation σ; with an adaptation the Gaussians learn from it first what is new.
    pub(crate) fn denoise(
        &mut self,
        image: &GrayImage,
        sigma: f64,
        (step, adapt): (usize, Option<f64>),
        run: Run<'_>,
    ) -> Result<GrayImage> {
        let members = self.gaussians().members(sigma, run)?;
        let mut rng = stream(self.seed, "patch offset", step as u64);
        let Size { width, height } = image.size();
        let mut origins = |length: usize| origins(length, self.side, self.stride, rng.random_range(0..self.stride));
        let (down, across) = (origins(height), origins(width));
        let every = (down.len() * across.len()).div_ceil(ADAPTED_TO);
        let strips = run.map_blocks(
            down.len(),
            ROWS,
            || Workspace::new(&members, self.side),
            |space, rows| {
                let mut strip = Strip::new(&down[rows.clone()], self.side, width);
                for row in rows {
                    strip.denoise_row(space, image, (down[row], &across), adapt.map(|_| (row * across.len(), every)));
                }
                Ok(strip)
            },
        )?;
        if let Some(prior_samples) = adapt {
            self.adapt(&strips, prior_samples, run)?;
        }
        let mut sums = vec![0.0; width * height];
        for strip in &strips {
            let place = &mut sums[strip.rows.start * width..strip.rows.end * width];
            place.iter_mut().zip(&strip.sums).for_each(|(sum, value)| *sum += value);
        }
        let (rows, columns) = (covers(&down, self.side, height), covers(&across, self.side, width));
        GrayImage::from_fn(image.size(), |row, column| sums[row * width + column] / (rows[row] * columns[column]))
    }

    /// C_k = (Σ x xᵀ over the patches of k + ν C_k⁰) / (n_k + ν); π half as before and half as often as seen.
    fn adapt(&mut self, strips: &[Strip], prior_samples: f64, run: Run<'_>) -> Result<()> {
        let classes: Vec<Vec<(u32, f32)>> =
            strips.iter().flat_map(|strip| strip.kept.iter().map(|(k, _)| vec![(*k, 1.0)])).collect();
        let patches: Vec<f32> =
            strips.iter().flat_map(|strip| strip.kept.iter().flat_map(|(_, patch)| patch.iter().copied())).collect();
        let patches = Matrix::from_columns(patches, self.side * self.side, classes.len())?;
        let masses = Masses::new(None, classes.len())?;
        let scatters = Scatter::of_each(self.learned.count(), patches.view(), &masses, &classes, run.silent())?;
        let covariances: Vec<Matrix<f32>> = scatters
            .iter()
            .zip(self.learned.covariances())
            .map(|(scatter, learned)| scatter.covariance(learned, prior_samples))
            .collect();
        let weights = scatters.iter().zip(self.gaussians().weights()).map(|(scatter, before)| {
            0.5 * before + 0.5 * (scatter.mass + 1.0) / (classes.len() + scatters.len()) as f64
        });
        self.adapted = Some(LocalGaussians::new(weights.collect(), &covariances, self.learned.mean())?);
        Ok(())
    }
}

/// Every `stride` pixels from `offset` on, and the two borders.
fn origins(length: usize, side: usize, stride: usize, offset: usize) -> Vec<usize> {
    let last = length - side;
    let mut origins: Vec<usize> = std::iter::once(0).chain((offset..last).step_by(stride)).chain([last]).collect();
    origins.dedup();
    origins
}

/// How many patches lie over each pixel along one side.
fn covers(origins: &[usize], side: usize, length: usize) -> Vec<f64> {
    let mut covers = vec![0.0; length];
    for &origin in origins {
        covers[origin..origin + side].iter_mut().for_each(|cover| *cover += 1.0);
    }
    covers
}

/// What a thread needs.
struct Workspace<'a> {
    members: &'a Members<f32>,
    scratch: crate::ensemble::Scratch<f32>,
    patches: Matrix<f32>,
    means: Vec<f64>,
    clean: Vec<f32>,
}

impl<'a> Workspace<'a> {
    fn new(members: &'a Members<f32>, side: usize) -> Self {
        let patches = Matrix::zeros(side * side, PATCHES);
        let clean = vec![0.0; members.padded()];
        Self { members, scratch: members.scratch(), patches, means: vec![0.0; PATCHES], clean }
    }
}

/// Some rows of patches, denoised.
struct Strip {
    /// The rows of the picture they lie over.
    rows: Range<usize>,
    side: usize,
    width: usize,
    sums: Vec<f64>,
    /// Patches with their members, for adaptation.
    kept: Vec<(u32, Vec<f32>)>,
}

impl Strip {
    fn new(down: &[usize], side: usize, width: usize) -> Self {
        let rows = down[0]..down[down.len() - 1] + side;
        Self { sums: vec![0.0; rows.len() * width], rows, side, width, kept: Vec::new() }
    }

    /// Denoises the patches of one row of origins; keeps every n-th of them if asked to.
    fn denoise_row(
        &mut self,
        space: &mut Workspace<'_>,
        image: &GrayImage,
        (down, across): (usize, &[usize]),
        keep: Option<(usize, usize)>,
    ) {
        for (block, across) in across.chunks(PATCHES).enumerate() {
            for (slot, &column) in across.iter().enumerate() {
                space.means[slot] = centred_patch(image, (down, column), space.patches.column_mut(slot), self.side);
            }
            let Workspace { members, scratch, patches, means, clean } = space;
            let samples = (0..across.len()).map(|slot| patches.column(slot));
            members.weigh(scratch, samples, Choice::Likeliest, |slot, weights, _| {
                let patch = patches.column(slot);
                members.combine(weights, patch, clean);
                self.add(clean, means[slot], (down, across[slot]));
                if keep.is_some_and(|(first, every)| (first + block * PATCHES + slot).is_multiple_of(every)) {
                    self.kept.push((weights[0].0 as u32, patch.to_vec()));
                }
            });
        }
    }

    fn add(&mut self, patch: &[f32], mean: f64, (row, column): (usize, usize)) {
        for (r, values) in patch.chunks_exact(self.side).take(self.side).enumerate() {
            let start = (row - self.rows.start + r) * self.width + column;
            let sums = &mut self.sums[start..start + self.side];
            sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += f64::from(value) + mean);
        }
    }
}

/// Copies a patch without its mean, which is returned.
fn centred_patch(image: &GrayImage, (row, column): (usize, usize), patch: &mut [f32], side: usize) -> f64 {
    let mut sum = 0.0;
    for r in 0..side {
        sum += image.row(row + r)[column..column + side].iter().sum::<f64>();
    }
    let mean = sum / (side * side) as f64;
    for (r, values) in patch.chunks_exact_mut(side).enumerate() {
        let pixels = &image.row(row + r)[column..column + side];
        values.iter_mut().zip(pixels).for_each(|(value, &pixel)| *value = (pixel - mean) as f32);
    }
    mean
}
