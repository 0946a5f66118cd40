//! Picture files of any kind, written some rows at a time.

use std::io::{self, Cursor, Write};
use std::ops::Range;
use std::path::Path;

use ::image::codecs::{bmp::BmpEncoder, jpeg::JpegEncoder, tiff::TiffEncoder, webp::WebPEncoder};
use ::image::{ExtendedColorType, ImageEncoder, ImageResult};

use crate::error::{Error, Result, expect_size};
use crate::files::write_atomically;

use super::super::plane::{BitDepth, GrayImage, Picture, Size};
use super::raster::Layout;

/// Loss that is not seen: what the result of a restoration deserves.
const JPEG_QUALITY: u8 = 95;

/// A kind of picture file that can be written.
///
/// | kind | 16 bits | alpha | profile | EXIF |
/// | --- | --- | --- | --- | --- |
/// | PNG | yes | yes | yes | yes |
/// | JPEG | – | – | yes | yes |
/// | TIFF | yes | colour only | yes | – |
/// | WebP, without loss | – | yes | yes | yes |
/// | BMP | – | colour only | – | – |
/// | PNM: PGM or PPM, with alpha PAM | yes | yes | – | – |
/// | PAM | yes | yes | – | – |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the formats")]
pub enum PictureFormat {
    Png,
    Jpeg,
    Tiff,
    Bmp,
    Pnm,
    Pam,
    WebP,
}

impl PictureFormat {
    /// The format that the end of a file's name asks for.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        Ok(match extension.as_str() {
            "png" => Self::Png,
            "jpg" | "jpeg" => Self::Jpeg,
            "tif" | "tiff" => Self::Tiff,
            "bmp" => Self::Bmp,
            "pnm" | "pgm" | "ppm" => Self::Pnm,
            "pam" => Self::Pam,
            "webp" => Self::WebP,
            _ => {
                return Err(Error::Image {
                    name: path.display().to_string(),
                    reason: "the name of a picture ends in .png, .jpg, .tif, .bmp, .pnm or .webp".into(),
                });
            }
        })
    }

    /// Whether it can hold EXIF data.
    fn holds_exif(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::WebP)
    }

    /// What of a layout it can hold: some hold no 16 bits, no profile or no EXIF data. Alpha is never taken away.
    ///
    /// # Errors
    /// If it cannot hold the alpha that is there.
    pub fn fitted(self, layout: &Layout) -> Result<Layout> {
        let alpha = match self {
            Self::Png | Self::WebP | Self::Pnm | Self::Pam => true,
            Self::Jpeg => false,
            Self::Tiff | Self::Bmp => layout.channels == 4,
        };
        if layout.has_alpha() && !alpha {
            return Err(Error::Image {
                name: format!("a {} picture with alpha", layout.size),
                reason: "this kind of file cannot hold it; write .png".into(),
            });
        }
        let sixteen = matches!(self, Self::Png | Self::Tiff | Self::Pnm | Self::Pam);
        Ok(Layout {
            depth: if sixteen { layout.depth } else { BitDepth::Eight },
            profile: layout.profile.clone().filter(|_| !matches!(self, Self::Bmp | Self::Pnm | Self::Pam)),
            exif: layout.exif.clone().filter(|_| self.holds_exif()),
            ..*layout
        })
    }
}

/// Writes a picture of the kind its name asks for, `step` rows at a time, replacing any file of that name at once.
///
/// `next` is asked for every channel of some rows, from the top down; they are clipped and rounded as by
/// [`GrayImage::quantised`]. A PNG or PNM file needs no more memory than that; the other kinds are in memory as a
/// whole, in the numbers of the file. The layout should be one that [fits](PictureFormat::fitted) the kind.
///
/// # Errors
/// Those of `next`; [`Error::Image`] if this kind of file cannot hold the picture; [`Error::Io`] if it cannot be written.
/// A file of that name is then left as it was.
pub fn write_by_rows(
    path: impl AsRef<Path>,
    layout: &Layout,
    step: usize,
    next: impl FnMut(Range<usize>) -> Result<Vec<GrayImage>>,
) -> Result<()> {
    let path = path.as_ref();
    let format = PictureFormat::of(path)?;
    let mut rows = levels_by_rows(layout, step, format, next);
    let mut refused = None;
    let written = write_atomically(path, |file| {
        encode_rows(file, layout, &mut rows, format).map_err(|failure| match failure {
            Failure::Disk(error) => error,
            Failure::Other(error) => {
                refused = Some(error);
                io::Error::other("refused")
            }
        })
    });
    match refused {
        Some(Error::Image { reason, .. }) => Err(Error::Image { name: path.display().to_string(), reason }),
        Some(error) => Err(error),
        None => written,
    }
}

/// The bytes of a file of this kind.
pub(super) fn encode_whole(picture: &Picture, layout: &Layout, format: PictureFormat) -> Result<Vec<u8>> {
    encoded(layout, &mut std::iter::once(Ok(levels(&picture.planes, layout.depth, format))), format)
}

/// The bytes of a JPEG file of this quality.
pub(super) fn encode_jpeg(picture: &Picture, layout: &Layout, quality: u8) -> Result<Vec<u8>> {
    let samples = levels(&picture.planes, layout.depth, PictureFormat::Jpeg);
    let mut bytes = Vec::new();
    told(layout, encode(JpegEncoder::new_with_quality(&mut bytes, quality), layout, &samples))?;
    Ok(bytes)
}

/// The bytes of a PNG file, made as [`write_by_rows`] does.
///
/// # Errors
/// Those of `next`; [`Error::Image`] if a side is beyond what PNG can hold.
pub fn encode_by_rows(
    layout: &Layout,
    step: usize,
    next: impl FnMut(Range<usize>) -> Result<Vec<GrayImage>>,
) -> Result<Vec<u8>> {
    encoded(layout, &mut levels_by_rows(layout, step, PictureFormat::Png, next), PictureFormat::Png)
}

fn encoded(layout: &Layout, rows: Rows<'_>, format: PictureFormat) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    told(layout, encode_rows(&mut bytes, layout, rows, format))?;
    Ok(bytes)
}

/// The error, for a picture that has no name.
fn told(layout: &Layout, encoded: std::result::Result<(), Failure>) -> Result<()> {
    encoded.map_err(|failure| match failure {
        Failure::Disk(error) => Error::Image { name: format!("a {} picture", layout.size), reason: error.to_string() },
        Failure::Other(error) => error,
    })
}

/// Why a picture was not written.
enum Failure {
    Disk(io::Error),
    Other(Error),
}

impl Failure {
    fn format(reason: &impl ToString) -> Self {
        Self::Other(Error::Image { name: "the picture".into(), reason: reason.to_string() })
    }
}

/// What the encoder wants, some rows at a time.
fn levels_by_rows(
    layout: &Layout,
    step: usize,
    format: PictureFormat,
    mut next: impl FnMut(Range<usize>) -> Result<Vec<GrayImage>>,
) -> impl Iterator<Item = Result<Vec<u8>>> {
    let Size { width, height } = layout.size;
    (0..height).step_by(step.max(1)).map(move |start| {
        let rows = start..(start + step.max(1)).min(height);
        let planes = next(rows.clone())?;
        expect_size("planes: number of channels", layout.channels, planes.len())?;
        planes.iter().try_for_each(|plane| plane.expect_size(Size { width, height: rows.len() }))?;
        Ok(levels(&planes, layout.depth, format))
    })
}

/// The bytes of some rows as the encoder wants them: PNG and PNM begin with the greater half of a sample, the encoders of
/// the other kinds take them in the order of the machine.
fn levels(planes: &[GrayImage], depth: BitDepth, format: PictureFormat) -> Vec<u8> {
    let pixels = 0..planes[0].samples().len();
    let levels = pixels.flat_map(|i| planes.iter().map(move |plane| depth.level(plane.samples()[i])));
    match (depth, format) {
        (BitDepth::Eight, _) => levels.map(|level| level as u8).collect(),
        (BitDepth::Sixteen, PictureFormat::Png | PictureFormat::Pnm | PictureFormat::Pam) => {
            levels.flat_map(u16::to_be_bytes).collect()
        }
        (BitDepth::Sixteen, _) => levels.flat_map(u16::to_ne_bytes).collect(),
    }
}

type Rows<'a> = &'a mut dyn Iterator<Item = Result<Vec<u8>>>;

fn encode_rows(
    file: &mut dyn Write,
    layout: &Layout,
    rows: Rows<'_>,
    format: PictureFormat,
) -> std::result::Result<(), Failure> {
    match format {
        PictureFormat::Png => png(file, layout, rows),
        PictureFormat::Pnm | PictureFormat::Pam => pnm(file, layout, rows, format),
        _ => whole(file, layout, rows, format),
    }
}

/// Written here because the encoder of the image crate has neither PPM nor grey with alpha in 16 bits.
fn pnm(
    file: &mut dyn Write,
    layout: &Layout,
    rows: Rows<'_>,
    format: PictureFormat,
) -> std::result::Result<(), Failure> {
    let (Size { width, height }, channels) = (layout.size, layout.channels);
    let white = match layout.depth {
        BitDepth::Eight => 255,
        BitDepth::Sixteen => 65_535,
    };
    let arbitrary = |kind: &str| {
        format!("P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {white}\nTUPLTYPE {kind}\nENDHDR\n")
    };
    let header = match (channels, format) {
        (1, PictureFormat::Pnm) => format!("P5\n{width} {height}\n{white}\n"),
        (3, PictureFormat::Pnm) => format!("P6\n{width} {height}\n{white}\n"),
        (1, _) => arbitrary("GRAYSCALE"),
        (2, _) => arbitrary("GRAYSCALE_ALPHA"),
        (3, _) => arbitrary("RGB"),
        _ => arbitrary("RGB_ALPHA"),
    };
    file.write_all(header.as_bytes()).map_err(Failure::Disk)?;
    for bytes in rows {
        file.write_all(&bytes.map_err(Failure::Other)?).map_err(Failure::Disk)?;
    }
    Ok(())
}

fn png(file: &mut dyn Write, layout: &Layout, rows: Rows<'_>) -> std::result::Result<(), Failure> {
    let failed = |error: ::png::EncodingError| match error {
        ::png::EncodingError::IoError(error) => Failure::Disk(error),
        other => Failure::format(&other),
    };
    let [width, height] = sides(layout)?;
    let mut info = ::png::Info::with_size(width, height);
    info.color_type = match layout.channels {
        1 => ::png::ColorType::Grayscale,
        2 => ::png::ColorType::GrayscaleAlpha,
        3 => ::png::ColorType::Rgb,
        _ => ::png::ColorType::Rgba,
    };
    info.bit_depth = match layout.depth {
        BitDepth::Eight => ::png::BitDepth::Eight,
        BitDepth::Sixteen => ::png::BitDepth::Sixteen,
    };
    info.icc_profile = layout.profile.as_deref().map(Into::into);
    info.exif_metadata = layout.exif.as_deref().map(Into::into);
    let mut header = ::png::Encoder::with_info(file, info).and_then(::png::Encoder::write_header).map_err(failed)?;
    let mut stream = header.stream_writer().map_err(failed)?;
    for bytes in rows {
        stream.write_all(&bytes.map_err(Failure::Other)?).map_err(Failure::Disk)?;
    }
    stream.finish().map_err(failed)
}

/// Of the kinds whose encoders want all of it at once.
fn whole(
    file: &mut dyn Write,
    layout: &Layout,
    rows: Rows<'_>,
    format: PictureFormat,
) -> std::result::Result<(), Failure> {
    let samples = rows.collect::<Result<Vec<_>>>().map_err(Failure::Other)?.concat();
    let mut bytes = Vec::new();
    let encoded = match format {
        PictureFormat::Jpeg => encode(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY), layout, &samples),
        PictureFormat::WebP => encode(WebPEncoder::new_lossless(&mut bytes), layout, &samples),
        PictureFormat::Bmp => encode(BmpEncoder::new(&mut bytes), layout, &samples),
        _ => encode(TiffEncoder::new(Cursor::new(&mut bytes)), layout, &samples),
    };
    encoded?;
    file.write_all(&bytes).map_err(Failure::Disk)
}

fn encode(mut encoder: impl ImageEncoder, layout: &Layout, samples: &[u8]) -> std::result::Result<(), Failure> {
    if let Some(profile) = &layout.profile {
        encoder.set_icc_profile(profile.clone()).map_err(|error| Failure::format(&error))?;
    }
    if let Some(exif) = &layout.exif {
        encoder.set_exif_metadata(exif.clone()).map_err(|error| Failure::format(&error))?;
    }
    let colour = match (layout.channels, layout.depth) {
        (1, BitDepth::Eight) => ExtendedColorType::L8,
        (2, BitDepth::Eight) => ExtendedColorType::La8,
        (3, BitDepth::Eight) => ExtendedColorType::Rgb8,
        (_, BitDepth::Eight) => ExtendedColorType::Rgba8,
        (1, BitDepth::Sixteen) => ExtendedColorType::L16,
        (2, BitDepth::Sixteen) => ExtendedColorType::La16,
        (3, BitDepth::Sixteen) => ExtendedColorType::Rgb16,
        (_, BitDepth::Sixteen) => ExtendedColorType::Rgba16,
    };
    let [width, height] = sides(layout)?;
    let written: ImageResult<()> = encoder.write_image(samples, width, height, colour);
    written.map_err(|error| Failure::format(&error))
}

fn sides(layout: &Layout) -> std::result::Result<[u32; 2], Failure> {
    let side = |pixels: usize| u32::try_from(pixels).map_err(|error| Failure::format(&error));
    Ok([side(layout.size.width)?, side(layout.size.height)?])
}
