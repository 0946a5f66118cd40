//! Pictures in another size, by the definition of MATLAB's `imresize`.
//!
//! Every published figure of super-resolution begins with this function, and another bicubic (without antialiasing,
//! with other borders, with another rule for the positions) moves it by up to a decibel. The rules: the centre of output
//! pixel i lies at (i + ½)/s − ½ of the input, s the scale; the kernel is the cubic of Keys with a = −½; to shrink, it is
//! widened by 1/s, so that nothing is aliased; beyond its border the picture goes on as its mirror image, the pixel at
//! the border twice; the weights of a pixel sum to one.

use std::f64::consts::PI;
use std::ops::Range;

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};

use super::plane::{GrayImage, Size};

/// Rows that are made at a time.
const BLOCK: usize = 64;

/// The most pixels of a result: four times those of the largest file that is read.
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

    /// How many pixels to each side an enlarged pixel may be made of.
    pub(crate) fn pixels(self) -> usize {
        self.reach() as usize + 1
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
    Resampling::to_size(image.size(), size, interpolation)?.apply(image, run)
}

/// The picture `factor` times as large, each side rounded up. The positions follow the factor, not the rounded sides.
///
/// # Errors
/// If the factor is not positive or the result would be too large; if the run was interrupted.
pub fn rescale(image: &GrayImage, factor: f64, interpolation: Interpolation, run: Run<'_>) -> Result<GrayImage> {
    Resampling::by_factor(image.size(), factor, interpolation)?.apply(image, run)
}

/// Pictures of one size in another: as a whole by [`apply`](Self::apply), or some rows at a time, so that neither need be
/// in memory.
///
/// # Cost
/// Four multiply-adds a pixel of the result and direction to enlarge, 4/s to shrink (six and 6/s with Lanczos).
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Interpolation, Resampling, Size};
///
/// let image = GrayImage::from_fn(Size { width: 9, height: 40 }, |row, column| (row * column) as f64)?;
/// let larger = Resampling::by_factor(image.size(), 1.5, Interpolation::Bicubic)?;
/// let sources = larger.sources(20..30);
/// let strip = image.cropped((sources.start, 0), Size { width: 9, height: sources.len() })?;
/// let rows = larger.rows(&strip, sources.start, 20..30, Run::default())?;
/// assert_eq!(rows.row(3), larger.apply(&image, Run::default())?.row(23));
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Resampling {
    from: Size,
    across: Axis,
    down: Axis,
}

impl Resampling {
    /// From one size to another, as [`resize`].
    ///
    /// # Errors
    /// If a side is zero or the result would be too large.
    pub fn to_size(from: Size, to: Size, interpolation: Interpolation) -> Result<Self> {
        let scales = [to.width as f64 / from.width as f64, to.height as f64 / from.height as f64];
        Self::new(from, to, scales, interpolation)
    }

    /// By a factor, as [`rescale`].
    ///
    /// # Errors
    /// If a side is zero, the factor is not positive or the result would be too large.
    pub fn by_factor(from: Size, factor: f64, interpolation: Interpolation) -> Result<Self> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(Error::parameter("factor", factor, "must be positive and finite"));
        }
        let [width, height] = [from.width, from.height].map(|side| (side as f64 * factor).ceil() as usize);
        Self::new(from, Size { width, height }, [factor; 2], interpolation)
    }

    fn new(from: Size, to: Size, [across, down]: [f64; 2], interpolation: Interpolation) -> Result<Self> {
        for (what, size) in [("image", from), ("resized image", to)] {
            if size.width == 0 || size.height == 0 {
                return Err(Error::Empty { what, unit: "pixel" });
            }
        }
        if to.width.saturating_mul(to.height) > MOST_PIXELS {
            return Err(Error::parameter("size", to, "is too large; a picture has at most 2^29 pixels"));
        }
        let across = Axis::new(from.width, to.width, across, interpolation);
        let down = Axis::new(from.height, to.height, down, interpolation);
        Ok(Self { from, across, down })
    }

    /// The size of the result.
    pub fn size(&self) -> Size {
        Size { width: self.across.taps.len(), height: self.down.taps.len() }
    }

    /// The picture in the other size.
    ///
    /// # Errors
    /// If the picture is not of the size it is for; if the run was interrupted.
    pub fn apply(&self, image: &GrayImage, run: Run<'_>) -> Result<GrayImage> {
        image.expect_size(self.from)?;
        self.rows(image, 0, 0..self.down.taps.len(), run)
    }

    /// Which rows of the picture these rows of the result are made of.
    pub fn sources(&self, rows: Range<usize>) -> Range<usize> {
        let taps = &self.down.taps[rows.start.min(self.down.taps.len())..rows.end.min(self.down.taps.len())];
        let sources = || taps.iter().flat_map(|taps| taps.sources.iter().copied());
        sources().min().unwrap_or(0)..sources().max().map_or(0, |last| last + 1)
    }

    /// Some rows of the result from a strip of the picture that begins at row `first` and has all of their
    /// [`sources`](Self::sources).
    ///
    /// # Errors
    /// If there are no such rows, or the strip does not have what they are made of; if the run was interrupted.
    pub fn rows(&self, strip: &GrayImage, first: usize, rows: Range<usize>, run: Run<'_>) -> Result<GrayImage> {
        let sources = self.sources(rows.clone());
        if rows.is_empty() || rows.end > self.down.taps.len() {
            return Err(Error::parameter("rows", format!("{rows:?}"), "must be rows of the result"));
        }
        expect_size("strip: width (that of the picture)", self.from.width, strip.size().width)?;
        if sources.start < first || sources.end - first > strip.size().height {
            return Err(Error::parameter("strip", strip.size(), "does not have the rows that these are made of"));
        }
        let taps = &self.down.taps[rows.clone()];
        // Columns of pixels first: what then goes along the rows is one row at a time.
        let blocks = run.map_blocks(
            taps.len(),
            BLOCK,
            || vec![0.0; self.from.width],
            |row, range| {
                let mut made = Vec::with_capacity(range.len() * self.across.taps.len());
                for taps in &taps[range] {
                    row.fill(0.0);
                    for (source, weight) in taps.pairs() {
                        let values = strip.row(source - first);
                        row.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
                    }
                    let value = |taps: &Taps| taps.pairs().map(|(source, weight)| weight * row[source]).sum::<f64>();
                    made.extend(self.across.taps.iter().map(value));
                }
                Ok(made)
            },
        )?;
        GrayImage::new(Size { width: self.across.taps.len(), height: rows.len() }, blocks.concat())
    }
}

/// Which pixels of a row or column make each of the new one.
#[derive(Debug, Clone)]
struct Axis {
    taps: Vec<Taps>,
}

/// The pixels of one new pixel, and how much of each.
#[derive(Debug, Clone)]
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
