//! Pictures in another size.

use numpy::{PyArray3, PyReadonlyArray3};
use pyo3::prelude::*;
use sparsemble::image::{GrayImage, Interpolation, Size, rescale, resize};
use sparsemble::{Result, Run};

use crate::restoration::{array, images};
use crate::run::RunOptions;

/// How large the result is: by a factor, or a height and width.
#[derive(FromPyObject)]
pub(crate) enum Target {
    Factor(f64),
    Shape((usize, usize)),
}

/// The planes in another size, by the definition of MATLAB's `imresize`.
#[pyfunction]
pub(crate) fn imresize<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    target: Target,
    lanczos: bool,
    run: RunOptions,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let interpolation = if lanczos { Interpolation::Lanczos3 } else { Interpolation::Bicubic };
    let (planes, _) = images(&planes)?;
    let resized = |plane: &GrayImage, run: Run<'_>| match target {
        Target::Factor(factor) => rescale(plane, factor, interpolation, run),
        Target::Shape((height, width)) => resize(plane, Size { width, height }, interpolation, run),
    };
    let made = run.call(py, |run| planes.iter().map(|plane| resized(plane, run)).collect::<Result<Vec<_>>>())?;
    array(py, made)
}
