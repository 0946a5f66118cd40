//! Sparse coding.
pub mod coding;
mod blocks;
mod error;
mod kernels;
mod matrix;
mod scalar;

pub use blocks::{ProgressFn, Run};
pub use error::{Error, Result};
pub use matrix::{Matrix, MatrixView};
pub use scalar::Scalar;
