//! How good a result is.

mod image;
mod quality;
mod samples;
mod ssim;

pub use image::{mse, psnr};
pub use quality::{Protocol, Quality};
pub use samples::Residuals;
pub use ssim::ssim;
