//! The elements that a `.mat` file is made of: a type, a length, and that many bytes.

use std::io::{self, Read};

use crate::matrix_file::numbers::{NumberKind, NumberType};
use crate::reason::Outcome;

/// A matrix of any class.
pub(super) const MATRIX: u32 = 14;
/// Another element, packed.
pub(super) const PACKED: u32 = 15;
/// Elements end at a multiple of this; packed ones wherever they end.
const ALIGNMENT: u64 = 8;

/// The head of an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) kind: u32,
    /// Bytes of data.
    pub(super) size: u64,
    /// Bytes from the start of the data to that of the next element.
    pub(super) space: u64,
}

/// Reads elements one after the other, in the byte order of the file.
pub(super) struct Elements<R> {
    pub(super) source: R,
    pub(super) big_endian: bool,
}

impl<R: Read> Elements<R> {
    /// The next element; `None` at the end.
    pub(super) fn tag(&mut self) -> Outcome<Option<Tag>> {
        let mut first = [0; 4];
        let got = self.source.read(&mut first)?;
        if got == 0 {
            return Ok(None);
        }
        self.source.read_exact(&mut first[got..])?;
        let word = self.word(first);
        // A short element has its length in the upper half, and its data in the place of the length.
        let (kind, size) = (word & 0xffff, u64::from(word >> 16));
        if size > 0 {
            return if size > 4 {
                Err("a short element is too long; the file is damaged".into())
            } else {
                Ok(Some(Tag { kind, size, space: 4 }))
            };
        }
        let mut second = [0; 4];
        self.source.read_exact(&mut second)?;
        let size = u64::from(self.word(second));
        let space = if kind == PACKED { size } else { size.next_multiple_of(ALIGNMENT) };
        Ok(Some(Tag { kind, size, space }))
    }

    /// The next element, which must be there.
    pub(super) fn expect_tag(&mut self) -> Outcome<Tag> {
        self.tag()?.ok_or_else(|| "a matrix ends too early; the file is damaged".into())
    }

    /// The bytes of a short element; `limit` says how short.
    pub(super) fn bytes(&mut self, limit: u64) -> Outcome<Vec<u8>> {
        let tag = self.expect_tag()?;
        if tag.size > limit {
            return Err(format!("an element of {} bytes is longer than the {limit} allowed", tag.size).into());
        }
        let mut bytes = vec![0; tag.space as usize];
        self.source.read_exact(&mut bytes)?;
        bytes.truncate(tag.size as usize);
        Ok(bytes)
    }

    /// The whole numbers of a short element.
    pub(super) fn words(&mut self, limit: u64) -> Outcome<Vec<u32>> {
        Ok(self.bytes(limit)?.as_chunks().0.iter().map(|&bytes| self.word(bytes)).collect())
    }

    /// Leaves bytes out.
    pub(super) fn skip(&mut self, count: u64) -> Outcome<()> {
        match io::copy(&mut self.source.by_ref().take(count), &mut io::sink())? {
            skipped if skipped == count => Ok(()),
            _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    fn word(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

/// How the numbers of an element of this kind are stored, which need not be as their class says: MATLAB saves a matrix of
/// small whole numbers in bytes.
pub(super) fn number_type(kind: u32, big_endian: bool) -> Outcome<NumberType> {
    let (kind, size) = match kind {
        1 => (NumberKind::Signed, 1),
        2 => (NumberKind::Unsigned, 1),
        3 => (NumberKind::Signed, 2),
        4 => (NumberKind::Unsigned, 2),
        5 => (NumberKind::Signed, 4),
        6 => (NumberKind::Unsigned, 4),
        7 => (NumberKind::Real, 4),
        9 => (NumberKind::Real, 8),
        12 => (NumberKind::Signed, 8),
        13 => (NumberKind::Unsigned, 8),
        _ => return Err(format!("numbers of the kind {kind} are not known; the file is damaged").into()),
    };
    Ok(NumberType { kind, size, big_endian })
}
