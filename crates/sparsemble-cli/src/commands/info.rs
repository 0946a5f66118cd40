//! `sparsemble info`: what a model file holds.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sparsemble::image::{BitDepth, Picture, PictureFormat, write_picture};
use sparsemble::model_file::{self, Inspection, Loaded};
use sparsemble::patch::mosaic;
use sparsemble::{Model, Scalar};

use crate::args::InfoArguments;
use crate::description::{Description, error, errors, shown};
use crate::options::setting;
use crate::output::{claim_for, print};

/// The steps that a curve of one line can show.
const LONGEST_CURVE: usize = 60;

pub(crate) fn run(arguments: &InfoArguments) -> Result<()> {
    if let Some(picture) = &arguments.atoms {
        claim_for("--atoms", picture, arguments.force)?;
        PictureFormat::of(picture)?;
    }
    let inspection = model_file::inspect(&arguments.model)?;
    if inspection.dtype == f32::NAME {
        show::<f32>(arguments, &inspection)
    } else {
        show::<f64>(arguments, &inspection)
    }
}

fn show<T: Scalar>(arguments: &InfoArguments, inspection: &Inspection) -> Result<()> {
    let loaded = model_file::load::<T>(&arguments.model)?;
    if let Some(picture) = &arguments.atoms {
        draw(&loaded.model, picture)?;
    }
    let object = object(arguments, inspection, &loaded);
    print(arguments.json, &object, text(inspection, &loaded)?.trim_end())
}

/// A picture of all atoms, if they are square patches.
fn draw<T: Scalar>(model: &Model<T>, path: &Path) -> Result<()> {
    let side = model.n_features().isqrt();
    if side * side != model.n_features() {
        bail!("atoms of {} features are no square patches and cannot be drawn; leave --atoms out", model.n_features());
    }
    let planes = vec![mosaic(model.atoms().view(), side)?];
    Ok(write_picture(path, &Picture { planes, depth: BitDepth::Eight })?)
}

fn text<T: Scalar>(inspection: &Inspection, loaded: &Loaded<T>) -> Result<String> {
    let (model, record, training) = (&loaded.model, &loaded.record, loaded.model.training());
    let description = Description::of(model);
    let state = if inspection.complete { "" } else { ", a checkpoint: its training has not ended" };
    let mut text = String::new();
    let mut line = |name: &str, value: &str| -> Result<()> {
        if !value.is_empty() {
            writeln!(text, "{name:12} {}", harmless(value)).context("cannot write")?;
        }
        Ok(())
    };
    line("model", &format!("{}{state}", description.words()))?;
    line("features", &description.features(""))?;
    line("numbers", inspection.dtype)?;
    line("method", &training.method)?;
    line("learner", &training.learner)?;
    line("coder", &training.coder)?;
    line("seed", &training.seed.to_string())?;
    line("data", &record.data.description)?;
    if record.data.n_samples > 0 {
        line("samples", &record.data.n_samples.to_string())?;
    }
    line("phi", record.phi.as_ref().map_or("", |phi| &phi.description))?;
    let settings = record.parameters.iter().map(setting).map(|(name, value)| format!("{name} {value}"));
    line("settings", &settings.collect::<Vec<_>>().join(", "))?;
    if let Some(error) = error(model) {
        line("error", &shown(error))?;
    }
    line("curve", &curve(&errors(model)))?;
    let versions = format!(
        "library {}, algorithms {}, format {}",
        loaded.library_version, loaded.algorithm_version, inspection.format_version
    );
    line("versions", &versions)?;
    Ok(text)
}

/// A text of a file, which may hold anything, without what a terminal would obey.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// The errors of the steps as bars, between the least and the largest of them.
fn curve(errors: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (Some(&first), Some(&last)) = (errors.first(), errors.last()) else { return String::new() };
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bar = |error: f64| {
        let height = if largest > least { (error - least) / (largest - least) } else { 0.0 };
        BARS[((height * BARS.len() as f64) as usize).min(BARS.len() - 1)]
    };
    // Of a long curve every n-th step, and always the last one.
    let every = errors.len().div_ceil(LONGEST_CURVE);
    let bars: String = errors.iter().rev().step_by(every).rev().map(|&error| bar(error)).collect();
    format!("{} {bars} {} ({} values)", shown(first), shown(last), errors.len())
}

fn object<T: Scalar>(arguments: &InfoArguments, inspection: &Inspection, loaded: &Loaded<T>) -> Value {
    let (model, record, training) = (&loaded.model, &loaded.record, loaded.model.training());
    let rounds = training.curve.iter().map(|round| {
        json!({
            "alpha": round.alpha,
            "member_error": round.member_error,
            "error": round.error,
            "validation_error": round.validation_error,
            "unconverged": round.unconverged,
        })
    });
    let beta = match model {
        Model::Ensemble(ensemble) => json!(ensemble.beta()),
        _ => Value::Null,
    };
    json!({
        "program": "sparsemble info",
        "version": env!("CARGO_PKG_VERSION"),
        "file": arguments.model.display().to_string(),
        "complete": inspection.complete,
        "model": Description::of(model).json(),
        "dtype": inspection.dtype,
        "method": training.method,
        "learner": training.learner,
        "coder": training.coder,
        "seed": training.seed,
        "parameters": record.parameters,
        "data": {
            "description": record.data.description,
            "n_samples": record.data.n_samples,
            "n_features": record.data.n_features,
        },
        "phi": record.phi.as_ref().map(|phi| &phi.description),
        "error": error(model),
        "beta": beta,
        "curve": rounds.collect::<Vec<_>>(),
        "objective": training.objective,
        "atoms_picture": arguments.atoms.as_ref().map(|path| path.display().to_string()),
        "library_version": loaded.library_version,
        "algorithm_version": loaded.algorithm_version,
        "format_version": inspection.format_version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_shows_its_ends_and_at_most_so_many_bars() {
        assert_eq!(curve(&[8.0, 4.0, 1.0]), "8.0000 █▄▁ 1.0000 (3 values)");
        assert_eq!(curve(&[2.0, 2.0]), "2.0000 ▁▁ 2.0000 (2 values)");
        assert_eq!(curve(&[]), "");
        let long: Vec<f64> = (0..1000).map(f64::from).collect();
        let shown = curve(&long);
        let bars = shown.chars().filter(|c| ('▁'..='█').contains(c)).count();
        assert!((50..=LONGEST_CURVE).contains(&bars) && shown.contains("█ 999.0000"), "{shown}");
    }
}
