//! Clusters of the vertices of a graph (§VI).

mod spectral;

pub use spectral::{Eigenvectors, LeadingEigenvectors};
