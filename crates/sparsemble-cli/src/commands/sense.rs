//! `sparsemble sense`: what a camera that measures blocks keeps of a picture.

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::degradation::{Degradation, Dense, Projection};
use sparsemble::image::{GrayImage, read, read_picture};
use sparsemble::restoration::BlockMeasurements;

use super::measured::{self, matrix_of_rows};
use crate::args::SenseArguments;
use crate::failure::Usage;
use crate::output::{claim, print};

pub(crate) fn run(arguments: &SenseArguments) -> Result<()> {
    claim(&arguments.output, arguments.run.force)?;
    if arguments.output.extension().is_none_or(|extension| extension != "npz") {
        bail!("{}: measurements are written to a .npz file", arguments.output.display());
    }
    let planes = if arguments.luma { vec![read(&arguments.image)?] } else { read_picture(&arguments.image)?.planes };
    let phi = phi(arguments)?;
    let sensed = planes
        .iter()
        .map(|plane| BlockMeasurements::sense(plane, phi.clone()))
        .collect::<sparsemble::Result<Vec<_>>>()?;
    let means = if arguments.means {
        let of_planes = planes.iter().zip(&sensed).map(|(plane, sensed)| sensed.block_means(plane));
        Some(of_planes.collect::<sparsemble::Result<Vec<_>>>()?.concat())
    } else {
        None
    };
    measured::write(&arguments.output, &sensed, means.as_deref())?;
    report(arguments, &planes, &sensed[0])
}

/// Φ of a block: drawn, or from a file.
fn phi(arguments: &SenseArguments) -> Result<Dense<f64>> {
    if let Some(path) = &arguments.phi {
        return Ok(Dense::new(matrix_of_rows(path)?.view())?);
    }
    if !(arguments.ratio > 0.0 && arguments.ratio <= 1.0) {
        return Err(Usage(format!("--ratio {}: must be above 0 and at most 1", arguments.ratio)).into());
    }
    let n_features = arguments.block.saturating_mul(arguments.block);
    let n_measurements = ((arguments.ratio * n_features as f64).round() as usize).max(1);
    let text = format!("{}:measurements={n_measurements},seed={}", arguments.kind, arguments.seed);
    Ok(text.parse::<Projection>()?.matrix(n_features)?)
}

fn report(arguments: &SenseArguments, planes: &[GrayImage], sensed: &BlockMeasurements) -> Result<()> {
    let (side, n) = (sensed.block_side(), sensed.phi().n_measurements());
    let blocks = sensed.values().columns() * planes.len();
    let text = format!(
        "{} pixels in {blocks} blocks of {side} × {side}: {n} measurements of each ({:.1} %)\nwrote {}",
        planes[0].samples().len() * planes.len(),
        100.0 * n as f64 / (side * side) as f64,
        arguments.output.display()
    );
    let object = json!({
        "program": "sparsemble sense",
        "version": env!("CARGO_PKG_VERSION"),
        "output": arguments.output.display().to_string(),
        "width": planes[0].size().width,
        "height": planes[0].size().height,
        "planes": planes.len(),
        "block_side": side,
        "n_blocks": blocks,
        "n_measurements": n,
        "means": arguments.means,
    });
    print(arguments.run.json, &object, &text)
}
