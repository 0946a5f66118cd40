//! Integration tests.

mod alt_opt;
mod coding_laws;
mod fista;
mod golden_coding;
mod patch;
mod problems;
