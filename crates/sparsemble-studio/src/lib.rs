//! `sparsemble studio`: a page in the browser that restores pictures, served by the program itself.
//!
//! A request goes through these files in this order:
//!
//! | place | what |
//! | --- | --- |
//! | `http/` | bytes of a connection to a request, within limits of size and time; an answer to bytes |
//! | `guard.rs` | whether the request comes from our own page |
//! | `routes.rs` | which part answers it |
//! | `page.rs` | the page: the files of the folder `page/`, compiled in |
//! | `pictures.rs` | pictures that were uploaded, kept for a while |
//! | `jobs.rs` | the queue: what waits, runs and is done |
//! | `work.rs` | the restorations themselves, all of them calls of the library |
//!
//! Nothing is read from a path or written to one: pictures come in requests, stay in memory and leave in answers.
//! Threads: one that accepts, one for each open connection, one that restores (and the threads of the library under it).

mod guard;
mod http;
mod jobs;
mod page;
mod pictures;
mod routes;
mod server;
mod settings;
mod work;

pub use server::{Stopper, Studio};
pub use settings::{Limits, Sample, Settings};
