//! Files to be written, and the rule that nothing is overwritten unasked; what is printed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use clap::builder::styling::{AnsiColor, Style};
use serde_json::Value;

use crate::failure::Usage;
use crate::streams;

/// Every file of this run, by its place: a program has one set of files, whoever asks for them.
static FILES: Mutex<Files> = Mutex::new(Files { read: Vec::new(), written: Vec::new() });

struct Files {
    read: Vec<PathBuf>,
    /// By the option that asks for them.
    written: Vec<(&'static str, PathBuf)>,
}

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a file that is read: nothing is written over it.
pub(crate) fn reading(path: &Path) {
    let mut files = files();
    let place = place(path);
    files.read.push(place);
}

/// Checks before the work begins that the result can be written at its end, and that no other file is meant to go there.
pub(crate) fn claim(path: &Path, force: bool) -> Result<()> {
    claim_for("--output", path, force)
}

/// The same for the file of another option.
pub(crate) fn claim_for(option: &'static str, path: &Path, force: bool) -> Result<()> {
    if path == Path::new(streams::STANDARD) {
        return Err(Usage(format!("{option} -: give the name of a file; - stands for the main result only")).into());
    }
    if path.is_dir() || path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        bail!("{} is a folder; give the name of a file", path.display());
    }
    let place = place(path);
    let mut files = files();
    if files.read.contains(&place) {
        let message = format!("{} is read, and would be written over; choose another name", path.display());
        return Err(Usage(message).into());
    }
    if let Some((other, _)) = files.written.iter().find(|(_, other)| *other == place) {
        return Err(Usage(format!("{option} and {other} are the same file {}; choose two", path.display())).into());
    }
    if !force && path.exists() {
        bail!("{} exists; choose another name or add --force to write over it", path.display());
    }
    if path.exists() && !path.is_file() {
        bail!("{} is a device or a pipe; write to - and redirect it", path.display());
    }
    expect_writable(folder_of(path))?;
    files.written.push((option, place));
    Ok(())
}

/// The same for a page to look at: browsers go by its name.
pub(crate) fn claim_page(path: &Path, force: bool) -> Result<()> {
    const OPTION: &str = "--report";
    claim_for(OPTION, path, force)?;
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm")) {
        return Ok(());
    }
    Err(Usage(format!("{OPTION} {}: the name of a page ends in .html", path.display())).into())
}

/// Whether a file can be made in a folder: long work should not end in finding that it cannot.
pub(crate) fn expect_writable(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        bail!("there is no folder {}; make it or choose another", folder.display());
    }
    match tempfile::Builder::new().prefix(".sparsemble-").tempfile_in(folder) {
        Ok(_) => Ok(()),
        Err(error) => bail!("cannot write to the folder {} ({}); choose another", folder.display(), error.kind()),
    }
}

/// Removes what a program that ends at once would leave half-written.
pub(crate) fn sweep() {
    // Files are written under a hidden name that ends so, and renamed when they are whole.
    let mark = format!(".{}-", std::process::id());
    let is_ours = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with('.') && name.contains(&mark) && path.extension().is_some_and(|end| end == "part")
    };
    // A thread that claims a file has written none yet: there is nothing of it to sweep.
    let written = FILES.try_lock().map(|files| files.written.clone()).unwrap_or_default();
    for (_, path) in written {
        let folder = folder_of(&path);
        // That of `sparsemble_paper::write`.
        let _ = std::fs::remove_file(path.with_extension("unfinished"));
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if is_ours(&entry.path()) {
                // There is no one left to tell that it stays.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
    streams::sweep();
}

/// A file by where it really is, however it was written; `FILE.npz:NAME` is FILE.npz.
fn place(path: &Path) -> PathBuf {
    let whole = path.to_str().and_then(|text| text.rsplit_once(':')).map(|(file, _)| Path::new(file));
    let path = whole.filter(|file| file.is_file() && !path.exists()).unwrap_or(path);
    path.canonicalize().unwrap_or_else(|_| {
        let folder = folder_of(path);
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(path.file_name().unwrap_or_default())
    })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Prints the result: one JSON object, or text for people, who read it beside the result if that is printed itself.
pub(crate) fn print(json: bool, object: &Value, text: &str) -> Result<()> {
    let text = if json { streams::named_in_json(&format!("{object:#}")) } else { streams::named(text) };
    if streams::has_output() {
        return Ok(writeln!(std::io::stderr(), "{text}")?);
    }
    writeln!(std::io::stdout(), "{text}").context("cannot write to the standard output")
}

/// Says on the error stream what the user should know and need not act on.
pub(crate) fn warn(message: &str) -> Result<()> {
    Ok(say(AnsiColor::Yellow, "warning", message)?)
}

/// Says on the error stream what went wrong.
pub(crate) fn complain(message: &str) {
    // Nothing is left to do if even this cannot be written.
    let _ = say(AnsiColor::Red, "error", message);
}

/// A line whose first word is coloured, on a terminal that wants colours.
fn say(colour: AnsiColor, word: &str, message: &str) -> std::io::Result<()> {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(anstream::stderr(), "{style}{word}:{style:#} {}", streams::named(message))
}
