//! One module for each command: load, call, save, report.

pub(crate) mod demo;
pub(crate) mod encode;
pub(crate) mod info;
pub(crate) mod paper;
pub(crate) mod reconstruct;
mod represent;
pub(crate) mod train;
pub(crate) mod weights;
