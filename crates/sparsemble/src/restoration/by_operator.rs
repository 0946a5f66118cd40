//! A picture from what is left of it, in the way that suits the operator.

use crate::blocks::Run;
use crate::degradation::{Blur, Degradation, Mask, Operator};
use crate::ensemble::LocalGaussians;
use crate::error::{Result, expect_size};
use crate::image::{GrayImage, Size};
use crate::matrix::MatrixView;

use super::both_priors::BothPriors;
use super::compressive::{BlockMeasurements, CompressiveRecovery, FirstEstimate};
use super::image_level::{ImageLevel, Observation, Restored};
use super::natural::natural_gaussians;
use super::nonlocal::NonLocal;
use super::tasks::{SMALLEST, deblur, denoise, expect_large_enough, inpaint};
use super::tiles::Tiling;

/// How much a start from nothing trusts an even picture against the measurements.
const EVEN: f64 = 0.05;

/// A picture as an operator saw it.
///
/// | Φ | what is done |
/// | --- | --- |
/// | identity | [`denoise`] |
/// | mask | [`inpaint`] |
/// | blur | [`deblur`] |
/// | projection of blocks | [`recover`] |
/// | blur with decimation | [`ImageLevel`] from the picture nearest to an even one |
///
/// # Shapes
/// Measurements: those of [`Operator::of_image`].
///
/// # Errors
/// If the operator is not for pictures of this size, there are not as many measurements as it makes, one of them is not
/// finite, the picture is smaller than 8 × 8 pixels, or the noise is not zero or more.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::degradation::Operator;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::Operated;
///
/// let size = Size { width: 32, height: 24 };
/// let image = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.3 * row as f64 + 0.2 * column as f64).sin())?;
/// let operator: Operator = "mask:missing=0.5,seed=3".parse()?;
/// let phi = operator.of_image(size, 8)?;
/// let mut measurements = vec![0.0; phi.n_measurements()];
/// phi.apply(image.samples(), &mut measurements);
///
/// let seen = Operated { operator: &operator, size, block_side: 8, noise: 0.0 };
/// let restored = seen.restore(&measurements, Run::default())?;
/// assert!(psnr(&image, &restored.image)? > 35.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV, Eq. (14).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operated<'a> {
    /// Φ.
    pub operator: &'a Operator,
    /// The size of the picture.
    pub size: Size,
    /// The side of the blocks that projections measure; the others have no use for it.
    pub block_side: usize,
    /// The standard deviation of the noise in the measurements, in grey levels.
    pub noise: f64,
}

impl Operated<'_> {
    /// The picture behind the measurements.
    ///
    /// # Errors
    /// See [`Operated`].
    pub fn restore(&self, measurements: &[f64], run: Run<'_>) -> Result<Restored> {
        let Self { operator, size, block_side, noise } = *self;
        let phi = operator.of_image(size, block_side)?;
        expect_size("measurements: length (that of phi)", phi.n_measurements(), measurements.len())?;
        match *operator {
            Operator::Identity => denoise(&GrayImage::new(size, measurements.to_vec())?, noise, run),
            Operator::Mask { missing, seed } => {
                let mut pixels = vec![0.0; phi.n_features()];
                phi.adjoint(measurements, &mut pixels);
                let mask = Mask::random(phi.n_features(), missing, seed)?;
                inpaint(&GrayImage::new(size, pixels)?, &mask, noise, run)
            }
            Operator::Blur { sigma, decimate: 1 } => {
                deblur(&GrayImage::new(size, measurements.to_vec())?, &Blur::gaussian(size, sigma)?, noise, run)
            }
            Operator::Projection(projection) => {
                let patch = projection.matrix(block_side * block_side)?;
                let blocks = measurements.len() / patch.n_measurements();
                let values = MatrixView::from_columns(measurements, patch.n_measurements(), blocks)?;
                recover(&BlockMeasurements::new(size, patch, values)?, noise, run)
            }
            Operator::Blur { .. } => {
                restore_from_nothing(&Observation { size, phi: phi.as_ref(), measurements, noise }, run)
            }
        }
    }
}

/// The picture behind measurements of its blocks, which have noise of this standard deviation in them.
///
/// Blocks of 8 × 8 pixels are recovered by [`CompressiveRecovery`] with [`BothPriors`] and the
/// [Gaussians of photographs](natural_gaussians), others by [`ImageLevel`] from the picture nearest to an even one, in twice
/// as many turns.
///
/// # Errors
/// If the noise is not zero or more, the picture is smaller than 8 × 8 pixels and its blocks too, or the run was
/// interrupted.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::degradation::Projection;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::{BlockMeasurements, recover};
///
/// let size = Size { width: 40, height: 30 };
/// let image = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.3 * row as f64 + 0.1 * column as f64).sin())?;
/// let phi = "orthonormal:measurements=16,seed=5".parse::<Projection>()?.matrix(64)?;
/// let sensed = BlockMeasurements::sense(&image, phi)?; // a quarter of the numbers
/// let recovered = recover(&sensed, 0.0, Run::default())?;
/// assert!(psnr(&image, &recovered.image)? > 35.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn recover(measurements: &BlockMeasurements, noise: f64, run: Run<'_>) -> Result<Restored> {
    // Larger blocks make any picture large enough.
    if measurements.block_side() < SMALLEST {
        expect_large_enough(measurements.image_size())?;
    }
    match gaussians_of(measurements)? {
        Some(gaussians) => {
            let recovery = CompressiveRecovery { noise, ..CompressiveRecovery::default() };
            recovery.recover(measurements, &gaussians, &mut BothPriors::new(gaussians.clone()), run)
        }
        None => measurements.restore(noise, &Tiling::default(), run, |_, seen, run| restore_from_nothing(seen, run)),
    }
}

/// What [`recover`] starts from, every block on its own; `None` if it starts from nothing.
///
/// # Errors
/// As [`recover`].
pub fn recover_blocks(measurements: &BlockMeasurements, noise: f64, run: Run<'_>) -> Result<Option<FirstEstimate>> {
    let recovery = CompressiveRecovery { noise, ..CompressiveRecovery::default() };
    let start = |gaussians| recovery.first_estimate(measurements, &gaussians, run);
    gaussians_of(measurements)?.map(start).transpose()
}

/// The Gaussians of photographs, if they are of blocks of this size.
fn gaussians_of(measurements: &BlockMeasurements) -> Result<Option<LocalGaussians<f32>>> {
    let gaussians = natural_gaussians()?;
    Ok((measurements.phi().n_features() == gaussians.n_features()).then_some(gaussians))
}

/// The picture behind measurements that do not look like one, by any Φ: [`ImageLevel`] from the picture nearest to an even
/// one.
///
/// # Errors
/// Those of [`ImageLevel::restore`], or if the picture is smaller than 8 × 8 pixels.
pub fn restore_from_nothing(seen: &Observation<'_>, run: Run<'_>) -> Result<Restored> {
    expect_large_enough(seen.size)?;
    let level = ImageLevel { turns: 80, first_noise: 40.0, ..ImageLevel::default() };
    level.restore(seen, from_an_even_picture(seen)?, &mut NonLocal::default(), run)
}

/// What fits the measurements best and is near the even picture that fits them best.
fn from_an_even_picture(seen: &Observation<'_>) -> Result<GrayImage> {
    let mut pixels = vec![1.0; seen.phi.n_features()];
    let mut measured = vec![0.0; seen.measurements.len()];
    seen.phi.apply(&pixels, &mut measured);
    let energy: f64 = measured.iter().map(|value| value * value).sum();
    let along: f64 = measured.iter().zip(seen.measurements).map(|(one, z)| one * z).sum();
    pixels.fill(along / energy.max(f64::MIN_POSITIVE));
    seen.phi.reconcile(seen.measurements, EVEN, &mut pixels);
    GrayImage::new(seen.size, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::psnr;

    fn waves(size: Size) -> GrayImage {
        let wave = |row: usize, column: usize| (0.25 * row as f64 + 0.1 * column as f64).sin();
        GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * wave(row, column)).unwrap()
    }

    #[test]
    fn every_operator_is_undone_as_far_as_its_measurements_allow() {
        let size = Size { width: 48, height: 32 };
        let image = waves(size);
        for (text, quality) in [
            ("identity", 40.0),
            ("mask:missing=0.5,seed=3", 40.0),
            ("blur:sigma=1.2", 40.0),
            ("blur:sigma=0.8,decimate=2", 40.0),
            ("orthonormal:measurements=4,seed=5", 35.0),
        ] {
            let operator: Operator = text.parse().unwrap();
            for block_side in [8, 16] {
                let phi = operator.of_image(size, block_side).unwrap();
                let mut z = vec![0.0; phi.n_measurements()];
                phi.apply(image.samples(), &mut z);
                let seen = Operated { operator: &operator, size, block_side, noise: 0.0 };
                let found = seen.restore(&z, Run::default()).unwrap().image;
                // Four measurements are few for larger blocks.
                let least = if text.starts_with("orthonormal") && block_side > 8 { 12.0 } else { quality };
                let found = psnr(&image, &found).unwrap();
                assert!(found > least, "{text}, {block_side}: {found}");
                assert!(seen.restore(&z[1..], Run::default()).unwrap_err().to_string().contains("measurements"));
            }
        }
    }

    #[test]
    fn blocks_of_any_side_and_pictures_of_any_size_fit_their_measurements() {
        let image = waves(Size { width: 37, height: 26 });
        for (side, n_measurements) in [(4, 6), (8, 20), (12, 50)] {
            let projection = format!("gaussian:measurements={n_measurements},seed=2").parse::<Operator>().unwrap();
            let sensed = BlockMeasurements::sense(&image, projection.matrix(side * side).unwrap()).unwrap();
            let found = recover(&sensed, 0.0, Run::default()).unwrap();
            assert_eq!((found.image.size(), found.deviation.size()), (image.size(), image.size()));
            let quality = psnr(&image, &found.image).unwrap();
            assert!(quality > 30.0, "{side}: {quality}");
        }
    }
}
