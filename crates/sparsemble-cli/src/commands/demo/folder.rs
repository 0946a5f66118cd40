//! The output folder, and the rule that nothing foreign in it is overwritten.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use sparsemble::image::{Picture, write_picture};

/// The file that says a folder is ours: the figures of the run. Written before all others.
const MARK: &str = "sparsemble-demo.json";

pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Takes a folder that is new, empty or from an earlier demo; any other only by force.
    pub(super) fn claim(path: &Path, force: bool) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        match fs::read_dir(path) {
            Ok(mut entries) => {
                if !force && !path.join(MARK).is_file() && entries.next().is_some() {
                    bail!(
                        "the folder {} holds other files; choose another with --output DIR \
                         or add --force to write into it",
                        path.display()
                    );
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir_all(path).with_context(|| {
                format!("cannot make the folder {}; choose another with --output DIR", path.display())
            })?,
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("cannot use {} as a folder; choose another with --output DIR", path.display())
                });
            }
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn mark(&self, results: &Value) -> Result<()> {
        self.write_text(MARK, &format!("{results:#}\n")).map(drop)
    }

    pub(super) fn write_picture(&self, name: &str, picture: &Picture) -> Result<()> {
        Ok(write_picture(self.path.join(name), picture)?)
    }

    pub(super) fn write_text(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}
