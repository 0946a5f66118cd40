//! Super-resolution: a picture made larger than it was taken (§IV-B).
//!
//! | what | where |
//! | --- | --- |
//! | what a blurred patch is known by | [`gradient_features`] |
//! | patches with the features of their blurred copies, to learn from | [`TrainingPairs`], [`Pairs`] |
//! | any trained model as one from features to patches | [`PairLayout`] |
//! | the paper's methods: features coded, patches put together | [`ByDictionary`] |
//! | the enlarged picture made to fit the small one, Eq. (16) | [`BackProjection`] |
//! | the dictionary of Yang et al. | `read_scsr` (feature `io`) |

mod back_projection;
mod by_dictionary;
mod features;
mod pairs;
#[cfg(feature = "io")]
mod scsr;

pub use back_projection::BackProjection;
pub use by_dictionary::ByDictionary;
pub use features::gradient_features;
pub use pairs::{PairLayout, Pairs, TrainingPairs};
#[cfg(feature = "io")]
pub use scsr::read_scsr;

use crate::error::{Error, Result};
use crate::image::GrayImage;
use crate::matrix::first_not_finite;

/// Refuses a picture with NaN or infinities, which rounding to grey levels would hide.
fn expect_finite(image: &GrayImage) -> Result<()> {
    let Some(pixel) = first_not_finite(image.samples()) else { return Ok(()) };
    let width = image.size().width;
    Err(Error::NotFinite { what: "image", row: pixel / width, column: pixel % width })
}
