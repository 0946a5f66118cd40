//! `sparsemble restore`: noise, holes and blur taken out of pictures.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use sparsemble::degradation::{Blur, Mask};
use sparsemble::image::{GrayImage, Layout, Raster, Size, read};
use sparsemble::restoration::{Restored, deblur, denoise, inpaint};
use sparsemble::{Run, matrix_file};

use super::measured::matrix_of_rows;
use super::picture_page::{PicturePage, layer, qualities};
use super::restored::{Truth, decibels, depth, fitted, truth, works, write, written};
use crate::args::{RestoreArguments, Task};
use crate::batch::{self, Outcome, Work};
use crate::failure::Usage;
use crate::html::Window;
use crate::output::warn;
use crate::pictures::{are_many, pictures_of};
use crate::progress::Progress;

/// The colour of missing pixels, in red, green and blue.
const MISSING: [f64; 3] = [255.0, 59.0, 107.0];

pub(crate) fn run(arguments: &RestoreArguments) -> Result<()> {
    check(arguments)?;
    let images = pictures_of(&arguments.images)?;
    let many = are_many(&arguments.images);
    let works = works(images, many, &arguments.picture, arguments.run.force)?;
    let progress = Progress::start("restoring")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let outcome = batch::each(&works, many, &progress, run, |work, run| Done::restore(arguments, work, run))?;
    drop(progress);
    report(arguments, &outcome)
}

/// A picture that was restored.
struct Done<'a> {
    work: &'a Work,
    size: Size,
    n_planes: usize,
    /// The PSNR before and after, if the original is known.
    psnr: [Option<f64>; 2],
    seconds: f64,
}

impl<'a> Done<'a> {
    fn restore(arguments: &RestoreArguments, work: &'a Work, run: Run<'_>) -> Result<Self> {
        let started = Instant::now();
        let raster = Raster::read(&work.input)?;
        let layout = raster.layout();
        let mut damaged = raster.rows(0..layout.size.height)?;
        let alpha = if layout.has_alpha() { damaged.pop() } else { None };
        let (size, n_planes) = (layout.size, damaged.len());
        let layout = fitted(work, &Layout { depth: depth(&arguments.picture, layout.depth), ..layout })?;
        let truth = truth(&arguments.picture, &work.input, size, n_planes)?;
        let damage = Damage::of(arguments, size)?;
        let planes = damaged.iter().enumerate();
        let planes = planes.map(|(number, plane)| damage.undo(plane, run.part(number..number + 1, n_planes)));
        let planes = planes.collect::<sparsemble::Result<Vec<_>>>()?;
        let planes = planes.into_iter().map(|Restored { image, deviation }| (image, deviation));
        let (images, deviations): (Vec<_>, Vec<_>) = planes.unzip();
        write(&arguments.picture, &work.output, &layout, (&images, alpha), &deviations)?;
        let psnr = [truth.psnr(damaged.iter())?, truth.psnr(images.iter())?];
        let done = Self { work, size, n_planes, psnr, seconds: started.elapsed().as_secs_f64() };
        if let Some(path) = &arguments.picture.report {
            let page = page(arguments, (&damaged, &damage, &truth), (&images, &deviations), &done)?;
            sparsemble_paper::write(path, page.html(arguments.run.threads)?)?;
        }
        Ok(done)
    }
}

/// An option that the task does not use is refused and not passed over.
fn check(arguments: &RestoreArguments) -> Result<()> {
    for (given, task, option) in
        [(arguments.mask.is_some(), Task::Inpaint, "--mask"), (arguments.kernel.is_some(), Task::Deblur, "--kernel")]
    {
        if given && arguments.task != task {
            return Err(Usage(format!("{option} is for another task; leave it out")).into());
        }
    }
    Ok(())
}

/// What is to be undone in each plane.
enum Damage {
    Denoise(f64),
    Inpaint(Mask, f64),
    Deblur(Blur, f64),
}

impl Damage {
    fn of(arguments: &RestoreArguments, size: Size) -> Result<Self> {
        Ok(match arguments.task {
            Task::Denoise => Self::Denoise(arguments.sigma()),
            Task::Inpaint => {
                let path = arguments.mask.as_deref().context("no mask was given")?;
                Self::Inpaint(mask(path, size)?, arguments.sigma())
            }
            Task::Deblur => {
                let text = arguments.kernel.as_deref().context("no kernel was given")?;
                Self::Deblur(kernel(text, size)?, arguments.sigma())
            }
        })
    }

    fn undo(&self, plane: &GrayImage, run: Run<'_>) -> sparsemble::Result<Restored> {
        match self {
            Self::Denoise(sigma) => denoise(plane, *sigma, run),
            Self::Inpaint(mask, sigma) => inpaint(plane, mask, *sigma, run),
            Self::Deblur(blur, sigma) => deblur(plane, blur, *sigma, run),
        }
    }
}

/// White is missing.
fn mask(path: &Path, size: Size) -> Result<Mask> {
    let picture = read(path)?;
    if picture.size() != size {
        return Err(Usage(format!("the mask has {} pixels, the picture {size}", picture.size())).into());
    }
    Mask::where_white(&picture).with_context(|| format!("{} is white everywhere", path.display()))
}

/// A blur by its text, or a kernel from a file.
fn kernel(text: &str, size: Size) -> Result<Blur> {
    if matrix_file::is_matrix_file(Path::new(text)) {
        let (blur, sum) =
            Blur::of_unit_sum(size, matrix_of_rows(Path::new(text))?.view()).with_context(|| text.to_owned())?;
        if (sum - 1.0).abs() > 1e-3 {
            warn(&format!("the kernel {text} sums to {sum}, which would change the brightness; it is scaled to 1"))?;
        }
        return Ok(blur);
    }
    let sigma = text.strip_prefix("gaussian:sigma=").and_then(|sigma| sigma.parse().ok());
    match sigma {
        Some(sigma) => Ok(Blur::gaussian(size, sigma)?),
        None => Err(Usage(format!("--kernel {text}: give gaussian:sigma=1.6 or a matrix file")).into()),
    }
}

/// A picture in colour whose missing pixels are painted over, as in the studio: their values mean nothing.
fn painted(planes: &[GrayImage], mask: &Mask) -> sparsemble::Result<Vec<GrayImage>> {
    let colour = |(number, level): (usize, f64)| {
        let plane = &planes[number.min(planes.len() - 1)];
        let mut samples = vec![level; plane.samples().len()];
        mask.seen().iter().for_each(|&pixel| samples[pixel] = plane.samples()[pixel]);
        GrayImage::new(plane.size(), samples)
    };
    MISSING.into_iter().enumerate().map(colour).collect()
}

/// The page to look at.
fn page(
    arguments: &RestoreArguments,
    (damaged, damage, truth): (&[GrayImage], &Damage, &Truth),
    (images, deviations): (&[GrayImage], &[GrayImage]),
    Done { work, size, psnr: [psnr_before, psnr], seconds, .. }: &Done<'_>,
) -> Result<PicturePage> {
    let (window, sigma) = (Window::of(*size), arguments.sigma());
    let name = work.input.file_name().unwrap_or_default().to_string_lossy();
    let (title, done) = match arguments.task {
        Task::Denoise => {
            (format!("{name}, without its noise"), format!("noise of standard deviation {sigma} taken out"))
        }
        Task::Inpaint => (format!("{name}, filled in"), "missing pixels, pink before, filled in".to_owned()),
        Task::Deblur => (format!("{name}, sharp again"), "blur undone".to_owned()),
    };
    let before = match damage {
        Damage::Inpaint(mask, _) => window.cut_all(&painted(damaged, mask)?)?,
        Damage::Denoise(_) | Damage::Deblur(..) => window.cut_all(damaged)?,
    };
    let before = layer("before", *psnr_before, before);
    let mut layers = vec![before, layer("restored", *psnr, window.cut_all(images)?)];
    if let Some(truth) = truth.planes() {
        layers.push(layer("original", None, window.cut_all(truth)?));
    }
    let mut settings = vec![("picture", work.input.display().to_string()), ("task", arguments.task.to_string())];
    settings.push(("noise", format!("{sigma} grey levels")));
    settings.extend(arguments.mask.as_ref().map(|path| ("mask", path.display().to_string())));
    settings.extend(arguments.kernel.as_ref().map(|kernel| ("kernel", kernel.clone())));
    Ok(PicturePage {
        program: "sparsemble restore",
        title,
        lead: format!("{size} pixels, {done}. It took {seconds:.1} seconds."),
        facts: qualities(&[("PSNR before", *psnr_before), ("PSNR restored", *psnr)]),
        window,
        layers,
        result: 1,
        deviations: window.cut_all(deviations)?,
        atoms: Vec::new(),
        settings,
    })
}

fn report(arguments: &RestoreArguments, outcome: &Outcome<Done<'_>>) -> Result<()> {
    let task = arguments.task.to_string();
    let line = |Done { work, size, psnr, seconds, .. }: &Done<'_>| {
        let compared = match psnr {
            [Some(before), Some(after)] => format!("\nPSNR {before:.2} dB before, {after:.2} dB after"),
            _ => String::new(),
        };
        format!(
            "{}: {task}, {size} pixels ({seconds:.1} s){compared}\nwrote {}",
            work.input.display(),
            written(&arguments.picture, &work.output)
        )
    };
    let picture = |Done { work, size, n_planes, psnr: [before, after], seconds }: &Done<'_>| {
        json!({
            "input": work.input.display().to_string(),
            "output": work.output.display().to_string(),
            "width": size.width,
            "height": size.height,
            "planes": n_planes,
            "psnr_before": decibels(*before),
            "psnr": decibels(*after),
            "seconds": seconds,
        })
    };
    let object = json!({
        "program": "sparsemble restore",
        "version": env!("CARGO_PKG_VERSION"),
        "task": task,
        "report": arguments.picture.report.as_ref().map(|path| path.display().to_string()),
        "uncertainty": arguments.picture.uncertainty.as_ref().map(|path| path.display().to_string()),
        "pictures": outcome.done.iter().map(picture).collect::<Vec<_>>(),
        "failed": outcome.failures(),
    });
    outcome.print(arguments.run.json, &object, line)
}
