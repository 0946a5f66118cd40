//! One module for each command: load, call, save, report.

pub(crate) mod demo;
pub(crate) mod paper;
