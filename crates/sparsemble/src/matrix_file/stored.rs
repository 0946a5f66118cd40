//! Numbers that stay in their file: read in blocks when they are asked for, whichever thread asks.
//!
//! A mapped file would be simpler to read, but what has been read of it counts as memory of the program for as long as
//! nothing else wants that memory, and a program that shortens the file ends ours.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::files::{self, File};
use crate::matrix::Stored;
use crate::scalar::Scalar;

/// Numbers in a block.
const BLOCK: usize = 1 << 14;
/// Blocks that are in memory at a time, each in the slot of its number modulo this one: threads that work on neighbouring
/// blocks do not wait for each other.
const SLOTS: usize = 256;

/// Numbers of this machine's order, one after the other in a file.
#[derive(Debug)]
pub(super) struct StoredNumbers<T> {
    file: File,
    path: PathBuf,
    /// Where in the file they start.
    start: u64,
    count: usize,
    slots: Vec<Mutex<Slot<T>>>,
    failure: OnceLock<Error>,
}

#[derive(Debug)]
struct Slot<T> {
    /// The block that was last asked for. It is read when it is asked for a second time: of those that are needed once, in
    /// random order, only the numbers that are needed are read.
    wanted: Option<usize>,
    /// Empty if the block has not been read.
    values: Vec<T>,
}

impl<T: Scalar> StoredNumbers<T> {
    pub(super) fn new(file: File, path: PathBuf, start: u64, count: usize) -> Self {
        let slots = (0..SLOTS).map(|_| Mutex::new(Slot { wanted: None, values: Vec::new() })).collect();
        Self { file, path, start, count, slots, failure: OnceLock::new() }
    }

    /// Copies numbers of one block.
    fn copy_within(&self, block: usize, first: usize, out: &mut [T]) {
        let mut slot = self.slots[block % SLOTS].lock().unwrap_or_else(PoisonError::into_inner);
        if slot.wanted != Some(block) {
            slot.wanted = Some(block);
            slot.values.clear();
            drop(slot);
            return self.read(block * BLOCK + first, out);
        }
        if slot.values.is_empty() {
            slot.values.resize(BLOCK.min(self.count - block * BLOCK), T::ZERO);
            self.read(block * BLOCK, &mut slot.values);
        }
        out.copy_from_slice(&slot.values[first..][..out.len()]);
    }

    fn read(&self, first: usize, out: &mut [T]) {
        let place = self.start + (first * size_of::<T>()) as u64;
        if let Err(error) = files::read_at(&self.file, place, T::bytes_of(out)) {
            out.fill(T::from_f64(f64::NAN));
            // The first failure is the one worth telling.
            let _ = self.failure.set(Error::io("read", &self.path, &error));
        }
    }
}

impl<T: Scalar> Stored<T> for StoredNumbers<T> {
    fn count(&self) -> usize {
        self.count
    }

    fn get(&self, place: usize) -> T {
        let mut value = [T::ZERO];
        self.copy(place, &mut value);
        value[0]
    }

    fn copy(&self, start: usize, mut out: &mut [T]) {
        assert!(start + out.len() <= self.count, "numbers beyond {} are asked for", self.count);
        let mut place = start;
        while !out.is_empty() {
            let (block, first) = (place / BLOCK, place % BLOCK);
            let (part, rest) = out.split_at_mut(out.len().min(BLOCK - first));
            self.copy_within(block, first, part);
            place += part.len();
            out = rest;
        }
    }

    fn failure(&self) -> Option<Error> {
        self.failure.get().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Run;
    use crate::matrix::MatrixView;

    /// Numbers 0, 1, 2 … behind three bytes of something else.
    fn stored(folder: &tempfile::TempDir, count: usize) -> StoredNumbers<f32> {
        let path = folder.path().join("numbers");
        let bytes = (0..count).flat_map(|i| (i as f32).to_le_bytes());
        files::write_atomically(&path, |file| file.write_all(&b"abc".iter().copied().chain(bytes).collect::<Vec<_>>()))
            .unwrap();
        let (file, _) = files::open(&path).unwrap();
        StoredNumbers::new(file, path, 3, count)
    }

    #[test]
    fn numbers_are_those_of_the_file_in_any_order_and_on_any_thread() {
        let folder = tempfile::tempdir().unwrap();
        let count = (SLOTS + 6) * BLOCK + 17;
        let numbers = stored(&folder, count);
        let expect = |start: usize, length: usize| {
            let mut out = vec![f32::NAN; length];
            numbers.copy(start, &mut out);
            assert!(out.iter().enumerate().all(|(i, value)| value.to_bits() == ((start + i) as f32).to_bits()));
        };
        for start in [0, 1, BLOCK - 2, BLOCK, SLOTS * BLOCK, SLOTS * BLOCK + 3, 0, 5, count - 9] {
            expect(start, 9);
            expect(start, 9);
        }
        expect(BLOCK - 1, 3 * BLOCK);
        expect(0, count);
        assert_eq!(numbers.get(count - 1).to_bits(), ((count - 1) as f32).to_bits());
        let view = MatrixView::of_stored(&numbers, 7, count / 7).unwrap_err();
        assert!(view.to_string().contains("length"));
        let all = |(): &mut (), range: std::ops::Range<usize>| {
            range.for_each(|i| expect(7919 * i % (count - 64), 64));
            Ok(())
        };
        Run::threads(4).map_blocks(5000, 10, || (), all).unwrap();
        assert_eq!(numbers.failure(), None);
    }

    #[test]
    fn a_file_that_gets_shorter_is_told_and_gives_no_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let numbers = stored(&folder, 3 * BLOCK);
        let path = folder.path().join("numbers");
        files::append(&path, 100, |_| Ok(())).unwrap();
        let view = MatrixView::of_stored(&numbers, 3, BLOCK).unwrap();
        let mut column = [0.0; 3];
        view.copy_finite_column(1, &mut column, "samples").unwrap();
        assert_eq!(column.map(f32::to_bits), [3.0_f32, 4.0, 5.0].map(f32::to_bits));
        let refused = view.copy_finite_column(BLOCK - 1, &mut column, "samples").unwrap_err();
        assert!(matches!(refused, Error::Io { action: "read", .. }), "{refused}");
        assert!(column[0].is_nan() && view.expect_read().is_err());
    }
}
