//! The studio over its own port: what it does, what it refuses, what it bounds.

mod client;
mod jobs;
mod limits;
mod restorations;
mod strangers;
