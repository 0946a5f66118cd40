//! The real program in a temporary folder, command by command.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod batch;
mod cluster;
mod info;
mod json;
mod manners;
mod program;
mod represent;
mod restore;
mod resume;
mod streams;
mod train;
mod upscale;
mod weights;
