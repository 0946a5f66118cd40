//! An answer, with what tells the browser to keep the page to itself.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

/// Of every answer. Only our own files may run or be fetched, nobody may frame the page or read an answer from elsewhere,
/// nothing is guessed, sent on or kept.
const PROTECTION: &str = "\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Referrer-Policy: no-referrer\r\n\
Cache-Control: no-store\r\n";

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    kind: &'static str,
    /// Shared, as results are large.
    body: Arc<Vec<u8>>,
}

impl Answer {
    pub(crate) fn file(kind: &'static str, body: Arc<Vec<u8>>) -> Self {
        Self { status: 200, kind, body }
    }

    pub(crate) fn json(status: u16, object: &Value) -> Self {
        Self { status, kind: "application/json", body: Arc::new(object.to_string().into_bytes()) }
    }

    pub(crate) fn write(&self, wire: &mut impl Write) -> io::Result<()> {
        let Self { status, kind, body } = self;
        let head = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{PROTECTION}\r\n",
            reason(*status),
            body.len()
        );
        wire.write_all(head.as_bytes())?;
        wire.write_all(body)?;
        wire.flush()
    }
}

/// Why there is no other answer: one sentence, which the page shows.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    message: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self::json(refusal.status, &json!({ "error": refusal.message }))
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Refused",
    }
}
