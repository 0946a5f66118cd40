//! Clustering: samples to labels by the graph of their sparse codes (§V).
//!
//! ```text
//! samples ─→ prepare ─→ merge equal ones ─→ code ─→ graph ─→ eigenvectors ─→ K-Means ─→ labels
//! ```
//! [`GraphClustering`] is the whole; every stage can be called on its own.

mod clusters;
mod duplicates;
mod features;
mod pipeline;
mod preparation;
mod similarity;
mod spectral;
mod views;

pub use clusters::{Clusters, FirstCenters, SpectralClustering, SpectralClusters};
pub use duplicates::Duplicates;
pub use features::RangeRatio;
pub use pipeline::{GraphClustering, GraphClusters, Ready, Stage};
pub use preparation::{Centre, Preparation, Prepared, Scaling};
pub use similarity::{Coded, GraphForm, Similarity};
pub use spectral::{Eigenvectors, LeadingEigenvectors};
pub use views::{cluster_map, graph_picture};
