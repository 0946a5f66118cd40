//! What `recover`, `restore` and `upscale` have in common: the picture to write, and the one to compare it with.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sparsemble::image::{
    BitDepth, GrayImage, Layout, Picture, PictureFormat, Size, read, read_picture, write_by_rows, write_picture,
};
use sparsemble::matrix_file;
use sparsemble::metrics::psnr;

use crate::args::PictureArguments;
use crate::batch::{self, Target, Work, renamed};
use crate::failure::Usage;
use crate::output::{self, claim_for, warn};
use crate::pictures::reference_of;

/// How much brighter than its deviation a pixel of the picture of deviations is.
const BRIGHTER: f64 = 10.0;

/// What the result is compared with, plane by plane.
pub(super) struct Truth(Option<Vec<GrayImage>>);

/// What is to be done for these inputs, after all names have been checked.
pub(super) fn works(inputs: Vec<PathBuf>, many: bool, arguments: &PictureArguments, force: bool) -> Result<Vec<Work>> {
    let target = Target { output: Some(&arguments.output), batch: &arguments.batch, force };
    let works = batch::works(inputs, many, &target, |input| renamed(input, ".png"))?;
    works.iter().try_for_each(|work| PictureFormat::of(&work.output).map(drop))?;
    if let Some(path) = &arguments.uncertainty {
        claim_uncertainty(path, many, force)?;
    }
    if let Some(path) = &arguments.report {
        claim_page(path, many, force)?;
    }
    Ok(works)
}

/// Reads what a picture of this size and as many planes is to be compared with.
pub(super) fn truth(arguments: &PictureArguments, input: &Path, size: Size, n_planes: usize) -> Result<Truth> {
    let Some(path) = &arguments.reference else { return Ok(Truth(None)) };
    let path = &reference_of(input, path)?;
    // One plane is compared with the brightness.
    let truth = if n_planes == 1 { vec![read(path)?] } else { read_picture(path)?.planes };
    let advice = "give the original of this picture as --reference";
    if truth[0].size() != size {
        bail!("{} has {} pixels, the result {size}; {advice}", path.display(), truth[0].size());
    }
    if truth.len() != n_planes {
        bail!("{} is in grey, the result in colour; {advice}", path.display());
    }
    Ok(Truth(Some(truth)))
}

/// Checks before the work begins that what is known of the errors can be written at its end.
pub(super) fn claim_uncertainty(path: &Path, many: bool, force: bool) -> Result<()> {
    if many {
        return Err(Usage("--uncertainty is for one picture; give them one at a time".into()).into());
    }
    claim_for("--uncertainty", path, force)?;
    if matrix_file::is_matrix_file(path) {
        return Ok(matrix_file::expect_samples_name(path)?);
    }
    PictureFormat::of(path)?;
    Ok(())
}

/// Checks before the work begins that a page can be written at its end.
pub(super) fn claim_page(path: &Path, many: bool, force: bool) -> Result<()> {
    if many {
        return Err(Usage("--report is for one picture; give them one at a time".into()).into());
    }
    output::claim_page(path, force)
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

/// What the file to write can hold of a layout, asked before the work begins; says what is lost.
pub(super) fn fitted(work: &Work, layout: &Layout) -> Result<Layout> {
    // Files name themselves; channels do not.
    let name = || work.input.display().to_string();
    let fitted = PictureFormat::of(&work.output)?.fitted(layout).with_context(name)?;
    let losses = [
        (layout.depth == BitDepth::Sixteen && fitted.depth == BitDepth::Eight, "16 bits a sample"),
        (layout.profile.is_some() && fitted.profile.is_none(), "the colour profile"),
        (layout.exif.is_some() && fitted.exif.is_none(), "the EXIF data"),
    ];
    for (_, what) in losses.into_iter().filter(|(lost, _)| *lost) {
        warn(&format!("{} cannot hold {what}; a .png file can", work.output.display()))?;
    }
    Ok(fitted)
}

/// The depth to write, for a picture that has this one.
pub(super) fn depth(arguments: &PictureArguments, own: BitDepth) -> BitDepth {
    if arguments.sixteen_bit { BitDepth::Sixteen } else { own }
}

/// Writes the planes of a picture, with its alpha as it was if there is one, and how sure they are.
pub(super) fn write(
    arguments: &PictureArguments,
    output: &Path,
    layout: &Layout,
    (planes, alpha): (&[GrayImage], Option<GrayImage>),
    deviations: &[GrayImage],
) -> Result<()> {
    let mut channels = Some(planes.iter().cloned().chain(alpha).collect());
    write_by_rows(output, layout, layout.size.height, |_| Ok(channels.take().unwrap_or_default()))?;
    arguments.uncertainty.as_ref().map_or(Ok(()), |path| write_uncertainty(path, deviations))
}

/// Writes the deviations of planes: as they are to a matrix file, brighter to a picture.
pub(super) fn write_uncertainty(path: &Path, deviations: &[GrayImage]) -> Result<()> {
    if matrix_file::is_matrix_file(path) {
        return Ok(matrix_file::write_planes(path, deviations)?);
    }
    let brighter =
        |plane: &GrayImage| GrayImage::from_fn(plane.size(), |row, column| BRIGHTER * plane.row(row)[column]);
    let planes = deviations.iter().map(brighter).collect::<sparsemble::Result<_>>()?;
    Ok(write_picture(path, &Picture { planes, depth: BitDepth::Eight })?)
}

/// The files that were written for people to look at.
pub(super) fn written(arguments: &PictureArguments, output: &Path) -> String {
    let files = [Some(output), arguments.uncertainty.as_deref(), arguments.report.as_deref()];
    files.into_iter().flatten().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A figure for a report; infinite for pictures that are the same.
pub(super) fn decibels(psnr: Option<f64>) -> Value {
    psnr.map_or(Value::Null, |value| if value.is_finite() { json!(value) } else { json!("inf") })
}
