//! `-`: files that come from the standard input and go to the standard output.
//!
//! What comes in is put into a hidden folder as a file, and what goes out is made there: so nothing but this knows of
//! streams, and the standard output gets a whole file or nothing.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::args::{Command, Kind, Places};
use crate::failure::Usage;
use crate::output;

/// How a stream is written in place of a file.
pub(crate) const STANDARD: &str = "-";

/// The folder for what goes through streams.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// What stands for the streams in this run.
static STREAMS: OnceLock<Streams> = OnceLock::new();

struct Streams {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
}

/// Puts files in the place of each `-`, and remembers all files that are read. The folder is kept as long as its result
/// is.
pub(crate) fn open(command: &mut Command) -> Result<Option<TempDir>> {
    let Places { inputs, output, format, json } = command.places();
    let is_standard = |path: &Path| path == Path::new(STANDARD);
    let mut output = output.filter(|(path, _)| is_standard(path));
    if let (Some(format), None) = (format, &output) {
        let message = format!("--format {format} is for `-o -`; the name of a file says of which kind it is");
        return Err(Usage(message).into());
    }
    let (mut streams, others): (Vec<&mut PathBuf>, Vec<_>) = inputs.into_iter().partition(|path| is_standard(path));
    for path in others {
        output::reading(path);
    }
    if streams.len() > 1 {
        return Err(Usage("- can stand for one file only: there is one standard input".into()).into());
    }
    if streams.is_empty() && output.is_none() {
        return Ok(None);
    }
    let target = output.as_ref().map(|(_, kind)| file_name(*kind, format, json)).transpose()?;
    let folder = TempDir::with_prefix("sparsemble-").context("cannot make a folder for what goes through `-`")?;
    FOLDER.get_or_init(|| folder.path().to_owned());
    let input = streams.first_mut().map(|path| -> Result<PathBuf> {
        **path = receive(folder.path())?;
        Ok(path.clone())
    });
    let target = target.map(|name| folder.path().join(name));
    if let (Some((path, _)), Some(target)) = (&mut output, &target) {
        (**path).clone_from(target);
    }
    let streams = Streams { input: input.transpose()?, output: target };
    STREAMS.get_or_init(|| streams);
    Ok(Some(folder))
}

/// Sends the result to the standard output, if it goes there.
pub(crate) fn close() -> Result<()> {
    let Some(path) = STREAMS.get().and_then(|streams| streams.output.as_ref()) else { return Ok(()) };
    let mut stdout = io::stdout().lock();
    let sent = File::open(path).and_then(|mut file| io::copy(&mut file, &mut stdout)).and_then(|_| stdout.flush());
    sent.context("cannot write to the standard output")
}

/// Whether the standard output gets the result.
pub(crate) fn has_output() -> bool {
    STREAMS.get().is_some_and(|streams| streams.output.is_some())
}

/// Whether a path stands for the standard output.
pub(crate) fn is_output(path: &Path) -> bool {
    STREAMS.get().is_some_and(|streams| streams.output.as_deref() == Some(path))
}

/// A message in which the streams have their names.
pub(crate) fn named(text: &str) -> String {
    renamed(text, ["the standard input", "the standard output"])
}

/// A JSON object in which the streams are what was typed.
pub(crate) fn named_in_json(text: &str) -> String {
    renamed(text, [STANDARD, STANDARD])
}

/// Removes what the streams have left.
pub(crate) fn sweep() {
    if let Some(folder) = FOLDER.get() {
        // There is no one left to tell that it stays.
        let _ = fs::remove_dir_all(folder);
    }
}

fn renamed(text: &str, names: [&str; 2]) -> String {
    let Some(Streams { input, output }) = STREAMS.get() else { return text.to_owned() };
    let mut text = text.to_owned();
    for (path, name) in [input, output].into_iter().zip(names) {
        if let Some(path) = path {
            text = text.replace(&path.display().to_string(), name);
        }
    }
    text
}

/// The name of the file that goes to the standard output.
fn file_name(kind: Kind, format: Option<&str>, json: bool) -> Result<String> {
    let endings = kind.endings();
    let ending = format.unwrap_or(endings[0]);
    if !endings.contains(&ending) {
        let message = format!("--format {ending}: give one of {}", endings.join(", "));
        return Err(Usage(message).into());
    }
    if json {
        let message = "--json and `-o -` both need the standard output; give the result the name of a file";
        return Err(Usage(message.into()).into());
    }
    if ending != "csv" && io::stdout().is_terminal() {
        let message = "the standard output is a terminal; send it to a file or a program, or give the name of a file";
        return Err(Usage(message.into()).into());
    }
    Ok(format!("stdout.{ending}"))
}

/// The standard input as a file whose name ends as its content asks.
fn receive(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("stdin");
    let received = File::create(&path).and_then(|mut file| io::copy(&mut io::stdin().lock(), &mut file));
    if received.context("cannot keep the standard input")? == 0 {
        bail!("the standard input is empty; give it a file");
    }
    let mut start = Vec::new();
    File::open(&path).and_then(|file| file.take(16).read_to_end(&mut start)).context("cannot read the input again")?;
    let named = path.with_extension(ending_of(&start));
    fs::rename(&path, &named).context("cannot keep the standard input")?;
    Ok(named)
}

/// How the name of a file that begins so should end. The kinds of pictures are told apart by content anyway.
fn ending_of(start: &[u8]) -> &'static str {
    const PICTURES: [&[u8]; 6] = [b"\x89PNG", b"\xff\xd8", b"BM", b"RIFF", b"II*\0", b"MM\0*"];
    let is_pnm = matches!(start, [b'P', b'1'..=b'7', space, ..] if space.is_ascii_whitespace());
    if is_pnm || PICTURES.iter().any(|magic| start.starts_with(magic)) {
        "png"
    } else if start.starts_with(b"\x93NUMPY") {
        "npy"
    } else if start.starts_with(b"PK") {
        "npz"
    } else if start.starts_with(b"MATLAB") {
        "mat"
    } else if start.get(8) == Some(&b'{') && start[7] == 0 {
        "safetensors"
    } else {
        "csv"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files_are_told_by_how_they_begin() {
        for (start, ending) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "png"),
            (b"P5 3 3", "png"),
            (b"P5,3", "csv"),
            (b"\x93NUMPY\x01\0", "npy"),
            (b"PK\x03\x04", "npz"),
            (b"MATLAB 5.0 MAT-f", "mat"),
            (b"\x10\x01\0\0\0\0\0\0{\"a", "safetensors"),
            (b"1,2,3\n", "csv"),
            (b"", "csv"),
        ] {
            assert_eq!(ending_of(start), ending, "{start:?}");
        }
    }
}
