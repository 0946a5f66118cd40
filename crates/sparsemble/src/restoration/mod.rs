//! Restoration: samples and pictures from what a known degradation has left of them (§IV).
//!
//! | what | where |
//! | --- | --- |
//! | measurements of blocks, each recovered on its own (§IV-A) | [`Blockwise`], [`measure`] |

mod blockwise;
mod gaussian_prior;

pub use blockwise::{Blockwise, Dc, measure};
pub use gaussian_prior::Adaptation;
