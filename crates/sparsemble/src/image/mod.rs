//! Pictures: the samples in memory, in other sizes, brightness and colour apart, and files on disk.

#[cfg(feature = "io")]
mod io;
mod plane;
mod resize;
mod ycbcr;

#[cfg(feature = "io")]
pub use io::{decode, encode_png, read, read_picture, write_picture, write_png};
pub use plane::{BitDepth, GrayImage, Picture, Size, WHITE};
pub use resize::{Interpolation, rescale, resize};
pub use ycbcr::{to_rgb, to_ycbcr};
