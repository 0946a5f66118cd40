//! The everyday restorations: what to start from, and the noise of the turns.

use crate::blocks::Run;
use crate::degradation::{Blur, Degradation, Mask};
use crate::error::{Error, Result, expect_size};
use crate::image::GrayImage;

use super::filling::filled;
use super::image_level::{ImageLevel, Observation, Restored};
use super::prior::PicturePrior;

/// What rounding to whole grey levels does, at least: noise that every picture from a file has.
const ROUNDING: f64 = 0.3;

/// Fills in the pixels of a picture that the mask does not see; their values there do not matter.
///
/// The known pixels stay as they are, or are restored too if there is `noise` in them (its standard deviation).
///
/// # Errors
/// If the mask is of another size, a known pixel is not finite, or the noise is not zero or more; those of the prior.
pub fn inpaint(
    image: &GrayImage,
    mask: &Mask,
    noise: f64,
    prior: &mut dyn PicturePrior,
    run: Run<'_>,
) -> Result<Restored> {
    let n_features = Degradation::<f64>::n_features(mask);
    expect_size("mask: number of pixels (that of the image)", image.samples().len(), n_features)?;
    let mut measurements = vec![0.0; mask.seen().len()];
    mask.apply(image.samples(), &mut measurements);
    let mut known = vec![false; n_features];
    mask.seen().iter().for_each(|&pixel| known[pixel] = true);
    if known.iter().all(|known| *known) && noise <= 0.0 {
        let deviation = GrayImage::new(image.size(), vec![0.0; n_features])?;
        return Ok(Restored { image: image.clone(), deviation });
    }
    let seen = Observation { size: image.size(), phi: mask, measurements: &measurements, noise };
    let level = ImageLevel { turns: 80, first_noise: 15.0_f64.max(noise), last_noise: 1.5, ..ImageLevel::default() };
    level.restore(&seen, filled(image, &known)?, prior, run)
}

/// Undoes a blur, in the presence of noise of this standard deviation.
///
/// # Errors
/// If the blur is for pictures of another size or leaves pixels out, a sample is not finite, or the noise is not zero or
/// more; those of the prior.
pub fn deblur(
    image: &GrayImage,
    blur: &Blur,
    noise: f64,
    prior: &mut dyn PicturePrior,
    run: Run<'_>,
) -> Result<Restored> {
    image.expect_size(blur.image_size())?;
    if blur.measured_size() != blur.image_size() {
        return Err(Error::parameter(
            "blur",
            blur.measured_size(),
            "leaves pixels out; to enlarge a picture is another task",
        ));
    }
    // Noise of zero would make the data ask for what rounding has made impossible.
    let noise = if noise < ROUNDING { ROUNDING } else { noise };
    let seen = Observation { size: image.size(), phi: blur, measurements: image.samples(), noise };
    let level = ImageLevel { first_noise: 10.0, last_noise: 2.0, ..ImageLevel::default() };
    level.restore(&seen, image.clone(), prior, run)
}
