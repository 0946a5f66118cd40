//! Sparse coding.
pub mod coding;
pub mod degradation;
mod blocks;
mod error;
pub mod image;
mod kernels;
mod matrix;
pub mod metrics;
pub mod patch;
mod rng;
mod scalar;

pub use blocks::{ProgressFn, Run};
pub use error::{Error, Result};
pub use matrix::{Matrix, MatrixView};
pub use scalar::Scalar;
