//! Failures that have an exit code of their own.

use std::fmt::{Display, Formatter};

use crate::options;

/// Exit codes, as the help and the manual list them.
pub(crate) const FAILED: u8 = 1;
pub(crate) const WRONG_USAGE: u8 = 2;
pub(crate) const INTERRUPTED: u8 = 130;

/// What was typed cannot be meant; the message says what to type.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

/// The user asked to stop; the message says how to go on.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl Display for Usage {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Display for Interrupted {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
impl std::error::Error for Interrupted {}

/// The line a failure prints. Samples are columns to the library, and rows of the files that the user knows; options have
/// other names than its arguments.
pub(crate) fn message(error: &anyhow::Error) -> String {
    match error.downcast_ref() {
        Some(sparsemble::Error::NotFinite { what, row, column }) => format!(
            "{what}: the value in row {column}, column {row} (counted from 0) is NaN or infinite; replace it or leave the \
             row out"
        ),
        Some(sparsemble::Error::Interrupted { .. }) => "interrupted; nothing was written".into(),
        Some(refused) => match options::words(refused) {
            Some(words) => format!("{error:#}").replace(&refused.to_string(), &words),
            None => format!("{error:#}"),
        },
        None => format!("{error:#}"),
    }
}

/// Whether the library has refused what was typed for an option, whatever the files hold.
fn is_refused_option(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(sparsemble::Error::InvalidParameter { name, .. }) if *name == options::OF_A_CHECKPOINT => false,
        Some(refused @ sparsemble::Error::InvalidParameter { .. }) => options::words(refused).is_some(),
        _ => false,
    }
}

/// The exit code of a failure.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() || is_refused_option(error) {
        WRONG_USAGE
    } else if is_interruption(error) {
        INTERRUPTED
    } else {
        FAILED
    }
}

/// Whether the user has asked for it.
pub(crate) fn is_interruption(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(sparsemble::Error::Interrupted { .. })) || error.is::<Interrupted>()
}
