//! `sparsemble reconstruct`: approximations from codes, or from samples that are coded first.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sparsemble::matrix_file::MatrixFile;
use sparsemble::metrics::Residuals;
use sparsemble::model_file::Loaded;
use sparsemble::{Matrix, MatrixView, Run, Scalar, matrix_file, model_file};

use super::represent;
use crate::args::ReconstructArguments;
use crate::description::shown;
use crate::output::{claim_for, print, warn};
use crate::progress::Progress;

pub(crate) fn run(arguments: &ReconstructArguments) -> Result<()> {
    for (option, path) in [("--output", Some(&arguments.output)), ("--spread", arguments.spread.as_ref())] {
        let Some(path) = path else { continue };
        claim_for(option, path, arguments.run.force)?;
        matrix_file::expect_samples_name(path)?;
    }
    let inspection = model_file::inspect(&arguments.model)?;
    if inspection.dtype == f32::NAME { reconstruct::<f32>(arguments) } else { reconstruct::<f64>(arguments) }
}

/// Approximations, and what is known of them.
struct Outcome<T> {
    values: Matrix<T>,
    coder: Option<String>,
    residuals: Option<Residuals>,
    unconverged: usize,
}

fn reconstruct<T: Scalar>(arguments: &ReconstructArguments) -> Result<()> {
    let loaded = represent::load::<T>(&arguments.model)?;
    let progress = Progress::start("reconstructing")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let outcome = if let Some(samples) = &arguments.samples {
        let samples = progress.reading("coding", |run| matrix_file::read_watched::<T>(samples, run))?;
        from_samples(arguments, loaded, &samples, run)?
    } else {
        let codes = matrix_file::read_codes(arguments.codes.as_ref().context("no codes were given")?)?;
        Outcome { values: loaded.model.reconstruct(&codes, run)?, coder: None, residuals: None, unconverged: 0 }
    };
    matrix_file::write(&arguments.output, outcome.values.view())?;
    drop(progress);
    report(arguments, &outcome)
}

fn from_samples<T: Scalar>(
    arguments: &ReconstructArguments,
    loaded: Loaded<T>,
    samples: &MatrixFile<T>,
    run: Run<'_>,
) -> Result<Outcome<T>> {
    let (model, measured) = represent::model_for(loaded, samples.n_features(), arguments.measurements)?;
    let coder = represent::coder(&arguments.coder, &model)?;
    let approximation = model.approximate(samples.view(), &coder, run)?;
    match (&arguments.spread, &approximation.spread) {
        (Some(path), Some(spread)) => matrix_file::write(path, MatrixView::from_columns(spread, 1, spread.len())?)?,
        (Some(_), None) => {
            bail!("--spread: the model has one dictionary, and none that it can differ from; leave it out")
        }
        (None, _) => {}
    }
    // Measurements cannot be compared with what they were measured of.
    let comparable = !measured && model.n_inputs() == model.n_features();
    let residuals = comparable.then(|| Residuals::of(samples.view(), approximation.values.view())).transpose()?;
    Ok(Outcome {
        values: approximation.values,
        coder: Some(represent::name(&coder, &model)),
        residuals,
        unconverged: approximation.unconverged,
    })
}

fn report<T: Scalar>(arguments: &ReconstructArguments, outcome: &Outcome<T>) -> Result<()> {
    let output = arguments.output.display();
    let (n_samples, n_features) = (outcome.values.columns(), outcome.values.rows());
    let coder = outcome.coder.as_ref().map_or(String::new(), |coder| format!(" by {coder}"));
    let errors = outcome.residuals.as_ref().map_or(String::new(), |residuals| {
        let Residuals { mean, relative, worst, worst_sample } = residuals;
        format!(
            "\nmean ‖x − x̂‖² {}, {:.2} % of the energy; worst {} (sample {worst_sample})",
            shown(*mean),
            100.0 * relative,
            shown(*worst)
        )
    });
    let spread = arguments.spread.as_ref().map_or(String::new(), |path| format!(", {}", path.display()));
    let text = format!("{n_samples} samples of {n_features} features{coder}{errors}\nwrote {output}{spread}");
    let residuals = outcome.residuals.as_ref().map_or(Value::Null, |residuals| {
        json!({
            "mean": residuals.mean,
            "relative": residuals.relative,
            "worst": residuals.worst,
            "worst_sample": residuals.worst_sample,
        })
    });
    let object = json!({
        "program": "sparsemble reconstruct",
        "version": env!("CARGO_PKG_VERSION"),
        "output": output.to_string(),
        "spread": arguments.spread.as_ref().map(|path| path.display().to_string()),
        "coder": outcome.coder,
        "n_samples": n_samples,
        "n_features": n_features,
        "error": residuals,
        "unconverged": outcome.unconverged,
    });
    print(arguments.run.json, &object, &text)?;
    match outcome.unconverged {
        0 => Ok(()),
        samples => warn(&format!("the coder did not reach its tolerance for {samples} samples")),
    }
}
