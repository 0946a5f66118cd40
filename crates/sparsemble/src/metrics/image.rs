//! Errors between two pictures.

use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, WHITE};
use crate::sums::squared_distance;

/// The mean squared difference of two pictures, in squared grey levels.
///
/// # Errors
/// If the sizes differ.
pub fn mse(reference: &GrayImage, image: &GrayImage) -> Result<f64> {
    image.expect_size(reference.size())?;
    Ok(squared_distance(reference.samples(), image.samples()) / reference.samples().len() as f64)
}

/// The peak signal-to-noise ratio 10·log₁₀(255² / MSE) in decibels; infinite for equal pictures.
///
/// The peak is [`WHITE`] = 255 and every pixel counts, the border included. The intensities are compared as they are:
/// published figures are for 8-bit results, so pass [`quantised`](GrayImage::quantised) pictures to compare with those.
///
/// ```
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
///
/// let size = Size { width: 8, height: 8 };
/// let black = GrayImage::from_fn(size, |_, _| 0.0)?;
/// let nearly = GrayImage::from_fn(size, |_, _| 25.5)?;
/// assert!((psnr(&black, &nearly)? - 20.0).abs() < 1e-12);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// If the sizes differ.
pub fn psnr(reference: &GrayImage, image: &GrayImage) -> Result<f64> {
    Ok(decibels(mse(reference, image)?))
}

/// [`psnr`] of pictures as they lie in memory, in any order that is that of both.
///
/// # Errors
/// If the sizes differ, or a value is not finite.
pub fn psnr_of_samples(reference: &[f64], image: &[f64]) -> Result<f64> {
    expect_size("image: number of samples (that of the reference)", reference.len(), image.len())?;
    let sum = squared_distance(reference, image);
    if !sum.is_finite() {
        return Err(Error::parameter("samples", sum, "must be finite; replace what is not"));
    }
    Ok(decibels(sum / reference.len() as f64))
}

/// [`psnr`] of pictures of eight bits as they are stored, in any order that is that of both.
///
/// # Errors
/// If the sizes differ.
pub fn psnr_of_bytes(reference: &[u8], image: &[u8]) -> Result<f64> {
    expect_size("image: number of samples (that of the reference)", reference.len(), image.len())?;
    let squares = reference.iter().zip(image).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2));
    Ok(decibels(squares.sum::<u64>() as f64 / reference.len() as f64))
}

fn decibels(mse: f64) -> f64 {
    10.0 * (WHITE * WHITE / mse).log10()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    fn picture(samples: [f64; 4]) -> GrayImage {
        GrayImage::new(Size { width: 2, height: 2 }, samples.to_vec()).unwrap()
    }

    #[test]
    fn the_mean_squared_error_is_that_by_hand() {
        let error = mse(&picture([0.0, 10.0, 20.0, 30.0]), &picture([1.0, 8.0, 20.0, 33.0])).unwrap();
        assert!((error - 3.5).abs() < 1e-15);
    }

    #[test]
    fn white_for_black_is_zero_decibels_and_equal_is_infinite() {
        assert!(psnr(&picture([0.0; 4]), &picture([255.0; 4])).unwrap().abs() < 1e-12);
        assert_eq!(psnr(&picture([7.0; 4]), &picture([7.0; 4])), Ok(f64::INFINITY));
    }

    #[test]
    fn bytes_have_the_ratio_of_the_picture_they_are() {
        let (a, b): (Vec<u8>, Vec<u8>) = (0..=255).map(|i: u8| (i, i.wrapping_mul(7))).unzip();
        let size = Size { width: 16, height: 16 };
        let image = |bytes: &[u8]| GrayImage::new(size, bytes.iter().map(|&byte| byte.into()).collect()).unwrap();
        assert!((psnr_of_bytes(&a, &b).unwrap() - psnr(&image(&a), &image(&b)).unwrap()).abs() < 1e-12);
        assert_eq!(psnr_of_samples(image(&a).samples(), image(&b).samples()), psnr(&image(&a), &image(&b)));
        assert!(psnr_of_samples(&[1.0, f64::NAN], &[1.0, 2.0]).is_err() && psnr_of_samples(&[1.0], &[]).is_err());
        assert_eq!(psnr_of_bytes(&a, &a), Ok(f64::INFINITY));
        assert!(psnr_of_bytes(&a, &b[1..]).is_err());
    }

    #[test]
    fn pictures_of_other_sizes_are_refused() {
        let row = GrayImage::new(Size { width: 4, height: 1 }, vec![0.0; 4]).unwrap();
        assert!(psnr(&picture([0.0; 4]), &row).is_err());
    }
}
