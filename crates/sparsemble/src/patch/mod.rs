//! Patches: small square pieces of a picture, as the columns of a matrix.
//!
//! A patch of side p is a column of p² features, its rows from top to bottom, each from left to right, as NumPy and
//! scikit-learn flatten one. (MATLAB goes down the columns: transpose each patch of data that comes from there.)

mod grid;
mod means;
mod mosaic;
mod sliding;
mod training;

pub(crate) use grid::copy_patch;
pub use grid::{PatchGrid, Stride};
pub(crate) use means::remove_mean;
pub use means::{add_means, remove_means};
pub use mosaic::mosaic;
pub(crate) use sliding::sliding_blocks_here;
pub use sliding::{n_sliding_blocks, sliding_blocks};
pub use training::TrainingPatches;
pub(crate) use training::{Shuffle, check_draw};
