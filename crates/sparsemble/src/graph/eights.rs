//! Eight vectors side by side: the unit in which graphs are multiplied.
//!
//! A product with a sparse matrix fetches one entry of the vector for each neighbour, and a fetch brings a cache line of
//! eight doubles. With the entries of eight vectors at a vertex in one line, eight products cost little more than one.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::blocks::Run;
use crate::error::Result;

/// Vertices that one thread works on at a time: the entries of eight vectors at them fill half of a level 1 cache.
pub(crate) const VERTICES: usize = 256;

/// The entries of eight vectors at one vertex: one cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Eight(pub [f64; Eight::WIDTH]);

impl Eight {
    /// How many vectors there are.
    pub const WIDTH: usize = 8;

    /// Zeros.
    pub(crate) const ZERO: Self = Self([0.0; Self::WIDTH]);
}

/// Writes to `out` on all threads: `work` gets the range of a few vertices and their part of `out`.
pub(crate) fn fill(out: &mut [Eight], run: Run<'_>, work: impl Fn(Range<usize>, &mut [Eight]) + Sync) -> Result<()> {
    let count = out.len();
    // Each piece has its own lock, and one thread.
    let pieces: Vec<_> = out.chunks_mut(VERTICES).map(Mutex::new).collect();
    run.map_blocks(
        count,
        VERTICES,
        || (),
        |(), range| {
            let mut piece = pieces[range.start / VERTICES].lock().unwrap_or_else(PoisonError::into_inner);
            work(range, &mut piece);
            Ok(())
        },
    )?;
    Ok(())
}
