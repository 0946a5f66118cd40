//! `sparsemble eval`: how near pictures are to the originals, and by which protocol.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use sparsemble::Run;
use sparsemble::image::{Picture, Size, read_picture};
use sparsemble::metrics::{Protocol, Quality};

use super::restored::decibels;
use crate::args::{Compared, EvalArguments};
use crate::batch::{self, Outcome};
use crate::output::print;
use crate::pictures::{are_many, pictures_of, reference_of};
use crate::progress::Progress;

/// A reference may be larger than the picture by as many pixels: what was cut off to be divisible by a scale of 4.
const CUT_OFF: usize = 3;

pub(crate) fn run(arguments: &EvalArguments) -> Result<()> {
    let images = pictures_of(&arguments.images)?;
    let progress = Progress::start("comparing")?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.threads).on_progress(&tell);
    let outcome = batch::each(&images, are_many(&arguments.images), &progress, run, |image, run| -> Result<Judged> {
        let reference = reference_of(image, &arguments.reference)?;
        let quality = judge(image, &reference, arguments, run)?;
        Ok(Judged { image: image.clone(), reference, quality })
    })?;
    drop(progress);
    report(arguments, &outcome)
}

struct Judged {
    image: PathBuf,
    reference: PathBuf,
    quality: Quality,
}

fn judge(image: &Path, reference: &Path, arguments: &EvalArguments, run: Run<'_>) -> Result<Quality> {
    let (found, truth) = (read_picture(image)?, read_picture(reference)?);
    let truth = cut_to(truth, found.planes[0].size());
    let (is, was) = (found.planes[0].size(), truth.planes[0].size());
    if is != was || found.planes.len() != truth.planes.len() {
        let colours = |count: usize| if count == 1 { "in grey" } else { "in colour" };
        bail!(
            "{} has {is} pixels {}, {} has {was} {}; compare a picture with its original",
            image.display(),
            colours(found.planes.len()),
            reference.display(),
            colours(truth.planes.len())
        );
    }
    let protocol = match arguments.protocol {
        Compared::Brightness => Protocol::Brightness,
        Compared::Colours => Protocol::Colours,
    };
    Ok(Quality::of(&truth, &found, protocol, arguments.shave, run)?)
}

fn cut_to(truth: Picture, size: Size) -> Picture {
    let Size { width, height } = truth.planes[0].size();
    let a_little = |whole: usize, part: usize| (part..=part + CUT_OFF).contains(&whole);
    if !a_little(width, size.width) || !a_little(height, size.height) {
        return truth;
    }
    let planes = truth.planes.iter().map(|plane| plane.cropped((0, 0), size)).collect::<sparsemble::Result<_>>();
    Picture { planes: planes.unwrap_or(truth.planes), ..truth }
}

fn report(arguments: &EvalArguments, outcome: &Outcome<Judged>) -> Result<()> {
    let judged = &outcome.done;
    if judged.is_empty() && !arguments.json {
        return outcome.conclude();
    }
    let mean = |of: fn(&Quality) -> f64| judged.iter().map(|one| of(&one.quality)).sum::<f64>() / judged.len() as f64;
    let mean = Quality { psnr: mean(|quality| quality.psnr), ssim: mean(|quality| quality.ssim) };
    let compared = match arguments.protocol {
        Compared::Brightness => "brightness (Y of BT.601, 16 to 235; grey as it is)",
        Compared::Colours => "colours (red, green and blue)",
    };
    let protocol = format!(
        "{compared} in whole levels of 8 bits, {} pixels shaved; PSNR with white 255, SSIM of Wang et al. (2004)",
        arguments.shave
    );
    let line = |name: String, quality: &Quality| format!("{name:40} {:8.3} dB  {:.4}\n", quality.psnr, quality.ssim);
    let mut text: String = judged.iter().map(|one| line(one.image.display().to_string(), &one.quality)).collect();
    if judged.len() > 1 {
        text += &line(format!("mean of {}", judged.len()), &mean);
    }
    let figures = |quality: &Quality| json!({ "psnr": decibels(Some(quality.psnr)), "ssim": quality.ssim });
    let pictures = judged.iter().map(|one| {
        let mut object = figures(&one.quality);
        object["image"] = one.image.display().to_string().into();
        object["reference"] = one.reference.display().to_string().into();
        object
    });
    let object = json!({
        "program": "sparsemble eval",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": protocol,
        "shave": arguments.shave,
        "pictures": pictures.collect::<Vec<_>>(),
        "mean": if judged.is_empty() { Value::Null } else { figures(&mean) },
        "failed": outcome.failures(),
    });
    print(arguments.json, &object, &format!("{text}{protocol}"))?;
    outcome.conclude()
}
