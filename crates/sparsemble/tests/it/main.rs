//! Integration tests.

mod alt_opt;
mod coding_laws;
mod ensemble;
mod examples;
mod fista;
mod golden_coding;
mod golden_kmeans;
mod kmeans;
mod multilevel;
mod npy;
mod patch;
mod problems;
mod weights;
