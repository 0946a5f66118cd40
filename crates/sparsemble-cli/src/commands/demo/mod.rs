//! `sparsemble demo`: what the program can do, on photographs and a table that are part of it.

mod digits;
mod page;
mod photos;
mod report;
mod task;

use std::ops::ControlFlow;

use anyhow::Result;
use sparsemble::Run;
use sparsemble::image::{PictureFormat, encode_picture};

use crate::args::DemoArguments;
use crate::output::print;
use crate::own_folder::OwnFolder;
use crate::photographs;
use crate::progress::Progress;
use digits::Digits;
use report::Report;
use task::Task;

pub(crate) fn run(arguments: &DemoArguments) -> Result<()> {
    // Claimed first: a folder that cannot be used should not cost the user the wait.
    let folder = OwnFolder::claim(&arguments.output, "demo", arguments.force)?;
    let progress = Progress::start("")?;
    let threads = arguments.threads();
    let mut tasks = Vec::new();
    for (name, make) in photos::ALL {
        let tell = |done: usize, total: usize| -> ControlFlow<()> { progress.tell_of(name, done, total) };
        tasks.push(make(Run::threads(threads).on_progress(&tell))?);
    }
    let tell = |done: usize, total: usize| progress.tell_of("grouping digits", done, total);
    let digits = Digits::group(Run::threads(threads).on_progress(&tell))?;
    drop(progress);
    let report = Report { tasks: &tasks, digits: &digits, threads, folder: folder.path() };
    // Nothing is written before all is there to be written: who stops the demo finds nothing of it.
    folder.begin()?;
    for (name, picture) in tasks.iter().flat_map(Task::files) {
        folder.write(&name, encode_picture(picture, PictureFormat::Png)?)?;
    }
    folder.write(digits::FILE, photographs::DIGITS)?;
    let page = folder.write("index.html", page::of(&report)?)?;
    folder.mark(&report.json())?;
    print(arguments.json, &report.json(), &format!("{}\nOpen {} to see the pictures.", report.text(), page.display()))
}
