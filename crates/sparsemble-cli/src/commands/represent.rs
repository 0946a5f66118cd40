//! What `encode` and `reconstruct` have in common: a model, and the coder to code with.

use std::path::Path;

use anyhow::Result;
use sparsemble::coding::Coder;
use sparsemble::{Model, Scalar, model_file};

use crate::args::CoderArguments;
use crate::failure::Usage;
use crate::output::warn;

/// Loads a model; that its training has not ended is worth a warning.
pub(super) fn load<T: Scalar>(path: &Path) -> Result<Model<T>> {
    let loaded = model_file::load(path)?;
    if !loaded.complete {
        warn(&format!("{} is a checkpoint: its training has not ended", path.display()))?;
    }
    Ok(loaded.model)
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
