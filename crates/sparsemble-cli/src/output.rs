//! Files to be written, and the rule that nothing is overwritten unasked.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::failure::Usage;

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

/// Checks before the work begins that all of these can be written at its end, none over another or over an input.
pub(crate) fn claim_apart(inputs: &[(&str, &Path)], outputs: &[(&str, Option<&PathBuf>)], force: bool) -> Result<()> {
    let mut taken: Vec<(&str, PathBuf)> = inputs.iter().map(|(name, path)| (*name, place(path))).collect();
    for (option, path) in outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?))) {
        claim(path, force)?;
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == place(path)) {
            return Err(Usage(format!("{option} and {other} are the same file {}; choose two", path.display())).into());
        }
        taken.push((option, place(path)));
    }
    Ok(())
}

/// A file by its folder and its name, however it was written.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(path.file_name().unwrap_or_default())
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
