//! The image-level loop: what is likely for patches and what was measured of the picture, by turns.

use crate::blocks::Run;
use crate::ensemble::LocalGaussians;
use crate::error::Result;
use crate::image::GrayImage;

use super::gaussian_prior::{Adaptation, GaussianPrior};

/// Alternates a prior on overlapping patches with the data.
///
/// | field | symbol | default | purpose |
/// | --- | --- | --- | --- |
/// | `iterations` | | 40 | turns |
/// | `stride` | | 4 | from one patch to the next |
/// | `first_noise`, `last_noise` | σ | 20, 1 | noise that is assumed in the picture, falling by a factor each turn |
/// | `momentum` | | 0.9 | how far a turn goes on in the direction of the last |
/// | `adaptation` | ν | | how the prior learns from the picture |
/// | `seed` | | 0 | of the places of the patches |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImageLevel {
    /// Turns.
    pub iterations: usize,
    /// From one patch to the next.
    pub stride: usize,
    /// σ of the first turn.
    pub first_noise: f64,
    /// σ of the last turn.
    pub last_noise: f64,
    /// How far a turn goes on in the direction of the last.
    pub momentum: f64,
    /// How the prior learns from the picture; not at all if `None`.
    pub adaptation: Option<Adaptation>,
    /// Of the places of the patches.
    pub seed: u64,
}

impl Default for ImageLevel {
    fn default() -> Self {
        Self {
            iterations: 40,
            stride: 4,
            first_noise: 20.0,
            last_noise: 1.0,
            momentum: 0.9,
            adaptation: Some(Adaptation { first: 5, every: 4, prior_samples: 50.0 }),
            seed: 0,
        }
    }
}

impl ImageLevel {
    /// Goes on from `start`; `reconcile` brings a picture into accordance with the data, given σ of the turn.
    ///
    /// # Errors
    /// What `reconcile` returns; if the run was interrupted.
    pub fn restore(
        &self,
        gaussians: &LocalGaussians<f32>,
        start: GrayImage,
        mut reconcile: impl FnMut(GrayImage, f64) -> Result<GrayImage>,
        run: Run<'_>,
    ) -> Result<GrayImage> {
        let mut prior = GaussianPrior::new(gaussians, self.stride, self.seed);
        let (mut image, mut before) = (start.clone(), start);
        for step in 0..self.iterations {
            let along = step as f64 / (self.iterations - 1).max(1) as f64;
            let sigma = self.first_noise * (self.last_noise / self.first_noise).powf(along);
            let ahead = extrapolate(&image, &before, self.momentum)?;
            let due = self.adaptation.filter(|a| step >= a.first && (step - a.first) % a.every == 0);
            let likely = prior.denoise(&ahead, sigma, (step, due.map(|a| a.prior_samples)), run)?;
            before = std::mem::replace(&mut image, reconcile(likely, sigma)?);
        }
        Ok(image)
    }
}

/// image + momentum · (image − before).
fn extrapolate(image: &GrayImage, before: &GrayImage, momentum: f64) -> Result<GrayImage> {
    let pixels = image.samples().iter().zip(before.samples());
    let ahead = pixels.map(|(now, before)| now + momentum * (now - before)).collect();
    GrayImage::new(image.size(), ahead)
}
