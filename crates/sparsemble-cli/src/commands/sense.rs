//! `sparsemble sense`: what a camera that measures blocks keeps of a picture.

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::Run;
use sparsemble::degradation::{Degradation, Dense, Projection};
use sparsemble::image::{Size, read, read_picture};
use sparsemble::restoration::BlockMeasurements;

use super::measured::{self, matrix_of_rows};
use crate::args::SenseArguments;
use crate::batch::{self, Outcome, Target, Work, renamed};
use crate::failure::Usage;
use crate::pictures::{are_many, pictures_of};
use crate::progress::Progress;

pub(crate) fn run(arguments: &SenseArguments) -> Result<()> {
    let (images, many) = (pictures_of(&arguments.images)?, are_many(&arguments.images));
    let target = Target { output: Some(&arguments.output), batch: &arguments.batch, force: arguments.run.force };
    let works = batch::works(images, many, &target, |input| renamed(input, ".npz"))?;
    if let Some(work) = works.iter().find(|work| work.output.extension().is_none_or(|extension| extension != "npz")) {
        bail!("{}: measurements are written to a .npz file", work.output.display());
    }
    let phi = phi(arguments)?;
    let progress = Progress::start("measuring")?;
    let outcome = batch::each(&works, many, &progress, Run::default(), |work, _| Done::sense(arguments, &phi, work))?;
    drop(progress);
    report(arguments, &outcome)
}

/// A picture that was measured.
struct Done<'a> {
    work: &'a Work,
    size: Size,
    n_planes: usize,
    side: usize,
    n_blocks: usize,
    n_measurements: usize,
}

impl<'a> Done<'a> {
    fn sense(arguments: &SenseArguments, phi: &Dense<f64>, work: &'a Work) -> Result<Self> {
        let planes = if arguments.luma { vec![read(&work.input)?] } else { read_picture(&work.input)?.planes };
        let sensed = planes.iter().map(|plane| BlockMeasurements::sense(plane, phi.clone()));
        let sensed = sensed.collect::<sparsemble::Result<Vec<_>>>()?;
        let means = if arguments.means {
            let of_planes = planes.iter().zip(&sensed).map(|(plane, sensed)| sensed.block_means(plane));
            Some(of_planes.collect::<sparsemble::Result<Vec<_>>>()?.concat())
        } else {
            None
        };
        measured::write(&work.output, &sensed, means.as_deref())?;
        Ok(Self {
            work,
            size: planes[0].size(),
            n_planes: planes.len(),
            side: sensed[0].block_side(),
            n_blocks: sensed[0].values().columns() * planes.len(),
            n_measurements: phi.n_measurements(),
        })
    }
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

fn report(arguments: &SenseArguments, outcome: &Outcome<Done<'_>>) -> Result<()> {
    let line = |Done { work, size, n_planes, side, n_blocks, n_measurements }: &Done<'_>| {
        format!(
            "{}: {} pixels in {n_blocks} blocks of {side} × {side}, {n_measurements} measurements{} of each ({:.1} %)\nwrote {}",
            work.input.display(),
            size.width * size.height * n_planes,
            if arguments.means { " and the mean" } else { "" },
            100.0 * measured::share(*size, *side, n_measurements + usize::from(arguments.means)),
            work.output.display()
        )
    };
    let picture = |Done { work, size, n_planes, side, n_blocks, n_measurements }: &Done<'_>| {
        json!({
            "input": work.input.display().to_string(),
            "output": work.output.display().to_string(),
            "width": size.width,
            "height": size.height,
            "planes": n_planes,
            "block_side": side,
            "n_blocks": n_blocks,
            "n_measurements": n_measurements,
        })
    };
    let object = json!({
        "program": "sparsemble sense",
        "version": env!("CARGO_PKG_VERSION"),
        "means": arguments.means,
        "pictures": outcome.done.iter().map(picture).collect::<Vec<_>>(),
        "failed": outcome.failures(),
    });
    outcome.print(arguments.run.json, &object, line)
}
