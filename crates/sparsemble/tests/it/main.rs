//! Integration tests.

mod coding_laws;
mod ensemble;
mod fista;
mod golden_coding;
mod patch;
mod problems;
mod weights;
