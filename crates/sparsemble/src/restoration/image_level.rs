//! The image-level loop: what is likely and what was measured, by turns (§IV, for whole pictures).

use crate::blocks::Run;
use crate::degradation::Degradation;
use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, Size};

use super::opinions::{Opinions, PIECE};
use super::prior::PicturePrior;

/// What was seen of a picture: z = Φy + noise.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The size of the picture.
    pub size: Size,
    /// Φ, on the samples of the picture row by row.
    pub phi: &'a dyn Degradation<f64>,
    /// z.
    pub measurements: &'a [f64],
    /// The standard deviation of the noise in z, in grey levels; with 0 the picture is made to fit z exactly.
    pub noise: f64,
}

impl Observation<'_> {
    /// Whether its parts fit each other and the start of a restoration.
    fn check(&self, start: &GrayImage) -> Result<()> {
        start.expect_size(self.size)?;
        expect_size("phi: number of features (pixels of the image)", start.samples().len(), self.phi.n_features())?;
        expect_size("measurements: length (that of phi)", self.phi.n_measurements(), self.measurements.len())?;
        if let Some(row) = self.measurements.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "measurements", row, column: 0 });
        }
        expect_noise("noise", self.noise)
    }
}

/// More noise than any picture has, and not so much that its square is too large for a number.
const MOST_NOISE: f64 = 1e6;

/// Refuses what is no standard deviation of noise in a picture.
pub(super) fn expect_noise(name: &'static str, noise: f64) -> Result<()> {
    if (0.0..=MOST_NOISE).contains(&noise) {
        return Ok(());
    }
    Err(Error::parameter(name, noise, "must be zero or more, and at most 1000000 grey levels"))
}

/// Restores a picture by turns of a prior, which takes noise out of it, and of the data, which put right what was measured.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `turns` | | 40 | how often prior and data take their turn | ≥ 1 |
/// | `first_noise` | σ | 20 | what the prior takes for noise in the first turn, in grey levels | > 0 |
/// | `last_noise` | σ | 2 | the same in the last; in between it falls by the same factor in each turn | > 0 |
/// | `momentum` | | 0.9 | how far a turn goes on in the direction of the last one | 0 to 1 |
/// | `prior_weight` | κ | 1 | how much the prior counts against data that are noisy | > 0 |
///
/// A turn is y ← argmin ‖z − Φy‖²/σ_z² + κ·‖y − prior(y + momentum·(y − y_before))‖²/σ², with σ_z the noise of the
/// measurements; see [`Degradation::reconcile`].
///
/// # Cost
/// That of the prior, once a turn. Memory for about ten pictures; [`denoise`](super::denoise), [`inpaint`](super::inpaint),
/// [`deblur`](super::deblur) and the recovery of blocks cut large pictures into tiles, so that it is for ten tiles.
#[doc(alias = "plug and play")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImageLevel {
    /// How often prior and data take their turn.
    pub turns: usize,
    /// σ of the first turn.
    pub first_noise: f64,
    /// σ of the last turn.
    pub last_noise: f64,
    /// How far a turn goes on in the direction of the last one.
    pub momentum: f64,
    /// κ, how much the prior counts against data that are noisy.
    pub prior_weight: f64,
}

impl Default for ImageLevel {
    fn default() -> Self {
        Self { turns: 40, first_noise: 20.0, last_noise: 2.0, momentum: 0.9, prior_weight: 1.0 }
    }
}

/// A restored picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The picture.
    pub image: GrayImage,
    /// How far from the truth each pixel may be: an estimate of the standard deviation of its error, in grey levels.
    ///
    /// It comes from how far the prior's opinions of all turns are from the result, around each pixel; for
    /// [`denoise`](super::denoise), which has no turns, from the variance that the Gaussians of its groups leave to each
    /// pixel. It is no bound: it does not know what the prior gets wrong in every turn.
    pub deviation: GrayImage,
}

impl ImageLevel {
    /// The picture that `start` becomes.
    ///
    /// # Errors
    /// If sizes disagree, a field is out of range or a value is not finite; those of the prior.
    pub fn restore(
        &self,
        seen: &Observation<'_>,
        start: GrayImage,
        prior: &mut dyn PicturePrior,
        run: Run<'_>,
    ) -> Result<Restored> {
        self.check()?;
        seen.check(&start)?;
        let pixels = start.samples().len();
        let mut opinions = Opinions::new(pixels);
        let (mut image, mut before) = (start.clone(), start);
        for turn in 0..self.turns {
            let sigma = self.noise(turn);
            let ahead = moved(before, &image, 1.0 + self.momentum, run)?;
            let likely = prior.denoise(&ahead, sigma, turn, run.passes(turn..turn + 1, self.turns, pixels))?;
            opinions.add(likely.samples(), run)?;
            let mut samples = likely.into_samples();
            let mu = self.prior_weight * (seen.noise / sigma).powi(2);
            seen.phi.reconcile_on(seen.measurements, mu, &mut samples, run)?;
            before = std::mem::replace(&mut image, GrayImage::new(seen.size, samples)?);
        }
        Ok(Restored { deviation: opinions.deviation(&image)?, image })
    }

    /// σ of a turn.
    fn noise(&self, turn: usize) -> f64 {
        let along = turn as f64 / (self.turns - 1).max(1) as f64;
        self.first_noise * (self.last_noise / self.first_noise).powf(along)
    }

    fn check(&self) -> Result<()> {
        if self.turns == 0 {
            return Err(Error::parameter("turns", self.turns, "must be at least 1"));
        }
        for (name, value) in
            [("first_noise", self.first_noise), ("last_noise", self.last_noise), ("prior_weight", self.prior_weight)]
        {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "must be positive and finite"));
            }
        }
        if !(0.0..=1.0).contains(&self.momentum) {
            return Err(Error::parameter("momentum", self.momentum, "must be between 0 and 1"));
        }
        Ok(())
    }
}

/// from + share · (to − from), in the place of `from`.
pub(super) fn moved(from: GrayImage, to: &GrayImage, share: f64, run: Run<'_>) -> Result<GrayImage> {
    let size = from.size();
    to.expect_size(size)?;
    let mut samples = from.into_samples();
    run.each(samples.chunks_mut(PIECE).zip(to.samples().chunks(PIECE)), |(from, to)| {
        from.iter_mut().zip(to).for_each(|(from, to)| *from += share * (to - *from));
        Ok(())
    })?;
    GrayImage::new(size, samples)
}
