//! Pictures in another size, by the definition of MATLAB's `imresize`.
//!
//! Every published figure of super-resolution begins with this function, and another bicubic (without antialiasing,
//! with other borders, with another rule for the positions) moves it by up to a decibel. The rules: the centre of output
//! pixel i lies at (i + ½)/s − ½ of the input, s the scale; the kernel is the cubic of Keys with a = −½; to shrink, it is
//! widened by 1/s, so that nothing is aliased; beyond its border the picture goes on as its mirror image, the pixel at
//! the border twice; the weights of a pixel sum to one.

use std::f64::consts::PI;

use crate::blocks::Run;
use crate::error::{Error, Result};

use super::plane::{GrayImage, Size};

/// Rows that are made at a time.
const BLOCK: usize = 64;

/// The most pixels of a result, as of a file that is read.
const MOST_PIXELS: usize = 1 << 29;

/// The curve through the pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The cubic of Keys with a = −½, four pixels wide: `bicubic` of MATLAB.
    Bicubic,
    /// A windowed sinc six pixels wide: `lanczos3` of MATLAB; sharper, and rings more.
    Lanczos3,
}

impl Interpolation {
    /// How far the kernel reaches to each side.
    fn reach(self) -> f64 {
        match self {
            Self::Bicubic => 2.0,
            Self::Lanczos3 => 3.0,
        }
    }

    fn kernel(self, distance: f64) -> f64 {
        let x = distance.abs();
        match self {
            Self::Bicubic if x <= 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Self::Bicubic if x <= 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Self::Lanczos3 if x < f64::EPSILON => 1.0,
            Self::Lanczos3 if x < 3.0 => 3.0 * (PI * x).sin() * (PI * x / 3.0).sin() / (PI * PI * x * x),
            _ => 0.0,
        }
    }
}

/// The picture in this size. Width and height have each their own scale: their new length by the old one.
///
/// # Cost
/// Four multiply-adds a pixel of the result and direction to enlarge, 4/s to shrink (six and 6/s with Lanczos).
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Interpolation, Size, resize};
///
/// let ramp = GrayImage::from_fn(Size { width: 12, height: 8 }, |_, column| 10.0 * column as f64)?;
/// let half = resize(&ramp, Size { width: 6, height: 4 }, Interpolation::Bicubic, Run::default())?;
/// assert!((half.row(1)[3] - 65.0).abs() < 1e-12); // between columns 6 and 7
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// If a side is zero or the result would be too large; if the run was interrupted.
pub fn resize(image: &GrayImage, size: Size, interpolation: Interpolation, run: Run<'_>) -> Result<GrayImage> {
    check(size)?;
    let from = image.size();
    let across = Axis::new(from.width, size.width, size.width as f64 / from.width as f64, interpolation);
    let down = Axis::new(from.height, size.height, size.height as f64 / from.height as f64, interpolation);
    apply(image, &across, &down, run)
}

/// The picture `factor` times as large, each side rounded up. The positions follow the factor, not the rounded sides.
///
/// # Errors
/// If the factor is not positive or the result would be too large; if the run was interrupted.
pub fn rescale(image: &GrayImage, factor: f64, interpolation: Interpolation, run: Run<'_>) -> Result<GrayImage> {
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(Error::parameter("factor", factor, "must be positive and finite"));
    }
    let [width, height] = [image.size().width, image.size().height].map(|side| (side as f64 * factor).ceil() as usize);
    check(Size { width, height })?;
    let across = Axis::new(image.size().width, width, factor, interpolation);
    let down = Axis::new(image.size().height, height, factor, interpolation);
    apply(image, &across, &down, run)
}

fn check(size: Size) -> Result<()> {
    if size.width == 0 || size.height == 0 {
        return Err(Error::Empty { what: "resized image", unit: "pixel" });
    }
    if size.width.saturating_mul(size.height) > MOST_PIXELS {
        return Err(Error::parameter("size", size, "is too large; a picture has at most 2^29 pixels"));
    }
    Ok(())
}

/// Columns of pixels first, while the rows they are in are short or few, then rows.
fn apply(image: &GrayImage, across: &Axis, down: &Axis, run: Run<'_>) -> Result<GrayImage> {
    let blocks = run.map_blocks(
        down.taps.len(),
        BLOCK,
        || vec![0.0; image.size().width],
        |row, range| {
            let mut rows = Vec::with_capacity(range.len() * across.taps.len());
            for taps in &down.taps[range] {
                row.fill(0.0);
                for (source, weight) in taps.pairs() {
                    row.iter_mut().zip(image.row(source)).for_each(|(sum, value)| *sum += weight * value);
                }
                let value = |taps: &Taps| taps.pairs().map(|(source, weight)| weight * row[source]).sum::<f64>();
                rows.extend(across.taps.iter().map(value));
            }
            Ok(rows)
        },
    )?;
    GrayImage::new(Size { width: across.taps.len(), height: down.taps.len() }, blocks.concat())
}

/// Which pixels of a row or column make each of the new one.
struct Axis {
    taps: Vec<Taps>,
}

/// The pixels of one new pixel, and how much of each.
struct Taps {
    sources: Vec<usize>,
    weights: Vec<f64>,
}

impl Taps {
    fn pairs(&self) -> impl Iterator<Item = (usize, f64)> {
        self.sources.iter().copied().zip(self.weights.iter().copied())
    }
}

impl Axis {
    fn new(from: usize, to: usize, scale: f64, interpolation: Interpolation) -> Self {
        // A kernel that shrinks is as wide as what becomes one pixel.
        let widening = scale.min(1.0);
        let reach = interpolation.reach() / widening;
        let taps = (0..to).map(|index| {
            let centre = (index as f64 + 0.5) / scale - 0.5;
            let (first, last) = ((centre - reach).floor() as isize, (centre + reach).ceil() as isize);
            let weight = |position: isize| interpolation.kernel(widening * (centre - position as f64));
            let pairs = (first..=last).map(|position| (mirrored(position, from), weight(position)));
            let (sources, mut weights): (Vec<_>, Vec<_>) = pairs.filter(|&(_, weight)| weight != 0.0).unzip();
            let total: f64 = weights.iter().sum();
            for weight in &mut weights {
                *weight /= total;
            }
            Taps { sources, weights }
        });
        Self { taps: taps.collect() }
    }
}

/// The pixel in the place of one beyond the border: … b a | a b … y z | z y …
fn mirrored(position: isize, length: usize) -> usize {
    let length = length as isize;
    let within = position.rem_euclid(2 * length);
    within.min(2 * length - 1 - within) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64]) -> GrayImage {
        GrayImage::new(Size { width: values.len(), height: 1 }, values.to_vec()).unwrap()
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} is not {expected:?}");
    }

    #[test]
    fn doubling_a_step_is_that_by_hand() {
        // At ¼ and ¾ between two pixels the cubic weighs −9/128, 111/128, 29/128 and −3/128.
        let [a, b, c, d] = [-9.0, 111.0, 29.0, -3.0].map(|weight| weight / 128.0);
        let doubled = rescale(&row(&[0.0, 0.0, 0.0, 128.0, 128.0, 128.0]), 2.0, Interpolation::Bicubic, Run::default());
        let expected = [0.0, 0.0, 0.0, d * 128.0, a * 128.0, (c + d) * 128.0];
        let doubled = doubled.unwrap();
        close(&doubled.row(0)[..6], &expected);
        close(&doubled.row(0)[6..], &expected.iter().rev().map(|v| 128.0 - v).collect::<Vec<_>>());
        assert!((a + b + c + d - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_size_is_rounded_up_and_positions_follow_the_factor() {
        let seven = row(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let by_factor = rescale(&seven, 0.5, Interpolation::Bicubic, Run::default()).unwrap();
        assert_eq!(by_factor.size(), Size { width: 4, height: 1 });
        // Inside, where no border is in reach, a ramp stays a ramp: pixel 1 is at 2.5 of 7, or at 2.125 if scaled by 4/7.
        assert!((by_factor.row(0)[1] - 2.5).abs() < 0.03);
        let by_size = resize(&seven, by_factor.size(), Interpolation::Bicubic, Run::default()).unwrap();
        assert!((by_size.row(0)[1] - 2.125).abs() < 0.05);
    }

    #[test]
    fn the_mirror_repeats_the_border_and_is_mirrored_again() {
        let sources: Vec<usize> = (-4..8).map(|position| mirrored(position, 3)).collect();
        assert_eq!(sources, [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        let image = row(&[1.0, 2.0]);
        let to = |width, height| resize(&image, Size { width, height }, Interpolation::Bicubic, Run::default());
        assert!(to(0, 1).is_err() && to(1 << 20, 1 << 20).is_err());
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert!(rescale(&image, factor, Interpolation::Lanczos3, Run::default()).is_err());
        }
    }
}
