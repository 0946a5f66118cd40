//! White noise, to try out what takes it away.

use crate::error::{Error, Result};
use crate::image::GrayImage;
use crate::rng::{normal, stream};

/// The picture with white Gaussian noise of this standard deviation added, in grey levels. Nothing is clipped.
///
/// # Errors
/// If the deviation is not finite or is negative.
///
/// # Example
/// ```
/// use sparsemble::degradation::with_white_noise;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::mse;
///
/// let grey = GrayImage::from_fn(Size { width: 100, height: 100 }, |_, _| 128.0)?;
/// let noisy = with_white_noise(&grey, 25.0, 1)?;
/// assert!((mse(&grey, &noisy)?.sqrt() - 25.0).abs() < 1.0);
/// assert_eq!(noisy, with_white_noise(&grey, 25.0, 1)?);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn with_white_noise(image: &GrayImage, sigma: f64, seed: u64) -> Result<GrayImage> {
    if !(sigma.is_finite() && sigma >= 0.0) {
        return Err(Error::parameter("sigma", sigma, "must be zero or more"));
    }
    let mut stream = stream(seed, "white noise", 0);
    let noisy = image.samples().iter().map(|value| value + sigma * normal(&mut stream)).collect();
    GrayImage::new(image.size(), noisy)
}
