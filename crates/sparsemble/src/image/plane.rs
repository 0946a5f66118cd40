//! A grey picture and its intensity scale.
//!
//! **Scale.** Black is 0 and white is 255 ([`WHITE`]) at every bit depth, so an 8-bit sample is its own value and a
//! 16-bit sample is divided by 257. The protocols we reproduce are written in these grey levels: PSNR with peak 255,
//! rounding to 8 bits between steps, patches dropped at a variance of 10, features normalised above a norm of 1. A
//! penalty λ stated for intensities in [0, 1], such as the paper's, becomes 255·λ here, because ‖x − Da‖² + λ‖a‖₁
//! scales that way.
//!
//! **Type.** Samples are `f64`. A picture is many times smaller than its overlapping patches, which is where `f32`
//! pays: [`PatchGrid::extract`](crate::patch::PatchGrid::extract) makes them in either type.

use crate::error::{Error, Result, expect_size};

use super::ycbcr::luma;

/// The intensity of white; black is zero.
pub const WHITE: f64 = 255.0;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Size {
    /// How many pixels it has.
    pub(crate) fn pixels(self) -> usize {
        self.width * self.height
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}×{}", self.width, self.height)
    }
}

/// How many bits a stored sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitDepth {
    /// 256 levels: the whole numbers from 0 to 255.
    Eight,
    /// 65 536 levels: multiples of 1/257.
    Sixteen,
}

impl BitDepth {
    /// Stored steps in one grey level.
    pub(crate) fn steps(self) -> f64 {
        match self {
            Self::Eight => 1.0,
            Self::Sixteen => 257.0,
        }
    }

    /// The stored number nearest to an intensity: out of range is clipped, halves round up, and NaN is black.
    pub(crate) fn level(self, intensity: f64) -> u16 {
        (intensity.clamp(0.0, WHITE) * self.steps()).round() as u16
    }
}

/// A grey picture: rows from top to bottom, each from left to right, black 0 and white 255.
///
/// Intensities between and beyond those are allowed, as the steps of a restoration need them; [`Self::quantised`] clips
/// and rounds them to what a file can hold.
///
/// ```
/// use sparsemble::image::{BitDepth, GrayImage, Size};
///
/// let ramp = GrayImage::from_fn(Size { width: 3, height: 2 }, |row, column| 100.4 * (row + column) as f64)?;
/// assert_eq!(ramp.quantised(BitDepth::Eight).samples(), [0.0, 100.0, 201.0, 100.0, 201.0, 255.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GrayImage {
    size: Size,
    samples: Vec<f64>,
}

impl GrayImage {
    /// Takes the samples row by row.
    ///
    /// # Errors
    /// If a side is zero or `samples` does not hold `width × height` values.
    pub fn new(size: Size, samples: Vec<f64>) -> Result<Self> {
        if size.width == 0 || size.height == 0 {
            return Err(Error::Empty { what: "image", unit: "pixel" });
        }
        expect_size("image: number of samples", size.width.saturating_mul(size.height), samples.len())?;
        Ok(Self { size, samples })
    }

    /// Fills the picture by `intensity(row, column)`.
    ///
    /// # Errors
    /// If a side is zero.
    pub fn from_fn(size: Size, mut intensity: impl FnMut(usize, usize) -> f64) -> Result<Self> {
        let pixels = (0..size.height).flat_map(|row| (0..size.width).map(move |column| (row, column)));
        Self::new(size, pixels.map(|(row, column)| intensity(row, column)).collect())
    }

    /// Width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// All samples, row by row.
    pub fn samples(&self) -> &[f64] {
        &self.samples
    }

    /// All samples, for good.
    pub fn into_samples(self) -> Vec<f64> {
        self.samples
    }

    /// The samples of one row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.samples[row * self.size.width..][..self.size.width]
    }

    /// The picture a file of this depth would give back: clipped to black and white, rounded to the nearest level with
    /// halves away from zero, as MATLAB's `uint8` and `uint16` do.
    #[must_use]
    pub fn quantised(&self, depth: BitDepth) -> Self {
        let samples = self.samples.iter().map(|&value| f64::from(depth.level(value)) / depth.steps()).collect();
        Self { size: self.size, samples }
    }

    /// The part of the picture whose upper left pixel is at `(row, column)`.
    ///
    /// # Errors
    /// If it is empty or not inside the picture.
    pub fn cropped(&self, (row, column): (usize, usize), size: Size) -> Result<Self> {
        let inside =
            |start: usize, length: usize, whole: usize| start.checked_add(length).is_some_and(|end| end <= whole);
        if !inside(row, size.height, self.size.height) || !inside(column, size.width, self.size.width) {
            return Err(Error::parameter("crop", size, "must lie inside the picture"));
        }
        let rows = (row..row + size.height).flat_map(|row| &self.row(row)[column..column + size.width]);
        Self::new(size, rows.copied().collect())
    }

    /// The picture without this many pixels at each border, as super-resolution is measured.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn shaved(&self, border: usize) -> Result<Self> {
        let [width, height] =
            [self.size.width, self.size.height].map(|side| side.saturating_sub(border.saturating_mul(2)));
        if width == 0 || height == 0 {
            return Err(Error::parameter("border", border, "leaves nothing of the picture"));
        }
        self.cropped((border, border), Size { width, height })
    }

    /// Refuses a picture of another size.
    pub(crate) fn expect_size(&self, expected: Size) -> Result<()> {
        expect_size("image width", expected.width, self.size.width)?;
        expect_size("image height", expected.height, self.size.height)
    }
}

/// A picture as it is in a file: one plane of grey, or red, green and blue.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The planes, all of one size.
    pub planes: Vec<GrayImage>,
    /// How finely its samples are stored.
    pub depth: BitDepth,
}

impl Picture {
    /// The brightness as the literature of super-resolution takes it: grey as it is, of colours Y of BT.601 in studio
    /// range, and in either case in whole levels of 8 bits.
    ///
    /// # Errors
    /// If there is no plane, or they differ in size.
    pub fn brightness(&self) -> Result<GrayImage> {
        let brightness = match self.planes.as_slice() {
            [red, green, blue] => luma([red, green, blue])?,
            [grey, ..] => grey.clone(),
            [] => return Err(Error::Empty { what: "picture", unit: "plane" }),
        };
        Ok(brightness.quantised(BitDepth::Eight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: Size = Size { width: 2, height: 1 };

    fn pair(left: f64, right: f64) -> GrayImage {
        GrayImage::new(PAIR, vec![left, right]).unwrap()
    }

    #[test]
    fn samples_must_fill_the_picture() {
        assert!(GrayImage::new(PAIR, vec![0.0; 3]).is_err());
        assert!(GrayImage::new(Size { width: 0, height: 5 }, vec![]).is_err());
        assert!(GrayImage::new(Size { width: usize::MAX, height: 2 }, vec![0.0; 2]).is_err());
    }

    #[test]
    fn a_crop_is_that_part_and_what_is_not_inside_is_refused() {
        let image = GrayImage::from_fn(Size { width: 5, height: 4 }, |row, column| (10 * row + column) as f64).unwrap();
        assert_eq!(image.cropped((1, 3), PAIR).unwrap().samples(), [13.0, 14.0]);
        assert_eq!(image.shaved(1).unwrap().samples(), [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
        assert!(image.cropped((1, 4), PAIR).is_err() && image.cropped((usize::MAX, 0), PAIR).is_err());
        assert!(image.shaved(2).is_err() && image.shaved(usize::MAX).is_err());
    }

    #[test]
    fn rounding_clips_and_sends_halves_up() {
        assert_eq!(pair(-3.0, 300.0).quantised(BitDepth::Eight), pair(0.0, 255.0));
        assert_eq!(pair(0.5, 2.5).quantised(BitDepth::Eight), pair(1.0, 3.0));
        assert_eq!(pair(f64::NAN, f64::INFINITY).quantised(BitDepth::Eight), pair(0.0, 255.0));
        assert_eq!(pair(0.6 / 257.0, 254.999).quantised(BitDepth::Sixteen), pair(1.0 / 257.0, 255.0));
    }

    #[test]
    fn every_16_bit_level_survives() {
        for level in 0..=u16::MAX {
            assert_eq!(BitDepth::Sixteen.level(f64::from(level) / 257.0), level);
        }
    }
}
