//! The page to look at: how the error fell, and the atoms that were learned.

use anyhow::Result;
use sparsemble::model_file::Record;
use sparsemble::{Model, Scalar};
use sparsemble_paper::plot::{Labels, Series, lines};

use crate::args::TrainArguments;
use crate::commands::mosaics::mosaics;
use crate::commands::picture_page::mosaics_side_by_side;
use crate::description::{Description, error, errors, shown};
use crate::html::{self, Page, facts};
use crate::options::setting;
use crate::streams;

pub(super) fn of<T: Scalar>(
    arguments: &TrainArguments,
    model: &Model<T>,
    record: &Record<T>,
    seconds: f64,
) -> Result<String> {
    let description = Description::of(model);
    let name = arguments.output.file_name().unwrap_or_default().to_string_lossy();
    let lead =
        format!("{}, learned from {}. It took {seconds:.1} seconds.", description.words(), record.data.description);
    let mut page = Page::new("sparsemble train", &name, &capitalised(&lead));
    let mut figures =
        vec![("samples", record.data.n_samples.to_string()), ("atoms in all", model.n_atoms().to_string())];
    figures.extend(error(model).map(|error| ("error at the end", shown(error))));
    page.add(&facts(&figures));
    if let Some(curve) = curve(model) {
        page.section("convergence", "How the error fell", &curve);
    }
    let mosaics = mosaics(model)?;
    if !mosaics.is_empty() {
        let note = "<p>Each is stretched on its own: zero is mid-grey, and its largest value black or white.</p>\n";
        page.section("atoms", "The atoms", &format!("{note}{}", mosaics_side_by_side(&mosaics)?));
    }
    let training = model.training();
    let mut settings = vec![("method", training.method.clone()), ("coder", training.coder.clone())];
    settings.retain(|(_, value)| !value.is_empty());
    let known: Vec<&str> = settings.iter().map(|(name, _)| *name).collect();
    let rest: Vec<_> =
        record.parameters.iter().filter(|(name, _)| !known.contains(&name.as_str())).map(setting).collect();
    settings.extend(rest.iter().map(|(name, value)| (name.as_str(), value.clone())));
    Ok(page.end(&settings))
}

/// What is said at the end: the page to look at, or else how to use the model, unless that is on its way elsewhere.
pub(super) fn look(arguments: &TrainArguments, otherwise: &str) -> String {
    match &arguments.report {
        Some(path) => format!("; look at {}", path.display()),
        None if streams::is_output(&arguments.output) => String::new(),
        None => format!("; {otherwise}"),
    }
}

/// The error after each step; those of the members and of held-out samples beside it, where there are any.
fn curve<T: Scalar>(model: &Model<T>) -> Option<String> {
    let (errors, rounds) = (errors(model), &model.training().curve);
    if errors.len() < 2 {
        return None;
    }
    let description = format!("The error after each of {} steps", errors.len());
    let mut series = vec![Series::new(if rounds.is_empty() { "training samples" } else { "ensemble" }, errors, 0)];
    if !rounds.is_empty() {
        series.push(Series::new("member alone", rounds.iter().map(|round| round.member_error).collect(), 1));
    }
    let held_out: Vec<f64> = rounds.iter().filter_map(|round| round.validation_error).collect();
    if !held_out.is_empty() {
        series.push(Series::new("ensemble on held-out samples", held_out, 2));
    }
    let labels = Labels { title: "Error by step", horizontal: "step", vertical: "error" };
    Some(html::plot(&lines(&labels, &series), &description))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
