//! Grey pictures: the samples in memory, and files on disk.

#[cfg(feature = "io")]
mod io;
mod plane;

#[cfg(feature = "io")]
pub use io::{decode, encode_png, read, read_picture, write_picture, write_png};
pub use plane::{BitDepth, GrayImage, Picture, Size, WHITE};
