//! Whether a run may go on from a file.

use std::collections::BTreeMap;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::recipe::{Recipe, TrainingSet};
use crate::scalar::Scalar;

use super::{ALGORITHM_VERSION, Loaded, Record, TrainingData};

/// Of these a resumed run may ask for more: what there is does not depend on how many were wanted.
const MAY_GROW: [&str; 3] = ["n_models", "n_levels", "max_iterations"];

impl<T: Scalar> Record<T> {
    /// What to write beside a model that this recipe makes from this set; `description` says where the samples are from.
    ///
    /// # Errors
    /// If the run was interrupted: all samples are looked at once, for their fingerprint.
    pub fn of(recipe: &Recipe, set: TrainingSet<'_, T>, description: String, run: Run<'_>) -> Result<Self> {
        let data = TrainingData {
            description,
            n_samples: set.samples.columns() as u64,
            n_features: set.samples.rows() as u64,
            fingerprint: set.fingerprint(run)?,
        };
        Ok(Self { parameters: recipe.parameters(), data, phi: None })
    }
}

impl<T: Scalar> Loaded<T> {
    /// Whether a run with this record may go on from this file to the bits of a run that was never left.
    ///
    /// # Errors
    /// If the file is no checkpoint, was made by other versions of the algorithms, or a parameter or the samples are not
    /// those of the checkpoint; more models, levels or iterations may be asked for.
    pub fn expect_resumable(&self, record: &Record<T>) -> Result<()> {
        const OTHER: &str = "is not that of the checkpoint; resume with the settings and the data it was made with";
        if self.complete {
            return Err(Error::parameter(
                "checkpoint",
                "a model",
                "its training has ended; there is nothing to resume",
            ));
        }
        if self.algorithm_version != ALGORITHM_VERSION {
            let reason = "this version would go on to another model; resume with the version that made the checkpoint";
            return Err(Error::parameter("checkpoint: algorithm version", self.algorithm_version, reason));
        }
        let fixed = |parameters: &BTreeMap<String, String>| {
            let mut parameters = parameters.clone();
            parameters.retain(|name, _| !MAY_GROW.contains(&name.as_str()));
            parameters
        };
        let (theirs, ours) = (fixed(&self.record.parameters), fixed(&record.parameters));
        let names = theirs.keys().chain(ours.keys());
        if let Some(name) = names.into_iter().find(|name| theirs.get(*name) != ours.get(*name)) {
            let value = ours.get(name).map_or("none", String::as_str);
            let checkpoint = theirs.get(name).map_or("none", String::as_str);
            return Err(Error::parameter("parameter", format!("{name} = {value}"), format!("{OTHER} ({checkpoint})")));
        }
        if self.record.data.fingerprint != record.data.fingerprint {
            return Err(Error::parameter("samples", &record.data.description, OTHER));
        }
        Ok(())
    }
}
