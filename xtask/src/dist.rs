//! What is given to users: the wheel and the source distribution, in `target/dist`, tried as a user would.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::python::{self, Venv};
use crate::workspace::{Workspace, output, run};

/// maturin, and the linker that lets a wheel from any Linux run on old ones.
const REQUIREMENTS: &str = "\
maturin>=1.9,<2
ziglang
";
/// The oldest C library that Rust supports: that of RHEL 7 and everything younger.
const PLATFORM: &str = "manylinux2014";

const WHEEL: &str = ".whl";
const SOURCE: &str = ".tar.gz";

/// Builds both and tries both.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target("dist");
    std::fs::create_dir_all(&folder)?;
    // Only the files of the last time: cargo keeps what it compiles for the profile `dist` in the same folder.
    for ending in [WHEEL, SOURCE] {
        while let Ok(old) = find(&folder, ending) {
            std::fs::remove_file(old)?;
        }
    }
    let tools = Venv::with(workspace, "dist-tools", REQUIREMENTS)?;
    let mut wheel = maturin(workspace, &tools, "build", &folder)?;
    wheel.args(["--profile", "dist"]);
    if cfg!(target_os = "linux") {
        wheel.args(["--zig", "--compatibility", PLATFORM]);
    }
    run(&mut wheel)?;
    run(&mut maturin(workspace, &tools, "sdist", &folder)?)?;
    let (wheel, source) = (find(&folder, WHEEL)?, find(&folder, SOURCE)?);
    try_wheel(workspace, &wheel)?;
    try_source(workspace, &source)?;
    println!("{}\n{}", wheel.display(), source.display());
    Ok(())
}

fn maturin(workspace: &Workspace, tools: &Venv, command: &str, folder: &Path) -> Result<Command> {
    let mut maturin = tools.python(workspace.root());
    // maturin asks the `python3` of the path for zig.
    maturin.env("PATH", tools.path()?).args([
        "-m",
        "maturin",
        command,
        "--manifest-path",
        "python/Cargo.toml",
        "--out",
    ]);
    maturin.arg(folder);
    Ok(maturin)
}

/// The tests pass against the wheel in a new environment, where there is no Rust.
fn try_wheel(workspace: &Workspace, wheel: &Path) -> Result<()> {
    let name = "dist-clean";
    workspace.empty_folder(name)?;
    let clean = Venv::with(workspace, name, &python::test_requirements(workspace)?)?;
    clean.install(wheel)?;
    python::run_tests(workspace, &clean)
}

/// The source distribution has all it takes to build the package, away from the repository.
fn try_source(workspace: &Workspace, source: &Path) -> Result<()> {
    let clean = Venv::with(workspace, "dist-source", &python::test_requirements(workspace)?)?;
    run(clean.python(workspace.root()).args(["-m", "pip", "uninstall", "--quiet", "--yes", "sparsemble"]))?;
    let mut pip = clean.python(workspace.root());
    // Of its own, so that the next time compiles little.
    pip.env("CARGO_TARGET_DIR", workspace.target("xtask/dist-source-target"));
    // With all it needs, as a user would have it.
    run(pip.args(["-m", "pip", "install"]).arg(source))?;
    let used = "import numpy, sparsemble; print(sparsemble.sparse_encode(numpy.eye(3), numpy.eye(3), lam=0.5).nnz)";
    let printed = output(clean.python(&workspace.empty_folder("dist-use")?).args(["-c", used]))?;
    ensure!(printed.trim() == "3", "the package built from the source distribution printed {printed:?}");
    Ok(())
}

/// The one file of this ending.
fn find(folder: &Path, ending: &str) -> Result<PathBuf> {
    let paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let found = paths.into_iter().find(|path| path.to_string_lossy().ends_with(ending));
    found.with_context(|| format!("maturin has written no file *{ending} to {}", folder.display()))
}
