//! What `encode` and `reconstruct` have in common: a model, and the coder to code with.

use std::path::Path;

use anyhow::{Result, bail};
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

/// The model for samples of so many features, and whether they are measurements. They are if that is said; and to a
/// model that was trained through Φ, samples as long as its measurements, and not as its atoms, are measurements too.
pub(super) fn model_for<T: Scalar>(loaded: Loaded<T>, n_features: usize, said: bool) -> Result<(Model<T>, bool)> {
    let Loaded { model, record, .. } = loaded;
    match record.phi.and_then(|phi| phi.matrix) {
        Some(phi) if said || (phi.n_measurements() == n_features && model.n_inputs() != n_features) => {
            Ok((model.degraded_by(&phi)?, true))
        }
        None if said => {
            bail!("the model was not trained with --phi and knows no measurements; leave --measurements out")
        }
        _ => Ok((model, false)),
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
