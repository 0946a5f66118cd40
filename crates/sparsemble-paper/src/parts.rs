//! Finished parts of experiments on disk, so that a run that was stopped, or one for another figure, does not repeat them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::demonstration::fingerprint;

/// A folder of parts.
#[derive(Debug, Clone)]
pub struct Parts {
    folder: PathBuf,
}

impl Parts {
    /// Keeps the parts in a folder, which is made when the first is written.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The part of this name if it was made with exactly this key, which holds all that the part depends on; else what
    /// `make` makes, which is kept.
    ///
    /// A file that cannot be read as such a part is made anew.
    ///
    /// # Errors
    /// Those of `make`, or if the part cannot be written.
    pub fn take<P: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        key: &Value,
        make: impl FnOnce() -> Result<P>,
    ) -> Result<P> {
        // Other settings have other files: a quick look does not cost the whole.
        let path = self.folder.join(format!("{name}-{:016x}.json", fingerprint(key.to_string().bytes())));
        if let Some(part) = kept(&path, key) {
            return Ok(part);
        }
        let part = make()?;
        write(&path, format!("{:#}\n", json!({ "key": key, "part": &part })))?;
        Ok(part)
    }
}

fn kept<P: DeserializeOwned>(path: &Path, key: &Value) -> Option<P> {
    let mut file: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    if file.get("key") != Some(key) {
        return None;
    }
    serde_json::from_value(file.get_mut("part")?.take()).ok()
}

/// Writes a file as a whole or not at all, whenever the program is stopped; makes its folder if need be.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&unfinished, contents))
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The first failure is the one worth telling.
        let _ = fs::remove_file(&unfinished);
    }
    written.with_context(|| format!("cannot write {}; choose another folder", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_made_once_for_each_key() {
        let folder = tempfile::tempdir().unwrap();
        let parts = Parts::new(&folder.path().join("parts"));
        let [first, second] = [json!({ "seed": 1 }), json!({ "seed": 2 })];
        let numbers = vec![0.1 + 0.2, 1e-300, 5e-324];
        assert_eq!(parts.take("a", &first, || Ok(numbers.clone())).unwrap(), numbers);
        // Read back to the last bit.
        assert_eq!(parts.take("a", &first, || -> Result<Vec<f64>> { panic!("it is there") }).unwrap(), numbers);
        assert_eq!(parts.take("a", &second, || Ok(vec![2.0])).unwrap(), [2.0]);
        assert_eq!(parts.take("b", &first, || Ok(vec![3.0])).unwrap(), [3.0]);
        assert_eq!(parts.take("a", &first, || -> Result<Vec<f64>> { panic!("it is there") }).unwrap(), numbers);
    }

    #[test]
    fn a_damaged_part_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let parts = Parts::new(folder.path());
        let key = json!("key");
        parts.take("a", &key, || Ok(vec![1.0])).unwrap();
        let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        for damage in
            ["", "{", "{\"key\": \"key\"}", "{\"key\": \"key\", \"part\": 3}", "{\"key\": 0, \"part\": [5.0]}"]
        {
            fs::write(&file, damage).unwrap();
            assert_eq!(parts.take("a", &key, || Ok(vec![2.0])).unwrap(), [2.0], "{damage}");
        }
    }
}
