//! Our own matrices, so that no linear-algebra crate shows in the interface.
//!
//! Samples are columns in column-major memory. A NumPy array of shape `(n_samples, n_features)` in C order is the same
//! bytes, so the border to Python is a view and never a transpose; a Fortran-order array is a view with other strides.

use crate::error::{Error, Result, expect_size};
use crate::scalar::Scalar;

/// An owned matrix, column-major without gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<T> {
    data: Vec<T>,
    rows: usize,
    columns: usize,
}

impl<T: Copy> Matrix<T> {
    /// Takes the columns one after the other.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if `data` does not hold `rows × columns` values.
    pub fn from_columns(data: Vec<T>, rows: usize, columns: usize) -> Result<Self> {
        expect_size("matrix data length", rows * columns, data.len())?;
        Ok(Self { data, rows, columns })
    }

    /// Fills the matrix by `value(row, column)`.
    pub fn from_fn(rows: usize, columns: usize, mut value: impl FnMut(usize, usize) -> T) -> Self {
        let data = (0..columns).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| value(r, c)).collect();
        Self { data, rows, columns }
    }

    /// The number of rows (features).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns (samples or atoms).
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values, column after column.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// The values, column after column.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Gives up the values, column after column.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// One column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> &[T] {
        &self.data[column * self.rows..][..self.rows]
    }

    /// One column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column_mut(&mut self, column: usize) -> &mut [T] {
        &mut self.data[column * self.rows..][..self.rows]
    }

    /// The whole matrix as a view.
    pub fn view(&self) -> MatrixView<'_, T> {
        let data = Data::Memory(&self.data);
        MatrixView { data, rows: self.rows, columns: self.columns, row_stride: 1, column_stride: self.rows }
    }
}

impl Matrix<f64> {
    /// The product with another, for small matrices.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows(), other.columns());
        for c in 0..other.columns() {
            for (j, &factor) in other.column(c).iter().enumerate() {
                product.column_mut(c).iter_mut().zip(self.column(j)).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        product
    }
}

impl<T: Scalar> Matrix<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { data: vec![T::ZERO; rows * columns], rows, columns }
    }
}

/// A borrowed matrix with any non-negative strides. Its numbers are in memory, or in a file that is read in parts.
#[derive(Debug, Clone, Copy)]
pub struct MatrixView<'a, T> {
    data: Data<'a, T>,
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

/// Where the numbers of a view are.
#[derive(Debug, Clone, Copy)]
enum Data<'a, T> {
    Memory(&'a [T]),
    Stored(&'a dyn Stored<T>),
}

/// Numbers that are not in memory.
pub(crate) trait Stored<T>: std::fmt::Debug + Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them.
    fn get(&self, place: usize) -> T;

    /// Copies the numbers from `start` on. Those that cannot be read are not finite, and [`Self::failure`] says why.
    fn copy(&self, start: usize, out: &mut [T]);

    /// Why some could not be read.
    fn failure(&self) -> Option<Error>;
}

impl<T: Copy> Data<'_, T> {
    #[inline]
    fn get(&self, place: usize) -> T {
        match self {
            Self::Memory(values) => values[place],
            Self::Stored(stored) => stored.get(place),
        }
    }

    /// Copies the numbers from `start` on.
    #[inline]
    fn copy(&self, start: usize, out: &mut [T]) {
        match self {
            Self::Memory(values) => out.copy_from_slice(&values[start..start + out.len()]),
            Self::Stored(stored) => stored.copy(start, out),
        }
    }
}

impl<'a, T: Copy> MatrixView<'a, T> {
    /// Reads `data` as columns one after the other.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if `data` does not hold `rows × columns` values.
    pub fn from_columns(data: &'a [T], rows: usize, columns: usize) -> Result<Self> {
        expect_size("matrix data length", rows * columns, data.len())?;
        Ok(Self { data: Data::Memory(data), rows, columns, row_stride: 1, column_stride: rows })
    }

    /// Reads numbers that are not in memory as columns one after the other.
    #[cfg_attr(not(feature = "io"), expect(dead_code, reason = "only files hold numbers that are not in memory"))]
    pub(crate) fn of_stored(data: &'a dyn Stored<T>, rows: usize, columns: usize) -> Result<Self> {
        expect_size("matrix data length", rows * columns, data.count())?;
        Ok(Self { data: Data::Stored(data), rows, columns, row_stride: 1, column_stride: rows })
    }

    /// Reads `data` with the entry (r, c) at `r · row_stride + c · column_stride`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the last entry lies beyond `data`.
    pub fn from_strided(
        data: &'a [T],
        (rows, columns): (usize, usize),
        (row_stride, column_stride): (usize, usize),
    ) -> Result<Self> {
        let empty = rows == 0 || columns == 0;
        let last = |count: usize, stride: usize| (count - 1).checked_mul(stride);
        let needed = if empty {
            Some(0)
        } else {
            last(rows, row_stride).zip(last(columns, column_stride)).and_then(|(r, c)| r.checked_add(c)?.checked_add(1))
        };
        match needed {
            Some(needed) if needed <= data.len() => {
                Ok(Self { data: Data::Memory(data), rows, columns, row_stride, column_stride })
            }
            _ => Err(Error::ShapeMismatch {
                what: "matrix data length (strided)",
                expected: needed.unwrap_or(usize::MAX),
                found: data.len(),
            }),
        }
    }

    /// The number of rows (features).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns (samples or atoms).
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn get(&self, row: usize, column: usize) -> T {
        assert!(row < self.rows && column < self.columns, "entry ({row}, {column}) is outside the matrix");
        self.data.get(row * self.row_stride + column * self.column_stride)
    }

    /// Writes one column to the front of `out`; what lies beyond stays as it is.
    ///
    /// # Panics
    /// If there is no such column or `out` is shorter than one.
    pub fn copy_column(&self, column: usize, out: &mut [T]) {
        assert!(column < self.columns, "column {column} is outside the matrix");
        let start = column * self.column_stride;
        if self.row_stride == 1 {
            self.data.copy(start, &mut out[..self.rows]);
        } else {
            for (r, value) in out[..self.rows].iter_mut().enumerate() {
                *value = self.data.get(start + r * self.row_stride);
            }
        }
    }

    /// The values column after column, if that is how they lie, without gaps.
    pub(crate) fn as_columns(&self) -> Option<&'a [T]> {
        let whole = self.row_stride == 1 && self.column_stride == self.rows;
        match self.data {
            Data::Memory(values) if whole => values.get(..self.rows * self.columns),
            _ => None,
        }
    }

    /// A copy without gaps.
    pub fn to_matrix(&self) -> Matrix<T> {
        if self.rows == 0 || self.columns == 0 {
            return Matrix { data: Vec::new(), rows: self.rows, columns: self.columns };
        }
        let data = vec![self.get(0, 0); self.rows * self.columns];
        let mut matrix = Matrix { data, rows: self.rows, columns: self.columns };
        (0..self.columns).for_each(|c| self.copy_column(c, matrix.column_mut(c)));
        matrix
    }

    /// The same entries with rows and columns exchanged; nothing is copied.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

impl<T: Scalar> MatrixView<'_, T> {
    /// A copy without gaps in another type of numbers, each the nearest there is.
    pub fn converted<U: Scalar>(&self) -> Matrix<U> {
        Matrix::from_fn(self.rows, self.columns, |r, c| U::from_f64(self.get(r, c).to_f64()))
    }

    /// Refuses NaN and infinities; `what` names the argument in the message.
    pub(crate) fn expect_finite(&self, what: &'static str) -> Result<()> {
        let mut column = vec![T::ZERO; self.rows];
        (0..self.columns).try_for_each(|c| self.copy_finite_column(c, &mut column, what))
    }

    /// Writes one column to `out`, which is as long; refuses NaN and infinities.
    ///
    /// # Panics
    /// As [`copy_column`](Self::copy_column).
    pub(crate) fn copy_finite_column(&self, column: usize, out: &mut [T], what: &'static str) -> Result<()> {
        self.copy_column(column, out);
        let Some(row) = first_not_finite(out) else { return Ok(()) };
        self.expect_read()?;
        Err(Error::NotFinite { what, row, column })
    }

    /// Refuses samples of which some could not be read from their file.
    pub(crate) fn expect_read(&self) -> Result<()> {
        match self.data {
            Data::Memory(_) => Ok(()),
            Data::Stored(stored) => stored.failure().map_or(Ok(()), Err),
        }
    }
}

/// The place of the first NaN or infinity.
pub(crate) fn first_not_finite<T: Scalar>(values: &[T]) -> Option<usize> {
    // Without a way out in between it vectorises; the search only runs on bad input.
    let all_finite = values.iter().fold(true, |finite, x| finite & x.is_finite());
    if all_finite { None } else { values.iter().position(|x| !x.is_finite()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_memory_orders_are_one_view() {
        let columns = [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0];
        let rows = [1.0_f64, 3.0, 5.0, 2.0, 4.0, 6.0];
        let a = MatrixView::from_columns(&columns, 2, 3).unwrap();
        let b = MatrixView::from_strided(&rows, (2, 3), (3, 1)).unwrap();
        assert_eq!(a.to_matrix(), b.to_matrix());
        assert_eq!(a.get(1, 2).to_bits(), 6.0_f64.to_bits());
    }

    #[test]
    fn a_view_is_turned_and_converted() {
        let view = MatrixView::from_columns(&[1.0_f64, 2.0, 3.0, 4.0, 5.0, 1e-300], 2, 3).unwrap();
        let turned = view.transposed();
        assert_eq!((turned.rows(), turned.columns()), (3, 2));
        assert_eq!(turned.to_matrix().as_slice(), [1.0, 3.0, 5.0, 2.0, 4.0, 1e-300]);
        assert_eq!(turned.transposed().to_matrix(), view.to_matrix());
        assert_eq!(view.converted::<f32>().as_slice(), [1.0_f32, 2.0, 3.0, 4.0, 5.0, 0.0]);
    }

    #[test]
    fn a_view_beyond_its_data_is_refused() {
        assert!(MatrixView::from_columns(&[0.0; 5], 2, 3).is_err());
        assert!(MatrixView::from_strided(&[0.0; 5], (2, 3), (1, 2)).is_err());
        assert!(MatrixView::from_strided(&[0.0; 5], (2, usize::MAX), (1, usize::MAX)).is_err());
        assert!(MatrixView::<f64>::from_strided(&[], (0, 3), (1, 0)).is_ok());
    }

    #[test]
    fn the_place_of_a_bad_value_is_named() {
        let data = [1.0, 2.0, f64::NAN, 4.0];
        let view = MatrixView::from_columns(&data, 2, 2).unwrap();
        assert_eq!(view.expect_finite("samples"), Err(Error::NotFinite { what: "samples", row: 0, column: 1 }));
    }
}
