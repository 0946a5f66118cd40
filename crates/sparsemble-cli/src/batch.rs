//! Several files one after the other: one that fails does not stop the others, and what is done stays done.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use sparsemble::Run;

use crate::args::BatchArguments;
use crate::failure::{self, Interrupted, Usage};
use crate::output::{self, claim, reading};
use crate::progress::Progress;
use crate::streams;

/// The parts of a file that the bar can show.
const FINE: usize = 1 << 20;

/// A file to read and the one to write.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) input: PathBuf,
    pub(crate) output: PathBuf,
}

impl AsRef<Path> for Work {
    fn as_ref(&self) -> &Path {
        &self.input
    }
}

/// Where results go, and under which conditions.
pub(crate) struct Target<'a> {
    /// A file, or a folder; beside the input if `None`.
    pub(crate) output: Option<&'a Path>,
    pub(crate) batch: &'a BatchArguments,
    pub(crate) force: bool,
}

/// What is to be done for these inputs, after every name has been checked; `name` is that of a result in a folder.
/// Several inputs, or one in a folder, need a folder to go to.
pub(crate) fn works(
    inputs: Vec<PathBuf>,
    many: bool,
    target: &Target<'_>,
    name: impl Fn(&Path) -> OsString,
) -> Result<Vec<Work>> {
    let folder = match target.output {
        Some(output) if many && streams::is_output(output) => {
            return Err(Usage("several results cannot go to the standard output; give a folder".into()).into());
        }
        Some(output) if many && output.is_file() => {
            bail!("{} is a file; several results need a folder to go to", output.display())
        }
        Some(output) if many || output.is_dir() => {
            std::fs::create_dir_all(output).with_context(|| format!("cannot make the folder {}", output.display()))?;
            Some(output)
        }
        _ => None,
    };
    let mut works: Vec<Work> = Vec::new();
    for input in &inputs {
        reading(input);
    }
    for input in inputs {
        let output = match (folder, target.output) {
            (Some(folder), _) => folder.join(name(&input)),
            (None, Some(output)) => output.to_owned(),
            (None, None) => input.with_file_name(name(&input)),
        };
        if target.batch.skip_existing && output.exists() {
            continue;
        }
        if let Some(twin) = works.iter().find(|other| other.output == output) {
            let [one, two] = [&twin.input, &input].map(|path| path.display());
            let message =
                format!("{one} and {two} would both become {}; rename one or do them apart", output.display());
            return Err(Usage(message).into());
        }
        claim(&output, target.force).map_err(|error| {
            if many && output.is_file() && !target.force && !error.is::<Usage>() {
                anyhow!(
                    "{} exists; add --skip-existing to leave out what is done, or --force to do it again",
                    output.display()
                )
            } else {
                error
            }
        })?;
        works.push(Work { input, output });
    }
    Ok(works)
}

/// `photo.jpg` becomes `photo` and this ending.
pub(crate) fn renamed(input: &Path, ending: &str) -> OsString {
    let mut name = input.file_stem().unwrap_or_default().to_owned();
    name.push(ending);
    name
}

/// What came of several files.
pub(crate) struct Outcome<T> {
    pub(crate) done: Vec<T>,
    failed: Vec<Failed>,
    /// How many were left when the user asked to stop.
    left: usize,
}

struct Failed {
    input: String,
    reason: String,
}

/// Does one after the other. The failure of a single file is returned; if `many` were asked for, however few of them are
/// left to do, the [outcome](Outcome::conclude) tells.
pub(crate) fn each<'w, W: AsRef<Path>, T>(
    works: &'w [W],
    many: bool,
    progress: &Progress,
    run: Run<'_>,
    mut work: impl FnMut(&'w W, Run<'_>) -> Result<T>,
) -> Result<Outcome<T>> {
    let mut outcome = Outcome { done: Vec::new(), failed: Vec::new(), left: 0 };
    for (number, one) in works.iter().enumerate() {
        let name = one.as_ref();
        if number > 0 && progress.tell(number * FINE, works.len() * FINE).is_break() {
            outcome.left = works.len() - number;
            break;
        }
        if works.len() > 1 {
            let file = name.file_name().unwrap_or_default().to_string_lossy();
            progress.say(format!("{} of {}: {file}", number + 1, works.len()));
        }
        match work(one, run.part(number * FINE..(number + 1) * FINE, works.len() * FINE)) {
            Ok(done) => outcome.done.push(done),
            Err(error) if !many => return Err(error),
            Err(error) if failure::is_interruption(&error) => {
                outcome.left = works.len() - number;
                break;
            }
            Err(error) => {
                let reason = failure::message(&error);
                outcome.failed.push(Failed { input: name.display().to_string(), reason });
            }
        }
    }
    Ok(outcome)
}

impl<T> Outcome<T> {
    /// Those that failed, for a report.
    pub(crate) fn failures(&self) -> Value {
        self.failed.iter().map(|failed| json!({ "input": failed.input, "error": failed.reason })).collect()
    }

    /// Prints what is done, and then fails if something has not been.
    pub(crate) fn print(&self, json: bool, object: &Value, line: impl Fn(&T) -> String) -> Result<()> {
        let text = self.done.iter().map(line).collect::<Vec<_>>().join("\n");
        let of = self.done.len() + self.failed.len() + self.left;
        let text = if of == 0 { "nothing is left to do: all results exist" } else { &text };
        if json || !text.is_empty() {
            output::print(json, object, text)?;
        }
        self.conclude()
    }

    /// Whether all went well: else which files failed and why, or that the user has stopped it.
    pub(crate) fn conclude(&self) -> Result<()> {
        let of = self.done.len() + self.failed.len() + self.left;
        let reasons = self.failed.iter().map(|Failed { input, reason }| {
            // Most messages name their file.
            if reason.contains(input.as_str()) { format!("\n  {reason}") } else { format!("\n  {input}: {reason}") }
        });
        let reasons: String = reasons.collect();
        match (self.left, self.failed.len()) {
            (0, 0) => Ok(()),
            (0, 1) if of == 1 => Err(anyhow!("{}", reasons.trim_start())),
            (0, failed) if failed == of => Err(anyhow!("all {of} files failed{reasons}")),
            (0, failed) => Err(anyhow!("{failed} of {of} files failed, the others are done{reasons}")),
            (left, _) => Err(Interrupted(format!("interrupted with {left} of {of} files left{reasons}")).into()),
        }
    }
}
