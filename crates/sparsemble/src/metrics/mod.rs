//! How good a result is.

mod image;
mod samples;
mod ssim;

pub use image::{mse, psnr};
pub use samples::Residuals;
pub use ssim::ssim;
