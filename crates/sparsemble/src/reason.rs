//! Why a file is refused, before anyone has said which file.

use std::io;
use std::path::Path;

use crate::error::Error;

/// The most characters of a file that a message quotes.
const MAX_QUOTED: usize = 60;

/// The longest message of the JSON parser, which may quote the file.
const MAX_MESSAGE: usize = 200;

/// The reason of an [`Error::Data`] or an [`Error::Model`], or the wish to stop reading.
#[derive(Debug)]
pub(crate) enum Reason {
    /// Something is wrong with the file.
    Wrong(String),
    /// The caller has stopped it.
    Interrupted { done: usize, total: usize },
}

/// What reading or writing a part of a file gives.
pub(crate) type Outcome<T> = Result<T, Reason>;

impl Reason {
    /// The error, now that the file is known: one of samples or codes.
    pub(crate) fn about_data(self, path: &Path) -> Error {
        match self {
            Self::Wrong(reason) => Error::Data { name: path.display().to_string(), reason },
            Self::Interrupted { done, total } => Error::Interrupted { done, total },
        }
    }

    /// The error, now that the file is known: one of a model.
    pub(crate) fn about_model(self, path: &Path) -> Error {
        match self {
            Self::Wrong(reason) => Error::Model { name: path.display().to_string(), reason },
            Self::Interrupted { done, total } => Error::Interrupted { done, total },
        }
    }

    /// The reason with the part of the file that it is about.
    pub(crate) fn within(self, part: &str) -> Self {
        match self {
            Self::Wrong(reason) => Self::Wrong(format!("{}: {reason}", quoted(part))),
            stopped @ Self::Interrupted { .. } => stopped,
        }
    }
}

/// Text of a file, which may hold anything, made fit for a message.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(MAX_QUOTED).flat_map(char::escape_debug).collect();
    let more = if text.chars().nth(MAX_QUOTED).is_some() { "…" } else { "" };
    format!("\"{shown}{more}\"")
}

impl From<String> for Reason {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

impl From<&str> for Reason {
    fn from(reason: &str) -> Self {
        Self::Wrong(reason.to_owned())
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        if let Some(&Error::Interrupted { done, total }) = error.get_ref().and_then(|error| error.downcast_ref()) {
            return Self::Interrupted { done, total };
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends too early; it is damaged or is being written".into(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Wrong(format!("the file is damaged: {}", quoted(&error.to_string())))
            }
            _ => Self::Wrong(format!("reading it failed: {error}")),
        }
    }
}

impl From<serde_json::Error> for Reason {
    fn from(error: serde_json::Error) -> Self {
        let message: String = error.to_string().escape_debug().take(MAX_MESSAGE).collect();
        Self::Wrong(format!("damaged header: {message}"))
    }
}

impl From<zip::result::ZipError> for Reason {
    fn from(error: zip::result::ZipError) -> Self {
        match error {
            zip::result::ZipError::Io(error) => error.into(),
            other => Self::Wrong(format!(
                "this is not an archive of arrays, or it is damaged: {}",
                quoted(&other.to_string())
            )),
        }
    }
}
