//! As much of HTTP/1.1 as the page needs: one request and one answer for each connection, everything bounded.

mod answer;
mod request;
mod wire;

pub(crate) use answer::{Answer, Refusal};
pub(crate) use request::Head;
pub(crate) use wire::Wire;
