//! `sparsemble paper`: the experiments of the paper, with its statements checked.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use sparsemble_paper::{
    Omitted, Outcome, Provenance, Report, Request, report, run_each, survey, write, write_document,
};

use crate::args::PaperArguments;
use crate::failure::Interrupted;
use crate::html::document;
use crate::output::{claim_for, claim_page, warn};
use crate::own_folder::OwnFolder;
use crate::progress::Progress;

pub(crate) fn run(arguments: &PaperArguments) -> Result<()> {
    let folder = OwnFolder::claim(&arguments.output(), "paper", arguments.run.force)?;
    arguments.report.iter().try_for_each(|path| claim_page(path, arguments.run.force))?;
    arguments.document.iter().try_for_each(|path| claim_for("--document", path, arguments.run.force))?;
    let mut request = request(arguments);
    let omitted = if arguments.takes_what_there_is() { leave_out(&mut request)? } else { Vec::new() };
    claim_figures(arguments, &request)?;
    let mut outcomes = Vec::new();
    watched(&request, &folder, &mut |outcome| {
        let written = keep(&folder, &outcome)?;
        print(&outcome, arguments.run.json, &written)?;
        outcomes.push(outcome);
        Ok(())
    })
    .inspect_err(|_| folder.leave())?;
    let provenance =
        Provenance { settings: arguments.settings(), command: arguments.command(), quick: arguments.quick };
    let mut pages = Vec::new();
    if let Some(path) = &arguments.document {
        write_document(path, &outcomes, &provenance)?;
        pages.push(path.clone());
    }
    if let Some(path) = &arguments.report {
        let Report { title, style, body } = report(&outcomes, &omitted, &provenance);
        write(path, document(title, style, &body))?;
        pages.push(path.clone());
    }
    told(arguments.run.json, &pages)
}

fn request(arguments: &PaperArguments) -> Request {
    Request {
        experiments: arguments.experiments(),
        data: arguments.data.clone(),
        parts: arguments.output().join("parts"),
        settings: arguments.settings(),
        sensing: arguments.sensing(),
        draws: arguments.draws(),
        enlarging: arguments.enlarging(),
        grouping: arguments.grouping(),
        threads: arguments.run.threads,
    }
}

/// The plots beside the document, which are not written over unasked either.
fn claim_figures(arguments: &PaperArguments, request: &Request) -> Result<()> {
    let Some(path) = &arguments.document else { return Ok(()) };
    let figures =
        request.experiments.iter().map(|one| path.with_file_name("figures").join(format!("{}.svg", one.name())));
    let mut existing = figures.filter(|figure| figure.exists());
    existing.try_for_each(|figure| claim_for("--document", &figure, arguments.run.force))
}

/// Takes out what the data folder does not allow, and says so.
fn leave_out(request: &mut Request) -> Result<Vec<Omitted>> {
    let omitted = survey(request)?;
    for one in &omitted {
        warn(&format!("left out: {one} in {}", request.data.display()))?;
    }
    request.experiments.retain(|experiment| omitted.iter().all(|one| one.experiment != *experiment));
    ensure!(
        !request.experiments.is_empty(),
        "the data folder {} allows none of the experiments; `sparsemble paper --help` shows what belongs into it",
        request.data.display()
    );
    Ok(omitted)
}

/// Runs the experiments behind a bar. Their folder is made when the first is about to be worked on.
fn watched(request: &Request, folder: &OwnFolder, finished: &mut dyn FnMut(Outcome) -> Result<()>) -> Result<()> {
    let progress = Progress::start("reading pictures")?;
    let watch = |what: &str, done: usize, total: usize| progress.tell_of(what, done, total);
    folder.begin()?;
    let finished = &mut |outcome| progress.suspended(|| finished(outcome));
    run_each(request, &watch, finished).map_err(|error| match error.downcast_ref() {
        Some(sparsemble::Error::Interrupted { .. }) => Interrupted(format!(
            "interrupted; run the same command again to go on with the finished parts in {}",
            request.parts.display()
        ))
        .into(),
        _ => error,
    })
}

/// Writes what came of an experiment to the output folder.
fn keep(folder: &OwnFolder, outcome: &Outcome) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut keep = |name: &str, contents: &[u8]| folder.write(name, contents).map(|path| written.push(path));
    keep(&format!("{}.json", outcome.name), format!("{:#}\n", outcome.json()).as_bytes())?;
    keep(&format!("{}.svg", outcome.name), outcome.plot.as_bytes())?;
    for (name, contents) in &outcome.files {
        keep(name, contents)?;
    }
    Ok(written)
}

fn print(outcome: &Outcome, json: bool, written: &[PathBuf]) -> Result<()> {
    if json {
        writeln!(std::io::stdout().lock(), "{}", outcome.json())?;
        return Ok(());
    }
    writeln!(std::io::stdout().lock(), "{}", outcome.text())?;
    told(json, written)
}

/// Says which files there are now.
fn told(json: bool, written: &[PathBuf]) -> Result<()> {
    if !json && !written.is_empty() {
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        writeln!(std::io::stdout().lock(), "Written: {}.\n", files.join(", "))?;
    }
    Ok(())
}
