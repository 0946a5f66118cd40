//! `sparsemble upscale`: pictures made larger.

mod method;
mod page;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage, Interpolation, Layout, PictureFormat, Raster, Size, write_by_rows};
use sparsemble::restoration::super_resolution::{Enlargement, Interpolated};

use self::method::Method;
use self::page::Piece;
use super::measured::parse_size;
use super::restored::{claim_uncertainty, write_uncertainty};
use crate::args::UpscaleArguments;
use crate::failure::Usage;
use crate::output::{claim, claim_apart, print, warn};
use crate::pictures::pictures_of;
use crate::progress::Progress;

/// The scales that methods have.
const LEAST: usize = 2;
const LARGEST: usize = 4;

pub(crate) fn run(arguments: &UpscaleArguments) -> Result<()> {
    let works = works(arguments)?;
    if let Some(path) = &arguments.uncertainty {
        claim_uncertainty(path, arguments.run.force)?;
    }
    let outputs = [("--uncertainty", arguments.uncertainty.as_ref()), ("--report", arguments.report.as_ref())];
    let pictures: Vec<(&str, &Path)> =
        works.iter().flat_map(|work| [("IN", work.input.as_path()), ("--output", &work.output)]).collect();
    claim_apart(&pictures, &outputs, arguments.run.force)?;
    let progress = Progress::start("enlarging")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    // By scale.
    let mut methods = BTreeMap::new();
    let mut done = Vec::new();
    for (number, work) in works.iter().enumerate() {
        if works.len() > 1 {
            progress.say(format!("{} of {}: {}", number + 1, works.len(), file_name(&work.input)));
        }
        let enlarged = work.enlarge(arguments, &mut methods, run.part(number..number + 1, works.len()));
        done.push(enlarged?);
    }
    drop(progress);
    report(arguments, &done)
}

/// A picture to read and the one to write.
struct Work {
    input: PathBuf,
    output: PathBuf,
}

/// One that was written.
struct Done<'a> {
    work: &'a Work,
    from: Size,
    to: Size,
    seconds: f64,
}

/// What is to be done, after every name has been checked.
fn works(arguments: &UpscaleArguments) -> Result<Vec<Work>> {
    if !(1.0..=LARGEST as f64).contains(&arguments.scale) {
        let message =
            format!("--scale {}: give 1 to {LARGEST}, and enlarge the result again for more", arguments.scale);
        return Err(Usage(message).into());
    }
    let inputs = pictures_of(&arguments.inputs)?;
    let many = inputs.len() > 1 || arguments.inputs[0].is_dir();
    for (given, option) in
        [(arguments.uncertainty.is_some(), "--uncertainty"), (arguments.report.is_some(), "--report")]
    {
        if many && given {
            return Err(Usage(format!("{option} is for one picture; enlarge them one at a time")).into());
        }
    }
    let folder = match &arguments.output {
        Some(output) if many || output.is_dir() => {
            std::fs::create_dir_all(output).with_context(|| format!("cannot make the folder {}", output.display()))?;
            Some(output.as_path())
        }
        _ => None,
    };
    let works = inputs.into_iter().map(|input| {
        let output = match (folder, &arguments.output) {
            (Some(folder), _) => folder.join(larger_name(&input, arguments)),
            (None, Some(output)) => output.clone(),
            (None, None) => input.with_file_name(larger_name(&input, arguments)),
        };
        Work { input, output }
    });
    let works: Vec<Work> = works.collect();
    for (number, work) in works.iter().enumerate() {
        claim(&work.output, arguments.run.force)?;
        PictureFormat::of(&work.output)?;
        if let Some(twin) = works[..number].iter().find(|other| other.output == work.output) {
            let [one, two] = [&twin.input, &work.input].map(|path| path.display());
            return Err(Usage(format!("{one} and {two} would both become {}", work.output.display())).into());
        }
    }
    Ok(works)
}

/// photo.jpg becomes photo_x2.png: what was gained is not lost to another compression.
fn larger_name(input: &Path, arguments: &UpscaleArguments) -> String {
    let stem = input.file_stem().unwrap_or_default().to_string_lossy();
    match &arguments.size {
        Some(size) => format!("{stem}_{size}.png"),
        None => format!("{stem}_x{}.png", arguments.scale),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Work {
    fn enlarge(
        &self,
        arguments: &UpscaleArguments,
        methods: &mut BTreeMap<usize, Method>,
        run: Run<'_>,
    ) -> Result<Done<'_>> {
        let started = Instant::now();
        let format = PictureFormat::of(&self.output)?;
        let mut raster = Raster::read(&self.input)?;
        if !format.holds_exif() {
            raster = raster.upright();
        }
        let layout = raster.layout();
        let to = target(layout.size, arguments)?;
        let scale = scale(layout.size, to);
        // A method that has to be made ready takes half of the bar.
        let (method, run) = match methods.entry(scale) {
            Entry::Occupied(ready) => (ready.into_mut(), run),
            Entry::Vacant(place) => {
                (place.insert(Method::prepare(arguments, scale, run.part(0..1, 2))?), run.part(1..2, 2))
            }
        };
        let enlarger = method.enlarger();
        // Files name themselves; sizes and channels do not.
        let name = || self.input.display().to_string();
        let enlargement = Enlargement::new(enlarger.as_ref(), layout.size, to).with_context(name)?;
        let larger = format.fitted(&Layout { size: to, ..layout.clone() }).with_context(name)?;
        tell_losses(&self.output, &layout, &larger)?;
        let mut deviations = Vec::new();
        let mut piece = arguments.report.as_ref().map(|_| Piece::new(&larger));
        let source = |rows| raster.rows(rows);
        write_by_rows(&self.output, &larger, enlargement.step(), |rows| {
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
        let done = Done { work: self, from: layout.size, to, seconds: started.elapsed().as_secs_f64() };
        if let (Some(path), Some(piece)) = (&arguments.report, piece) {
            let bicubic = Interpolated::new(scale, Interpolation::Bicubic)?;
            let bicubic = Enlargement::new(&bicubic, layout.size, to)?;
            let before = bicubic.rows(piece.rows(), &source, Run::threads(arguments.run.threads))?;
            sparsemble_paper::write(path, page::of(arguments, &done, piece, &before)?.html(arguments.run.threads)?)?;
        }
        Ok(done)
    }
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

/// Says what the kind of file that is written cannot hold.
fn tell_losses(output: &Path, was: &Layout, is: &Layout) -> Result<()> {
    let losses = [
        (was.depth == BitDepth::Sixteen && is.depth == BitDepth::Eight, "16 bits a sample"),
        (was.profile.is_some() && is.profile.is_none(), "the colour profile"),
        (was.exif.is_some() && is.exif.is_none(), "the EXIF data"),
    ];
    for (_, what) in losses.into_iter().filter(|(lost, _)| *lost) {
        warn(&format!("{} cannot hold {what}; a .png file can", output.display()))?;
    }
    Ok(())
}

fn method_name(arguments: &UpscaleArguments) -> String {
    format!("{:?}", arguments.method).to_lowercase()
}

fn report(arguments: &UpscaleArguments, done: &[Done<'_>]) -> Result<()> {
    let line = |one: &Done<'_>| {
        let Done { work, from, to, seconds } = one;
        format!("{}: {from} to {to} ({seconds:.1} s)\nwrote {}", work.input.display(), work.output.display())
    };
    let further = [&arguments.uncertainty, &arguments.report].into_iter().flatten();
    let further = further.map(|path| format!("wrote {}", path.display()));
    let text = done.iter().map(line).chain(further).collect::<Vec<_>>().join("\n");
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
        "method": method_name(arguments),
        "report": arguments.report.as_ref().map(|path| path.display().to_string()),
        "uncertainty": arguments.uncertainty.as_ref().map(|path| path.display().to_string()),
        "pictures": done.iter().map(picture).collect::<Vec<_>>(),
    });
    print(arguments.run.json, &object, &text)
}
