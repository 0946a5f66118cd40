//! `sparsemble paper`: the experiments of the paper, with its statements checked.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use sparsemble_paper::{Outcome, Provenance, Request, write, write_document};

use crate::args::PaperArguments;

pub(crate) fn run(arguments: &PaperArguments) -> Result<()> {
    let output = arguments.output();
    let request = Request {
        experiments: arguments.experiments(),
        data: arguments.data.clone(),
        parts: output.join("parts"),
        settings: arguments.settings(),
        sensing: arguments.sensing(),
        draws: arguments.draws(),
        threads: arguments.threads,
    };
    let outcomes = watched(&request)?;

    let mut written = Vec::new();
    for outcome in &outcomes {
        let files = ["json", "svg"].map(|ending| output.join(format!("{}.{ending}", outcome.name)));
        write(&files[0], format!("{:#}\n", outcome.json()))?;
        write(&files[1], &outcome.plot)?;
        written.extend(files);
        for (name, contents) in &outcome.files {
            write(&output.join(name), contents)?;
            written.push(output.join(name));
        }
    }
    if let Some(path) = &arguments.document {
        let provenance = Provenance { settings: arguments.settings(), command: arguments.command() };
        write_document(path, &outcomes, &provenance)?;
        written.push(path.clone());
    }
    print(&outcomes, arguments.json, &written)
}

/// Runs the experiments behind a bar, which is drawn only if the error stream is a terminal.
fn watched(request: &Request) -> Result<Vec<Outcome>> {
    let style = ProgressStyle::with_template("{msg:18} {wide_bar} {percent:>3} %, {eta} left")?;
    let bar = ProgressBar::no_length().with_style(style);
    bar.set_message("reading pictures");
    let outcomes = sparsemble_paper::run(request, &|what, done, total| {
        if bar.message() != what {
            bar.reset();
            bar.set_message(what.to_owned());
            bar.set_length(total as u64);
        }
        bar.set_position(done as u64);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    outcomes
}

fn print(outcomes: &[Outcome], json: bool, written: &[PathBuf]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    for outcome in outcomes {
        if json {
            writeln!(stdout, "{}", outcome.json())?;
        } else {
            writeln!(stdout, "{}", outcome.text())?;
        }
    }
    if !json {
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        writeln!(stdout, "Written: {}.", files.join(", "))?;
    }
    Ok(())
}
