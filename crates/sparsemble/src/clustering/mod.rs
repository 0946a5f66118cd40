//! Clustering: samples to labels by the graph of their sparse codes (§V).

mod duplicates;
mod features;
mod preparation;
mod views;

pub use duplicates::Duplicates;
pub use features::RangeRatio;
pub use preparation::{Centre, Preparation, Prepared, Scaling};
pub use views::{graph_picture, plane};
