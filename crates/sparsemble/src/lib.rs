//! Sparse coding, dictionary learning and ensemble sparse models.
//!
//! A sparse model approximates a sample x by D·a, a few columns (*atoms*) of a dictionary D. The code reads as the data
//! flows, and the modules are the stages:
//!
//! 1. [`image`]: pictures in and out;
//! 2. [`patch`]: a picture to patches and back;
//! 3. [`degradation`]: what happened to the samples, z = Φx;
//! 4. [`coding`]: sparse codes of samples in a basis;
//! 5. [`kmeans`]: cluster centres of samples;
//! 6. [`dictionary`]: atoms learned from samples;
//! 7. [`ensemble`]: many models, combined;
//! 8. [`recipe`]: a training chosen at run time, and [`Model`], whatever it makes;
//! 9. [`restoration`]: blocks and pictures from what is left of them;
//! 10. [`graph`] and [`clustering`]: samples joined to those like them, and clusters of them;
//! 11. [`metrics`]: how good the result is;
//! 12. `matrix_file` and `model_file` (feature `io`): samples, codes and models to files and back.
//!
//! Samples are columns ([`Matrix`], [`MatrixView`]), everything is generic over `f32` and `f64` ([`Scalar`]), and results
//! are the same bits for any number of threads ([`Run`]). Nothing here prints, reads a clock or draws unseeded random
//! numbers. λ is that of Eq. (1) of the paper: ‖x − Da‖² + λ‖a‖₁, without ½.
//!
//! ```
//! use sparsemble::coding::{CodingBasis, Lasso, Pursuit, Samples, SparseCoder};
//! use sparsemble::{Matrix, Run};
//!
//! let atoms = Matrix::from_fn(16, 40, |r, c| ((r * c + r + 3 * c) as f32).sin());
//! let samples = Matrix::from_fn(16, 5, |r, c| ((r + 7 * c) as f32).cos());
//!
//! let basis = CodingBasis::new(atoms.view())?;
//! let samples = Samples::new(samples.view());
//! let lasso = Lasso::lambda(0.2).encode(&basis, &samples, Run::default())?;
//! let greedy = Pursuit::omp(3).encode(&basis, &samples, Run::default())?;
//!
//! assert!(lasso.report.worst_gap <= Some(1e-6)); // certified
//! assert_eq!(greedy.codes.column(0).count(), 3);
//! # Ok::<(), sparsemble::Error>(())
//! ```

mod blocks;
mod cholesky;
pub mod clustering;
pub mod coding;
pub mod degradation;
pub mod dictionary;
mod eigen;
pub mod ensemble;
mod error;
#[cfg(feature = "io")]
mod files;
pub mod graph;
pub mod image;
mod instances;
mod kernels;
pub mod kmeans;
mod masses;
mod matrix;
#[cfg(feature = "io")]
pub mod matrix_file;
pub mod metrics;
mod model;
#[cfg(feature = "io")]
pub mod model_file;
pub mod patch;
mod points;
#[cfg(feature = "io")]
mod reason;
pub mod recipe;
pub mod restoration;
mod rng;
mod sampling;
mod scalar;
mod spec;
mod sums;
mod worst;

pub use blocks::{ProgressFn, Run};
pub use error::{Error, Result};
pub use matrix::{Matrix, MatrixView};
pub use model::Model;
pub use rng::Draw;
pub use scalar::Scalar;
