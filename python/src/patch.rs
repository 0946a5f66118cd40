//! Pictures in patches, and back.

use numpy::{Element, PyReadonlyArray3, PyUntypedArray};
use pyo3::prelude::*;
use sparsemble::Scalar;
use sparsemble::image::{GrayImage, Size};
use sparsemble::patch::{PatchGrid, Stride};

use crate::array::{Rows, is_single, rows_of};
use crate::error::to_python;
use crate::restoration::{array, images};

/// `(height, width, side, stride)`.
type Grid = (usize, usize, usize, usize);

/// The patches of each plane, `(side, stride)`, one a row, in `float32` if asked for.
#[pyfunction]
pub(crate) fn extract_patches<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    cut: (usize, usize),
    single: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (planes, Size { width, height }) = images(&planes)?;
    let grid = grid((height, width, cut.0, cut.1))?;
    if single {
        let patches = |plane| rows_of(py, grid.extract::<f32>(plane).map_err(to_python)?);
        planes.iter().map(patches).collect()
    } else {
        let patches = |plane| rows_of(py, grid.extract::<f64>(plane).map_err(to_python)?);
        planes.iter().map(patches).collect()
    }
}

/// The plane of these patches, the mean where they overlap.
#[pyfunction]
pub(crate) fn assemble_patches<'py>(
    py: Python<'py>,
    patches: Bound<'py, PyUntypedArray>,
    place: Grid,
) -> PyResult<Bound<'py, PyAny>> {
    fn of<T: Scalar + Element>(patches: &Bound<'_, PyUntypedArray>, grid: &PatchGrid) -> PyResult<GrayImage> {
        grid.assemble(Rows::<T>::new(patches)?.columns()?).map_err(to_python)
    }
    let grid = grid(place)?;
    let plane = if is_single(&patches) { of::<f32>(&patches, &grid)? } else { of::<f64>(&patches, &grid)? };
    Ok(array(py, vec![plane])?.into_any())
}

fn grid((height, width, side, stride): Grid) -> PyResult<PatchGrid> {
    PatchGrid::new(Size { width, height }, side, Stride::Every(stride)).map_err(to_python)
}
