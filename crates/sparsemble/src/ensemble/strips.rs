//! Narrow strips of samples: what a thread copies, degrades and codes at a time.
//!
//! A coder called on a strip runs on the thread that works on the strip, so there is one level of parallelism, and of
//! the whole data nothing but a strip per thread is ever copied.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::degradation::Degradation;
use crate::error::{Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// Samples in a strip: a multiple of every coder's own block, few enough to occupy all threads with a small batch.
pub(super) const STRIP: usize = 384;

/// The samples of a range, copied; refuses NaN and infinities.
pub(super) fn strip<T: Scalar>(samples: MatrixView<'_, T>, range: Range<usize>) -> Result<Matrix<T>> {
    let mut strip = Matrix::zeros(samples.rows(), range.len());
    for (slot, sample) in range.enumerate() {
        samples.copy_finite_column(sample, strip.column_mut(slot), "samples")?;
    }
    Ok(strip)
}

/// ΦX, column by column.
pub(super) fn degrade<T: Scalar>(phi: &dyn Degradation<T>, matrix: MatrixView<'_, T>) -> Result<Matrix<T>> {
    expect_size("degradation: number of features (that of what it degrades)", matrix.rows(), phi.n_features())?;
    let mut column = vec![T::ZERO; matrix.rows()];
    let mut degraded = Matrix::zeros(phi.n_measurements(), matrix.columns());
    for c in 0..matrix.columns() {
        matrix.copy_column(c, &mut column);
        phi.apply(&column, degraded.column_mut(c));
    }
    Ok(degraded)
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

/// Σ term(a_i, b_i), summed side by side so that additions do not wait for each other.
pub(super) fn sum_of<T: Scalar>(a: &[T], b: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += term(a.to_f64(), b.to_f64());
        }
    }
    sums.iter().sum()
}

/// ‖a − b‖².
pub(super) fn distance<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    sum_of(a, b, |a, b| (a - b) * (a - b))
}
