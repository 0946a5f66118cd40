//! What can go wrong, by what the caller can do about it.

use std::borrow::Cow;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call was refused or stopped. Each message names the argument, gives the value and says what to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two arguments, or an argument and its buffer, disagree about a size.
    #[error("{what}: expected {expected}, found {found}")]
    ShapeMismatch {
        /// The argument and the dimension.
        what: &'static str,
        /// The size the other arguments ask for.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value}: {reason}")]
    InvalidParameter {
        /// The parameter's name.
        name: &'static str,
        /// What was given.
        value: String,
        /// The range, or the fix.
        reason: Cow<'static, str>,
    },
    /// An input holds NaN or an infinity.
    #[error("{what} holds a NaN or infinite value at row {row}, column {column}; remove it or mask it")]
    NotFinite {
        /// The argument.
        what: &'static str,
        /// The feature.
        row: usize,
        /// The sample or atom.
        column: usize,
    },
    /// There is nothing to work on.
    #[error("{what} is empty; give at least one {unit}")]
    Empty {
        /// The argument.
        what: &'static str,
        /// What one of its parts is called.
        unit: &'static str,
    },
    /// The caller's progress function asked to stop.
    #[error("interrupted after {done} of {total} samples")]
    Interrupted {
        /// How many samples were finished.
        done: usize,
        /// How many there were.
        total: usize,
    },
    /// There are fewer samples than were asked for.
    #[error("{what}: needed {needed}, found {found}; ask for fewer or give more data")]
    TooFewSamples {
        /// What was to be drawn.
        what: &'static str,
        /// How many were asked for.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {reason}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: String,
        /// The kind of failure, for callers that treat a missing file differently.
        kind: std::io::ErrorKind,
        /// What the system said, and the fix where there is one.
        reason: String,
    },
    /// A picture file is damaged, of an unknown kind or too large.
    #[error("{name}: {reason}")]
    Image {
        /// The file, or what stands for it.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of samples or codes is damaged, of an unknown kind, or holds something else than a matrix of numbers.
    #[error("{name}: {reason}")]
    Data {
        /// The file.
        name: String,
        /// What is wrong with it, where, and the fix if there is one.
        reason: String,
    },
    /// A model file is damaged, of another kind or version than was asked for, or too large.
    #[error("{name}: {reason}")]
    Model {
        /// The file, or what stands for it.
        name: String,
        /// What is wrong with it, and the fix if there is one.
        reason: String,
    },
}

impl Error {
    /// An [`Error::InvalidParameter`] for any value that can be shown.
    pub(crate) fn parameter(
        name: &'static str,
        value: impl std::fmt::Display,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::InvalidParameter { name, value: format!("{value}"), reason: reason.into() }
    }

    /// An [`Error::Io`] that remembers what the system said, and says what can be done about it.
    #[cfg(feature = "io")]
    pub(crate) fn io(action: &'static str, path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let fix = match (error.kind(), action) {
            (ErrorKind::NotFound, "read") => "; check the name and the folder",
            (ErrorKind::NotFound, _) => "; make its folder first, or choose another",
            (ErrorKind::PermissionDenied, _) => "; change its permissions, or choose another",
            _ => "",
        };
        Self::Io { action, path: path.display().to_string(), kind: error.kind(), reason: format!("{error}{fix}") }
    }
}

/// Checks that two sizes agree.
pub(crate) fn expect_size(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, found }) }
}
