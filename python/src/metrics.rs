//! How well clusters agree with classes, and pictures with each other.

use numpy::{PyReadonlyArray1, PyReadonlyArray3};
use pyo3::prelude::*;
use sparsemble::image::{BitDepth, GrayImage, Picture, Size};
use sparsemble::metrics::{self, Agreement};
use sparsemble::{Result, Run};

use crate::error::to_python;
use crate::restoration::images;
use crate::run::RunOptions;

/// `(accuracy, nmi, ari)` of two labels for each sample.
#[pyfunction]
pub(crate) fn agreement(
    py: Python<'_>,
    classes: PyReadonlyArray1<'_, i64>,
    clusters: PyReadonlyArray1<'_, i64>,
) -> PyResult<(f64, f64, f64)> {
    let (classes, clusters) = (classes.as_slice()?, clusters.as_slice()?);
    let agreement = py.detach(|| Agreement::between(classes, clusters)).map_err(to_python)?;
    Ok((agreement.accuracy(), agreement.nmi(), agreement.ari()))
}

/// The PSNR of two pictures in planes, from the mean of all squared differences; `(shave, brightness)` is what of them
/// counts.
#[pyfunction]
pub(crate) fn psnr(
    py: Python<'_>,
    reference: PyReadonlyArray3<'_, f64>,
    image: PyReadonlyArray3<'_, f64>,
    counted: (usize, bool),
) -> PyResult<f64> {
    let (reference, image) = (images(&reference)?.0, images(&image)?.0);
    py.detach(|| metrics::psnr(&stacked(compared(reference, counted)?)?, &stacked(compared(image, counted)?)?))
        .map_err(to_python)
}

/// Two pictures as they lie in memory.
#[derive(FromPyObject)]
pub(crate) enum Pair<'py> {
    Bytes(PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, u8>),
    Levels(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
}

/// The PSNR of two pictures, all of both, in `uint8` or `float64`.
#[pyfunction]
pub(crate) fn psnr_of_all(py: Python<'_>, pair: Pair<'_>) -> PyResult<f64> {
    match pair {
        Pair::Bytes(reference, image) => {
            let (reference, image) = (reference.as_slice()?, image.as_slice()?);
            py.detach(|| metrics::psnr_of_bytes(reference, image)).map_err(to_python)
        }
        Pair::Levels(reference, image) => {
            let (reference, image) = (reference.as_slice()?, image.as_slice()?);
            py.detach(|| metrics::psnr_of_samples(reference, image)).map_err(to_python)
        }
    }
}

/// The SSIM of each pair of planes.
#[pyfunction]
pub(crate) fn ssim(
    py: Python<'_>,
    reference: PyReadonlyArray3<'_, f64>,
    image: PyReadonlyArray3<'_, f64>,
    counted: (usize, bool),
    run: RunOptions,
) -> PyResult<Vec<f64>> {
    let (reference, image) = (images(&reference)?.0, images(&image)?.0);
    run.call(py, |run: Run<'_>| {
        let pairs = compared(reference, counted)?.into_iter().zip(compared(image, counted)?);
        pairs.map(|(reference, image)| metrics::ssim(&reference, &image, run)).collect()
    })
}

/// What of a picture is compared: all planes or their brightness, without so many pixels at each border.
fn compared(planes: Vec<GrayImage>, (shave, brightness): (usize, bool)) -> Result<Vec<GrayImage>> {
    let planes = if brightness { vec![Picture { planes, depth: BitDepth::Eight }.brightness()?] } else { planes };
    if shave == 0 {
        return Ok(planes);
    }
    planes.iter().map(|plane| plane.shaved(shave)).collect()
}

/// All planes as one picture, one below the other.
fn stacked(mut planes: Vec<GrayImage>) -> Result<GrayImage> {
    if planes.len() == 1 {
        return Ok(planes.remove(0));
    }
    let size = planes.first().map_or(Size { width: 0, height: 0 }, GrayImage::size);
    let height = size.height * planes.len();
    GrayImage::new(Size { height, ..size }, planes.into_iter().flat_map(GrayImage::into_samples).collect())
}
