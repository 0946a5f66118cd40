//! Super-resolution: a picture made larger than it was taken (§IV-B).
//!
//! | what | where |
//! | --- | --- |
//! | what every method can do, and interpolation alone | [`Enlarge`], [`Interpolated`] |
//! | stages of anchored ensembles that enlarge a picture | [`Upscaler`](crate::ensemble::Upscaler), [`enlarge`](crate::ensemble::Upscaler::enlarge) |
//! | upscalers for photographs | `natural_upscaler` (feature `io`) |
//! | learning them from pictures | [`UpscalerLearner`], [`StageSettings`], [`UpscalerLearning`] |
//! | the paper's methods: features coded, patches put together | [`ByDictionary`] |
//! | what a blurred patch is known by | [`gradient_features`] |
//! | patches with the features of their blurred copies, to learn from | [`TrainingPairs`], [`Pairs`] |
//! | any trained model as one from features to patches | [`PairLayout`] |
//! | the enlarged picture made to fit the small one, Eq. (16) | [`BackProjection`] |
//! | the dictionary of Yang et al. | `read_scsr` (feature `io`) |
//! | pictures with colours, to any size, some rows at a time | [`Enlargement`] |

mod back_projection;
mod by_dictionary;
mod by_rows;
mod cascade;
mod cut_out;
mod enlarge;
mod features;
#[cfg(feature = "io")]
mod natural;
mod pairs;
mod photos;
#[cfg(feature = "io")]
mod scsr;
mod settings;
mod stage;
mod strip;
mod training;
mod windows;

pub use back_projection::BackProjection;
pub use by_dictionary::ByDictionary;
pub use by_rows::{EnlargedRows, Enlargement};
pub use enlarge::{Enlarge, Interpolated};
pub use features::gradient_features;
#[cfg(feature = "io")]
pub use natural::natural_upscaler;
pub use pairs::{PairLayout, Pairs, TrainingPairs};
#[cfg(feature = "io")]
pub use scsr::read_scsr;
pub use settings::{StageSettings, UpscalerLearner};
pub use training::UpscalerLearning;

use crate::error::{Error, Result};
use crate::image::GrayImage;
use crate::matrix::first_not_finite;

/// Refuses a picture with NaN or infinities, which rounding to grey levels would hide.
fn expect_finite(image: &GrayImage) -> Result<()> {
    let Some(pixel) = first_not_finite(image.samples()) else { return Ok(()) };
    let width = image.size().width;
    Err(Error::NotFinite { what: "image", row: pixel / width, column: pixel % width })
}
