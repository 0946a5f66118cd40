//! The structural similarity of two pictures.

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::image::{GrayImage, WHITE};

/// The window: a Gaussian with a deviation of 1.5 pixels, cut off at five to each side.
const REACH: usize = 5;
const DEVIATION: f64 = 1.5;

/// (0.01·255)² and (0.03·255)²: what keeps the quotients finite where nothing varies.
const OF_MEANS: f64 = 0.01 * WHITE * 0.01 * WHITE;
const OF_VARIANCES: f64 = 0.03 * WHITE * 0.03 * WHITE;

/// The mean structural similarity (SSIM) of Wang, Bovik, Sheikh and Simoncelli (2004): 1 for equal pictures.
///
/// Their settings: a Gaussian window of 11 × 11 pixels with σ = 1.5, K₁ = 0.01, K₂ = 0.03, white 255, the mean over all
/// windows that lie inside the picture. scikit-image gives the same with `gaussian_weights=True, sigma=1.5,
/// use_sample_covariance=False, data_range=255`.
///
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::ssim;
///
/// let image = GrayImage::from_fn(Size { width: 16, height: 16 }, |row, column| (7 * row * column % 200) as f64)?;
/// assert!((ssim(&image, &image, Run::default())? - 1.0).abs() < 1e-12);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// If the sizes differ, or a side is shorter than the window; if the run was interrupted.
pub fn ssim(reference: &GrayImage, image: &GrayImage, run: Run<'_>) -> Result<f64> {
    image.expect_size(reference.size())?;
    let side = 2 * REACH + 1;
    let size = reference.size();
    if size.width < side || size.height < side {
        return Err(Error::parameter("image size", size, "is smaller than the window of 11×11 pixels"));
    }
    let weights: [f64; 2 * REACH + 1] = window();
    let (across, down) = (size.width - 2 * REACH, size.height - 2 * REACH);
    let rows = run.map_blocks(
        down,
        16,
        || [0; 5].map(|_| vec![0.0; size.width]),
        |moments, range| {
            let of_row = |top: usize| -> f64 {
                weigh_columns(reference, image, top, &weights, moments);
                (0..across).map(|left| similarity(moments.each_ref().map(|row| weigh(&row[left..], &weights)))).sum()
            };
            Ok(range.map(of_row).sum::<f64>())
        },
    )?;
    Ok(rows.into_iter().sum::<f64>() / (across * down) as f64)
}

fn window<const SIDE: usize>() -> [f64; SIDE] {
    let weight = |i: usize| (-0.5 * ((i as f64 - REACH as f64) / DEVIATION).powi(2)).exp();
    let total: f64 = (0..SIDE).map(weight).sum();
    std::array::from_fn(|i| weight(i) / total)
}

/// x, y, x², y² and xy, each weighed down the columns of the windows whose first row is `top`.
fn weigh_columns(x: &GrayImage, y: &GrayImage, top: usize, weights: &[f64], moments: &mut [Vec<f64>; 5]) {
    for row in moments.iter_mut() {
        row.fill(0.0);
    }
    let [of_x, of_y, of_xx, of_yy, of_xy] = moments;
    for (r, weight) in weights.iter().enumerate() {
        for (column, (x, y)) in x.row(top + r).iter().zip(y.row(top + r)).enumerate() {
            of_x[column] += weight * x;
            of_y[column] += weight * y;
            of_xx[column] += weight * x * x;
            of_yy[column] += weight * y * y;
            of_xy[column] += weight * x * y;
        }
    }
}

fn weigh(values: &[f64], weights: &[f64]) -> f64 {
    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// The similarity of one window from its means and mean products.
fn similarity([x, y, xx, yy, xy]: [f64; 5]) -> f64 {
    let variances = (xx - x * x) + (yy - y * y);
    let covariance = xy - x * y;
    (2.0 * x * y + OF_MEANS) * (2.0 * covariance + OF_VARIANCES)
        / ((x * x + y * y + OF_MEANS) * (variances + OF_VARIANCES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    fn picture(size: usize, intensity: impl FnMut(usize, usize) -> f64) -> GrayImage {
        GrayImage::from_fn(Size { width: size, height: size }, intensity).unwrap()
    }

    #[test]
    fn of_constant_pictures_only_the_means_differ() {
        let found = ssim(&picture(11, |_, _| 100.0), &picture(11, |_, _| 50.0), Run::default()).unwrap();
        assert!((found - (10_000.0 + OF_MEANS) / (12_500.0 + OF_MEANS)).abs() < 1e-12);
    }

    #[test]
    fn the_opposite_picture_is_less_similar_than_a_shifted_one() {
        let wave = |shift: f64| {
            move |row: usize, column: usize| 127.0 + 90.0 * (row as f64 + 0.4 * column as f64 + shift).sin()
        };
        let original = picture(24, wave(0.0));
        let like = |shift| ssim(&original, &picture(24, wave(shift)), Run::default()).unwrap();
        assert!(like(0.3) > 0.9 && like(std::f64::consts::PI) < -0.5);
    }

    #[test]
    fn pictures_smaller_than_the_window_are_refused() {
        assert!(ssim(&picture(10, |_, _| 0.0), &picture(10, |_, _| 0.0), Run::default()).is_err());
    }
}
