//! From what was typed to what is meant.

use std::path::Path;

use anyhow::{Result, bail};
use sparsemble::degradation::{Dense, Operator};
use sparsemble::dictionary::Dictionary;
use sparsemble::ensemble::Validation;
use sparsemble::model_file::{self, PhiRecord};
use sparsemble::recipe::{Method, Recipe};
use sparsemble::restoration::super_resolution::UpscalerLearner;
use sparsemble::{Model, Scalar, matrix_file};

use crate::args::{Dtype, TrainArguments};
use crate::failure::Usage;

use super::pairs;

/// The recipe; an option that its method does not use is refused and not passed over.
pub(super) fn recipe(method: Method, arguments: &TrainArguments) -> Result<Recipe> {
    let coder = arguments.coder.chosen();
    for (given, used, option) in [
        (arguments.models.is_some(), method.has_models(), "--models"),
        (arguments.levels.is_some(), method.has_levels(), "--levels"),
        (arguments.iterations.is_some(), method.iterates(), "--iterations"),
        (arguments.warm_start.is_some(), method.iterates() && method != Method::Gaussians, "--warm-start"),
        (arguments.validation.is_some(), method.boosts(), "--validation"),
        (arguments.phi.is_some(), method.boosts(), "--phi"),
        (coder.is_some(), method.has_coder(), "a coder"),
        (arguments.scale.is_some(), method.has_coder(), "--scale"),
        (arguments.directions.is_some(), false, "--directions"),
        (arguments.parts.is_some(), false, "--parts"),
        (arguments.precision.is_some(), false, "--precision"),
    ] {
        if given && !used {
            return Err(Usage(format!("the method {method} has no use for {option}; leave it out")).into());
        }
    }
    let default = match arguments.scale {
        Some(scale) => {
            pairs::check(scale, arguments)?;
            pairs::recipe(method)
        }
        None => Recipe::new(method),
    };
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

/// The learner of an upscaler; an option that it does not use is refused.
pub(super) fn upscaler(arguments: &TrainArguments) -> Result<UpscalerLearner> {
    let patches = &arguments.patches;
    for (given, option) in [
        (arguments.levels.is_some(), "--levels"),
        (arguments.iterations.is_some(), "--iterations"),
        (arguments.warm_start.is_some(), "--warm-start"),
        (arguments.validation.is_some(), "--validation"),
        (arguments.phi.is_some(), "--phi"),
        (arguments.masses.is_some(), "--masses"),
        (arguments.coder.chosen().is_some(), "a coder"),
        (arguments.dtype == Some(Dtype::F64), "--dtype float64"),
        (patches.patch.is_some(), "--patch"),
        (patches.samples.is_some(), "--samples"),
        (patches.min_variance.is_some(), "--min-variance"),
        (patches.keep_mean, "--keep-mean"),
        (patches.keep_norm, "--keep-norm"),
    ] {
        if given {
            return Err(Usage(format!("the method upscaler has no use for {option}; leave it out")).into());
        }
    }
    let scale = arguments.scale.unwrap_or(2);
    if !(2..=4).contains(&scale) {
        return Err(Usage(format!("--scale {scale}: give 2, 3 or 4")).into());
    }
    if let Some(models) = arguments.models.filter(|models| *models == 0 || !models.is_multiple_of(2)) {
        return Err(
            Usage(format!("--models {models}: give an even number; each half of the pictures has its own")).into()
        );
    }
    let mut learner = UpscalerLearner { seed: arguments.seed, ..UpscalerLearner::new(scale) };
    for stage in &mut learner.stages {
        stage.n_atoms = arguments.atoms.unwrap_or(stage.n_atoms);
        stage.n_models = arguments.models.unwrap_or(stage.n_models);
        stage.n_directions = arguments.directions.unwrap_or(stage.n_directions);
        stage.n_parts = arguments.parts.unwrap_or(stage.n_parts);
    }
    learner.precision = arguments.precision.unwrap_or(learner.precision);
    Ok(learner)
}

/// The atoms of a model, to begin with.
pub(super) fn atoms<T: Scalar>(path: &Path) -> Result<Dictionary<T>> {
    match model_file::load::<T>(path)?.model {
        Model::Dictionary(dictionary, _) => Ok(dictionary),
        Model::Online(learner, _) => Ok(learner.dictionary().clone()),
        _ => bail!(
            "{} holds no single dictionary to begin with; give one of alt-opt, mod, k-svd or online",
            path.display()
        ),
    }
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
