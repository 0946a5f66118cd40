//! How good a result is.

mod image;

pub use image::{mse, psnr};
