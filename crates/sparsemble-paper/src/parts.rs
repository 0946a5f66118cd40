//! Finished parts of experiments on disk, so that a run that was stopped, or one for another figure, does not repeat them.
//! Models that several experiments need are parts, too.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sparsemble::Model;
use sparsemble::ensemble::Ensemble;
use sparsemble::model_file::{self, ALGORITHM_VERSION, Record};

use crate::demonstration::fingerprint;

/// What a kept part depends on: these values, and the version of the program.
pub(crate) fn key(mut values: Value) -> Value {
    values["version"] = env!("CARGO_PKG_VERSION").into();
    values["algorithm_version"] = ALGORITHM_VERSION.into();
    values
}

/// A model, and what its training took.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Ensemble<f32>,
    /// CPU seconds, of all threads together.
    pub seconds: f64,
}

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
        let path = self.path(name, key, "json");
        if let Some(part) = kept(&path, key) {
            return Ok(part);
        }
        let part = make()?;
        write(&path, format!("{:#}\n", json!({ "key": key, "part": &part })))?;
        Ok(part)
    }

    /// The same for a model, which is in a model file beside its part.
    ///
    /// # Errors
    /// Those of `train`, or if a file cannot be written.
    pub fn take_model(
        &self,
        name: &str,
        key: &Value,
        train: impl FnOnce() -> Result<Ensemble<f32>>,
    ) -> Result<Trained> {
        let [path, part] = ["safetensors", "json"].map(|ending| self.path(name, key, ending));
        if let Some(seconds) = kept(&part, key)
            && let Ok(Model::Ensemble(model)) = model_file::load(&path).map(|loaded| loaded.model)
        {
            return Ok(Trained { model, seconds });
        }
        let start = ProcessTime::now();
        let model = train()?;
        let seconds = start.elapsed().as_secs_f64();
        fs::create_dir_all(&self.folder).with_context(|| format!("cannot make {}", self.folder.display()))?;
        // The part comes last: where it is, the model is whole.
        model_file::save(&path, &model, &Record::default())?;
        write(&part, format!("{:#}\n", json!({ "key": key, "part": seconds })))?;
        Ok(Trained { model, seconds })
    }

    /// Other settings have other files: a quick look does not cost the whole.
    fn path(&self, name: &str, key: &Value, ending: &str) -> PathBuf {
        self.folder.join(format!("{name}-{:016x}.{ending}", fingerprint(key.to_string().bytes())))
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
