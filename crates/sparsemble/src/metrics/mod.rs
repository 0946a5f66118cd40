//! How good a result is.

mod image;
mod samples;

pub use image::{mse, psnr};
pub use samples::Residuals;
