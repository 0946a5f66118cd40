//! Files to be written, and the rule that nothing is overwritten unasked.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

/// Checks before the work begins that a file can be written at its end.
pub(crate) fn claim(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() {
        bail!("{} is a folder; give the name of a file", path.display());
    }
    if !force && path.exists() {
        bail!("{} exists; choose another name or add --force to write over it", path.display());
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            bail!("there is no folder {}; make it or choose another", folder.display())
        }
        _ => Ok(()),
    }
}

/// Prints the result: one JSON object, or text for people.
pub(crate) fn print(json: bool, object: &Value, text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    Ok(if json { writeln!(stdout, "{object:#}") } else { writeln!(stdout, "{text}") }?)
}

/// Says on the error stream what the user should know and need not act on.
pub(crate) fn warn(message: &str) -> Result<()> {
    Ok(writeln!(std::io::stderr(), "warning: {message}")?)
}
