//! Pictures: the samples in memory, in other sizes, brightness and colour apart, quantities as colours, and files on disk.

mod heat;
#[cfg(feature = "io")]
mod io;
mod plane;
mod resize;
mod ycbcr;

pub use heat::{HEAT, HeatMap};
#[cfg(feature = "io")]
pub use io::{
    Layout, PictureFormat, Raster, decode, decode_picture, encode_by_rows, encode_jpeg, encode_picture, encode_png,
    read, read_picture, write_by_rows, write_picture, write_png,
};
pub use plane::{BitDepth, GrayImage, Picture, Size, WHITE};
pub use resize::{Interpolation, Resampling, rescale, resize};
pub use ycbcr::{to_rgb, to_ycbcr};
