//! The one task runner of the repository: `cargo xtask <task>`, the same words for a developer and for CI.
#![expect(clippy::print_stdout, reason = "a task runner reports to its caller")]

mod bench;
mod changelog;
mod ci;
mod dist;
mod docs;
mod features;
mod golden;
mod invariants;
mod markdown;
mod paper_map;
mod python;
mod readme;
mod rust;
mod screenshots;
mod site;
mod stubs;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use workspace::Workspace;

const HELP: &str = "\
cargo xtask <task>

  ci [--only STEP]...   the gate: every check, in order, stopping at the first failure
  test [ARGUMENT]...    the Rust tests and, without arguments, the doctests; arguments go to the test runner
  golden                rewrite the golden files of the tests from their references
  bench NAME [ARGUMENT]...
                        run python/benchmarks/NAME.py against the wheel and the rivals; arguments go to the script
  screenshots           take the pictures of the documents anew; needs Chromium and its driver
  site                  build the documentation site into target/site: guide, API, examples as they run
  stubs                 write the types of the compiled Python module from its Rust code
  dist                  build the wheel and the source distribution into target/dist, and try both
  changelog             fold the fragments of changelog.d into CHANGELOG.md under the workspace's version
  help                  this text";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Task<'a> {
    Ci { only: Vec<&'a str> },
    Test { arguments: &'a [String] },
    Golden,
    Bench { name: &'a str, arguments: &'a [String] },
    Screenshots,
    Site,
    Stubs,
    Dist,
    Changelog,
    Help,
}

impl<'a> Task<'a> {
    fn parse(words: &'a [String]) -> Result<Self> {
        let Some((task, rest)) = words.split_first() else { return Ok(Self::Help) };
        match (task.as_str(), rest) {
            ("ci", rest) => Ok(Self::Ci { only: ci::parse_only(rest)? }),
            ("test", arguments) => Ok(Self::Test { arguments }),
            ("golden", []) => Ok(Self::Golden),
            ("bench", [name, arguments @ ..]) => Ok(Self::Bench { name, arguments }),
            ("bench", []) => bail!("bench needs a name, for example `cargo xtask bench coding --quick`"),
            ("screenshots", []) => Ok(Self::Screenshots),
            ("site", []) => Ok(Self::Site),
            ("stubs", []) => Ok(Self::Stubs),
            ("dist", []) => Ok(Self::Dist),
            ("changelog", []) => Ok(Self::Changelog),
            ("help" | "--help" | "-h", _) => Ok(Self::Help),
            _ => bail!("cannot run `cargo xtask {}`\n\n{HELP}\n\nSteps of ci:\n{}", words.join(" "), ci::step_list()),
        }
    }

    fn run(self, workspace: &Workspace) -> Result<ExitCode> {
        match self {
            Self::Ci { only } => return Ok(ci::run(workspace, &only)),
            Self::Test { arguments } => rust::test_with(workspace, arguments)?,
            Self::Golden => golden::rewrite(workspace)?,
            Self::Bench { name, arguments } => bench::run_script(workspace, name, arguments)?,
            Self::Screenshots => screenshots::take(workspace)?,
            Self::Site => site::build(workspace)?,
            Self::Stubs => stubs::write(workspace)?,
            Self::Dist => dist::build(workspace)?,
            Self::Changelog => changelog::fold(workspace)?,
            Self::Help => println!("{HELP}\n\nSteps of ci:\n{}", ci::step_list()),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = Task::parse(&words).and_then(|task| task.run(&Workspace::find()?));
    result.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_gate_can_be_run_in_parts() {
        assert_eq!(Task::parse(&words("ci")).unwrap(), Task::Ci { only: vec![] });
        let line = words("ci --only fmt --only clippy");
        assert_eq!(Task::parse(&line).unwrap(), Task::Ci { only: vec!["fmt", "clippy"] });
    }

    #[test]
    fn arguments_of_a_benchmark_are_forwarded() {
        let line = words("bench coding --quick");
        assert_eq!(Task::parse(&line).unwrap(), Task::Bench { name: "coding", arguments: &line[2..] });
    }

    #[test]
    fn an_unknown_task_or_step_is_refused_with_the_list() {
        let message = |line: &str| Task::parse(&words(line)).unwrap_err().to_string();
        assert!(message("cj").contains("cargo xtask <task>"));
        assert!(message("ci --only clipy").contains("clippy"));
        assert!(message("golden now").contains("golden now"));
    }
}
