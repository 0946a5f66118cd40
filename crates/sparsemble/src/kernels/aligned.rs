//! Buffers that start at a cache line, so that no vector load straddles two of them.

use std::ops::{Deref, DerefMut};

/// The length of a cache line, and of the widest vector, in bytes.
const LINE: usize = 64;

/// A fixed number of values, the first of them at the start of a cache line.
#[derive(Debug)]
pub(crate) struct Aligned<T> {
    data: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Aligned<T> {
    pub(crate) fn zeros(length: usize) -> Self {
        let data = vec![T::default(); length + LINE / size_of::<T>()];
        let start = data.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        Self { data, start, length }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.data[self.start..self.start + self.length]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_starts_at_a_cache_line() {
        for length in [0, 1, 5, 64, 1000] {
            let buffer = Aligned::<f32>::zeros(length);
            assert_eq!(buffer.as_ptr().align_offset(LINE), 0);
            assert_eq!(buffer.len(), length);
        }
    }
}
