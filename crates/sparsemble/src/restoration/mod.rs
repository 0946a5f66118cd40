//! Restoration: samples and pictures from what a known degradation has left of them (§IV).
//!
//! | what | where |
//! | --- | --- |
//! | measurements of blocks, each recovered on its own (§IV-A) | [`Blockwise`], [`measure`] |
//! | a picture from the measurements of its blocks | [`BlockMeasurements`], [`CompressiveRecovery`] |
//! | noise taken out by what the patches of a picture have in common | [`NonLocal`] |
//! | the same in turn with Gaussians of other pictures, which learn from this one | [`BothPriors`] |
//! | a picture made larger (§IV-B) | [`super_resolution`] |
//! | noise, holes, blur | [`denoise`], [`inpaint`] (from [`fill_smoothly`]), [`deblur`] |
//! | whatever an operator does, in the way that suits it | `Operated`, `recover` (feature `io`) |
//! | a picture from anything seen of it, by turns of a prior and of the data | [`ImageLevel`], [`PicturePrior`] |

mod blockwise;
mod both_priors;
#[cfg(feature = "io")]
mod by_operator;
mod compressive;
mod filling;
mod image_level;
#[cfg(feature = "io")]
mod natural;
mod nonlocal;
mod opinions;
mod prior;
pub mod super_resolution;
mod tasks;
mod tiles;

pub use blockwise::{BlockPicture, Blockwise, Dc, measure};
pub use both_priors::BothPriors;
#[cfg(feature = "io")]
pub use by_operator::{Operated, recover, recover_blocks, restore_from_nothing};
pub use compressive::{BlockMeasurements, CompressiveRecovery, FirstEstimate};
pub use filling::fill_smoothly;
pub use image_level::{ImageLevel, Observation, Restored};
#[cfg(feature = "io")]
pub use natural::natural_gaussians;
pub use nonlocal::NonLocal;
pub use prior::PicturePrior;
pub use tasks::{deblur, denoise, inpaint};
