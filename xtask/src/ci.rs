//! The gate: every check in order, cheap ones first.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use crate::{docs, python, readme, rust, site};

/// One check that can be run alone.
struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

#[rustfmt::skip]
const STEPS: [Step; 13] = [
    Step { name: "fmt", what: "Rust formatting", run: rust::fmt },
    Step { name: "docs", what: "links, paths, paper map, invariants, features, changelog fragments", run: docs::check },
    Step { name: "clippy", what: "lints of all Rust code, warnings denied", run: rust::clippy },
    Step { name: "rustdoc", what: "API documentation, private items too, warnings denied", run: rust::rustdoc },
    Step { name: "test", what: "Rust tests", run: rust::test },
    Step { name: "doctest", what: "examples in the API documentation", run: rust::doctest },
    Step { name: "examples", what: "every program in crates/sparsemble/examples", run: rust::examples },
    Step { name: "wheel", what: "virtual environment, wheel, installation", run: python::wheel },
    Step { name: "ruff", what: "lints and formatting of all Python code", run: python::ruff },
    Step { name: "types", what: "types of the Python package, and its stub against what was compiled", run: python::types },
    Step { name: "pytest", what: "tests of the installed Python package", run: python::pytest },
    Step { name: "site", what: "the documentation site with every example run, warnings denied", run: site::build },
    Step { name: "readme", what: "commands and snippets of the README", run: readme::check },
];

/// The names after `--only`, each checked.
pub(crate) fn parse_only(words: &[String]) -> Result<Vec<&str>> {
    words
        .chunks(2)
        .map(|pair| match pair {
            [option, name] if option == "--only" => {
                if STEPS.iter().any(|step| step.name == name) {
                    Ok(name.as_str())
                } else {
                    bail!("ci has no step `{name}`; the steps are:\n{}", step_list())
                }
            }
            _ => bail!("ci takes only `--only STEP`, as often as you like; the steps are:\n{}", step_list()),
        })
        .collect()
}

/// The steps, one a line.
pub(crate) fn step_list() -> String {
    STEPS.map(|step| format!("  {:<10}{}", step.name, step.what)).join("\n")
}

/// Runs the named steps, or all, until one fails. The last line counts them, which CI systems read.
pub(crate) fn run(workspace: &Workspace, only: &[&str]) -> ExitCode {
    let start = Instant::now();
    let mut passed = 0;
    for step in STEPS.iter().filter(|step| only.is_empty() || only.contains(&step.name)) {
        println!("\n=== {}: {}", step.name, step.what);
        let step_start = Instant::now();
        let result = (step.run)(workspace);
        let seconds = step_start.elapsed().as_secs_f64();
        if let Err(error) = result {
            println!("=== {} FAILED after {seconds:.1} s: {error:#}", step.name);
            println!("    run it alone: cargo xtask ci --only {}", step.name);
            println!("{passed} passed, 1 failed");
            return ExitCode::FAILURE;
        }
        println!("=== {} passed in {seconds:.1} s", step.name);
        passed += 1;
    }
    println!("\nall steps passed in {:.0} s", start.elapsed().as_secs_f64());
    println!("{passed} passed, 0 failed");
    ExitCode::SUCCESS
}
