//! `sparsemble paper`: the experiments of the paper, with its statements checked.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use sparsemble_paper::{Omitted, Outcome, Provenance, Request, report, run_each, survey, write, write_document};

use crate::args::PaperArguments;
use crate::failure::Interrupted;
use crate::output::{claim, warn};
use crate::progress::Progress;

pub(crate) fn run(arguments: &PaperArguments) -> Result<()> {
    if let Some(path) = &arguments.report {
        claim(path, arguments.run.force)?;
    }
    let mut request = request(arguments);
    let omitted = if arguments.takes_what_there_is() { leave_out(&mut request)? } else { Vec::new() };
    let mut outcomes = Vec::new();
    watched(&request, &mut |outcome| {
        let written = keep(&arguments.output(), &outcome)?;
        print(&outcome, arguments.run.json, &written)?;
        outcomes.push(outcome);
        Ok(())
    })?;
    let provenance =
        Provenance { settings: arguments.settings(), command: arguments.command(), quick: arguments.quick };
    let mut pages = Vec::new();
    if let Some(path) = &arguments.document {
        write_document(path, &outcomes, &provenance)?;
        pages.push(path.clone());
    }
    if let Some(path) = &arguments.report {
        write(path, report(&outcomes, &omitted, &provenance))?;
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

/// Runs the experiments behind a bar.
fn watched(request: &Request, finished: &mut dyn FnMut(Outcome) -> Result<()>) -> Result<()> {
    let progress = Progress::start("reading pictures")?;
    let watch = |what: &str, done: usize, total: usize| progress.tell_of(what, done, total);
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
fn keep(output: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut keep = |name: &str, contents: &[u8]| {
        written.push(output.join(name));
        write(&output.join(name), contents)
    };
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
