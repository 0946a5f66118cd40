//! The Python side: a virtual environment of our own, the wheel installed into it, and the checks of the package.

use std::env::consts::EXE_EXTENSION;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::{Workspace, output, run};
use crate::{rust, stubs};

/// What the tests need beside the package, one package a line.
const TEST_REQUIREMENTS: &str = "python/requirements-test.txt";
/// What the other checks need.
const REQUIREMENTS: &str = "python/requirements-dev.txt";

/// A virtual environment below the build folder.
#[derive(Debug)]
pub(crate) struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// An environment with these packages: the one of the last run if it was made for the same list, else a new one.
    pub(crate) fn with(workspace: &Workspace, name: &str, requirements: &str) -> Result<Self> {
        let venv = Self { folder: workspace.target("xtask").join(name) };
        let base = find_python()?;
        // Written last: an environment without it was never finished.
        let record = venv.folder.join("made-for.txt");
        let made_for = format!("{}\n{requirements}", base.version);
        if std::fs::read_to_string(&record).is_ok_and(|text| text == made_for) {
            return Ok(venv);
        }
        let list = workspace.empty_folder(name)?.join("requirements.txt");
        run(Command::new(&base.program).args(["-m", "venv", "--upgrade-deps"]).arg(&venv.folder))
            .context("making a virtual environment (Debian and Ubuntu: install python3-venv)")?;
        std::fs::write(&list, requirements)?;
        run(venv.python(workspace.root()).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&list))?;
        std::fs::write(record, made_for)?;
        Ok(venv)
    }

    /// The interpreter of the environment, to be run in `folder`, deaf to the caller's `PYTHONPATH`.
    pub(crate) fn python(&self, folder: &Path) -> Command {
        let mut python = Command::new(self.programs().join(if cfg!(windows) { "python.exe" } else { "python" }));
        python.current_dir(folder).env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }

    /// The path with its programs first.
    pub(crate) fn path(&self) -> Result<OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.programs()).chain(std::env::split_paths(&path));
        std::env::join_paths(folders).context("joining PATH")
    }

    /// The folder of its programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.folder.join(if cfg!(windows) { "Scripts" } else { "bin" })
    }

    /// Builds the wheel and installs it as a user would; never an editable install, so what is tested is what ships.
    pub(crate) fn install_wheel(&self, workspace: &Workspace) -> Result<()> {
        let wheels = workspace.empty_folder("wheels")?;
        let mut build = self.python(workspace.root());
        build
            .args(["-m", "maturin", "build", "--release", "--manifest-path", "python/Cargo.toml", "--out"])
            .arg(&wheels);
        run(build.arg("--interpreter").arg(self.python(&wheels).get_program()))?;
        let wheel = std::fs::read_dir(&wheels)?.next().context("maturin has written no wheel")??.path();
        self.install(&wheel)
    }

    /// Installs a wheel, in the place of any other of our package.
    pub(crate) fn install(&self, wheel: &Path) -> Result<()> {
        let wheels = wheel.parent().context("a wheel lies in a folder")?;
        run(self.python(wheels).args(["-m", "pip", "uninstall", "--quiet", "--yes", "sparsemble"]))?;
        run(self.python(wheels).args(["-m", "pip", "install", "--quiet"]).arg(wheel))?;
        let place = "import pathlib, sparsemble; print(pathlib.Path(sparsemble.__file__).resolve())";
        let place = output(self.python(wheels).args(["-c", place]))?;
        let venv = self.folder.canonicalize()?;
        ensure!(Path::new(place.trim()).starts_with(&venv), "sparsemble was imported from {}", place.trim());
        Ok(())
    }
}

struct Python {
    program: String,
    version: String,
}

/// The interpreter named by `PYTHON`, else `python3`, else `python`; 3.10 or newer.
fn find_python() -> Result<Python> {
    let named = std::env::var("PYTHON").ok();
    let candidates = named.map_or_else(|| vec!["python3".to_owned(), "python".to_owned()], |python| vec![python]);
    for program in candidates {
        let version = "import sys; assert sys.version_info >= (3, 10), sys.version; print(sys.executable, sys.version)";
        if let Ok(version) = output(Command::new(&program).args(["-c", version])) {
            return Ok(Python { program, version: version.trim().to_owned() });
        }
    }
    bail!("no Python 3.10 or newer found; install one, or name it: PYTHON=/path/to/python3 cargo xtask ci")
}

/// The environment of the checks.
pub(crate) fn environment(workspace: &Workspace) -> Result<Venv> {
    Venv::with(workspace, "venv", &(test_requirements(workspace)? + &workspace.read(REQUIREMENTS)?))
}

/// What the tests need beside the package.
pub(crate) fn test_requirements(workspace: &Workspace) -> Result<String> {
    workspace.read(TEST_REQUIREMENTS)
}

/// The environment of the checks with the package installed. Use [`Workspace::package`], which does it once.
pub(crate) fn install_package(workspace: &Workspace) -> Result<Venv> {
    let venv = environment(workspace)?;
    venv.install_wheel(workspace)?;
    Ok(venv)
}

pub(crate) fn wheel(workspace: &Workspace) -> Result<()> {
    let venv = workspace.package()?;
    run(venv.python(workspace.root()).args(["-m", "pip", "check"]))
}

pub(crate) fn ruff(workspace: &Workspace) -> Result<()> {
    let venv = environment(workspace)?;
    run(venv.python(workspace.root()).args(["-m", "ruff", "check", "--no-cache", "."]))?;
    run(venv.python(workspace.root()).args(["-m", "ruff", "format", "--check", "--no-cache", "."]))
}

pub(crate) fn types(workspace: &Workspace) -> Result<()> {
    stubs::check(workspace)?;
    let folder = workspace.empty_folder("types")?;
    let venv = workspace.package()?;
    let settings = workspace.path("python/pyproject.toml");
    let mypy = ["-m", "mypy", "--cache-dir", "cache", "--package", "sparsemble", "--config-file"];
    run(venv.python(&folder).args(mypy).arg(&settings))?;
    let stubtest = ["-m", "mypy.stubtest", "sparsemble._native", "--mypy-config-file"];
    run(venv.python(&folder).args(stubtest).arg(&settings))
}

pub(crate) fn pytest(workspace: &Workspace) -> Result<()> {
    run_tests(workspace, workspace.package()?)
}

/// Runs the tests against the package installed in an environment, with no Rust in reach but the program.
pub(crate) fn run_tests(workspace: &Workspace, venv: &Venv) -> Result<()> {
    // The program and the package must understand each other.
    rust::build(workspace, "--bins")?;
    // Run from an empty folder: nothing of the source tree can shadow the installed package.
    let mut pytest = venv.python(&workspace.empty_folder("pytest")?);
    pytest.env("PATH", path_without_rust()?);
    pytest.env("SPARSEMBLE_PROGRAM", workspace.target("release/sparsemble").with_extension(EXE_EXTENSION));
    run(pytest.args(["-m", "pytest", "-p", "no:cacheprovider"]).arg(workspace.path("python/tests")))
}

/// The path as it is for someone who has no Rust.
fn path_without_rust() -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_rust = |folder: &PathBuf| {
        ["cargo", "rustc"].iter().any(|name| folder.join(name).with_extension(EXE_EXTENSION).exists())
    };
    std::env::join_paths(std::env::split_paths(&path).filter(|folder| !has_rust(folder))).context("joining PATH")
}
