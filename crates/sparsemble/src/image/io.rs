//! Picture files (feature `io`): the only place where the image stage touches the disk.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use ::image::codecs::png::PngEncoder;
use ::image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageReader, Limits};

use crate::error::{Error, Result};
use crate::files::write_atomically;

use super::plane::{BitDepth, GrayImage, Picture, Size};

/// A small file can promise a huge picture; beyond these limits it is refused before memory is spent on it.
const MAX_SIDE: u32 = 1 << 16;
const MAX_PIXELS: u64 = 1 << 27;
const MAX_BYTES: u64 = 1 << 30;

/// Reads a PNG, JPEG, PNM, TIFF or BMP file, told apart by content, as a grey picture.
///
/// 8-bit samples keep their value and 16-bit samples are divided by 257 (see [`WHITE`](super::WHITE)). Colour becomes
/// its BT.601 luma (299 R + 587 G + 114 B) / 1000, not rounded. Alpha, colour profiles and orientation are ignored.
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

/// The bytes of a grey PNG file; intensities are clipped and rounded as by [`GrayImage::quantised`].
///
/// # Errors
/// [`Error::Image`] if a side is beyond what PNG can hold.
pub fn encode_png(image: &GrayImage, depth: BitDepth) -> Result<Vec<u8>> {
    encode_planes(&[image], depth)
}

/// The bytes of a PNG file of one plane, or of three that are as large.
fn encode_planes(planes: &[&GrayImage], depth: BitDepth) -> Result<Vec<u8>> {
    let size = planes[0].size();
    let pixels = 0..planes[0].samples().len();
    let levels = pixels.flat_map(|i| planes.iter().map(move |plane| depth.level(plane.samples()[i])));
    let (samples, colour): (Vec<u8>, _) = match (depth, planes.len()) {
        (BitDepth::Eight, 1) => (levels.map(|level| level as u8).collect(), ExtendedColorType::L8),
        (BitDepth::Eight, _) => (levels.map(|level| level as u8).collect(), ExtendedColorType::Rgb8),
        // The encoder takes 16-bit samples in the byte order of the machine.
        (BitDepth::Sixteen, 1) => (levels.flat_map(u16::to_ne_bytes).collect(), ExtendedColorType::L16),
        (BitDepth::Sixteen, _) => (levels.flat_map(u16::to_ne_bytes).collect(), ExtendedColorType::Rgb16),
    };
    let Size { width, height } = size;
    let refused = |reason: String| Error::Image { name: format!("a {size} picture"), reason };
    let side = |pixels: usize| u32::try_from(pixels).map_err(|error| refused(error.to_string()));
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(&samples, side(width)?, side(height)?, colour)
        .map_err(|error| refused(error.to_string()))?;
    Ok(bytes)
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

/// Writes a picture with its colours and its depth as a PNG file; otherwise as [`write_png`].
///
/// # Errors
/// As [`write_png`]; if there are neither one nor three planes, or they differ in size.
pub fn write_picture(path: impl AsRef<Path>, picture: &Picture) -> Result<()> {
    let planes: Vec<&GrayImage> = picture.planes.iter().collect();
    let [first, rest @ ..] = planes.as_slice() else { return Err(Error::Empty { what: "picture", unit: "plane" }) };
    if !matches!(rest.len(), 0 | 2) {
        return Err(Error::parameter("planes", planes.len(), "must be one, or three for red, green and blue"));
    }
    rest.iter().try_for_each(|plane| plane.expect_size(first.size()))?;
    let bytes = encode_planes(&planes, picture.depth)?;
    write_atomically(path.as_ref(), |file| file.write_all(&bytes))
}

/// A result whose error is the reason alone: which file it was is added later.
type Outcome<P> = std::result::Result<P, String>;

/// The pixels in the bytes of a file, if they are not too many.
fn pixels(bytes: &[u8]) -> Outcome<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_BYTES);
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    if reader.format().is_none() {
        return Err("this is no picture of a known kind; give a PNG, JPEG, TIFF, BMP or PNM file".into());
    }
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions();
    if width > MAX_SIDE || height > MAX_SIDE || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(format!("{width}×{height} pixels are more than the {MAX_PIXELS} that are allowed"));
    }
    DynamicImage::from_decoder(decoder).map_err(|error| error.to_string())
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
