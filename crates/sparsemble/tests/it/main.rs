//! Integration tests.

mod fista;
mod problems;
