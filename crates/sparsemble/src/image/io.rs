//! Picture files (feature `io`): the only place where the image stage touches the disk.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};
use std::path::Path;

use ::image::error::{ImageError, UnsupportedErrorKind};
use ::image::metadata::Orientation;
use ::image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use crate::error::{Error, Result};
use crate::files::write_atomically;

use super::plane::{BitDepth, GrayImage, Picture, Size};

mod raster;
mod writer;

pub use raster::{Layout, Raster};
pub use writer::{PictureFormat, encode_by_rows, write_by_rows};

/// A small file can promise a huge picture; beyond these limits it is refused before memory is spent on it.
const MAX_SIDE: u32 = 1 << 16;
const MAX_PIXELS: u64 = 1 << 27;
const MAX_BYTES: u64 = 1 << 30;

/// What a decoder may use in memory for each pixel that is allowed, and for itself.
const BYTES_OF_PIXEL: u64 = MAX_BYTES / MAX_PIXELS;
const BYTES_OF_DECODER: u64 = 1 << 26;

/// Reads a PNG, JPEG, PNM, TIFF, BMP or WebP file, told apart by content, as a grey picture.
///
/// 8-bit samples keep their value and 16-bit samples are divided by 257 (see [`WHITE`](super::WHITE)). Colour becomes
/// its BT.601 luma (299 R + 587 G + 114 B) / 1000, not rounded. A picture is turned upright, as its file says that it is
/// to be seen; alpha and colour profiles are ignored, and so are all pages of a TIFF file but the first.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Image`] if it is damaged, of another kind, in floating point or
/// larger than 2²⁷ pixels.
pub fn read(path: impl AsRef<Path>) -> Result<GrayImage> {
    let path = path.as_ref();
    named(path, bytes_of(path)?.and_then(|bytes| to_gray(&pixels(&bytes)?)))
}

/// Reads a picture file with its colours and its depth; otherwise as [`read`].
///
/// # Errors
/// As [`read`].
pub fn read_picture(path: impl AsRef<Path>) -> Result<Picture> {
    let path = path.as_ref();
    named(path, bytes_of(path)?.and_then(|bytes| to_picture(&pixels(&bytes)?)))
}

/// The bytes of a file, or why it cannot be a picture.
fn bytes_of(path: &Path) -> Result<Outcome<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| Error::io("read", path, &error))?;
    Ok(if bytes.len() as u64 > MAX_BYTES {
        Err(format!("the file is larger than {MAX_BYTES} bytes"))
    } else {
        Ok(bytes)
    })
}

/// Says which file was refused.
fn named<P>(path: &Path, outcome: Outcome<P>) -> Result<P> {
    outcome.map_err(|reason| Error::Image { name: path.display().to_string(), reason })
}

/// The picture in the bytes of a file; as [`read`].
///
/// # Errors
/// As [`read`].
pub fn decode(bytes: &[u8]) -> Result<GrayImage> {
    named(Path::new("the picture"), pixels(bytes).and_then(|pixels| to_gray(&pixels)))
}

/// The picture in the bytes of a file, with its colours and its depth; as [`read_picture`].
///
/// # Errors
/// As [`read`].
pub fn decode_picture(bytes: &[u8]) -> Result<Picture> {
    named(Path::new("the picture"), pixels(bytes).and_then(|pixels| to_picture(&pixels)))
}

/// The bytes of a file of this kind; intensities are clipped and rounded as by [`GrayImage::quantised`].
///
/// # Errors
/// As [`write_picture`].
pub fn encode_picture(picture: &Picture, format: PictureFormat) -> Result<Vec<u8>> {
    let layout = format.fitted(&plain_layout(picture)?)?;
    writer::encode_whole(picture, &layout, format)
}

/// The bytes of a JPEG file of this quality, from 1 to 100; [`encode_picture`] takes 95, whose loss is not seen.
///
/// # Errors
/// As [`write_picture`].
pub fn encode_jpeg(picture: &Picture, quality: u8) -> Result<Vec<u8>> {
    let layout = PictureFormat::Jpeg.fitted(&plain_layout(picture)?)?;
    writer::encode_jpeg(picture, &layout, quality.clamp(1, 100))
}

/// The bytes of a grey PNG file; intensities are clipped and rounded as by [`GrayImage::quantised`].
///
/// # Errors
/// [`Error::Image`] if a side is beyond what PNG can hold.
pub fn encode_png(image: &GrayImage, depth: BitDepth) -> Result<Vec<u8>> {
    encode_picture(&Picture { planes: vec![image.clone()], depth }, PictureFormat::Png)
}

/// Writes a grey PNG file, replacing any file of that name at once: no reader ever sees half a picture.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be written to, [`Error::Image`] as [`encode_png`]. A file of that name is then
/// left as it was.
pub fn write_png(path: impl AsRef<Path>, image: &GrayImage, depth: BitDepth) -> Result<()> {
    let bytes = encode_png(image, depth)?;
    write_atomically(path.as_ref(), |file| file.write_all(&bytes))
}

/// Writes a picture with its colours and its depth to a file of the kind that its name asks for (see [`PictureFormat`]);
/// otherwise as [`write_png`].
///
/// # Errors
/// As [`write_by_rows`]; if there are neither one nor three planes, or they differ in size.
pub fn write_picture(path: impl AsRef<Path>, picture: &Picture) -> Result<()> {
    let path = path.as_ref();
    let layout = PictureFormat::of(path)?.fitted(&plain_layout(picture)?)?;
    write_by_rows(path, &layout, layout.size.height, |_| Ok(picture.planes.clone()))
}

/// The layout of a picture that a file can hold.
fn plain_layout(picture: &Picture) -> Result<Layout> {
    let [first, rest @ ..] = picture.planes.as_slice() else {
        return Err(Error::Empty { what: "picture", unit: "plane" });
    };
    if !matches!(picture.planes.len(), 1 | 3) {
        return Err(Error::parameter("planes", picture.planes.len(), "must be one, or three for red, green and blue"));
    }
    rest.iter().try_for_each(|plane| plane.expect_size(first.size()))?;
    Ok(Layout::plain(picture))
}

/// Said of a file that is not whole.
const CUT_OFF: &str = "the file ends before its picture does; copy or download it again";

/// A result whose error is the reason alone: which file it was is added later.
type Outcome<P> = std::result::Result<P, String>;

/// The pixels in the bytes of a file.
fn pixels(bytes: &[u8]) -> Outcome<DynamicImage> {
    decoded(opened(bytes, MAX_PIXELS)?, bytes)
}

/// The pixels of an opened picture, upright. A BMP file has no grey: it lists its colours, and if all that it lists are
/// grey the picture is, as for everyone else who reads one.
fn decoded(mut decoder: impl ImageDecoder, bytes: &[u8]) -> Outcome<DynamicImage> {
    if bytes.starts_with(&JPEG_START) && !has_jpeg_end(bytes) {
        return Err(CUT_OFF.into());
    }
    let turn = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut pixels = DynamicImage::from_decoder(decoder).map_err(|error| refusal(&error))?;
    pixels.apply_orientation(turn);
    let lists_colours =
        bytes.starts_with(b"BM") && bytes.get(28..30).is_some_and(|bits| u16::from_le_bytes([bits[0], bits[1]]) <= 8);
    let is_grey = |rgb: &[u8]| rgb[0] == rgb[1] && rgb[1] == rgb[2];
    match &pixels {
        DynamicImage::ImageRgb8(p) if lists_colours && p.as_raw().chunks_exact(3).all(is_grey) => {
            Ok(pixels.into_luma8().into())
        }
        _ => Ok(pixels),
    }
}

/// The marker that a JPEG file begins with.
const JPEG_START: [u8; 2] = [0xff, 0xd8];

/// Whether a JPEG file goes on to the marker of its end. The decoder paints what is missing grey and does not say so.
fn has_jpeg_end(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(place) = rest.iter().position(|&byte| byte == 0xff) {
        rest = &rest[place + 1..];
        match *rest {
            [0xd9, ..] => return true,
            // No marker, but a byte of the picture; or a marker alone.
            [0x00 | 0x01 | 0xd0..=0xd8, ..] => rest = &rest[1..],
            // Markers may be preceded by any number of these.
            [0xff, ..] => (),
            // What may hold a smaller picture with an end of its own is passed over by its length.
            [_, high, low, ..] => {
                rest = rest.get(1 + usize::from(u16::from_be_bytes([high, low]))..).unwrap_or_default();
            }
            _ => return false,
        }
    }
    false
}

/// The bytes of a file opened as a picture, if its pixels are not more than these.
fn opened(bytes: &[u8], max_pixels: u64) -> Outcome<impl ImageDecoder> {
    let max_pixels = max_pixels.min(MAX_PIXELS);
    let mut limits = Limits::default();
    limits.max_alloc = Some((BYTES_OF_PIXEL * max_pixels).clamp(BYTES_OF_DECODER, MAX_BYTES));
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    if bytes.is_empty() {
        return Err("the file is empty; copy or download it again".into());
    }
    if reader.format().is_none() {
        return Err("this is no picture of a known kind; give a PNG, JPEG, TIFF, BMP, PNM or WebP file".into());
    }
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| refusal(&error))?;
    let (width, height) = decoder.dimensions();
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(format!("{width}×{height} pixels: a side has more than the {MAX_SIDE} that are allowed"));
    }
    if u64::from(width) * u64::from(height) > max_pixels {
        return Err(format!("{width}×{height} pixels are more than the {max_pixels} that are allowed"));
    }
    Ok(decoder)
}

/// Why a picture was not read, in words that say what to do if that is known.
fn refusal(error: &ImageError) -> String {
    match error {
        ImageError::Unsupported(what) if matches!(what.kind(), UnsupportedErrorKind::Color(_)) => {
            "its samples are of a kind that is not read, such as floating point; save it in 8 or 16 bits".into()
        }
        ImageError::Unsupported(what) if matches!(what.kind(), UnsupportedErrorKind::Format(_)) => {
            "pictures of this kind, such as GIF, are not read; save it, or one picture of an animation, as PNG".into()
        }
        // TIFF with a palette, or of a colour space that is none of brightness or red, green and blue.
        ImageError::Unsupported(_) => {
            "its colours are kept in a way that is not read, such as a palette in TIFF; save it as PNG".into()
        }
        ImageError::Limits(_) => {
            format!("it takes more memory than a picture of the {MAX_PIXELS} pixels that are allowed")
        }
        ImageError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => CUT_OFF.into(),
        _ => error.to_string(),
    }
}

fn to_gray(picture: &DynamicImage) -> Outcome<GrayImage> {
    let samples = match picture {
        DynamicImage::ImageLuma8(p) => gray(p.as_raw(), 1, BitDepth::Eight),
        DynamicImage::ImageLumaA8(p) => gray(p.as_raw(), 2, BitDepth::Eight),
        DynamicImage::ImageLuma16(p) => gray(p.as_raw(), 1, BitDepth::Sixteen),
        DynamicImage::ImageLumaA16(p) => gray(p.as_raw(), 2, BitDepth::Sixteen),
        DynamicImage::ImageRgb8(p) => luma(p.as_raw(), 3, BitDepth::Eight),
        DynamicImage::ImageRgba8(p) => luma(p.as_raw(), 4, BitDepth::Eight),
        DynamicImage::ImageRgb16(p) => luma(p.as_raw(), 3, BitDepth::Sixteen),
        DynamicImage::ImageRgba16(p) => luma(p.as_raw(), 4, BitDepth::Sixteen),
        other => return Err(no_white(other)),
    };
    plane(picture, samples)
}

fn to_picture(picture: &DynamicImage) -> Outcome<Picture> {
    let colours = |planes: [Vec<f64>; 3], depth: BitDepth| -> Outcome<Picture> {
        let planes = planes.into_iter().map(|samples| plane(picture, samples)).collect::<Outcome<Vec<_>>>()?;
        Ok(Picture { planes, depth })
    };
    match picture {
        DynamicImage::ImageRgb8(p) => colours(rgb(p.as_raw(), 3, BitDepth::Eight), BitDepth::Eight),
        DynamicImage::ImageRgba8(p) => colours(rgb(p.as_raw(), 4, BitDepth::Eight), BitDepth::Eight),
        DynamicImage::ImageRgb16(p) => colours(rgb(p.as_raw(), 3, BitDepth::Sixteen), BitDepth::Sixteen),
        DynamicImage::ImageRgba16(p) => colours(rgb(p.as_raw(), 4, BitDepth::Sixteen), BitDepth::Sixteen),
        DynamicImage::ImageLuma16(_) | DynamicImage::ImageLumaA16(_) => {
            Ok(Picture { planes: vec![to_gray(picture)?], depth: BitDepth::Sixteen })
        }
        _ => Ok(Picture { planes: vec![to_gray(picture)?], depth: BitDepth::Eight }),
    }
}

fn no_white(picture: &DynamicImage) -> String {
    format!("samples of type {:?} have no fixed white; save it in 8 or 16 bits", picture.color())
}

fn plane(picture: &DynamicImage, samples: Vec<f64>) -> Outcome<GrayImage> {
    let size = Size { width: picture.width() as usize, height: picture.height() as usize };
    GrayImage::new(size, samples).map_err(|error| error.to_string())
}

/// Red, green and blue of each pixel.
fn rgb<S: Copy + Into<f64>>(samples: &[S], channels: usize, depth: BitDepth) -> [Vec<f64>; 3] {
    [0, 1, 2].map(|c| samples.chunks_exact(channels).map(|pixel| pixel[c].into() / depth.steps()).collect())
}

/// The first of the channels of each pixel.
fn gray<S: Copy + Into<f64>>(samples: &[S], channels: usize, depth: BitDepth) -> Vec<f64> {
    samples.chunks_exact(channels).map(|pixel| pixel[0].into() / depth.steps()).collect()
}

/// The BT.601 luma of each pixel; the weights are whole numbers so that a grey pixel keeps its value exactly.
fn luma<S: Copy + Into<f64>>(samples: &[S], channels: usize, depth: BitDepth) -> Vec<f64> {
    let weigh = |pixel: &[S]| 299.0 * pixel[0].into() + 587.0 * pixel[1].into() + 114.0 * pixel[2].into();
    samples.chunks_exact(channels).map(|pixel| weigh(pixel) / 1000.0 / depth.steps()).collect()
}

#[cfg(test)]
mod tests;
