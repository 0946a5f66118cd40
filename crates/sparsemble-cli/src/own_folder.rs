//! A folder that a command fills by itself. One that it has made earlier it takes up again; one that is not its own it does
//! not touch unasked.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::output::expect_writable;

/// A folder and the file in it that says whose it is.
pub(crate) struct OwnFolder {
    path: PathBuf,
    program: &'static str,
    is_new: bool,
}

impl OwnFolder {
    /// Checks before the work begins that the folder is not there yet, is empty or was made by the same command (`demo`);
    /// any other is taken by force only. Nothing is made yet.
    pub(crate) fn claim(path: &Path, program: &'static str, force: bool) -> Result<Self> {
        let folder = Self { path: path.to_owned(), program, is_new: !path.exists() };
        if !folder.is_new {
            let mut entries = fs::read_dir(path).with_context(|| {
                format!("cannot use {} as a folder; choose another with --output DIR", path.display())
            })?;
            if !force && entries.next().is_some() && !folder.is_ours() {
                bail!(
                    "the folder {} holds other files; choose another with --output DIR \
                     or add --force to write into it",
                    path.display()
                );
            }
        }
        let existing = path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
        expect_writable(existing)
            .with_context(|| format!("cannot make the folder {}; choose another with --output DIR", path.display()))?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder if need be. From here on it is ours, whatever happens.
    pub(crate) fn begin(&self) -> Result<()> {
        if self.is_ours() { Ok(()) } else { self.mark(&json!({ "program": self.name(), "unfinished": true })) }
    }

    /// Writes the file that says whose folder it is; `results` names the program.
    pub(crate) fn mark(&self, results: &Value) -> Result<()> {
        self.write(&self.mark_name(), format!("{results:#}\n")).map(drop)
    }

    /// Writes a file as a whole.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path.join(name);
        sparsemble_paper::write(&path, contents)?;
        Ok(path)
    }

    /// Takes a new folder away if nothing but its mark has come into it.
    pub(crate) fn leave(&self) {
        let is_mark = |entry: &fs::DirEntry| entry.file_name().to_str() == Some(&self.mark_name());
        let alone =
            fs::read_dir(&self.path).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|it| is_mark(&it))));
        if self.is_new && alone {
            // That it stays is no reason to fail: there is nothing in it.
            let _ = fs::remove_file(self.path.join(self.mark_name())).and_then(|()| fs::remove_dir(&self.path));
        }
    }

    fn is_ours(&self) -> bool {
        let mark = fs::read(self.path.join(self.mark_name())).ok();
        let mark: Option<Value> = mark.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        mark.is_some_and(|mark| mark["program"] == self.name())
    }

    fn name(&self) -> String {
        format!("sparsemble {}", self.program)
    }

    fn mark_name(&self) -> String {
        format!("sparsemble-{}.json", self.program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_if_it_is_new_empty_or_our_own() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("deep/er");
        let folder = OwnFolder::claim(&path, "demo", false).unwrap();
        assert!(!path.exists(), "a claim makes nothing");
        folder.begin().unwrap();
        folder.write("a.txt", "ours").unwrap();
        let again = OwnFolder::claim(&path, "demo", false).unwrap();
        again.write("a.txt", "newer").unwrap();
        assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "newer");
        let refused = OwnFolder::claim(&path, "paper", false).err().unwrap().to_string();
        assert!(refused.contains("holds other files") && refused.contains("--force"), "{refused}");
        assert!(OwnFolder::claim(&path, "paper", true).is_ok());
        fs::write(path.join("sparsemble-demo.json"), "{}").unwrap();
        assert!(OwnFolder::claim(&path, "demo", false).is_err(), "a mark that says nothing is none");
    }

    #[test]
    fn a_new_folder_in_which_nothing_was_written_is_taken_away() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("new");
        for (written, stays) in [(false, false), (true, true)] {
            let folder = OwnFolder::claim(&path, "paper", false).unwrap();
            folder.begin().unwrap();
            if written {
                folder.write("part.json", "{}").unwrap();
            }
            folder.leave();
            assert_eq!(path.exists(), stays);
        }
        // What was there before stays there.
        let folder = OwnFolder::claim(place.path().join("new").as_path(), "paper", false).unwrap();
        folder.leave();
        assert!(path.join("part.json").is_file());
    }
}
