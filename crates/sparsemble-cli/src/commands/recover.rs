//! `sparsemble recover`: pictures from measurements of their blocks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::coding::{Coder, Lasso};
use sparsemble::degradation::{Degradation, Dense};
use sparsemble::image::{BitDepth, GrayImage, Layout, Size, WHITE};
use sparsemble::patch::TrainingPatches;
use sparsemble::recipe::{Method, Recipe, TrainingSet};
use sparsemble::restoration::{Blockwise, CompressiveRecovery, Dc, NonLocal, Restored, natural_gaussians, recover};
use sparsemble::{Matrix, Model, Run};

use super::measured::Measured;
use super::mosaics::mosaics;
use super::picture_model;
use super::picture_page::{PicturePage, layer, qualities};
use super::restored::{Truth, decibels, depth, fitted, truth, works, write, written};
use crate::args::{Preset, RecoverArguments};
use crate::batch::{self, Outcome, Work};
use crate::failure::Usage;
use crate::html::Window;
use crate::photographs;
use crate::pictures::{are_many, measurements_of};
use crate::progress::Progress;

/// λ of the paper, for intensities from 0 to 1.
const LAMBDA: f64 = 0.1;
/// Dictionaries and patches of the paper's ensembles.
const N_MODELS: usize = 50;
const N_PATCHES: usize = 20_000;

pub(crate) fn run(arguments: &RecoverArguments) -> Result<()> {
    if arguments.method.is_some() && arguments.preset == Preset::Best {
        return Err(Usage("--method is for the preset `paper`; add --preset paper or leave it out".into()).into());
    }
    let (inputs, many) = (measurements_of(&arguments.measurements)?, are_many(&arguments.measurements));
    let works = works(inputs, many, &arguments.picture, arguments.run.force)?;
    let progress = Progress::start("recovering")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let mut models = Models { arguments, progress: &progress, ready: BTreeMap::new() };
    let outcome =
        batch::each(&works, many, &progress, run, |work, run| Done::recover(arguments, work, &mut models, run))?;
    drop(progress);
    report(arguments, &outcome)
}

/// A picture that was recovered.
struct Done<'a> {
    work: &'a Work,
    size: Size,
    n_planes: usize,
    n_measurements: usize,
    /// The share of the numbers that were measured.
    share: f64,
    method: String,
    psnr: Option<f64>,
    psnr_of_blocks: Option<f64>,
    seconds: f64,
}

/// Models of the paper's methods by the side of their patches, made ready when they are first needed.
struct Models<'a> {
    arguments: &'a RecoverArguments,
    progress: &'a Progress,
    ready: BTreeMap<usize, Model<f32>>,
}

impl Models<'_> {
    fn of(&mut self, side: usize) -> Result<&Model<f32>> {
        Ok(match self.ready.entry(side) {
            Entry::Occupied(ready) => ready.into_mut(),
            Entry::Vacant(place) => place.insert(if let Some(path) = &self.arguments.model {
                picture_model::load(path)?
            } else {
                let method = self.arguments.method.unwrap_or(Method::RandExAv);
                let learning = format!("learning {}", method.name());
                self.progress.first(&learning, self.arguments.run.threads, |run| trained(method, side, run))?
            }),
        })
    }
}

impl<'a> Done<'a> {
    fn recover(arguments: &RecoverArguments, work: &'a Work, models: &mut Models<'_>, run: Run<'_>) -> Result<Self> {
        let started = Instant::now();
        let measured = Measured::read(&work.input, arguments)?;
        let (first, n_planes) = (&measured.planes[0], measured.planes.len());
        let depth = depth(&arguments.picture, BitDepth::Eight);
        let layout = Layout { size: first.image_size(), channels: n_planes, depth, profile: None, exif: None };
        let layout = fitted(work, &layout)?;
        let truth = truth(&arguments.picture, &work.input, layout.size, n_planes)?;
        let way = match arguments.preset {
            Preset::Best => best(arguments, &measured, &truth, run)?,
            Preset::Paper => paper(arguments, &measured, models, run)?,
        };
        write(&arguments.picture, &work.output, &layout, (&way.planes, None))?;
        let n_measurements = first.phi().n_measurements();
        let done = Self {
            work,
            size: layout.size,
            n_planes,
            n_measurements,
            share: measured.numbers_of_block() as f64 / first.phi().n_features() as f64,
            psnr: truth.psnr(way.planes.iter().map(|plane| &plane.image))?,
            psnr_of_blocks: if way.starts.is_empty() { None } else { truth.psnr(way.starts.iter())? },
            method: way.name.clone(),
            seconds: started.elapsed().as_secs_f64(),
        };
        if let Some(path) = &arguments.picture.report {
            let page = page(arguments, (&way, &truth), &done)?;
            sparsemble_paper::write(path, page.html(arguments.run.threads)?)?;
        }
        Ok(done)
    }
}

/// How the picture was recovered, and its planes.
struct Recovered {
    name: String,
    planes: Vec<Restored>,
    /// Every block by the local Gaussians alone, where that is the start and it is shown or compared.
    starts: Vec<GrayImage>,
    /// The dictionaries of the model.
    atoms: Vec<(String, GrayImage)>,
}

fn best(arguments: &RecoverArguments, measured: &Measured, truth: &Truth, run: Run<'_>) -> Result<Recovered> {
    let gaussians = match &arguments.model {
        None => natural_gaussians()?,
        Some(path) => match picture_model::load(path)? {
            Model::Gaussians(gaussians) => gaussians,
            _ => bail!("{} holds no local Gaussians; give one that does, or --preset paper", path.display()),
        },
    };
    let recovery = CompressiveRecovery { noise: arguments.noise, ..CompressiveRecovery::default() };
    let count = measured.planes.len();
    let mut recovered = Recovered { name: "best".into(), planes: Vec::new(), starts: Vec::new(), atoms: Vec::new() };
    for (plane, measurements) in measured.planes.iter().enumerate() {
        let part = run.part(plane..plane + 1, count);
        let measurements = &match &measured.means {
            Some(means) => measurements.with_means(&means[plane])?,
            None => measurements.clone(),
        };
        // Blocks of another size than that of the Gaussians in the library have no start of their own.
        if arguments.model.is_none() && measurements.phi().n_features() != gaussians.n_features() {
            recovered.planes.push(recover(measurements, arguments.noise, part)?);
            continue;
        }
        if truth.planes().is_some() || arguments.picture.report.is_some() {
            recovered.starts.push(recovery.first_estimate(measurements, &gaussians, part)?.image);
        }
        recovered.planes.push(recovery.recover(measurements, &gaussians, &mut NonLocal::default(), part)?);
    }
    Ok(recovered)
}

fn paper(
    arguments: &RecoverArguments,
    measured: &Measured,
    models: &mut Models<'_>,
    run: Run<'_>,
) -> Result<Recovered> {
    let side = measured.planes[0].block_side();
    let model = models.of(side)?;
    let coder = Lasso::lambda(LAMBDA * WHITE);
    let count = measured.planes.len();
    let mut planes = Vec::new();
    for (plane, measurements) in measured.planes.iter().enumerate() {
        let part = run.part(plane..plane + 1, count);
        let dc = measured.means.as_ref().map_or(Dc::Free, |means| Dc::Known(&means[plane]));
        let phi = Dense::new(measurements.phi().matrix().converted().view())?;
        let values = measurements.values().converted();
        let blocks = Blockwise { coder: &coder, dc }.recover(model, &phi, values.view(), part)?;
        // All pixels of a block share its spread.
        let pixels = phi.n_features();
        let spread = Matrix::from_fn(pixels, blocks.spread.len(), |_, i| (blocks.spread[i] / side as f64) as f32);
        planes.push(Restored {
            image: measurements.assemble(blocks.values.view())?,
            deviation: measurements.assemble(spread.view())?,
        });
    }
    let name = format!("paper: {}", model.training().method);
    let atoms = if arguments.picture.report.is_some() { mosaics(model)? } else { Vec::new() };
    Ok(Recovered { name, planes, starts: Vec::new(), atoms })
}

/// A model of patches of the photographs that are part of the program.
fn trained(method: Method, side: usize, run: Run<'_>) -> Result<Model<f32>> {
    if method == Method::Gaussians {
        return Err(Usage("gaussians are for the preset `best`; choose a method of the paper".into()).into());
    }
    let draw = TrainingPatches { side, count: N_PATCHES, ..TrainingPatches::default() };
    let patches = draw.draw::<f32>(&photographs::training()?)?;
    let n_models = if method.has_models() { N_MODELS } else { 1 };
    let default = Recipe::new(method);
    let coder = if method == Method::KSvd { default.coder.clone() } else { Coder::lambda(LAMBDA * WHITE) };
    let recipe = Recipe { n_models, coder, max_iterations: default.max_iterations.min(10), ..default };
    Ok(recipe.train(TrainingSet::new(patches.view()), &mut |_, _| Ok(()), run)?.model)
}

/// The page to look at.
fn page(arguments: &RecoverArguments, (way, truth): (&Recovered, &Truth), done: &Done<'_>) -> Result<PicturePage> {
    let window = Window::of(done.size);
    let mut layers = Vec::new();
    if !way.starts.is_empty() {
        layers.push(layer("every block on its own", done.psnr_of_blocks, window.cut_all(&way.starts)?));
    }
    let result = layers.len();
    layers.push(layer("recovered", done.psnr, window.cut_all(way.planes.iter().map(|plane| &plane.image))?));
    if let Some(truth) = truth.planes() {
        layers.push(layer("original", None, window.cut_all(truth)?));
    }
    let name = done.work.input.file_name().unwrap_or_default().to_string_lossy();
    Ok(PicturePage {
        program: "sparsemble recover",
        title: format!("The picture behind {name}"),
        lead: format!(
            "{} pixels from {:.1} % of their numbers, by {}, in {:.1} seconds.",
            done.size,
            100.0 * done.share,
            way.name,
            done.seconds
        ),
        facts: qualities(&[("PSNR of every block on its own", done.psnr_of_blocks), ("PSNR recovered", done.psnr)]),
        window,
        layers,
        result,
        deviations: window.cut_all(way.planes.iter().map(|plane| &plane.deviation))?,
        atoms: way.atoms.clone(),
        settings: vec![
            ("measurements", done.work.input.display().to_string()),
            (
                "of each block",
                format!("{} for {:.0} pixels", done.n_measurements, done.n_measurements as f64 / done.share),
            ),
            ("method", way.name.clone()),
            ("noise", format!("{} grey levels", arguments.noise)),
        ],
    })
}

fn report(arguments: &RecoverArguments, outcome: &Outcome<Done<'_>>) -> Result<()> {
    let line = |done: &Done<'_>| {
        let Done { work, size, share, method, psnr, psnr_of_blocks, seconds, .. } = done;
        let compared = psnr.map_or(String::new(), |psnr| format!("\nPSNR {psnr:.2} dB"));
        let alone = psnr_of_blocks.map_or(String::new(), |alone| format!("; every block on its own {alone:.2} dB"));
        format!(
            "{}: {size} pixels from {:.1} % of their numbers, by {method} ({seconds:.1} s){compared}{alone}\nwrote {}",
            work.input.display(),
            100.0 * share,
            written(&arguments.picture, &work.output)
        )
    };
    let picture = |done: &Done<'_>| {
        json!({
            "input": done.work.input.display().to_string(),
            "output": done.work.output.display().to_string(),
            "width": done.size.width,
            "height": done.size.height,
            "planes": done.n_planes,
            "n_measurements": done.n_measurements,
            "method": done.method,
            "psnr": decibels(done.psnr),
            "psnr_of_blocks": decibels(done.psnr_of_blocks),
            "seconds": done.seconds,
        })
    };
    let object = json!({
        "program": "sparsemble recover",
        "version": env!("CARGO_PKG_VERSION"),
        "report": arguments.picture.report.as_ref().map(|path| path.display().to_string()),
        "uncertainty": arguments.picture.uncertainty.as_ref().map(|path| path.display().to_string()),
        "pictures": outcome.done.iter().map(picture).collect::<Vec<_>>(),
        "failed": outcome.failures(),
    });
    outcome.print(arguments.run.json, &object, line)
}
