//! Files as a whole (feature `io`): opened with their length, written all at once or not at all.

use std::ffi::OsString;
pub(crate) use std::fs::File;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Opens a file for reading and tells its length in bytes; pipes, devices and folders have none and are refused.
pub(crate) fn open(path: &Path) -> Result<(File, u64)> {
    let refused = |error: io::Error| Error::io("read", path, &error);
    // Asked before opening: to open a pipe is to wait for its writer.
    if !fs::metadata(path).map_err(refused)?.is_file() {
        return Err(refused(io::Error::new(ErrorKind::InvalidInput, "this is not a regular file")));
    }
    let file = File::open(path).map_err(refused)?;
    let length = file.metadata().map_err(refused)?.len();
    Ok((file, length))
}

/// Fills `bytes` from this place of a file on, wherever others read in it.
pub(crate) fn read_at(file: &File, place: u64, bytes: &mut [u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, place);
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], place + done as u64)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                more => done += more,
            }
        }
        Ok(())
    }
}

/// Writes all of `bytes` from this place of a file on, wherever others write in it.
fn write_at(file: &File, place: u64, bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, place);
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            match std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], place + done as u64)? {
                0 => return Err(ErrorKind::WriteZero.into()),
                more => done += more,
            }
        }
        Ok(())
    }
}

/// A file that threads read and write at places of their own.
#[derive(Debug)]
pub(crate) struct SharedFile {
    file: File,
    path: PathBuf,
}

impl SharedFile {
    /// An open file, and its name for errors.
    pub(crate) fn new(file: File, path: PathBuf) -> Self {
        Self { file, path }
    }

    /// A new file without a name, which is gone when it is dropped, however the program ends. It goes by its folder's.
    pub(crate) fn nameless(folder: &Path) -> Result<Self> {
        // The folder of a file that is named without one.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let file = tempfile::tempfile_in(folder).map_err(|error| Error::io("write", folder, &error))?;
        Ok(Self { file, path: folder.into() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file so many bytes long; what is new is zeros.
    pub(crate) fn resize(&self, bytes: u64) -> Result<()> {
        self.file.set_len(bytes).map_err(|error| Error::io("write", &self.path, &error))
    }

    pub(crate) fn read_into(&self, place: u64, bytes: &mut [u8]) -> Result<()> {
        read_at(&self.file, place, bytes).map_err(|error| Error::io("read", &self.path, &error))
    }

    /// The bytes of a place that is known to lie in the file.
    pub(crate) fn read(&self, place: std::ops::Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (place.end - place.start) as usize];
        self.read_into(place.start, &mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn write(&self, place: u64, bytes: &[u8]) -> Result<()> {
        write_at(&self.file, place, bytes).map_err(|error| Error::io("write", &self.path, &error))
    }
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

/// Writes behind the first bytes of a file, in place of whatever follows them; if it fails, nothing does.
///
/// What is written outlives this program, however it ends; a failing machine may lose it, and leave anything in its place.
pub(crate) fn append(path: &Path, end: u64, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    extend(path, end, write).map_err(|error| Error::io("write", path, &error))
}

fn extend(path: &Path, end: u64, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    if file.metadata()?.len() < end {
        return Err(io::Error::new(ErrorKind::InvalidData, "another program has shortened it"));
    }
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    let mut buffered = BufWriter::new(&file);
    let written = write(&mut buffered).and_then(|()| buffered.flush());
    // What is still held back must not follow.
    let _ = buffered.into_parts();
    if written.is_err() {
        // The first failure is the one worth telling.
        let _ = file.set_len(end);
    }
    written
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
    fn what_is_appended_takes_the_place_of_what_was_there_and_a_failure_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"kept, torn").unwrap();
        append(&path, 4, |file| file.write_all(b" and more")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"kept and more");
        let failed = append(&path, 4, |file| {
            file.write_all(&vec![0; 100_000])?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"kept");
        assert!(append(&path, 5, |_| Ok(())).unwrap_err().to_string().ends_with("has shortened it"));
        assert!(append(&folder.path().join("none"), 0, |_| Ok(())).is_err());
    }

    #[test]
    fn what_has_no_length_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let refused = open(folder.path()).err().unwrap();
        assert!(matches!(refused, Error::Io { action: "read", kind: ErrorKind::InvalidInput, .. }), "{refused}");
    }
}
