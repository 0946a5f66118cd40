//! Where the repository and its build folder are, and how programs are run in it.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::python::{self, Venv};

/// The repository, found without regard to the current folder.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    package: OnceCell<Venv>,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?.to_owned();
        let mut metadata = cargo_in(&root);
        let metadata = output(metadata.args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let target = target_directory(&metadata).context("cargo metadata names no target_directory")?;
        Ok(Self { root, target, package: OnceCell::new() })
    }

    /// The top of the repository.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the repository.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A path in cargo's build folder, wherever that is.
    pub(crate) fn target(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.target.join(relative)
    }

    /// An empty folder for one purpose in the build folder.
    pub(crate) fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target("xtask").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("clearing {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(folder)
    }

    /// The cargo that runs us, at the top of the repository.
    pub(crate) fn cargo(&self) -> Command {
        cargo_in(&self.root)
    }

    /// The environment of the tests with the wheel of the present sources installed; built once in each run.
    pub(crate) fn package(&self) -> Result<&Venv> {
        if let Some(venv) = self.package.get() {
            return Ok(venv);
        }
        let venv = python::install_package(self)?;
        Ok(self.package.get_or_init(|| venv))
    }

    /// The text of a file in the repository.
    pub(crate) fn read(&self, relative: impl AsRef<Path>) -> Result<String> {
        let path = self.path(relative);
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    }

    /// All files below a folder of the repository with the given ending, sorted, relative to the top.
    pub(crate) fn files(&self, folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|found| found == extension) {
                    found.push(path.strip_prefix(&self.root).map_or_else(|_| path.clone(), Path::to_owned));
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

fn cargo_in(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// The folder in the one line of JSON that `cargo metadata` prints; not worth a JSON crate.
fn target_directory(metadata: &str) -> Option<PathBuf> {
    let (_, rest) = metadata.split_once(r#""target_directory":""#)?;
    let (path, _) = rest.split_once('"')?;
    Some(PathBuf::from(path.replace(r"\\", r"\")))
}

/// Shows the command and runs it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    // On the error stream, so that the output of a task (JSON lines of a benchmark) can be piped on.
    eprintln!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    ensure!(status.success(), "`{}` failed ({status})", shown(command));
    Ok(())
}

/// Runs the command without a word and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})\n{}", shown(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_folder_is_read_from_cargo() {
        let metadata = r#"{"packages":[],"target_directory":"/tmp/a b/target","version":1}"#;
        assert_eq!(target_directory(metadata), Some(PathBuf::from("/tmp/a b/target")));
        assert_eq!(target_directory("{}"), None);
    }

    #[test]
    fn a_failing_command_is_named() {
        let error = run(Command::new("false").arg("--now")).unwrap_err().to_string();
        assert!(error.contains("`false --now` failed"), "{error}");
        assert!(output(&mut Command::new("no-such-program")).is_err());
    }
}
