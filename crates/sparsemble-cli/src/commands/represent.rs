//! What `encode` and `reconstruct` have in common: a model, and the coder to code with.

use std::path::Path;

use anyhow::Result;
use sparsemble::coding::Coder;
use sparsemble::degradation::Degradation;
use sparsemble::model_file::{self, Loaded};
use sparsemble::{Model, Scalar};

use crate::args::CoderArguments;
use crate::failure::Usage;
use crate::output::warn;

/// Loads a model; that its training has not ended is worth a warning.
pub(super) fn load<T: Scalar>(path: &Path) -> Result<Loaded<T>> {
    let loaded = model_file::load(path)?;
    if !loaded.complete {
        warn(&format!("{} is a checkpoint: its training has not ended", path.display()))?;
    }
    Ok(loaded)
}

/// The model for samples of so many features. To one that was trained through Φ, samples as long as its measurements are
/// measurements.
pub(super) fn model_for<T: Scalar>(loaded: Loaded<T>, n_features: usize) -> Result<Model<T>> {
    let Loaded { model, record, .. } = loaded;
    match record.phi.and_then(|phi| phi.matrix) {
        Some(phi) if phi.n_measurements() == n_features && model.n_inputs() != n_features => {
            Ok(model.degraded_by(&phi)?)
        }
        _ => Ok(model),
    }
}

/// The coder that was asked for, else that of the model.
pub(super) fn coder<T: Scalar>(arguments: &CoderArguments, model: &Model<T>) -> Result<Coder> {
    match (arguments.chosen(), model) {
        (Some(_), Model::Multilevel(_)) => {
            let message = "a multilevel dictionary codes in its own way; leave the coder out";
            Err(Usage(message.into()).into())
        }
        (Some(coder), _) => Ok(coder),
        // Not used, but asked for.
        (None, Model::Multilevel(_)) => Ok(Coder::omp(1)),
        (None, _) => Ok(model.coder()?),
    }
}

/// What the coder is called in a report.
pub(super) fn name<T: Scalar>(coder: &Coder, model: &Model<T>) -> String {
    match model {
        Model::Multilevel(_) => "multilevel".into(),
        _ => coder.to_string(),
    }
}
