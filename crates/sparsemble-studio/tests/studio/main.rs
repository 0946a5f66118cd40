//! The studio over its own port: what it does, what it refuses, what it bounds.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod client;
mod jobs;
mod limits;
mod restorations;
mod strangers;
