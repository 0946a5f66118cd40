//! `sparsemble eval`: how near pictures are to the originals, and by which protocol.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::Run;
use sparsemble::image::{Picture, Size, read_picture};
use sparsemble::metrics::{Protocol, Quality};

use super::restored::decibels;
use crate::args::{Compared, EvalArguments};
use crate::output::print;
use crate::pictures::pictures_in;

/// A reference may be larger than the picture by as many pixels: what was cut off to be divisible by a scale of 4.
const CUT_OFF: usize = 3;

pub(crate) fn run(arguments: &EvalArguments) -> Result<()> {
    let judged = |path: &PathBuf| -> Result<Judged> {
        let reference = reference_of(path, &arguments.reference)?;
        let quality = judge(path, &reference, arguments)?;
        Ok(Judged { image: path.clone(), reference, quality })
    };
    let judged = arguments.images.iter().map(judged).collect::<Result<Vec<_>>>()?;
    report(arguments, &judged)
}

struct Judged {
    image: PathBuf,
    reference: PathBuf,
    quality: Quality,
}

/// The reference itself, or the file in its folder whose name that of the picture begins with; the longest of several.
fn reference_of(image: &Path, reference: &Path) -> Result<PathBuf> {
    if !reference.is_dir() {
        return Ok(reference.to_owned());
    }
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = stem(image);
    let fitting = pictures_in(reference)?.into_iter().filter(|path| name.starts_with(&stem(path)));
    match fitting.max_by_key(|path| stem(path).len()) {
        Some(path) => Ok(path),
        None => bail!("no picture in {} has a name that {name} begins with", reference.display()),
    }
}

fn judge(image: &Path, reference: &Path, arguments: &EvalArguments) -> Result<Quality> {
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
    Ok(Quality::of(&truth, &found, protocol, arguments.shave, Run::threads(arguments.threads))?)
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

fn report(arguments: &EvalArguments, judged: &[Judged]) -> Result<()> {
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
        "mean": figures(&mean),
    });
    print(arguments.json, &object, &format!("{text}{protocol}"))
}
