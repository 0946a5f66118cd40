//! `sparsemble paper`: the experiments of the paper, with its statements checked.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use sparsemble_paper::{Outcome, Provenance, Request, write, write_document};

use crate::args::PaperArguments;
use crate::failure::Interrupted;
use crate::progress::Progress;

pub(crate) fn run(arguments: &PaperArguments) -> Result<()> {
    let output = arguments.output();
    let request = Request {
        experiments: arguments.experiments(),
        data: arguments.data.clone(),
        parts: output.join("parts"),
        settings: arguments.settings(),
        sensing: arguments.sensing(),
        draws: arguments.draws(),
        enlarging: arguments.enlarging(),
        grouping: arguments.grouping(),
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

/// Runs the experiments behind a bar.
fn watched(request: &Request) -> Result<Vec<Outcome>> {
    let progress = Progress::start("reading pictures")?;
    sparsemble_paper::run(request, &|what, done, total| progress.tell_of(what, done, total)).map_err(
        |error| match error.downcast_ref() {
            Some(sparsemble::Error::Interrupted { .. }) => Interrupted(format!(
                "interrupted; run the same command again to go on with the finished parts in {}",
                request.parts.display()
            ))
            .into(),
            _ => error,
        },
    )
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
