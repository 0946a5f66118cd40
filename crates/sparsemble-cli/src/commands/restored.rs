//! What `recover` and `restore` have in common: the picture to write, and the one to compare it with.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use sparsemble::image::{BitDepth, GrayImage, Picture, PictureFormat, Size, read, read_picture, write_picture};
use sparsemble::metrics::psnr;
use sparsemble::restoration::Restored;
use sparsemble::{Matrix, matrix_file};

use crate::args::PictureArguments;
use crate::output::{claim, claim_apart};

/// How much brighter than its deviation a pixel of the picture of deviations is.
const BRIGHTER: f64 = 10.0;

/// What the result is compared with, plane by plane.
pub(super) struct Truth(Option<Vec<GrayImage>>);

/// Checks before the work begins that all can be written at its end, and reads what a picture of this size and as many
/// planes is to be compared with.
pub(super) fn prepare(arguments: &PictureArguments, force: bool, size: Size, n_planes: usize) -> Result<Truth> {
    let outputs = [
        ("--output", Some(&arguments.output)),
        ("--uncertainty", arguments.uncertainty.as_ref()),
        ("--report", arguments.report.as_ref()),
    ];
    claim_apart(&[], &outputs, force)?;
    PictureFormat::of(&arguments.output)?;
    if let Some(path) = &arguments.uncertainty {
        claim_uncertainty(path, force)?;
    }
    let Some(path) = &arguments.reference else { return Ok(Truth(None)) };
    // One plane is compared with the brightness.
    let truth = if n_planes == 1 { vec![read(path)?] } else { read_picture(path)?.planes };
    if truth.len() != n_planes || truth[0].size() != size {
        bail!("{} is no picture of {size} pixels and {n_planes} colours; compare with the original", path.display());
    }
    Ok(Truth(Some(truth)))
}

/// Checks before the work begins that what is known of the errors can be written at its end.
pub(super) fn claim_uncertainty(path: &Path, force: bool) -> Result<()> {
    claim(path, force)?;
    if matrix_file::is_matrix_file(path) {
        return Ok(matrix_file::expect_samples_name(path)?);
    }
    PictureFormat::of(path)?;
    Ok(())
}

impl Truth {
    /// The PSNR of planes, clipped and rounded as in a file, if there is something to compare them with.
    pub(super) fn psnr<'a>(&self, planes: impl Iterator<Item = &'a GrayImage>) -> Result<Option<f64>> {
        let Self(Some(truth)) = self else { return Ok(None) };
        let error = |(truth, plane): (&GrayImage, &GrayImage)| -> Result<f64> {
            Ok(10.0_f64.powf(-psnr(truth, &plane.quantised(BitDepth::Eight))? / 10.0))
        };
        let errors = truth.iter().zip(planes).map(error).collect::<Result<Vec<f64>>>()?;
        Ok(Some(-10.0 * (errors.iter().sum::<f64>() / errors.len() as f64).log10()))
    }

    /// The planes, if they are known.
    pub(super) fn planes(&self) -> Option<&[GrayImage]> {
        self.0.as_deref()
    }
}

/// Writes the planes of a picture, and how sure they are.
pub(super) fn write(arguments: &PictureArguments, depth: BitDepth, planes: &[Restored]) -> Result<()> {
    let depth = if arguments.sixteen_bit { BitDepth::Sixteen } else { depth };
    let images = |of: fn(&Restored) -> &GrayImage| planes.iter().map(|plane| of(plane).clone()).collect::<Vec<_>>();
    write_picture(&arguments.output, &Picture { planes: images(|plane| &plane.image), depth })?;
    match &arguments.uncertainty {
        Some(path) => write_uncertainty(path, &images(|plane| &plane.deviation)),
        None => Ok(()),
    }
}

/// Writes the deviations of planes: as they are to a matrix file, brighter to a picture.
pub(super) fn write_uncertainty(path: &Path, deviations: &[GrayImage]) -> Result<()> {
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

/// The files that were written for people to look at.
pub(super) fn written(arguments: &PictureArguments) -> String {
    let files = [Some(&arguments.output), arguments.uncertainty.as_ref(), arguments.report.as_ref()];
    files.into_iter().flatten().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A figure for a report; infinite for pictures that are the same.
pub(super) fn decibels(psnr: Option<f64>) -> Value {
    psnr.map_or(Value::Null, |value| if value.is_finite() { json!(value) } else { json!("inf") })
}
