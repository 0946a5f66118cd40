//! The everyday restorations: what to start from, and the noise of the turns.

use crate::blocks::Run;
use crate::degradation::{Blur, Degradation, Mask};
use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, Size};

use super::filling::fill_smoothly;
use super::image_level::{ImageLevel, Observation, Restored, expect_noise};
use super::nonlocal::{Found, NonLocal};
use super::tiles::Tiling;

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
    denoise_tiles(image, noise, Tiling::default(), run)
}

fn denoise_tiles(image: &GrayImage, noise: f64, tiling: Tiling, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(image.size())?;
    expect_noise("sigma", noise)?;
    tiling.restore(image.size(), 1, run, |tile, run| {
        let part = tile.of(image)?;
        let Found { image, kept, .. } = NonLocal::white_noise().find(&part, noise, (0, None), true, run)?;
        let deviation = kept.iter().map(|kept| CALIBRATION * noise * kept.sqrt()).collect();
        Ok(Restored { deviation: GrayImage::new(image.size(), deviation)?, image })
    })
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
    inpaint_tiles(image, mask, noise, Tiling::default(), run)
}

fn inpaint_tiles(image: &GrayImage, mask: &Mask, noise: f64, tiling: Tiling, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(image.size())?;
    let n_features = Degradation::<f64>::n_features(mask);
    expect_size("mask: number of pixels (that of the image)", image.samples().len(), n_features)?;
    expect_noise("noise", noise)?;
    if let Some(pixel) = mask.seen().iter().find(|&&pixel| !image.samples()[pixel].is_finite()) {
        let width = image.size().width;
        return Err(Error::NotFinite { what: "image", row: pixel / width, column: pixel % width });
    }
    let missing = 1.0 - mask.seen().len() as f64 / n_features as f64;
    let mut prior = NonLocal { side: if missing > FEW_KNOWN { 8 } else { 6 }, ..NonLocal::default() };
    let level = ImageLevel { turns: 80, first_noise: 15.0_f64.max(noise), last_noise: 1.5, ..ImageLevel::default() };
    let start = fill_smoothly(image, mask)?;
    let restored = tiling.restore(image.size(), 1, run, |tile, run| {
        let (size, start) = (tile.size(), tile.of(&start)?);
        let mask = mask.of_part(image.size().width, tile.rows(), &tile.columns());
        if mask.seen().len() == size.pixels() && noise <= 0.0 {
            return Ok(Restored { image: start, deviation: GrayImage::new(size, vec![0.0; size.pixels()])? });
        }
        let mut measurements = vec![0.0; mask.seen().len()];
        mask.apply(start.samples(), &mut measurements);
        let seen = Observation { size, phi: &mask, measurements: &measurements, noise };
        level.restore(&seen, start, &mut prior, run)
    });
    doubted(restored?, MISSED)
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
    deblur_tiles(image, blur, noise, Tiling::default(), run)
}

fn deblur_tiles(image: &GrayImage, blur: &Blur, noise: f64, tiling: Tiling, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(image.size())?;
    if blur.measured_size() != blur.image_size() {
        let reason = "leaves pixels out; to enlarge a picture is another task";
        return Err(Error::parameter("blur", blur.measured_size(), reason));
    }
    image.expect_size(blur.image_size())?;
    expect_noise("noise", noise)?;
    // Noise of zero would make the data ask for what rounding has made impossible.
    let noise = noise.max(ROUNDING);
    let level = ImageLevel { first_noise: 15.0, last_noise: 3.0, prior_weight: 0.3, ..ImageLevel::default() };
    let restored = widened(tiling, blur).restore(image.size(), 1, run, |tile, run| {
        let (part, blur) = (tile.of(image)?, blur.of_size(tile.size()));
        let seen = Observation { size: tile.size(), phi: &blur, measurements: part.samples(), noise };
        level.restore(&seen, part.clone(), &mut NonLocal::default(), run)
    });
    doubted(restored?, MISSED_BY_WIDTH * blur.width())
}

/// Tiles whose margins are wider by what the blur mixes into them; of one that reaches across half a tile there is no
/// use in tiles.
fn widened(tiling: Tiling, blur: &Blur) -> Tiling {
    let margin = tiling.margin + blur.reach();
    Tiling { margin, whole: if 4 * margin > tiling.longest { usize::MAX } else { tiling.whole }, ..tiling }
}

/// The same picture, its deviation by a factor larger.
fn doubted(restored: Restored, factor: f64) -> Result<Restored> {
    let deviation = restored.deviation.samples().iter().map(|deviation| factor * deviation).collect();
    Ok(Restored { deviation: GrayImage::new(restored.deviation.size(), deviation)?, ..restored })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::degradation::with_white_noise;
    use crate::metrics::psnr;

    const SIZE: Size = Size { width: 200, height: 130 };
    const SMALL: Tiling = Tiling { whole: 1000, longest: 110, margin: 20 };

    fn waves() -> GrayImage {
        let wave = |row: usize, column: usize| (0.01 * (row * column) as f64).sin() + (0.3 * row as f64).cos();
        GrayImage::from_fn(SIZE, |row, column| 128.0 + 40.0 * wave(row, column)).unwrap()
    }

    /// Whether tiles differ from the whole, but are hardly worse, and the same on any number of threads.
    fn expect_as_good(what: &str, restore: impl Fn(Tiling, Run<'_>) -> Result<Restored>) -> Restored {
        let [whole, tiled] = [Tiling::default(), SMALL].map(|tiling| restore(tiling, Run::threads(2)).unwrap());
        assert_ne!(whole, tiled, "{what}");
        assert_eq!(restore(SMALL, Run::threads(1)).unwrap(), tiled, "{what}");
        let [one, many] = [&whole, &tiled].map(|found| psnr(&waves(), &found.image).unwrap());
        assert!(many > one - 0.3, "{what}: {many} dB in tiles, {one} dB without");
        tiled
    }

    #[test]
    fn tiles_are_as_good_as_the_whole() {
        let noisy = with_white_noise(&waves(), 20.0, 1).unwrap();
        expect_as_good("noise", |tiling, run| denoise_tiles(&noisy, 20.0, tiling, run));

        let blur = Blur::gaussian(SIZE, 1.2).unwrap();
        let mut samples = vec![0.0; SIZE.pixels()];
        blur.apply(waves().samples(), &mut samples);
        let blurred = with_white_noise(&GrayImage::new(SIZE, samples).unwrap(), 1.0, 2).unwrap();
        expect_as_good("blur", |tiling, run| deblur_tiles(&blurred, &blur, 1.0, tiling, run));

        let mask = Mask::random(SIZE.pixels(), 0.7, 3).unwrap();
        let found = expect_as_good("holes", |tiling, run| inpaint_tiles(&waves(), &mask, 0.0, tiling, run));
        let known = mask.seen().iter().map(|&pixel| (found.image.samples()[pixel], waves().samples()[pixel]));
        assert!(known.into_iter().all(|(found, known)| (found - known).abs() < 1e-9));
    }

    #[test]
    fn tiles_may_have_no_missing_pixel_or_no_known_one() {
        // Four tiles, each 20 pixels beyond its share of 100 × 65: of the first all is known; of the last nothing.
        let hole = |row: usize, column: usize| row < 90 || column < 130;
        let corner = |row: usize, column: usize| row < 45 || column < 80;
        for known in [&hole as &dyn Fn(usize, usize) -> bool, &corner] {
            let known: Vec<bool> = (0..SIZE.pixels()).map(|i| known(i / SIZE.width, i % SIZE.width)).collect();
            let mask = Mask::new(&known).unwrap();
            let found = inpaint_tiles(&waves(), &mask, 0.0, SMALL, Run::default()).unwrap();
            for (pixel, (a, b)) in found.image.samples().iter().zip(waves().samples()).enumerate() {
                assert!(a.is_finite() && (!known[pixel] || (a - b).abs() < 1e-9), "pixel {pixel}: {a} for {b}");
            }
            assert!(found.deviation.row(100)[150] > 0.0);
        }
    }

    #[test]
    fn a_blur_as_wide_as_a_tile_leaves_the_picture_whole() {
        let narrow = widened(SMALL, &Blur::gaussian(SIZE, 1.0).unwrap());
        assert_eq!((narrow.margin, narrow.cuts(SIZE)), (24, true));
        assert!(!widened(SMALL, &Blur::gaussian(SIZE, 5.0).unwrap()).cuts(SIZE));
    }
}
