//! Narrow strips of samples: what a thread copies, degrades and codes at a time.
//!
//! A coder called on a strip runs on the thread that works on the strip, so there is one level of parallelism, and of
//! the whole data nothing but a strip per thread is ever copied.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blocks::{Pulse, Run};
use crate::error::Result;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// Samples in a strip: a multiple of every coder's own block, few enough to occupy all threads with a small batch.
pub(crate) const STRIP: usize = 384;

/// The samples of a range, copied; refuses NaN and infinities.
pub(super) fn strip<T: Scalar>(samples: MatrixView<'_, T>, range: Range<usize>) -> Result<Matrix<T>> {
    let mut strip = Matrix::zeros(samples.rows(), range.len());
    for (slot, sample) in range.enumerate() {
        samples.copy_finite_column(sample, strip.column_mut(slot), "samples")?;
    }
    Ok(strip)
}

/// Copies every strip of samples and hands it to `work` with the numbers of its samples and how to run what it calls.
pub(super) fn map_strips<T: Scalar, R: Send>(
    samples: MatrixView<'_, T>,
    run: Run<'_>,
    work: impl Fn(Matrix<T>, Range<usize>, Run<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let on_strip = |(): &mut (), range: Range<usize>, pulse: &Pulse<'_>| {
        let strip = strip(samples, range.clone())?;
        pulse.within(|run| work(strip, range, run))
    };
    run.map_long_blocks(samples.columns(), STRIP, || (), on_strip)
}

/// A matrix in pieces of one strip each, for threads to write to: each piece has its own lock, and one strip one thread.
pub(super) fn pieces<T: Scalar>(matrix: &mut Matrix<T>) -> Vec<Mutex<&mut [T]>> {
    let size = (STRIP * matrix.rows()).max(1);
    matrix.as_mut_slice().chunks_mut(size).map(Mutex::new).collect()
}

/// The piece of the strip that starts with this sample.
pub(super) fn piece<'a, 'b, T>(pieces: &'a [Mutex<&'b mut [T]>], start: usize) -> MutexGuard<'a, &'b mut [T]> {
    pieces[start / STRIP].lock().unwrap_or_else(PoisonError::into_inner)
}
