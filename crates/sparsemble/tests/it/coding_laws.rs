//! The laws of sparse coding. `registry.rs` lists the coders; `common.rs` and `hard.rs` hold what is true of all of
//! them, `lasso.rs` and `greedy.rs` what is true of one family.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod common;
mod greedy;
mod hard;
mod lasso;
mod registry;
