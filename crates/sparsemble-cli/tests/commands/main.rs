//! The real program in a temporary folder, command by command.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod cluster;
mod info;
mod program;
mod represent;
mod restore;
mod resume;
mod train;
mod upscale;
mod weights;
