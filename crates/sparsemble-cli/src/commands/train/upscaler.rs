//! `sparsemble train --method upscaler`: from whole pictures to a model that enlarges others.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::image::{GrayImage, read_picture};
use sparsemble::model_file::{self, Checkpoint, Record, TrainingData};
use sparsemble::recipe::{ToKeep, TrainingSet};
use sparsemble::restoration::super_resolution::{UpscalerLearner, UpscalerLearning};
use sparsemble::{Matrix, Model, Run};

use super::place::Place;
use super::source::names;
use super::{page, settings};
use crate::args::TrainArguments;
use crate::description::Description;
use crate::output::print;
use crate::pictures::pictures_of;
use crate::progress::Progress;

pub(super) fn run(arguments: &TrainArguments) -> Result<()> {
    let learner = settings::upscaler(arguments)?;
    let place = Place::claim(arguments)?;
    let paths = pictures_of(&arguments.sources)?;
    let started = Instant::now();
    let progress = Progress::start("reading")?;
    let pictures = progress.counted(&paths, |path: &PathBuf| Ok(read_picture(path)?.brightness()?))?;
    progress.begin("looking at the pictures".into());
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let record = record(&learner, format!("brightness of {}", names(&paths)), &pictures, run)?;
    let (mut checkpoint, past) = place.checkpoint(&record)?;
    let so_far = past.and_then(Iterator::last).transpose()?.map(|step| step.model);
    let (resumed, silent) = (so_far.is_some(), Run::threads(arguments.run.threads));
    let mut learning = match so_far {
        Some(Model::Upscaler(so_far)) => learner.resume(&pictures, &so_far, silent)?,
        Some(_) => bail!("{} holds another kind of model; begin anew with --force", place.checkpoint_path().display()),
        None => learner.begin(&pictures, silent)?,
    };
    learn(&mut learning, &mut checkpoint, &progress, run).map_err(|error| place.explain(error))?;
    let model = Model::Upscaler(learning.upscaler()?);
    model_file::save(&arguments.output, &model, &record)?;
    place.clear();
    drop(progress);
    let seconds = started.elapsed().as_secs_f64();
    if let Some(path) = &arguments.report {
        sparsemble_paper::write(path, page::of(arguments, &model, &record, seconds)?)?;
    }
    report(arguments, &model, (pictures.len(), resumed), seconds)
}

/// What is written beside the model. Pictures that are others make another fingerprint.
fn record(learner: &UpscalerLearner, description: String, pictures: &[GrayImage], run: Run<'_>) -> Result<Record<f32>> {
    let samples: Vec<f32> = pictures.iter().flat_map(GrayImage::samples).map(|&value| value as f32).collect();
    let count = samples.len();
    let samples = Matrix::from_columns(samples, 1, count)?;
    let fingerprint = TrainingSet::new(samples.view()).fingerprint(run)?;
    let data = TrainingData { description, n_samples: count as u64, n_features: 1, fingerprint };
    Ok(Record { parameters: learner.parameters(), data, phi: None })
}

fn learn(
    learning: &mut UpscalerLearning<f32>,
    checkpoint: &mut Checkpoint<'_, f32>,
    progress: &Progress,
    run: Run<'_>,
) -> sparsemble::Result<()> {
    while !learning.is_complete() {
        progress.begin(format!("member {} of {}", learning.n_done() + 1, learning.n_steps()));
        learning.step(run)?;
        checkpoint.keep(&ToKeep::whole(&|| Ok(Model::Upscaler(learning.upscaler()?))))?;
    }
    Ok(())
}

fn report(
    arguments: &TrainArguments,
    model: &Model<f32>,
    (n_pictures, resumed): (usize, bool),
    seconds: f64,
) -> Result<()> {
    let (output, description) = (arguments.output.display(), Description::of(model));
    let text = format!(
        "{}, from {n_pictures} pictures ({seconds:.1} s)\nwrote {output}{}",
        description.words(),
        page::look(arguments, &format!("use it with: sparsemble upscale --model {output}"))
    );
    let object = json!({
        "program": "sparsemble train",
        "version": env!("CARGO_PKG_VERSION"),
        "output": output.to_string(),
        "report": arguments.report.as_ref().map(|path| path.display().to_string()),
        "method": "upscaler",
        "model": description.json(),
        "dtype": "float32",
        "n_pictures": n_pictures,
        "resumed": resumed,
        "seconds": seconds,
    });
    print(arguments.run.json, &object, &text)
}
