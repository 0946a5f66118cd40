//! `sparsemble restore`: noise, holes and blur taken out of pictures.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use sparsemble::degradation::{Blur, Mask};
use sparsemble::image::{GrayImage, Picture, Size, read, read_picture};
use sparsemble::restoration::{Restored, deblur, denoise, inpaint};
use sparsemble::{Run, matrix_file};

use super::measured::matrix_of_rows;
use super::picture_page::{PicturePage, layer, qualities};
use super::restored::{Truth, decibels, prepare, write, written};
use crate::args::{RestoreArguments, Task};
use crate::failure::Usage;
use crate::html::Window;
use crate::output::print;
use crate::progress::Progress;

pub(crate) fn run(arguments: &RestoreArguments) -> Result<()> {
    check(arguments)?;
    let picture = read_picture(&arguments.image)?;
    let size = picture.planes[0].size();
    let truth = prepare(&arguments.picture, arguments.run.force, size, picture.planes.len())?;
    let work = Work::prepare(arguments, size)?;
    let started = Instant::now();
    let progress = Progress::start("restoring")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let count = picture.planes.len();
    let planes = picture.planes.iter().enumerate();
    let planes = planes.map(|(number, plane)| work.restore(plane, run.part(number..number + 1, count)));
    let planes = planes.collect::<sparsemble::Result<Vec<_>>>()?;
    drop(progress);
    write(&arguments.picture, picture.depth, &planes)?;
    let damaged = truth.psnr(picture.planes.iter())?;
    let psnr = truth.psnr(planes.iter().map(|plane| &plane.image))?;
    let seconds = started.elapsed().as_secs_f64();
    if let Some(path) = &arguments.picture.report {
        let page = page(arguments, (&picture, &planes, &truth), (damaged, psnr), seconds)?;
        sparsemble_paper::write(path, page.html(arguments.run.threads)?)?;
    }
    report(arguments, &picture, (damaged, psnr), seconds)
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

/// What is to be done to each plane.
enum Work {
    Denoise(f64),
    Inpaint(Mask, f64),
    Deblur(Blur, f64),
}

impl Work {
    fn prepare(arguments: &RestoreArguments, size: Size) -> Result<Self> {
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

    fn restore(&self, plane: &GrayImage, run: Run<'_>) -> sparsemble::Result<Restored> {
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
        return Ok(Blur::new(size, matrix_of_rows(Path::new(text))?.view())?);
    }
    let sigma = text.strip_prefix("gaussian:sigma=").and_then(|sigma| sigma.parse().ok());
    match sigma {
        Some(sigma) => Ok(Blur::gaussian(size, sigma)?),
        None => Err(Usage(format!("--kernel {text}: give gaussian:sigma=1.6 or a matrix file")).into()),
    }
}

/// The page to look at.
fn page(
    arguments: &RestoreArguments,
    (picture, planes, truth): (&Picture, &[Restored], &Truth),
    (damaged, psnr): (Option<f64>, Option<f64>),
    seconds: f64,
) -> Result<PicturePage> {
    let size = picture.planes[0].size();
    let (window, sigma) = (Window::of(size), arguments.sigma());
    let name = arguments.image.file_name().unwrap_or_default().to_string_lossy();
    let (title, done) = match arguments.task {
        Task::Denoise => {
            (format!("{name}, without its noise"), format!("noise of standard deviation {sigma} taken out"))
        }
        Task::Inpaint => (format!("{name}, filled in"), "missing pixels filled in".to_owned()),
        Task::Deblur => (format!("{name}, sharp again"), "blur undone".to_owned()),
    };
    let mut layers = vec![
        layer("before", damaged, window.cut_all(&picture.planes)?),
        layer("restored", psnr, window.cut_all(planes.iter().map(|plane| &plane.image))?),
    ];
    if let Some(truth) = truth.planes() {
        layers.push(layer("original", None, window.cut_all(truth)?));
    }
    let mut settings = vec![("picture", arguments.image.display().to_string()), ("task", arguments.task.to_string())];
    settings.push(("noise", format!("{sigma} grey levels")));
    settings.extend(arguments.mask.as_ref().map(|path| ("mask", path.display().to_string())));
    settings.extend(arguments.kernel.as_ref().map(|kernel| ("kernel", kernel.clone())));
    Ok(PicturePage {
        program: "sparsemble restore",
        title,
        lead: format!("{size} pixels, {done} in {seconds:.1} seconds."),
        facts: qualities(&[("PSNR before", damaged), ("PSNR restored", psnr)]),
        window,
        layers,
        result: 1,
        deviations: window.cut_all(planes.iter().map(|plane| &plane.deviation))?,
        atoms: Vec::new(),
        settings,
    })
}

fn report(
    arguments: &RestoreArguments,
    picture: &Picture,
    (damaged, psnr): (Option<f64>, Option<f64>),
    seconds: f64,
) -> Result<()> {
    let (size, n_planes) = (picture.planes[0].size(), picture.planes.len());
    let task = arguments.task.to_string();
    let compared = match (damaged, psnr) {
        (Some(damaged), Some(psnr)) => format!("\nPSNR {damaged:.2} dB before, {psnr:.2} dB after"),
        _ => String::new(),
    };
    let text = format!("{task}: {size} picture ({seconds:.1} s){compared}\nwrote {}", written(&arguments.picture));
    let object = json!({
        "program": "sparsemble restore",
        "version": env!("CARGO_PKG_VERSION"),
        "output": arguments.picture.output.display().to_string(),
        "report": arguments.picture.report.as_ref().map(|path| path.display().to_string()),
        "uncertainty": arguments.picture.uncertainty.as_ref().map(|path| path.display().to_string()),
        "task": task,
        "width": size.width,
        "height": size.height,
        "planes": n_planes,
        "psnr_before": decibels(damaged),
        "psnr": decibels(psnr),
        "seconds": seconds,
    });
    print(arguments.run.json, &object, &text)
}
