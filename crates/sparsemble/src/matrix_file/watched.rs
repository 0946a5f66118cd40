//! A file that tells how much of it has been read.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::blocks::Run;
use crate::error::Result;
use crate::files;

/// Bytes between two times it tells.
const STEP: usize = 1 << 20;

/// A file under the eyes of a [`Run`], which may end the reading.
pub(super) struct Watched<'a, F> {
    file: F,
    length: usize,
    read: usize,
    told: usize,
    run: Run<'a>,
}

/// Opens a file to be read under these eyes and tells its length in bytes.
pub(super) fn open<'a>(path: &'a Path, run: Run<'a>) -> Result<(Watched<'a, impl Read + Seek>, u64)> {
    let (file, length) = files::open(path)?;
    Ok((Watched { file, length: usize::try_from(length).unwrap_or(usize::MAX), read: 0, told: 0, run }, length))
}

impl<F: Read> Read for Watched<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read = self.read.saturating_add(count);
        if self.read - self.told >= STEP {
            self.told = self.read;
            // What is read twice, such as the list of an archive, counts once.
            self.run.tell(self.read.min(self.length), self.length).map_err(io::Error::other)?;
        }
        Ok(count)
    }
}

impl<F: Seek> Seek for Watched<'_, F> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.file.seek(place)
    }
}
