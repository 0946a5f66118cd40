//! `sparsemble demo`: what the program can do, on photographs and a table that are part of it.

mod digits;
mod folder;
mod page;
mod photos;
mod report;
mod task;

use std::ops::ControlFlow;

use anyhow::Result;
use serde_json::json;
use sparsemble::Run;

use crate::args::DemoArguments;
use crate::output::print;
use crate::progress::Progress;
use digits::Digits;
use folder::Folder;
use report::Report;
use task::Task;

pub(crate) fn run(arguments: &DemoArguments) -> Result<()> {
    // Claimed first: a folder that cannot be used should not cost the user the wait.
    let folder = Folder::claim(&arguments.output, arguments.force)?;
    let progress = Progress::start("")?;
    let threads = arguments.threads();
    let mut tasks = Vec::new();
    for (name, make) in photos::ALL {
        let tell = |done: usize, total: usize| -> ControlFlow<()> { progress.tell_of(name, done, total) };
        tasks.push(make(Run::threads(threads).on_progress(&tell))?);
    }
    // From here on the folder is ours, whatever happens.
    folder.mark(&json!({ "program": "sparsemble demo", "unfinished": true }))?;
    let digits = Digits::group(&folder, Run::threads(threads))?;
    drop(progress);
    let report = Report { tasks: &tasks, digits: &digits, threads, folder: folder.path() };
    folder.mark(&report.json())?;
    for (name, picture) in tasks.iter().flat_map(Task::files) {
        folder.write_picture(&name, picture)?;
    }
    let page = folder.write_text("index.html", &page::of(&report)?)?;
    print(arguments.json, &report.json(), &format!("{}\nOpen {} to see the pictures.", report.text(), page.display()))
}
