//! What `recover` and `restore` have in common: pictures to write, and to compare with.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sparsemble::image::{BitDepth, GrayImage, Picture, Size, read, read_picture, write_picture};
use sparsemble::metrics::psnr;
use sparsemble::restoration::Restored;
use sparsemble::{Matrix, matrix_file};

use crate::args::WrittenArguments;
use crate::output::claim;

/// How much brighter than its deviation a pixel of the picture of deviations is.
const BRIGHTER: f64 = 10.0;

/// Checks before the work begins that all can be written at its end.
pub(super) fn claim_all(output: &Path, written: &WrittenArguments, force: bool) -> Result<()> {
    claim(output, force)?;
    written.uncertainty.as_ref().map_or(Ok(()), |path| claim(path, force))
}

/// Writes the planes of a picture, and how sure they are.
pub(super) fn write(output: &Path, written: &WrittenArguments, depth: BitDepth, planes: &[Restored]) -> Result<()> {
    let depth = if written.sixteen_bit { BitDepth::Sixteen } else { depth };
    let images = |of: fn(&Restored) -> &GrayImage| planes.iter().map(|plane| of(plane).clone()).collect::<Vec<_>>();
    write_picture(output, &Picture { planes: images(|plane| &plane.image), depth })?;
    let Some(path) = &written.uncertainty else { return Ok(()) };
    let deviations = images(|plane| &plane.deviation);
    if matrix_file::is_matrix_file(path) {
        let Size { width, height } = deviations[0].size();
        let rows = deviations.iter().flat_map(|plane| plane.samples().iter().copied()).collect();
        return Ok(matrix_file::write(path, Matrix::from_columns(rows, width, height * deviations.len())?.view())?);
    }
    let brighter =
        |plane: &GrayImage| GrayImage::from_fn(plane.size(), |row, column| BRIGHTER * plane.row(row)[column]);
    let planes = deviations.iter().map(brighter).collect::<sparsemble::Result<_>>()?;
    Ok(write_picture(path, &Picture { planes, depth: BitDepth::Eight })?)
}

/// The PSNR of planes, clipped and rounded as in a file, against a picture with as many; one plane is compared with the
/// brightness.
pub(super) fn compare(reference: Option<&Path>, planes: &[&GrayImage]) -> Result<Option<f64>> {
    let Some(path) = reference else { return Ok(None) };
    let truth = if planes.len() == 1 { vec![read(path)?] } else { read_picture(path)?.planes };
    let mean = |truth: &[GrayImage]| -> sparsemble::Result<f64> {
        let squares = planes
            .iter()
            .zip(truth)
            .map(|(plane, truth)| Ok(10.0_f64.powf(-psnr(truth, &plane.quantised(BitDepth::Eight))? / 10.0)));
        let squares = squares.collect::<sparsemble::Result<Vec<f64>>>()?;
        Ok(-10.0 * (squares.iter().sum::<f64>() / squares.len() as f64).log10())
    };
    mean(&truth).map(Some).with_context(|| format!("cannot compare with {}", path.display()))
}

/// A figure for a report; infinite for pictures that are the same.
pub(super) fn decibels(psnr: Option<f64>) -> Value {
    psnr.map_or(Value::Null, |value| if value.is_finite() { json!(value) } else { json!("inf") })
}
