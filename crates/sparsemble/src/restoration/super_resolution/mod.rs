//! Super-resolution: a picture made larger than it was taken (§IV-B).
//!
//! | what | where |
//! | --- | --- |
//! | stages of anchored ensembles that enlarge a picture | [`Upscaler`](crate::ensemble::Upscaler), [`enlarge`](crate::ensemble::Upscaler::enlarge) |
//! | learning them from pictures | [`UpscalerLearner`], [`StageSettings`], [`UpscalerLearning`] |

mod cascade;
mod photos;
mod settings;
mod stage;
mod strip;
mod training;
mod windows;

pub use settings::{StageSettings, UpscalerLearner};
pub use training::UpscalerLearning;
