//! The global reconstruction constraint, Eq. (16): an enlarged picture that, made small again, is the small picture.

use crate::blocks::Run;
use crate::error::Result;
use crate::image::{GrayImage, Interpolation, resize};

use super::expect_finite;

/// Rows that are filtered at a time.
const BLOCK: usize = 64;

/// The square of MATLAB's `fspecial('gaussian', 5, 1)`, normalised, is the product of this with itself: exp(−i²) / Σ.
const KERNEL: [f64; 5] = [
    0.010_333_864_010_783_306,
    0.207_561_207_147_788_33,
    0.564_209_857_682_856_7,
    0.207_561_207_147_788_33,
    0.010_333_864_010_783_306,
];

/// Iterated back-projection: y ← y + p ∗ ↑(z − ↓y), with bicubic ↓ and ↑ and a small Gaussian p.
///
/// | field | default | purpose | paper's value |
/// | --- | --- | --- | --- |
/// | `iterations` | 20 | how often; the picture hardly changes after twenty | not stated; 20 in the code of Yang et al. |
///
/// It solves min over y of ‖z − ↓y‖² + c‖y − y₀‖² for c → 0 by small steps from y₀, not exactly: p is none of the operators
/// of the problem, and the steps end before they have converged in the last hundredth of a grey level. Beyond the border
/// the correction is zero, as in Yang et al.'s program.
///
/// Much of what super-resolution gains over bicubic interpolation is this step: compare with bicubic pictures that have had
/// it too.
///
/// # Cost
/// For each iteration about 50 multiply-adds a pixel. Memory for three pictures.
///
/// # Errors
/// If a sample is not finite; if the run was interrupted.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Interpolation, Size, rescale};
/// use sparsemble::metrics::mse;
/// use sparsemble::restoration::super_resolution::BackProjection;
///
/// let small = GrayImage::from_fn(Size { width: 24, height: 16 }, |row, column| ((7 * row + 11 * column) % 90) as f64)?;
/// let smooth = rescale(&small, 2.0, Interpolation::Bicubic, Run::default())?;
/// let sharper = BackProjection::default().apply(&smooth, &small, Run::default())?;
/// let missed = |large: &GrayImage| mse(&small, &rescale(large, 0.5, Interpolation::Bicubic, Run::default())?);
/// assert!(missed(&sharper)? < 0.1 * missed(&smooth)?);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-B, Eq. (16).
#[doc(alias = "IBP")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackProjection {
    /// How often.
    pub iterations: usize,
}

impl Default for BackProjection {
    fn default() -> Self {
        Self { iterations: 20 }
    }
}

impl BackProjection {
    /// The picture near `estimate` that has become `small` by being made as small.
    ///
    /// # Errors
    /// See [`BackProjection`].
    pub fn apply(&self, estimate: &GrayImage, small: &GrayImage, run: Run<'_>) -> Result<GrayImage> {
        expect_finite(small)?;
        expect_finite(estimate)?;
        let mut now = estimate.clone();
        let steps = self.iterations.saturating_mul(3);
        let part = |step: usize| run.passes(step..step + 1, steps, estimate.samples().len());
        for iteration in 0..self.iterations {
            let seen = resize(&now, small.size(), Interpolation::Bicubic, part(3 * iteration))?;
            let missed = small.samples().iter().zip(seen.samples()).map(|(z, seen)| z - seen).collect();
            let missed = GrayImage::new(small.size(), missed)?;
            let missed = resize(&missed, now.size(), Interpolation::Bicubic, part(3 * iteration + 1))?;
            now = corrected(&now, &missed, part(3 * iteration + 2))?;
        }
        Ok(now)
    }
}

/// picture + p ∗ correction.
fn corrected(picture: &GrayImage, correction: &GrayImage, run: Run<'_>) -> Result<GrayImage> {
    let (reach, size) = (KERNEL.len() / 2, picture.size());
    // A row with room for what lies beyond its ends: zeros that are never written.
    let scratch = || vec![0.0; size.width + 2 * reach];
    let blocks = run.map_blocks(size.height, BLOCK, scratch, |longer, range| {
        let mut rows = Vec::with_capacity(range.len() * size.width);
        for row in range {
            let sums = &mut longer[reach..reach + size.width];
            sums.fill(0.0);
            for (tap, weight) in KERNEL.iter().enumerate() {
                let Some(other) = (row + tap).checked_sub(reach).filter(|other| *other < size.height) else { continue };
                sums.iter_mut().zip(correction.row(other)).for_each(|(sum, value)| *sum += weight * value);
            }
            let filtered = longer.windows(KERNEL.len());
            let filtered = filtered.map(|window| window.iter().zip(KERNEL).map(|(value, weight)| value * weight).sum());
            rows.extend(picture.row(row).iter().zip(filtered).map(|(value, more): (&f64, f64)| value + more));
        }
        Ok(rows)
    })?;
    GrayImage::new(size, blocks.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    #[test]
    fn the_kernel_is_the_squared_gaussian() {
        let gaussian: Vec<f64> = (-2..=2).map(|i: i32| (-f64::from(i * i)).exp()).collect();
        let sum: f64 = gaussian.iter().sum();
        assert!(KERNEL.iter().zip(gaussian).all(|(kernel, value)| (kernel - value / sum).abs() < 1e-15));
    }

    #[test]
    fn a_correction_is_filtered_with_zeros_around_it() {
        let size = Size { width: 4, height: 1 };
        let black = GrayImage::from_fn(size, |_, _| 0.0).unwrap();
        let corner = GrayImage::from_fn(size, |_, column| if column == 0 { 1.0 } else { 0.0 }).unwrap();
        let found = corrected(&black, &corner, Run::threads(1)).unwrap();
        for (value, weight) in found.samples().iter().zip([KERNEL[2], KERNEL[1], KERNEL[0], 0.0]) {
            assert!((value - weight * KERNEL[2]).abs() < 1e-15);
        }
    }

    #[test]
    fn no_iterations_change_nothing_and_nan_is_refused() {
        let size = Size { width: 4, height: 6 };
        let picture = GrayImage::from_fn(size, |row, column| (row * column) as f64).unwrap();
        let small = GrayImage::from_fn(Size { width: 2, height: 3 }, |_, _| 9.0).unwrap();
        let none = BackProjection { iterations: 0 };
        assert_eq!(none.apply(&picture, &small, Run::default()).unwrap(), picture);
        let bad = GrayImage::from_fn(size, |row, _| if row == 2 { f64::NAN } else { 0.0 }).unwrap();
        let message = BackProjection::default().apply(&bad, &small, Run::default()).unwrap_err().to_string();
        assert!(message.contains("row 2, column 0"), "{message}");
    }
}
