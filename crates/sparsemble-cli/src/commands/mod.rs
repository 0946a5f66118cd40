//! One module for each command: load, call, save, report.

pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod encode;
pub(crate) mod eval;
pub(crate) mod info;
pub(crate) mod man;
mod measured;
mod mosaics;
pub(crate) mod paper;
mod picture_model;
mod picture_page;
pub(crate) mod reconstruct;
pub(crate) mod recover;
mod represent;
pub(crate) mod restore;
mod restored;
pub(crate) mod sense;
pub(crate) mod studio;
pub(crate) mod train;
pub(crate) mod upscale;
pub(crate) mod weights;
