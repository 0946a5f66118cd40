//! Why a file is refused, before anyone has said which file.

use std::io;
use std::path::Path;

use crate::error::Error;

/// The longest message that may quote a file.
const MAX_QUOTED: usize = 200;

/// The reason of an [`Error::Model`].
#[derive(Debug)]
pub(super) struct Reason(String);

/// What reading or writing a part of a file gives.
pub(super) type Outcome<T> = Result<T, Reason>;

impl Reason {
    /// The error, now that the file is known.
    pub(super) fn about(self, path: &Path) -> Error {
        Error::Model { name: path.display().to_string(), reason: self.0 }
    }
}

impl From<String> for Reason {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<&str> for Reason {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for Reason {
    fn from(error: serde_json::Error) -> Self {
        // The message may quote the file, which may hold anything.
        let message: String = error.to_string().escape_debug().take(MAX_QUOTED).collect();
        Self(format!("damaged header: {message}"))
    }
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends too early; it is damaged or is being written".into(),
            _ => Self(format!("reading it failed: {error}")),
        }
    }
}
