//! How good a result is.

mod assignment;
mod image;
mod partition;
mod quality;
mod samples;
mod ssim;

pub use assignment::optimal_assignment;
pub use image::{mse, psnr, psnr_of_bytes, psnr_of_samples};
pub use partition::Agreement;
pub use quality::{Protocol, Quality};
pub use samples::Residuals;
pub use ssim::ssim;
