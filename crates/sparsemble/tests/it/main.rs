//! Integration tests.

mod alt_opt;
mod coding_laws;
mod elastic_net;
mod ensemble;
mod examples;
mod few_atoms;
mod fista;
mod gaussians;
mod golden_clustering;
mod golden_coding;
#[cfg(feature = "io")]
mod golden_image;
mod golden_kmeans;
mod graphs;
mod kmeans;
mod lasso_path;
#[cfg(feature = "io")]
mod matrix_file;
#[cfg(feature = "io")]
mod model_file;
mod multilevel;
mod npy;
#[cfg(feature = "io")]
mod paper;
mod patch;
#[cfg(feature = "io")]
mod pictures;
mod pipeline;
mod problems;
mod progress;
#[cfg(feature = "io")]
mod recipe;
mod restoration;
#[cfg(feature = "io")]
mod super_resolution_anchored;
#[cfg(feature = "io")]
mod super_resolution_pairs;
mod weights;
