//! Integration tests.

mod coding_laws;
mod fista;
mod golden_coding;
mod patch;
mod problems;
