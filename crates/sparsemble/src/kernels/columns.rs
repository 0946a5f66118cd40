//! Columns padded with zeros to whole vectors, so that kernels over one column have no remainder loop.

use super::aligned::Aligned;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Every column starts at a multiple of this many values, enough for the widest vector of any instruction set.
pub(super) const PADDING: usize = 16;

/// A dense matrix whose columns are padded with zeros.
#[derive(Debug)]
pub(crate) struct Columns<T> {
    data: Aligned<T>,
    rows: usize,
    stride: usize,
    count: usize,
}

impl<T: Scalar> Columns<T> {
    pub(crate) fn zeros(rows: usize, count: usize) -> Self {
        let stride = rows.next_multiple_of(PADDING);
        Self { data: Aligned::zeros(stride * count), rows, stride, count }
    }

    pub(crate) fn copy_of(matrix: MatrixView<'_, T>) -> Self {
        let mut columns = Self::zeros(matrix.rows(), matrix.columns());
        for c in 0..matrix.columns() {
            matrix.copy_column(c, columns.padded_mut(c));
        }
        columns
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The length of a padded column.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// One column with its padding.
    #[inline(always)]
    pub(crate) fn padded(&self, column: usize) -> &[T] {
        &self.data[column * self.stride..][..self.stride]
    }

    /// One column with its padding, which must stay zero.
    #[inline(always)]
    pub(crate) fn padded_mut(&mut self, column: usize) -> &mut [T] {
        &mut self.data[column * self.stride..][..self.stride]
    }

    /// Two different columns with their padding, the first before the second.
    #[inline(always)]
    pub(crate) fn pair_mut(&mut self, first: usize, second: usize) -> (&mut [T], &mut [T]) {
        let (head, tail) = self.data.split_at_mut(second * self.stride);
        (&mut head[first * self.stride..][..self.stride], &mut tail[..self.stride])
    }

    /// All columns in chunks of `PADDING`, and how many of these make a column.
    #[inline(always)]
    pub(super) fn chunks(&self) -> (&[[T; PADDING]], usize) {
        (self.data.as_chunks::<PADDING>().0, self.stride / PADDING)
    }

    /// One column without its padding.
    #[inline]
    pub(crate) fn column(&self, column: usize) -> &[T] {
        &self.padded(column)[..self.rows]
    }
}
