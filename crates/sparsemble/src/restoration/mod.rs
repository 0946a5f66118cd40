//! Restoration: blocks and pictures from what a known degradation has left of them (§IV).
//!
//! | what | where |
//! | --- | --- |
//! | blocks, each from its own measurements (§IV-A) | [`Blockwise`], [`measure`] |

mod blockwise;

pub use blockwise::{Blockwise, Dc, measure};
