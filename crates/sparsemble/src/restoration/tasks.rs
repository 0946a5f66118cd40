//! The everyday restorations: what to start from, and the noise of the turns.

use crate::blocks::Run;
use crate::degradation::{Blur, Degradation, Mask};
use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, Size};

use super::filling::fill_smoothly;
use super::image_level::{ImageLevel, Observation, Restored, check_noise};
use super::nonlocal::{Found, NonLocal};

/// What rounding to whole grey levels does, at least: noise that every picture from a file has.
const ROUNDING: f64 = 0.3;

/// Beyond this share of missing pixels larger patches are needed to tell one place from another.
const FEW_KNOWN: f64 = 0.65;

/// The error of a pixel by the variance that the Gaussians of its groups leave to it, whose covariances are estimates
/// themselves: measured on pictures of the BSDS (decision 0017).
const CALIBRATION: f64 = 1.6;

/// The shorter side of the smallest picture that has the patches of the prior.
pub(super) const SMALLEST: usize = 8;

/// Refuses a picture that is smaller than a patch, by its size.
pub(super) fn expect_large_enough(size: Size) -> Result<()> {
    if size.width.min(size.height) >= SMALLEST {
        return Ok(());
    }
    Err(Error::parameter("image", size, "both sides must be at least 8 pixels; pad the image"))
}

/// The error of a missing pixel by what the opinions of the turns tell, which share the same mistakes: measured on pictures
/// of the BSDS (decision 0017).
const MISSED: f64 = 1.9;

/// The same where there was a blur, for each pixel of its width.
const MISSED_BY_WIDTH: f64 = 0.94;

/// Takes white noise of this standard deviation out of a picture.
///
/// The deviation of a pixel comes from what the Gaussians of its groups leave unknown of it.
///
/// # Errors
/// If a sample is not finite, the picture is smaller than 8 × 8 pixels, or the noise is not zero or more.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::degradation::with_white_noise;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::denoise;
///
/// let size = Size { width: 48, height: 32 };
/// let image = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.3 * row as f64 + 0.1 * column as f64).sin())?;
/// let noisy = with_white_noise(&image, 25.0, 1)?;
/// let restored = denoise(&noisy, 25.0, Run::default())?;
/// assert!(psnr(&image, &restored.image)? > psnr(&image, &noisy)? + 5.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn denoise(image: &GrayImage, noise: f64, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(image.size())?;
    let Found { image, kept, .. } = NonLocal::white_noise().find(image, noise, (0, None), true, run)?;
    let deviation = kept.iter().map(|kept| CALIBRATION * noise * kept.sqrt()).collect();
    Ok(Restored { deviation: GrayImage::new(image.size(), deviation)?, image })
}

/// Fills in the pixels of a picture that the mask does not see; their values there do not matter.
///
/// The known pixels stay as they are, or are restored too if there is `noise` in them (its standard deviation).
///
/// # Errors
/// If the mask is of another size, a known pixel is not finite, the picture is smaller than 8 × 8 pixels, or the noise is
/// not zero or more.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::degradation::Mask;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::inpaint;
///
/// let size = Size { width: 32, height: 24 };
/// let image = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.3 * row as f64 + 0.1 * column as f64).sin())?;
/// let mask = Mask::random(32 * 24, 0.5, 3)?; // half of the pixels are missing
/// let restored = inpaint(&image, &mask, 0.0, Run::default())?;
/// assert!(psnr(&image, &restored.image)? > 35.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn inpaint(image: &GrayImage, mask: &Mask, noise: f64, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(image.size())?;
    let n_features = Degradation::<f64>::n_features(mask);
    expect_size("mask: number of pixels (that of the image)", image.samples().len(), n_features)?;
    let mut measurements = vec![0.0; mask.seen().len()];
    mask.apply(image.samples(), &mut measurements);
    if mask.seen().len() == n_features && noise <= 0.0 {
        let deviation = GrayImage::new(image.size(), vec![0.0; n_features])?;
        return Ok(Restored { image: image.clone(), deviation });
    }
    let missing = 1.0 - mask.seen().len() as f64 / n_features as f64;
    let mut prior = NonLocal { side: if missing > FEW_KNOWN { 8 } else { 6 }, ..NonLocal::default() };
    let seen = Observation { size: image.size(), phi: mask, measurements: &measurements, noise };
    let level = ImageLevel { turns: 80, first_noise: 15.0_f64.max(noise), last_noise: 1.5, ..ImageLevel::default() };
    doubted(level.restore(&seen, fill_smoothly(image, mask)?, &mut prior, run)?, MISSED)
}

/// Undoes a blur, in the presence of noise of this standard deviation.
///
/// # Errors
/// If the blur is for pictures of another size or leaves pixels out, a sample is not finite, the picture is smaller than
/// 8 × 8 pixels, or the noise is not zero or more.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::degradation::{Blur, Degradation};
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::deblur;
///
/// let size = Size { width: 48, height: 32 };
/// let sharp = GrayImage::from_fn(size, |row, column| if (row + column) % 16 < 8 { 60.0 } else { 180.0 })?;
/// let blur = Blur::gaussian(size, 1.2)?;
/// let mut samples = vec![0.0; 48 * 32];
/// blur.apply(sharp.samples(), &mut samples);
/// let blurred = GrayImage::new(size, samples)?;
/// let restored = deblur(&blurred, &blur, 0.0, Run::default())?;
/// assert!(psnr(&sharp, &restored.image)? > psnr(&sharp, &blurred)? + 3.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn deblur(image: &GrayImage, blur: &Blur, noise: f64, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(image.size())?;
    if blur.measured_size() != blur.image_size() {
        let reason = "leaves pixels out; to enlarge a picture is another task";
        return Err(Error::parameter("blur", blur.measured_size(), reason));
    }
    image.expect_size(blur.image_size())?;
    check_noise(noise)?;
    // Noise of zero would make the data ask for what rounding has made impossible.
    let noise = noise.max(ROUNDING);
    let seen = Observation { size: image.size(), phi: blur, measurements: image.samples(), noise };
    let level = ImageLevel { first_noise: 15.0, last_noise: 3.0, prior_weight: 0.3, ..ImageLevel::default() };
    let restored = level.restore(&seen, image.clone(), &mut NonLocal::default(), run)?;
    doubted(restored, MISSED_BY_WIDTH * blur.width())
}

/// The same picture, its deviation by a factor larger.
fn doubted(restored: Restored, factor: f64) -> Result<Restored> {
    let deviation = restored.deviation.samples().iter().map(|deviation| factor * deviation).collect();
    Ok(Restored { deviation: GrayImage::new(restored.deviation.size(), deviation)?, ..restored })
}
