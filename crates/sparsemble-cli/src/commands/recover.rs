//! `sparsemble recover`: pictures from measurements of their blocks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::coding::Lasso;
use sparsemble::degradation::Dense;
use sparsemble::ensemble::LocalGaussians;
use sparsemble::image::{BitDepth, GrayImage, Layout, Size, WHITE};
use sparsemble::restoration::{
    BlockPicture, Blockwise, BothPriors, CompressiveRecovery, Dc, Restored, recover, recover_blocks,
};
use sparsemble::{Model, Run};
use sparsemble_paper::{Contender, Known, Means, Recovery, Sensing};

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

pub(crate) fn run(arguments: &RecoverArguments) -> Result<()> {
    check(arguments)?;
    let (inputs, many) = (measurements_of(&arguments.measurements)?, are_many(&arguments.measurements));
    let works = works(inputs, many, &arguments.picture, arguments.run.force)?;
    let progress = Progress::start("recovering")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let mut recoveries = BTreeMap::new();
    let outcome =
        batch::each(&works, many, &progress, run, |work, run| Done::recover(arguments, work, &mut recoveries, run))?;
    drop(progress);
    report(arguments, &outcome)
}

/// The sides of blocks of which the linear estimator is quickly learned.
const LINEAR: RangeInclusive<usize> = 2..=16;

/// An option that the preset or its method does not use is refused and not passed over.
fn check(arguments: &RecoverArguments) -> Result<()> {
    let method = arguments.method();
    let refused = match arguments.preset {
        Preset::Best if arguments.method.is_some() => {
            "--method is for the preset `paper`; add --preset paper or leave it out".to_owned()
        }
        Preset::Paper if arguments.noise > 0.0 && (arguments.model.is_some() || method != Contender::Lmmse) => {
            "--noise is for the preset `best` and the method lmmse; the others have their λ for it".to_owned()
        }
        Preset::Paper
            if arguments.picture.uncertainty.is_some() && arguments.model.is_none() && !method.has_spread() =>
        {
            format!("--uncertainty: {} has no members that could differ; leave it out", method.in_words().0)
        }
        Preset::Best | Preset::Paper => return Ok(()),
    };
    Err(Usage(refused).into())
}

/// A picture that was recovered.
struct Done<'a> {
    work: &'a Work,
    size: Size,
    n_planes: usize,
    n_measurements: usize,
    /// The side of a block.
    side: usize,
    /// How many numbers were kept for each pixel.
    share: f64,
    method: String,
    psnr: Option<f64>,
    psnr_of_blocks: Option<f64>,
    psnr_linear: Option<f64>,
    seconds: f64,
}

/// What the paper's methods have learned, by the side of blocks and by whether the means of blocks are known.
type Recoveries = BTreeMap<(usize, bool), Recovery>;

impl<'a> Done<'a> {
    fn recover(
        arguments: &RecoverArguments,
        work: &'a Work,
        recoveries: &mut Recoveries,
        run: Run<'_>,
    ) -> Result<Self> {
        let started = Instant::now();
        let measured = Measured::read(&work.input, arguments)?;
        let n_planes = measured.planes.len();
        let depth = depth(&arguments.picture, BitDepth::Eight);
        let layout = Layout { size: measured.size, channels: n_planes, depth, profile: None, exif: None };
        let layout = fitted(work, &layout)?;
        let truth = truth(&arguments.picture, &work.input, layout.size, n_planes)?;
        // The linear estimator is asked for only to compare with.
        let linear = truth.planes().is_some() && LINEAR.contains(&measured.side);
        let [first, last] = if linear { [run.part(0..9, 10), run.part(9..10, 10)] } else { [run; 2] };
        let way = match (arguments.preset, &arguments.model) {
            (Preset::Best, _) => best(arguments, &measured, &truth, first)?,
            (Preset::Paper, Some(path)) => by_model(arguments, &measured, &picture_model::load(path)?, first)?,
            (Preset::Paper, None) => paper(arguments, &measured, recoveries, first)?,
        };
        if arguments.picture.uncertainty.is_some() && way.deviations.is_empty() {
            bail!("--uncertainty: the model has no members that could differ; leave it out");
        }
        let psnr_linear = if linear {
            let linear = by_contender(Contender::Lmmse, arguments.noise, &measured, recoveries, last)?;
            truth.psnr(linear.planes.iter())?
        } else {
            None
        };
        write(&arguments.picture, &work.output, &layout, (&way.planes, None), &way.deviations)?;
        let done = Self {
            work,
            size: layout.size,
            n_planes,
            n_measurements: measured.n_measurements,
            side: measured.side,
            share: measured.share(),
            psnr: truth.psnr(way.planes.iter())?,
            psnr_of_blocks: if way.starts.is_empty() { None } else { truth.psnr(way.starts.iter())? },
            psnr_linear,
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
#[derive(Default)]
struct Recovered {
    name: String,
    planes: Vec<GrayImage>,
    /// How far from the truth each pixel may be; none if the model has one member alone.
    deviations: Vec<GrayImage>,
    /// Every block by the local Gaussians alone, where that is the start and it is shown or compared.
    starts: Vec<GrayImage>,
    /// The dictionaries of the model.
    atoms: Vec<(String, GrayImage)>,
}

impl Recovered {
    fn push(&mut self, BlockPicture { image, spread }: BlockPicture) {
        self.planes.push(image);
        self.deviations.extend(spread);
    }
}

fn best(arguments: &RecoverArguments, measured: &Measured, truth: &Truth, run: Run<'_>) -> Result<Recovered> {
    let own = own_gaussians(arguments)?;
    let recovery = CompressiveRecovery { noise: arguments.noise, ..CompressiveRecovery::default() };
    let shows_start = truth.planes().is_some() || arguments.picture.report.is_some();
    let count = measured.planes.len();
    let mut recovered = Recovered { name: "best".into(), ..Recovered::default() };
    for (number, plane) in measured.planes.iter().enumerate() {
        let part = run.part(number..number + 1, count);
        // The start takes a small part of the time.
        let [before, part] = if shows_start { [part.part(0..1, 50), part.part(1..50, 50)] } else { [part; 2] };
        let measurements = &match &plane.means {
            Some(means) => plane.measurements.with_means(means)?,
            None => plane.measurements.clone(),
        };
        if shows_start {
            let start = match &own {
                Some(gaussians) => Some(recovery.first_estimate(measurements, gaussians, before)?),
                None => recover_blocks(measurements, arguments.noise, before)?,
            };
            recovered.starts.extend(start.map(|start| start.image));
        }
        let Restored { image, deviation } = match &own {
            Some(gaussians) => {
                let prior = &mut BothPriors::new(gaussians.clone());
                recovery.recover(measurements, gaussians, prior, part)?
            }
            None => recover(measurements, arguments.noise, part)?,
        };
        recovered.push(BlockPicture { image, spread: Some(deviation) });
    }
    Ok(recovered)
}

fn own_gaussians(arguments: &RecoverArguments) -> Result<Option<LocalGaussians<f32>>> {
    let Some(path) = &arguments.model else { return Ok(None) };
    match picture_model::load(path)? {
        Model::Gaussians(gaussians) => Ok(Some(gaussians)),
        _ => bail!("{} holds no local Gaussians; give one that does, or --preset paper", path.display()),
    }
}

/// Every block on its own by a model from a file.
fn by_model(arguments: &RecoverArguments, measured: &Measured, model: &Model<f32>, run: Run<'_>) -> Result<Recovered> {
    let coder = Lasso::lambda(Sensing::paper(0).lambda * WHITE);
    let count = measured.planes.len();
    let name = format!("paper: {}", model.training().method);
    let atoms = if arguments.picture.report.is_some() { mosaics(model)? } else { Vec::new() };
    let mut recovered = Recovered { name, atoms, ..Recovered::default() };
    for (number, plane) in measured.planes.iter().enumerate() {
        let dc = plane.means.as_ref().map_or(Dc::Free, |means| Dc::Known(means));
        let blockwise = Blockwise { coder: &coder, dc, noise: arguments.noise };
        recovered.push(blockwise.picture(model, &plane.measurements, run.part(number..number + 1, count))?);
    }
    Ok(recovered)
}

/// The preset of the paper: a method of Table 1.
fn paper(
    arguments: &RecoverArguments,
    measured: &Measured,
    recoveries: &mut Recoveries,
    run: Run<'_>,
) -> Result<Recovered> {
    let method = arguments.method();
    let mut recovered = by_contender(method, arguments.noise, measured, recoveries, run)?;
    recovered.name = format!("paper: {}", method.in_words().0);
    if !method.has_spread() {
        recovered.deviations.clear();
    }
    if arguments.picture.report.is_some() {
        let phi = Dense::new(measured.planes[0].measurements.phi().matrix().converted().view())?;
        let recovery = recovery_for(measured, recoveries)?;
        recovered.atoms = mosaics(&*recovery.model(method, &phi, Run::default())?)?;
    }
    Ok(recovered)
}

/// Every plane by a method of Table 1, which learns from the photographs that are part of the program.
fn by_contender(
    contender: Contender,
    noise: f64,
    measured: &Measured,
    recoveries: &mut Recoveries,
    run: Run<'_>,
) -> Result<Recovered> {
    let recovery = recovery_for(measured, recoveries)?;
    let count = measured.planes.len();
    let mut recovered = Recovered::default();
    for (number, plane) in measured.planes.iter().enumerate() {
        let known = Known { means: plane.means.as_deref(), noise };
        let part = run.part(number..number + 1, count);
        recovered.push(recovery.picture(contender, &plane.measurements, known, part)?);
    }
    Ok(recovered)
}

/// The reading of Table 1 for blocks of this side. The paper transmits the means of blocks; where they are not among the
/// measurements they are estimated.
fn recovery_for<'a>(measured: &Measured, recoveries: &'a mut Recoveries) -> Result<&'a mut Recovery> {
    let known = measured.planes.iter().all(|plane| plane.means.is_some());
    Ok(match recoveries.entry((measured.side, known)) {
        Entry::Occupied(ready) => ready.into_mut(),
        Entry::Vacant(place) => {
            let means = if known { Means::Known } else { Means::Free };
            let settings = Sensing { block_side: measured.side, means, ..Sensing::paper(0) };
            place.insert(Recovery::prepare(settings, &photographs::training()?)?)
        }
    })
}

/// The page to look at.
fn page(arguments: &RecoverArguments, (way, truth): (&Recovered, &Truth), done: &Done<'_>) -> Result<PicturePage> {
    let window = Window::of(done.size);
    let mut layers = Vec::new();
    if !way.starts.is_empty() {
        layers.push(layer("every block on its own", done.psnr_of_blocks, window.cut_all(&way.starts)?));
    }
    let result = layers.len();
    layers.push(layer("recovered", done.psnr, window.cut_all(&way.planes)?));
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
        facts: qualities(&[
            ("PSNR of the linear estimator (LMMSE)", done.psnr_linear),
            ("PSNR of every block on its own", done.psnr_of_blocks),
            ("PSNR recovered", done.psnr),
        ]),
        window,
        layers,
        result,
        deviations: window.cut_all(&way.deviations)?,
        atoms: way.atoms.clone(),
        settings: vec![
            ("measurements", done.work.input.display().to_string()),
            ("of each block", format!("{} for {} pixels", done.n_measurements, done.side * done.side)),
            ("method", way.name.clone()),
            ("noise", format!("{} grey levels", arguments.noise)),
        ],
    })
}

fn report(arguments: &RecoverArguments, outcome: &Outcome<Done<'_>>) -> Result<()> {
    let line = |done: &Done<'_>| {
        let Done { work, size, share, method, psnr, psnr_of_blocks, psnr_linear, seconds, .. } = done;
        let compared = psnr.map_or(String::new(), |psnr| format!("\nPSNR {psnr:.2} dB"));
        let alone = psnr_of_blocks.map_or(String::new(), |alone| format!("; every block on its own {alone:.2} dB"));
        let linear = psnr_linear.map_or(String::new(), |linear| format!("; linear estimator (LMMSE) {linear:.2} dB"));
        format!(
            "{}: {size} pixels from {:.1} % of their numbers, by {method} ({seconds:.1} s){compared}{alone}{linear}\nwrote {}",
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
            "psnr_linear": decibels(done.psnr_linear),
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
