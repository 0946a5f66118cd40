//! A picture as its file holds it, for work that goes over it some rows at a time.

use std::io::Cursor;
use std::ops::Range;
use std::path::Path;

use ::image::codecs::tiff::TiffDecoder;
use ::image::metadata::Orientation;
use ::image::{DynamicImage, ImageDecoder};

use crate::error::{Error, Result};

use super::super::plane::{BitDepth, GrayImage, Picture, Size};
use super::{MAX_PIXELS, Outcome, bytes_of, decoded, named, no_white, opened};

/// What a picture file holds beside the pixels themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Width and height.
    pub size: Size,
    /// Numbers in a pixel: 1 for grey, 2 for grey and alpha, 3 for red, green and blue, 4 for these and alpha.
    pub channels: usize,
    /// How finely they are stored.
    pub depth: BitDepth,
    /// The ICC colour profile.
    pub profile: Option<Vec<u8>>,
    /// The EXIF data; they say no more how the picture is to be turned, because it was.
    pub exif: Option<Vec<u8>>,
}

impl Layout {
    /// That of a picture in memory, which has neither profile nor EXIF data.
    ///
    /// # Panics
    /// If the picture has no plane.
    pub(super) fn plain(picture: &Picture) -> Self {
        let (size, channels) = (picture.planes[0].size(), picture.planes.len());
        Self { size, channels, depth: picture.depth, profile: None, exif: None }
    }

    /// Whether the last channel is how opaque a pixel is.
    pub fn has_alpha(&self) -> bool {
        self.channels.is_multiple_of(2)
    }
}

/// A picture with all its channels, its colour profile and its EXIF data, in the numbers of its file, upright.
///
/// Whole pictures for restoration are [`read_picture`](super::read_picture): eight bytes a sample. This one has one or
/// two, and its [`rows`](Self::rows) are asked for as they are needed.
#[derive(Debug, Clone)]
pub struct Raster {
    pixels: DynamicImage,
    profile: Option<Vec<u8>>,
    exif: Option<Vec<u8>>,
}

impl Raster {
    /// Reads a PNG, JPEG, PNM, TIFF, BMP or WebP file, told apart by content.
    ///
    /// # Errors
    /// As [`read`](super::read).
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        named(path, bytes_of(path)?.and_then(|bytes| Self::of(&bytes, MAX_PIXELS)))
    }

    /// The picture in the bytes of a file, unless it has more pixels than these: then it is refused before memory is spent
    /// on them.
    ///
    /// # Errors
    /// [`Error::Image`] as [`read`](super::read), and if there are too many pixels.
    pub fn decode(bytes: &[u8], max_pixels: u64) -> Result<Self> {
        named(Path::new("the picture"), Self::of(bytes, max_pixels))
    }

    fn of(bytes: &[u8], max_pixels: u64) -> Outcome<Self> {
        let mut decoder = opened(bytes, max_pixels)?;
        // What cannot be read of these does not make the picture unreadable.
        let profile = decoder.icc_profile().ok().flatten().or_else(|| profile_of_tiff(bytes));
        let mut exif = decoder.exif_metadata().ok().flatten();
        if let Some(exif) = &mut exif {
            // What is upright must not be turned again by who reads the data.
            let _turn = Orientation::remove_from_exif_chunk(exif);
        }
        let pixels = decoded(decoder, bytes)?;
        if form(&pixels).is_none() {
            return Err(no_white(&pixels));
        }
        Ok(Self { pixels, profile, exif })
    }

    /// Size, channels, depth, profile and EXIF data.
    pub fn layout(&self) -> Layout {
        let (channels, depth) = form(&self.pixels).unwrap_or((1, BitDepth::Eight));
        let size = Size { width: self.pixels.width() as usize, height: self.pixels.height() as usize };
        Layout { size, channels, depth, profile: self.profile.clone(), exif: self.exif.clone() }
    }

    /// Some rows of every channel, black 0 and white 255.
    ///
    /// # Errors
    /// If there are no such rows.
    pub fn rows(&self, rows: Range<usize>) -> Result<Vec<GrayImage>> {
        if rows.is_empty() || rows.end > self.pixels.height() as usize {
            return Err(Error::parameter("rows", format!("{rows:?}"), "must be rows of the picture"));
        }
        match &self.pixels {
            DynamicImage::ImageLuma8(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageLumaA8(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageRgb8(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageRgba8(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageLuma16(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageLumaA16(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageRgb16(p) => channels(p.as_raw(), &self.layout(), rows),
            DynamicImage::ImageRgba16(p) => channels(p.as_raw(), &self.layout(), rows),
            other => Err(Error::Image { name: "the picture".into(), reason: no_white(other) }),
        }
    }
}

/// The profile of a TIFF file. The limits of the pixels are its limits, too: it is asked for without them, because that of
/// a small picture can be the larger of the two.
fn profile_of_tiff(bytes: &[u8]) -> Option<Vec<u8>> {
    TiffDecoder::new(Cursor::new(bytes)).ok()?.icc_profile().ok()?
}

/// Channels and depth, of what has a white.
fn form(pixels: &DynamicImage) -> Option<(usize, BitDepth)> {
    Some(match pixels {
        DynamicImage::ImageLuma8(_) => (1, BitDepth::Eight),
        DynamicImage::ImageLumaA8(_) => (2, BitDepth::Eight),
        DynamicImage::ImageRgb8(_) => (3, BitDepth::Eight),
        DynamicImage::ImageRgba8(_) => (4, BitDepth::Eight),
        DynamicImage::ImageLuma16(_) => (1, BitDepth::Sixteen),
        DynamicImage::ImageLumaA16(_) => (2, BitDepth::Sixteen),
        DynamicImage::ImageRgb16(_) => (3, BitDepth::Sixteen),
        DynamicImage::ImageRgba16(_) => (4, BitDepth::Sixteen),
        _ => return None,
    })
}

fn channels<S: Copy + Into<f64>>(samples: &[S], layout: &Layout, rows: Range<usize>) -> Result<Vec<GrayImage>> {
    let (width, channels, steps) = (layout.size.width, layout.channels, layout.depth.steps());
    let pixels = &samples[rows.start * width * channels..rows.end * width * channels];
    let plane = |channel: usize| {
        let samples = pixels.chunks_exact(channels).map(|pixel| pixel[channel].into() / steps).collect();
        GrayImage::new(Size { width, height: rows.len() }, samples)
    };
    (0..channels).map(plane).collect()
}
