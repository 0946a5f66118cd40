//! Runs what the README shows: its commands, its Rust and its Python.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::markdown::{Fence, Markdown};
use crate::workspace::{Workspace, run};
use crate::{Task, rust};

const README: &str = "README.md";
/// The two commands at the top: the main job, and all checks.
const TOP_COMMANDS: [&str; 2] = ["cargo run --release -- demo", "cargo xtask ci"];

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let text = workspace.read(README)?;
    let fences = Markdown::parse(&text).fences;
    let first = fences.iter().find(|fence| fence.language == "sh").context("README.md shows no command")?;
    ensure!(commands(first).eq(TOP_COMMANDS), "the first commands of README.md must be {TOP_COMMANDS:?}");
    run_rust(workspace)?;
    for fence in &fences {
        let place = || format!("{README}:{}", fence.line);
        match fence.language {
            "rust" => {} // all at once above
            "python" => run_python(workspace, fence).with_context(place)?,
            "sh" => commands(fence).try_for_each(|line| run_command(workspace, line)).with_context(place)?,
            other => bail!("{}: a block of `{other}` cannot be checked; use sh, rust or python", place()),
        }
    }
    Ok(())
}

/// Every figure in the rows of a table that end in a link to a page of measurements and is not in that page.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let text = workspace.read(README)?;
    let mut faults = Vec::new();
    for (line, row) in Markdown::parse(&text).prose {
        let Some(page) = row.strip_suffix(") |").and_then(|row| row.rsplit_once("](")).map(|(_, page)| page) else {
            continue;
        };
        let measured = workspace.read(page)?;
        for figure in figures(row).filter(|figure| !measured.contains(figure)) {
            faults.push(format!("{README}:{line}: {figure} is not in {page}; take the figure that is"));
        }
    }
    Ok(faults)
}

/// The numbers with a point in a row.
fn figures(row: &str) -> impl Iterator<Item = &str> {
    let words = row.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    words.map(|word| word.trim_matches('.')).filter(|word| word.contains('.'))
}

/// The lines of a block without their comments.
fn commands<'a>(fence: &'a Fence<'_>) -> impl Iterator<Item = &'a str> {
    fence.lines.iter().map(|line| line.split('#').next().unwrap_or(line).trim()).filter(|line| !line.is_empty())
}

/// Compiles and runs the Rust blocks as doctests against the library.
fn run_rust(workspace: &Workspace) -> Result<()> {
    rust::build(workspace, "--lib")?;
    let built = workspace.target("release");
    let mut library = OsString::from("sparsemble=");
    library.push(built.join("libsparsemble.rlib"));
    let mut dependencies = OsString::from("dependency=");
    dependencies.push(built.join("deps"));
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.current_dir(workspace.root()).args(["--test", "--edition", "2024", README]);
    run(rustdoc.arg("--extern").arg(library).arg("-L").arg(dependencies))
}

/// Runs one Python block against the installed package, away from the sources.
fn run_python(workspace: &Workspace, fence: &Fence) -> Result<()> {
    let folder = workspace.empty_folder("readme")?;
    let script = folder.join("snippet.py");
    std::fs::write(&script, fence.lines.join("\n"))?;
    run(workspace.package()?.python(&folder).arg(script))
}

/// Runs a command as it stands, with the Python programs of our environment, except where that would be once too often:
/// our own tasks are only parsed (the gate inside the gate would never end), and `pip install` resolves and prepares
/// but does not compile (the step `wheel` has done that).
fn run_command(workspace: &Workspace, line: &str) -> Result<()> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let last = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cargo", "xtask", ..] => return Task::parse(&words[2..]).map(drop),
        ["pip", "install", ..] => Some("--dry-run"),
        ["cargo" | "python", ..] => None,
        _ => bail!("`{line}` cannot be checked; use cargo, pip install or python"),
    };
    let path = path_with(&workspace.package()?.programs())?;
    run(Command::new(&words[0]).args(&words[1..]).args(last).current_dir(workspace.root()).env("PATH", path))
}

fn path_with(first: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(first.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("joining PATH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_numbers_with_a_point() {
        let row = "| ×2, Set5 | 36.933 dB | bicubic 33.661 dB, twice. | [page](docs/A.md) |";
        assert!(figures(row).eq(["36.933", "33.661"]));
    }

    #[test]
    fn comments_are_no_part_of_a_command() {
        let text = "```sh\ncargo run   # see it\n\n# alone\ncargo xtask ci\n```";
        let document = Markdown::parse(text);
        assert!(commands(&document.fences[0]).eq(["cargo run", "cargo xtask ci"]));
    }
}
