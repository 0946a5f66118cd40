//! `sparsemble train`: from pictures or a matrix to a model file.

mod page;
mod pairs;
mod place;
mod settings;
mod source;
mod upscaler;

use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use sparsemble::degradation::{Degradation, Mask};
use sparsemble::dictionary::Dictionary;
use sparsemble::model_file::{self, Checkpoint, PhiRecord, Record};
use sparsemble::recipe::{Past, Recipe, Step, ToKeep, Trained, TrainingSet};
use sparsemble::restoration::super_resolution::PairLayout;
use sparsemble::{Run, Scalar};

use crate::args::{Dtype, TrainArguments, Trainable};
use crate::description::{Description, error, shown};
use crate::output::{print, warn};
use crate::progress::Progress;
use place::Place;
use source::{Samples, Sources};

pub(crate) fn run(arguments: &TrainArguments) -> Result<()> {
    let recipe = match arguments.method {
        Trainable::Recipe(method) => settings::recipe(method, arguments)?,
        Trainable::Upscaler => return upscaler::run(arguments),
    };
    let place = Place::claim(arguments)?;
    let sources = Sources::find(arguments)?;
    let dtype = match (arguments.dtype, &arguments.warm_start) {
        (Some(dtype), _) => dtype,
        (None, Some(model)) if model_file::inspect(model)?.dtype == f32::NAME => Dtype::F32,
        (None, Some(_)) => Dtype::F64,
        (None, None) => sources.dtype()?,
    };
    let progress = Progress::start("reading")?;
    match dtype {
        Dtype::F32 => Training::<f32>::prepare(arguments, recipe, &sources, &progress)?.run(&place, progress),
        Dtype::F64 => Training::<f64>::prepare(arguments, recipe, &sources, &progress)?.run(&place, progress),
    }
}

/// All that decides a training.
struct Training<'a, T> {
    arguments: &'a TrainArguments,
    recipe: Recipe,
    /// The atoms to begin with.
    start: Option<Dictionary<T>>,
    samples: Samples<T>,
    masses: Option<Vec<f64>>,
    phi: Option<PhiRecord<T>>,
    /// Where the parts of pairs are, and what is seen of them, if the samples are pairs.
    pairs: Option<(PairLayout, Mask)>,
}

impl<'a, T: Scalar> Training<'a, T> {
    fn prepare(arguments: &'a TrainArguments, recipe: Recipe, sources: &Sources, progress: &Progress) -> Result<Self> {
        let start: Option<Dictionary<T>> = arguments.warm_start.as_deref().map(settings::atoms).transpose()?;
        let n_atoms = start.as_ref().map_or(recipe.n_atoms, Dictionary::n_atoms);
        let recipe = Recipe { n_atoms, ..recipe };
        let (samples, pairs): (Samples<T>, _) = match arguments.scale {
            Some(scale) => {
                let how = (scale, &arguments.patches, arguments.seed);
                let (samples, layout) = pairs::draw(sources, how, arguments.run.threads, progress)?;
                (samples, Some((layout, layout.seen()?)))
            }
            None => (sources.read(&arguments.patches, arguments.seed, progress)?, None),
        };
        let phi = |text: &str| settings::phi(text, samples.view().rows());
        let phi = arguments.phi.as_deref().map(phi).transpose()?;
        let masses = arguments.masses.as_deref().map(sparsemble::matrix_file::read_list).transpose()?;
        Ok(Self { arguments, recipe, start, samples, masses, phi, pairs })
    }

    fn set(&self) -> TrainingSet<'_, T> {
        let given = self.phi.as_ref().and_then(|phi| phi.matrix.as_ref()).map(|phi| phi as &dyn Degradation<T>);
        let pairs = self.pairs.as_ref().filter(|_| self.recipe.method.boosts());
        TrainingSet {
            samples: self.samples.view(),
            masses: self.masses.as_deref(),
            phi: pairs.map(|(_, seen)| seen as &dyn Degradation<T>).or(given),
            n_judged: pairs.map(|(layout, _)| layout.n_hi()),
        }
    }

    fn run(&self, place: &Place, progress: Progress) -> Result<()> {
        let started = Instant::now();
        progress.begin("looking at the samples".into());
        let tell = |done: usize, total: usize| progress.tell(done, total);
        let run = Run::threads(self.arguments.run.threads).on_progress(&tell).scratch_in(place.folder(), Run::HELD);
        let record = self.record(run)?;
        let (mut checkpoint, past) = place.checkpoint(&record)?;
        let resumed = past.is_some();
        let start = self.start.as_ref().map(|atoms| self.recipe.begun(atoms)).transpose()?;
        let mut past: Box<Past<'_, T>> = match past {
            Some(past) => Box::new(past),
            None => Box::new(start.map(|model| Ok(model.into())).into_iter()),
        };
        progress.begin("training".into());
        let mut trained =
            self.train(&mut *past, &mut checkpoint, &progress, run).map_err(|error| place.explain(error))?;
        if let Some((layout, _)) = &self.pairs {
            trained.model = pairs::paired(*layout, trained.model)?;
        }
        model_file::save(&self.arguments.output, &trained.model, &record)?;
        place.clear();
        drop(progress);
        let seconds = started.elapsed().as_secs_f64();
        if let Some(path) = &self.arguments.report {
            sparsemble_paper::write(path, page::of(self.arguments, &trained.model, &record, seconds)?)?;
        }
        self.report(&trained, resumed, seconds)
    }

    /// What is written beside the model.
    fn record(&self, run: Run<'_>) -> Result<Record<T>> {
        let mut record = Record::of(&self.recipe, self.set(), self.samples.description.clone(), run)?;
        record.parameters.extend(self.samples.parameters.clone());
        if let Some(path) = &self.arguments.warm_start {
            record.parameters.insert("warm_start".into(), path.display().to_string());
        }
        Ok(Record { phi: self.phi.clone(), ..record })
    }

    fn train(
        &self,
        past: &mut Past<'_, T>,
        checkpoint: &mut Checkpoint<'_, T>,
        progress: &Progress,
        run: Run<'_>,
    ) -> sparsemble::Result<Trained<T>> {
        let mut watch = |step: Step, to_keep: &ToKeep<'_, T>| {
            checkpoint.keep(to_keep)?;
            let error = step.error.map_or(String::new(), |error| format!(", error {}", shown(error)));
            progress.say(format!("step {} of {}{error}", step.number, step.of));
            Ok(())
        };
        self.recipe.resume(self.set(), past, &mut watch, run)
    }

    fn report(&self, trained: &Trained<T>, resumed: bool, seconds: f64) -> Result<()> {
        let (output, method) = (self.arguments.output.display(), self.recipe.method);
        let (n_samples, description) = (self.samples.view().columns(), Description::of(&trained.model));
        let error = error(&trained.model);
        let told = error.map_or(String::new(), |error| format!(", error {}", shown(error)));
        let text = format!(
            "{method}: {} of {}, from {n_samples} samples{told} ({seconds:.1} s)\n\
             wrote {output}{}",
            description.words(),
            description.features(" features"),
            page::look(
                self.arguments,
                &match self.pairs {
                    Some(_) => format!("use it with: sparsemble upscale --model {output}"),
                    None => format!("look at it with: sparsemble info {output}"),
                }
            ),
        );
        let object = json!({
            "program": "sparsemble train",
            "version": env!("CARGO_PKG_VERSION"),
            "output": output.to_string(),
            "report": self.arguments.report.as_ref().map(|path| path.display().to_string()),
            "method": method.name(),
            "model": description.json(),
            "dtype": T::NAME,
            "n_samples": n_samples,
            "error": error,
            "converged": trained.converged,
            "unconverged": trained.unconverged,
            "resumed": resumed,
            "seconds": seconds,
        });
        print(self.arguments.run.json, &object, &text)?;
        not_converged(trained)
    }
}

/// At most one line on what did not converge.
fn not_converged<T>(trained: &Trained<T>) -> Result<()> {
    let iterations = "the iterations were used up before the objective settled; give more by --iterations";
    match (trained.converged, trained.unconverged) {
        (true, 0) => Ok(()),
        (false, 0) => warn(iterations),
        (true, samples) => warn(&format!("the coder did not reach its tolerance for {samples} samples")),
        (false, samples) => warn(&format!("{iterations}; nor did the coder reach its tolerance for {samples} samples")),
    }
}
