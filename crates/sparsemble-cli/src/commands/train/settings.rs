//! From what was typed to what is meant.

use std::path::Path;

use anyhow::{Result, ensure};
use sparsemble::degradation::{Dense, Operator};
use sparsemble::ensemble::Validation;
use sparsemble::model_file::PhiRecord;
use sparsemble::recipe::Recipe;
use sparsemble::{Scalar, matrix_file};

use crate::args::TrainArguments;
use crate::failure::Usage;

/// The recipe; an option that its method does not use is refused and not passed over.
pub(super) fn recipe(arguments: &TrainArguments) -> Result<Recipe> {
    let method = arguments.method;
    let coder = arguments.coder.chosen();
    for (given, used, option) in [
        (arguments.models.is_some(), method.has_models(), "--models"),
        (arguments.levels.is_some(), method.has_levels(), "--levels"),
        (arguments.iterations.is_some(), method.iterates(), "--iterations"),
        (arguments.validation.is_some(), method.boosts(), "--validation"),
        (arguments.phi.is_some(), method.boosts(), "--phi"),
        (coder.is_some(), method.has_coder(), "a coder"),
    ] {
        if given && !used {
            return Err(Usage(format!("the method {method} has no use for {option}; leave it out")).into());
        }
    }
    let default = Recipe::new(method);
    let patience = arguments.patience;
    Ok(Recipe {
        n_atoms: arguments.atoms.unwrap_or(default.n_atoms),
        n_models: arguments.models.unwrap_or(default.n_models),
        n_levels: arguments.levels.unwrap_or(default.n_levels),
        max_iterations: arguments.iterations.unwrap_or(default.max_iterations),
        coder: coder.unwrap_or_else(|| default.coder.clone()),
        validation: arguments.validation.map(|fraction| Validation { fraction, patience }),
        seed: arguments.seed,
        ..default
    })
}

/// The masses in a file, a number a row.
pub(super) fn masses(path: &Path) -> Result<Vec<f64>> {
    let file = matrix_file::read::<f64>(path)?;
    ensure!(file.n_features() == 1, "{} must have one number a row, how much a sample counts", path.display());
    Ok(file.to_matrix().into_vec())
}

/// Φ for samples of this many features: an operator by its text, or a matrix from a file, a measurement a row.
pub(super) fn phi<T: Scalar>(text: &str, n_features: usize) -> Result<PhiRecord<T>> {
    if !matrix_file::is_matrix_file(Path::new(text)) {
        let operator: Operator = text.parse()?;
        return Ok(PhiRecord { description: operator.to_string(), matrix: Some(operator.matrix(n_features)?) });
    }
    let file = matrix_file::read::<T>(text)?;
    // A row of a file is a column to the library.
    Ok(PhiRecord { description: text.to_owned(), matrix: Some(Dense::new(file.view().transposed())?) })
}
