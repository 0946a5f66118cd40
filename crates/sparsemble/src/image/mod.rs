//! Grey pictures: the samples in memory, and files on disk.

#[cfg(feature = "io")]
mod io;
mod plane;

#[cfg(feature = "io")]
pub use io::{decode, encode_png, read, write_png};
pub use plane::{BitDepth, GrayImage, Size, WHITE};
