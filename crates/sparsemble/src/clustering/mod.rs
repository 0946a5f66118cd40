//! Clusters of the vertices of a graph (§V).

mod clusters;
mod spectral;

pub use clusters::{Clusters, FirstCenters, SpectralClustering, SpectralClusters};
pub use spectral::{Eigenvectors, LeadingEigenvectors};
