//! Restoration.
mod gaussian_prior;
mod image_level;
pub use gaussian_prior::Adaptation;
pub use image_level::ImageLevel;
