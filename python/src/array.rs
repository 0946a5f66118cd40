//! NumPy arrays read as matrices whose columns are samples or atoms.
//!
//! An array of shape `(n_samples, n_features)` in C order holds the bytes of a column-major `n_features × n_samples`
//! matrix, and in Fortran order those of a row-major one: both are read in place. Any other strides, and memory that is
//! not aligned (as blocks that came over a network can be), are copied first.

use numpy::ndarray::Dimension;
use numpy::prelude::*;
use numpy::{Element, IntoPyArray, PyArray2, PyReadonlyArray2, PyUntypedArray, dtype};
use pyo3::prelude::*;
use sparsemble::{Matrix, MatrixView};

use crate::error::to_python;

/// Numbers of the type that the caller has chosen, the same in all arrays of a call.
///
/// Python: `NDArray[np.float32] | NDArray[np.float64]`
pub(crate) type Floats<'py> = Bound<'py, PyUntypedArray>;

/// Numbers in double precision.
///
/// Python: `NDArray[np.float64]`
pub(crate) type Reals<'py> = Bound<'py, PyUntypedArray>;

/// Bytes, of which 0 is false.
///
/// Python: `NDArray[np.uint8]`
pub(crate) type Truths<'py> = Bound<'py, PyUntypedArray>;

/// Indices as SciPy wants them: as short as they can be.
///
/// Python: `NDArray[np.signedinteger]`
pub(crate) type Indices<'py> = Bound<'py, PyUntypedArray>;

/// A two-dimensional array whose rows can be read as the columns of a matrix.
pub(crate) struct Rows<'py, T: Element>(PyReadonlyArray2<'py, T>);

impl<'py, T: Element + Copy> Rows<'py, T> {
    /// Borrows the array, or a copy of it where its memory cannot be read in place.
    ///
    /// # Errors
    /// If it does not have two dimensions or the element type.
    pub(crate) fn new(array: &Floats<'py>) -> PyResult<Self> {
        let array = array.cast::<PyArray2<T>>()?;
        let in_place = array.is_aligned() && (array.is_c_contiguous() || array.is_fortran_contiguous());
        let array = if in_place { array.clone() } else { array.call_method1("copy", ("C",))?.cast_into()? };
        Ok(Self(array.try_readonly()?))
    }

    /// The rows as columns.
    pub(crate) fn columns(&self) -> PyResult<MatrixView<'_, T>> {
        let (rows, width) = self.0.dims().into_pattern();
        // `as_slice` takes either order, so the strides must follow the order the array really has.
        let strides = if self.0.is_c_contiguous() { (1, width) } else { (rows, 1) };
        MatrixView::from_strided(self.0.as_slice()?, (width, rows), strides).map_err(to_python)
    }

    /// The rows as rows: the matrix as it is written.
    pub(crate) fn matrix(&self) -> PyResult<MatrixView<'_, T>> {
        let (rows, width) = self.0.dims().into_pattern();
        let strides = if self.0.is_c_contiguous() { (width, 1) } else { (1, rows) };
        MatrixView::from_strided(self.0.as_slice()?, (rows, width), strides).map_err(to_python)
    }
}

/// The columns of a matrix as the rows of an array, without a copy.
pub(crate) fn rows_of<T: Element + Copy>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Floats<'_>> {
    let shape = [matrix.columns(), matrix.rows()];
    Ok(matrix.into_vec().into_pyarray(py).reshape(shape)?.as_untyped().clone())
}

/// A new array of this shape that `fill` writes, all of it.
///
/// The memory is NumPy's, which asks the system for large pages where it is much: our own would take a page fault for
/// every four kilobytes, and several times as long. It holds whatever was there before: zeros would be one more pass.
pub(crate) fn filled<T: Element>(
    py: Python<'_>,
    shape: [usize; 2],
    fill: impl FnOnce(&mut [T]) -> sparsemble::Result<()>,
) -> PyResult<Floats<'_>> {
    let array = py.import("numpy")?.call_method1("empty", (shape, dtype::<T>(py)))?.cast_into::<PyArray2<T>>()?;
    fill(array.try_readwrite()?.as_slice_mut()?).map_err(to_python)?;
    Ok(array.as_untyped().clone())
}

/// The bytes as truth values: NumPy lets a `bool` array hold any byte, Rust only 0 and 1, so they are never shared.
pub(crate) fn truths(array: &Truths<'_>) -> PyResult<Matrix<bool>> {
    let bytes = Rows::<u8>::new(array)?;
    let bytes = bytes.columns()?;
    Ok(Matrix::from_fn(bytes.rows(), bytes.columns(), |r, c| bytes.get(r, c) != 0))
}

/// Whether the array holds `float32`.
pub(crate) fn is_single(array: &Floats<'_>) -> bool {
    array.dtype().is_equiv_to(&dtype::<f32>(array.py()))
}

/// The address the library reads for `array`: that of the array itself unless it had to be copied.
#[pyfunction]
pub(crate) fn address(array: Floats<'_>) -> PyResult<usize> {
    fn first<T: Element + Copy>(array: &Floats<'_>) -> PyResult<usize> {
        Ok(Rows::<T>::new(array)?.0.as_slice()?.as_ptr().addr())
    }
    if is_single(&array) { first::<f32>(&array) } else { first::<f64>(&array) }
}
