//! Pictures in patches, and back.

use numpy::{Element, PyArray3, PyReadonlyArray3};
use pyo3::prelude::*;
use sparsemble::Scalar;
use sparsemble::image::{GrayImage, Size};
use sparsemble::patch::{self, PatchGrid, Stride};

use crate::array::{Floats, Rows, filled, is_single};
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
) -> PyResult<Vec<Floats<'py>>> {
    let (planes, Size { width, height }) = images(&planes)?;
    let grid = grid((height, width, cut.0, cut.1))?;
    let shape = [grid.n_patches(), grid.n_features()];
    let patches = |plane| {
        if single {
            filled::<f32>(py, shape, |patches| grid.extract_into(plane, patches))
        } else {
            filled::<f64>(py, shape, |patches| grid.extract_into(plane, patches))
        }
    };
    planes.iter().map(patches).collect()
}

/// All blocks of `(height, width)` of a picture, whose columns are the rows of the array; one block a row.
#[pyfunction]
pub(crate) fn sliding_blocks<'py>(
    py: Python<'py>,
    picture: Floats<'py>,
    block: (usize, usize),
) -> PyResult<Floats<'py>> {
    fn of<'py, T: Scalar + Element>(
        py: Python<'py>,
        picture: &Floats<'py>,
        block: (usize, usize),
    ) -> PyResult<Floats<'py>> {
        let picture = Rows::<T>::new(picture)?;
        let picture = picture.columns()?;
        let count = patch::n_sliding_blocks((picture.rows(), picture.columns()), block).map_err(to_python)?;
        filled::<T>(py, [count, block.0 * block.1], |blocks| patch::sliding_blocks(picture, block, blocks))
    }
    if is_single(&picture) { of::<f32>(py, &picture, block) } else { of::<f64>(py, &picture, block) }
}

/// The plane of these patches, the mean where they overlap.
#[pyfunction]
pub(crate) fn assemble_patches<'py>(
    py: Python<'py>,
    patches: Floats<'py>,
    place: Grid,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    fn of<T: Scalar + Element>(patches: &Floats<'_>, grid: &PatchGrid) -> PyResult<GrayImage> {
        grid.assemble(Rows::<T>::new(patches)?.columns()?).map_err(to_python)
    }
    let grid = grid(place)?;
    let plane = if is_single(&patches) { of::<f32>(&patches, &grid)? } else { of::<f64>(&patches, &grid)? };
    array(py, vec![plane])
}

fn grid((height, width, side, stride): Grid) -> PyResult<PatchGrid> {
    PatchGrid::new(Size { width, height }, side, Stride::Every(stride)).map_err(to_python)
}
