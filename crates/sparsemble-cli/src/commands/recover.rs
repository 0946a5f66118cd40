//! `sparsemble recover`: pictures from measurements of their blocks.

use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::coding::{Coder, Lasso};
use sparsemble::degradation::{Degradation, Dense};
use sparsemble::image::{BitDepth, GrayImage, WHITE};
use sparsemble::patch::TrainingPatches;
use sparsemble::recipe::{Method, Recipe, TrainingSet};
use sparsemble::restoration::{
    BlockMeasurements, Blockwise, CompressiveRecovery, Dc, NonLocal, Restored, natural_gaussians, recover,
};
use sparsemble::{Matrix, Model, Run, model_file};

use super::measured::Measured;
use super::mosaics::mosaics;
use super::picture_page::{PicturePage, layer, qualities};
use super::restored::{Truth, decibels, prepare, write, written};
use crate::args::{Preset, RecoverArguments};
use crate::failure::Usage;
use crate::html::Window;
use crate::output::print;
use crate::photographs;
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
    let measured = Measured::read(arguments)?;
    let (size, n_planes) = (measured.planes[0].image_size(), measured.planes.len());
    let truth = prepare(&arguments.picture, arguments.run.force, size, n_planes)?;
    let started = Instant::now();
    let progress = Progress::start("recovering")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let way = match arguments.preset {
        Preset::Best => best(arguments, &measured, &truth, run)?,
        Preset::Paper => paper(arguments, &measured, run)?,
    };
    drop(progress);
    write(&arguments.picture, BitDepth::Eight, &way.planes)?;
    let seconds = started.elapsed().as_secs_f64();
    let psnr = Quality {
        recovered: truth.psnr(way.planes.iter().map(|plane| &plane.image))?,
        start: if way.starts.is_empty() { None } else { truth.psnr(way.starts.iter())? },
    };
    if let Some(path) = &arguments.picture.report {
        let page = page(arguments, &measured, (&way, &truth), psnr, seconds)?;
        sparsemble_paper::write(path, page.html(arguments.run.threads)?)?;
    }
    report(arguments, &measured, &way, psnr, seconds)
}

/// The PSNR, where there is something to compare with.
#[derive(Clone, Copy)]
struct Quality {
    recovered: Option<f64>,
    start: Option<f64>,
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
        Some(path) => match model_file::load::<f32>(path)?.model {
            Model::Gaussians(gaussians) => gaussians,
            _ => bail!("{} holds no local Gaussians; give one that does, or --preset paper", path.display()),
        },
    };
    let recovery = CompressiveRecovery { noise: arguments.noise, ..CompressiveRecovery::default() };
    let count = measured.planes.len();
    let mut recovered = Recovered { name: "best".into(), planes: Vec::new(), starts: Vec::new(), atoms: Vec::new() };
    for (plane, measurements) in measured.planes.iter().enumerate() {
        let part = run.part(plane..plane + 1, count);
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

fn paper(arguments: &RecoverArguments, measured: &Measured, run: Run<'_>) -> Result<Recovered> {
    let side = measured.planes[0].block_side();
    let model = match &arguments.model {
        Some(path) => model_file::load::<f32>(path)?.model,
        None => trained(arguments.method.unwrap_or(Method::RandExAv), side, run.part(0..1, 2))?,
    };
    let coder = Lasso::lambda(LAMBDA * WHITE);
    let count = measured.planes.len();
    let mut planes = Vec::new();
    for (plane, measurements) in measured.planes.iter().enumerate() {
        let part = run.part(1..2, 2).part(plane..plane + 1, count);
        let dc = measured.means.as_ref().map_or(Dc::Free, |means| Dc::Known(&means[plane]));
        let phi = Dense::new(measurements.phi().matrix().converted().view())?;
        let values = measurements.values().converted();
        let blocks = Blockwise { coder: &coder, dc }.recover(&model, &phi, values.view(), part)?;
        // All pixels of a block share its spread.
        let pixels = phi.n_features();
        let spread = Matrix::from_fn(pixels, blocks.spread.len(), |_, i| (blocks.spread[i] / side as f64) as f32);
        planes.push(Restored {
            image: measurements.assemble(blocks.values.view())?,
            deviation: measurements.assemble(spread.view())?,
        });
    }
    let name = format!("paper: {}", model.training().method);
    let atoms = if arguments.picture.report.is_some() { mosaics(&model)? } else { Vec::new() };
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
fn page(
    arguments: &RecoverArguments,
    measured: &Measured,
    (way, truth): (&Recovered, &Truth),
    psnr: Quality,
    seconds: f64,
) -> Result<PicturePage> {
    let first = &measured.planes[0];
    let window = Window::of(first.image_size());
    let mut layers = Vec::new();
    if !way.starts.is_empty() {
        layers.push(layer("every block on its own", psnr.start, window.cut_all(&way.starts)?));
    }
    let result = layers.len();
    layers.push(layer("recovered", psnr.recovered, window.cut_all(way.planes.iter().map(|plane| &plane.image))?));
    if let Some(truth) = truth.planes() {
        layers.push(layer("original", None, window.cut_all(truth)?));
    }
    let (n, pixels) = (first.phi().n_measurements(), first.phi().n_features());
    let name = arguments.measurements.file_name().unwrap_or_default().to_string_lossy();
    Ok(PicturePage {
        program: "sparsemble recover",
        title: format!("The picture behind {name}"),
        lead: format!(
            "{} pixels from {:.1} % of their numbers, by {}, in {seconds:.1} seconds.",
            first.image_size(),
            share(first),
            way.name
        ),
        facts: qualities(&[("PSNR of every block on its own", psnr.start), ("PSNR recovered", psnr.recovered)]),
        window,
        layers,
        result,
        deviations: window.cut_all(way.planes.iter().map(|plane| &plane.deviation))?,
        atoms: way.atoms.clone(),
        settings: vec![
            ("measurements", arguments.measurements.display().to_string()),
            ("of each block", format!("{n} for {pixels} pixels")),
            ("method", way.name.clone()),
            ("noise", format!("{} grey levels", arguments.noise)),
        ],
    })
}

/// How many numbers there are for each hundred pixels.
fn share(measurements: &BlockMeasurements) -> f64 {
    100.0 * measurements.phi().n_measurements() as f64 / measurements.phi().n_features() as f64
}

fn report(
    arguments: &RecoverArguments,
    measured: &Measured,
    way: &Recovered,
    Quality { recovered: psnr, start }: Quality,
    seconds: f64,
) -> Result<()> {
    let first = &measured.planes[0];
    let share = share(first);
    let compared = psnr.map_or(String::new(), |psnr| format!("\nPSNR {psnr:.2} dB"));
    let alone = start.map_or(String::new(), |start| format!("; every block on its own {start:.2} dB"));
    let text = format!(
        "{} picture from {share:.1} % of its numbers, by {} ({seconds:.1} s){compared}{alone}\nwrote {}",
        first.image_size(),
        way.name,
        written(&arguments.picture)
    );
    let object = json!({
        "program": "sparsemble recover",
        "version": env!("CARGO_PKG_VERSION"),
        "output": arguments.picture.output.display().to_string(),
        "report": arguments.picture.report.as_ref().map(|path| path.display().to_string()),
        "uncertainty": arguments.picture.uncertainty.as_ref().map(|path| path.display().to_string()),
        "width": first.image_size().width,
        "height": first.image_size().height,
        "planes": measured.planes.len(),
        "n_measurements": first.phi().n_measurements(),
        "method": way.name,
        "psnr": decibels(psnr),
        "psnr_of_blocks": decibels(start),
        "seconds": seconds,
    });
    print(arguments.run.json, &object, &text)
}
