//! Super-resolution: a picture made larger than it was taken (§IV-B).
//!
//! | what | where |
//! | --- | --- |
//! | what every method can do, and interpolation alone | [`Enlarge`], [`Interpolated`] |
//! | pictures with colours, to any size, some rows at a time | [`Enlargement`] |

mod by_rows;
mod enlarge;

pub use by_rows::{EnlargedRows, Enlargement};
pub use enlarge::{Enlarge, Interpolated};
