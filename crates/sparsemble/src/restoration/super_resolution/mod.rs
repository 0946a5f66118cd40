//! Super-resolution: a picture made larger than it was taken (§IV-B).
//!
//! | what | where |
//! | --- | --- |
//! | what every method can do, and interpolation alone | [`Enlarge`], [`Interpolated`] |
//! | stages of anchored ensembles that enlarge a picture | [`Upscaler`](crate::ensemble::Upscaler), [`enlarge`](crate::ensemble::Upscaler::enlarge) |
//! | learning them from pictures | [`UpscalerLearner`], [`StageSettings`], [`UpscalerLearning`] |
//! | pictures with colours, to any size, some rows at a time | [`Enlargement`] |

mod by_rows;
mod cascade;
mod enlarge;
mod photos;
mod settings;
mod stage;
mod strip;
mod training;
mod windows;

pub use by_rows::{EnlargedRows, Enlargement};
pub use enlarge::{Enlarge, Interpolated};
pub use settings::{StageSettings, UpscalerLearner};
pub use training::UpscalerLearning;
