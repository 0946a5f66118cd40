//! The steps that need only Rust.

use std::env::consts::EXE_EXTENSION;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use crate::workspace::{Workspace, run};

/// What the tests run on. Not the extension module, which only Python can load, and not the program of the benchmarks,
/// whose rivals take longer to compile than all the rest; `cargo xtask bench` tests it before it measures. In the profile
/// of the README's commands, so that nothing is compiled twice: compiling is most of the time the gate takes.
const TESTED: [&str; 7] =
    ["--release", "--workspace", "--all-features", "--exclude", "sparsemble-python", "--exclude", "sparsemble-bench"];

pub(crate) fn fmt(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["fmt", "--all", "--check"]))
}

pub(crate) fn clippy(workspace: &Workspace) -> Result<()> {
    let everything = ["--workspace", "--all-features"].as_slice();
    let bare_library = ["--package", "sparsemble", "--no-default-features"].as_slice();
    for scope in [everything, bare_library] {
        run(workspace.cargo().arg("clippy").args(scope).args(["--all-targets", "--", "-D", "warnings"]))?;
    }
    Ok(())
}

pub(crate) fn rustdoc(workspace: &Workspace) -> Result<()> {
    // The library and the program are both called `sparsemble` and share a page: the library's is written last.
    for targets in ["--bins", "--lib"] {
        let mut doc = workspace.cargo();
        doc.args(["doc", "--workspace", "--all-features", "--no-deps", "--document-private-items", targets]);
        run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    run(&mut test_runner(workspace))
}

pub(crate) fn doctest(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["test", "--doc"]).args(TESTED))
}

/// The developer's loop: all tests, or those that the arguments choose.
pub(crate) fn test_with(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    run(test_runner(workspace).args(arguments))?;
    if arguments.is_empty() { doctest(workspace) } else { Ok(()) }
}

/// nextest where it is installed, else cargo's own runner.
pub(crate) fn test_runner(workspace: &Workspace) -> Command {
    let mut probe = workspace.cargo();
    let probe = probe.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut runner = workspace.cargo();
    if probe.is_ok_and(|status| status.success()) {
        runner.args(["nextest", "run", "--no-fail-fast"]).args(TESTED);
    } else {
        runner.args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]).args(TESTED);
    }
    runner
}

pub(crate) fn examples(workspace: &Workspace) -> Result<()> {
    let examples = workspace.files("crates/sparsemble/examples", "rs")?;
    ensure!(!examples.is_empty(), "crates/sparsemble/examples holds no program");
    build(workspace, "--examples")?;
    for name in examples.iter().filter_map(|path| path.file_stem()) {
        let program = workspace.target("release/examples").join(name).with_extension(EXE_EXTENSION);
        run(Command::new(program).current_dir(workspace.root()))?;
    }
    Ok(())
}

/// Builds the `--lib`, `--bins` or `--examples` of everything that is tested: with one choice of packages and features in all
/// steps, cargo builds nothing twice.
pub(crate) fn build(workspace: &Workspace, targets: &str) -> Result<()> {
    run(workspace.cargo().args(["build", "--quiet", targets]).args(TESTED))
}
