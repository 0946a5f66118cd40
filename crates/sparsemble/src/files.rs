//! Files as a whole (feature `io`): opened with their length, written all at once or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Opens a file for reading and tells its length in bytes; pipes, devices and folders have none and are refused.
pub(crate) fn open(path: &Path) -> Result<(impl Read + Seek, u64)> {
    let refused = |error: io::Error| Error::io("read", path, &error);
    // Asked before opening: to open a pipe is to wait for its writer.
    if !fs::metadata(path).map_err(refused)?.is_file() {
        return Err(refused(io::Error::new(ErrorKind::InvalidInput, "this is not a regular file")));
    }
    let file = File::open(path).map_err(refused)?;
    let length = file.metadata().map_err(refused)?.len();
    Ok((file, length))
}

/// A file as it lies in memory, for as long as it is kept.
pub(crate) type MappedFile = mmap_guard::FileData;

/// Maps a whole file instead of reading it, or tells that this cannot be done and it is to be read.
///
/// A file that another program shortens meanwhile ends this one, so none is kept mapped that could be read.
pub(crate) fn map(path: &Path) -> Option<MappedFile> {
    mmap_guard::map_file(path).ok()
}

/// Writes beside the target, then renames: the rename either happens as a whole or not at all.
///
/// If anything fails, a file of that name is left as it was and nothing else is left behind.
pub(crate) fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    replace(path, write).map_err(|error| Error::io("write", path, &error))
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = fill(file, write).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first failure is the one worth telling.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes the file and closes it, as some systems refuse to rename an open one.
fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.into_inner()?.sync_all()
}

/// A name no other writer uses: hidden, in the same folder, with the process and a running number.
fn temporary_beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.part", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_fails_half_way_leaves_the_old_file_and_no_scraps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(&vec![0; 100_000])?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_has_no_length_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let refused = open(folder.path()).err().unwrap();
        assert!(matches!(refused, Error::Io { action: "read", kind: ErrorKind::InvalidInput, .. }), "{refused}");
    }
}
