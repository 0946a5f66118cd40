//! A picture from what an operator has left of it: the way that suits the operator.

use crate::blocks::Run;
use crate::degradation::{Blur, Degradation, Mask, Operator};
use crate::error::{Result, expect_size};
use crate::image::{GrayImage, Size};
use crate::matrix::MatrixView;

use super::compressive::{BlockMeasurements, CompressiveRecovery};
use super::image_level::{ImageLevel, Observation, Restored};
use super::natural::natural_gaussians;
use super::nonlocal::NonLocal;
use super::tasks::{deblur, denoise, inpaint};

/// How much a start from nothing trusts an even picture against the measurements.
const EVEN: f64 = 0.05;

/// A picture as an operator saw it.
///
/// | Φ | what is done |
/// | --- | --- |
/// | identity | [`denoise`] |
/// | mask | [`inpaint`] |
/// | blur | [`deblur`] |
/// | projection of blocks of 8 × 8 pixels | [`CompressiveRecovery`] |
/// | blur with decimation, projection of other blocks | [`ImageLevel`] from the picture nearest to an even one |
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
            Operator::Projection(projection) if block_side == 8 => {
                let patch = projection.matrix(block_side * block_side)?;
                let blocks = measurements.len() / patch.n_measurements();
                let values = MatrixView::from_columns(measurements, patch.n_measurements(), blocks)?;
                let recovery = CompressiveRecovery { noise, ..CompressiveRecovery::default() };
                let sensed = BlockMeasurements::new(size, patch, values)?;
                recovery.recover(&sensed, &natural_gaussians()?, &mut NonLocal::default(), run)
            }
            Operator::Projection(_) | Operator::Blur { .. } => {
                let seen = Observation { size, phi: phi.as_ref(), measurements, noise };
                let level = ImageLevel { turns: 80, first_noise: 40.0, ..ImageLevel::default() };
                level.restore(&seen, from_an_even_picture(&seen)?, &mut NonLocal::default(), run)
            }
        }
    }
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
