//! `sparsemble upscale`: pictures made larger.

mod method;
mod page;

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use sparsemble::Run;
use sparsemble::image::{GrayImage, Interpolation, Layout, PictureFormat, Raster, Size, write_by_rows};
use sparsemble::restoration::super_resolution::{Enlargement, Interpolated};

use self::method::Methods;
use self::page::Piece;
use super::measured::parse_size;
use super::restored::{claim_page, claim_uncertainty, fitted, write_uncertainty};
use crate::args::UpscaleArguments;
use crate::batch::{self, Outcome, Target, Work, renamed};
use crate::failure::Usage;
use crate::output::warn;
use crate::pictures::{are_many, pictures_of};
use crate::progress::Progress;

/// The scales that methods have.
const LEAST: usize = 2;
const LARGEST: usize = 4;

pub(crate) fn run(arguments: &UpscaleArguments) -> Result<()> {
    let many = are_many(&arguments.inputs);
    let works = works(arguments, many)?;
    if arguments.model.is_none() && arguments.method.is_the_papers() {
        warn(&format!(
            "{} is there to repeat the paper: it takes minutes, learning included; the default, anchored, takes seconds and \
             makes better pictures",
            arguments.method.name()
        ))?;
    }
    let progress = Progress::start("enlarging")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let mut methods = Methods::new(arguments, &progress);
    let outcome = batch::each(&works, many, &progress, run, |work, run| enlarge(work, arguments, &mut methods, run))?;
    drop(progress);
    report(arguments, &outcome)
}

/// One that was written.
struct Done<'a> {
    work: &'a Work,
    from: Size,
    to: Size,
    seconds: f64,
}

/// What is to be done, after every name has been checked.
fn works(arguments: &UpscaleArguments, many: bool) -> Result<Vec<Work>> {
    if !(1.0..=LARGEST as f64).contains(&arguments.scale) {
        let message =
            format!("--scale {}: give 1 to {LARGEST}, and enlarge the result again for more", arguments.scale);
        return Err(Usage(message).into());
    }
    let method = arguments.method;
    for (given, used, option) in [
        (arguments.atoms.is_some(), method.is_the_papers(), "--atoms"),
        (arguments.models.is_some(), method.is_the_papers() && !method.has_one_opinion(), "--models"),
    ] {
        if given && !used {
            return Err(Usage(format!("the method {} has no use for {option}; leave it out", method.name())).into());
        }
    }
    let inputs = pictures_of(&arguments.inputs)?;
    if let Some(path) = &arguments.uncertainty {
        if arguments.model.is_none() && arguments.method.has_one_opinion() {
            return Err(one_opinion());
        }
        claim_uncertainty(path, many, arguments.run.force)?;
    }
    if let Some(path) = &arguments.report {
        claim_page(path, many, arguments.run.force)?;
    }
    let target = Target { output: arguments.output.as_deref(), batch: &arguments.batch, force: arguments.run.force };
    let works = batch::works(inputs, many, &target, |input| larger_name(input, arguments))?;
    works.iter().try_for_each(|work| PictureFormat::of(&work.output).map(drop))?;
    Ok(works)
}

/// All zeros would say that every pixel is certain.
fn one_opinion() -> anyhow::Error {
    let message = "--uncertainty: this method has one opinion of each pixel and cannot tell how far from the truth it is; \
                   leave it out, or choose anchored, rand-ex-av, boost-ex, boost-km or a model of several dictionaries";
    Usage(message.to_owned()).into()
}

/// photo.jpg becomes photo_x2.png: what was gained is not lost to another compression.
fn larger_name(input: &Path, arguments: &UpscaleArguments) -> OsString {
    let how = arguments.size.as_ref().map_or_else(|| format!("x{}", arguments.scale), Clone::clone);
    renamed(input, &format!("_{how}.png"))
}

fn enlarge<'a>(
    work: &'a Work,
    arguments: &UpscaleArguments,
    methods: &mut Methods<'_>,
    run: Run<'_>,
) -> Result<Done<'a>> {
    let started = Instant::now();
    let raster = Raster::read(&work.input)?;
    let layout = raster.layout();
    let to = target(layout.size, arguments)?;
    let scale = scale(layout.size, to);
    let enlarger = methods.of(scale)?.enlarger();
    // Nothing but the size can be wrong, and that was typed.
    let refused = |error| Usage(format!("{}: {error}", work.input.display()));
    let enlargement = Enlargement::new(enlarger.as_ref(), layout.size, to).map_err(refused)?;
    let larger = fitted(work, &Layout { size: to, ..layout.clone() })?;
    let mut deviations = Vec::new();
    let mut piece = arguments.report.as_ref().map(|_| Piece::new(&larger));
    let source = |rows| raster.rows(rows);
    write_by_rows(&work.output, &larger, enlargement.step(), |rows| {
        let made = enlargement.rows(rows.clone(), &source, run.part(rows.clone(), to.height))?;
        if let Some(piece) = &mut piece {
            piece.keep(rows, &made)?;
        }
        if arguments.uncertainty.is_some() {
            deviations.extend(made.deviation.into_samples());
        }
        Ok(made.planes)
    })?;
    if let Some(path) = &arguments.uncertainty {
        write_uncertainty(path, &[GrayImage::new(to, deviations)?])?;
    }
    let done = Done { work, from: layout.size, to, seconds: started.elapsed().as_secs_f64() };
    if let (Some(path), Some(piece)) = (&arguments.report, piece) {
        let bicubic = Interpolated::new(scale, Interpolation::Bicubic)?;
        let bicubic = Enlargement::new(&bicubic, layout.size, to)?;
        let before = bicubic.rows(piece.rows(), &source, Run::threads(arguments.run.threads))?;
        sparsemble_paper::write(path, page::of(arguments, &done, piece, &before)?.html(arguments.run.threads)?)?;
    }
    Ok(done)
}

/// The size to reach.
fn target(from: Size, arguments: &UpscaleArguments) -> Result<Size> {
    if let Some(size) = &arguments.size {
        return parse_size(size);
    }
    let [width, height] = [from.width, from.height].map(|side| (side as f64 * arguments.scale).round() as usize);
    Ok(Size { width, height })
}

/// The least scale of a method that reaches the size.
fn scale(from: Size, to: Size) -> usize {
    to.width.div_ceil(from.width).max(to.height.div_ceil(from.height)).clamp(LEAST, LARGEST)
}

fn report(arguments: &UpscaleArguments, outcome: &Outcome<Done<'_>>) -> Result<()> {
    let further = [&arguments.uncertainty, &arguments.report].into_iter().flatten();
    let further = further.map(|path| format!("\nwrote {}", path.display())).collect::<Vec<_>>().concat();
    let line = |Done { work, from, to, seconds }: &Done<'_>| {
        let (input, output) = (work.input.display(), work.output.display());
        format!("{input}: {from} to {to} ({seconds:.1} s)\nwrote {output}{further}")
    };
    let picture = |one: &Done<'_>| -> Value {
        json!({
            "input": one.work.input.display().to_string(),
            "output": one.work.output.display().to_string(),
            "width": one.to.width,
            "height": one.to.height,
            "seconds": one.seconds,
        })
    };
    let object = json!({
        "program": "sparsemble upscale",
        "version": env!("CARGO_PKG_VERSION"),
        "method": arguments.model.is_none().then(|| arguments.method.name()),
        "model": arguments.model.as_ref().map(|path| path.display().to_string()),
        "report": arguments.report.as_ref().map(|path| path.display().to_string()),
        "uncertainty": arguments.uncertainty.as_ref().map(|path| path.display().to_string()),
        "pictures": outcome.done.iter().map(picture).collect::<Vec<_>>(),
        "failed": outcome.failures(),
    });
    outcome.print(arguments.run.json, &object, line)
}
