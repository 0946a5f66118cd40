//! `sparsemble demo`: one photograph through every coder and every ensemble.
//!
//! Models trained on patches of two photographs code every patch of a third, which they have never seen; the picture
//! rebuilt from the codes is compared with the original.

mod contenders;
mod folder;
mod page;
mod report;
mod trial;

use std::io::Write;

use anyhow::Result;

use crate::args::DemoArguments;
use folder::Folder;
use report::Report;
use trial::Trial;

pub(crate) fn run(arguments: &DemoArguments) -> Result<()> {
    // Claimed first: a folder that cannot be used should not cost the user the wait.
    let folder = Folder::claim(&arguments.output, arguments.force)?;
    let trial = Trial::prepare()?;
    let outcomes = trial.run(&contenders::all(), arguments.threads())?;
    let report = Report { trial: &trial, outcomes: &outcomes, threads: arguments.threads(), folder: folder.path() };

    folder.mark(&report.json())?;
    folder.write_picture("original.png", &trial.photo)?;
    for outcome in &outcomes {
        folder.write_picture(&outcome.file(), &outcome.picture)?;
        folder.write_picture(&outcome.atoms_file(), &outcome.mosaic)?;
    }
    let page = folder.write_text("index.html", &page::of(&report)?)?;

    let mut stdout = std::io::stdout().lock();
    if arguments.json {
        writeln!(stdout, "{:#}", report.json())?;
    } else {
        write!(stdout, "{}", report.text())?;
        writeln!(stdout, "Open {} to see the pictures.", page.display())?;
    }
    for outcome in outcomes.iter().filter(|outcome| outcome.unconverged > 0) {
        let (name, patches) = (outcome.name, outcome.unconverged);
        writeln!(std::io::stderr(), "warning: {name}: {patches} patches stopped before they reached the tolerance")?;
    }
    Ok(())
}
