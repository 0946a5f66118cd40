//! A model in words and figures.

use serde_json::{Value, json};
use sparsemble::ensemble::{Ensemble, SparseModel, UpscalerStage, weights_of_rounds};
use sparsemble::{Model, Scalar};

/// Of a model that has no atoms.
const GAUSSIANS: &str = "local Gaussians";

/// Of a model that enlarges pictures.
const UPSCALER: &str = "upscaler";

/// The sizes of a model.
pub(crate) struct Description {
    kind: &'static str,
    n_inputs: usize,
    n_features: usize,
    n_levels: usize,
    n_models: usize,
    n_atoms: usize,
}

impl Description {
    pub(crate) fn of<T: Scalar>(model: &Model<T>) -> Self {
        let (n_inputs, n_features) = (model.n_inputs(), model.n_features());
        let atoms = |ensemble: &Ensemble<T>| ensemble.models().first().map_or(0, SparseModel::n_atoms);
        let (kind, n_levels, n_models, n_atoms) = match model {
            Model::Ensemble(ensemble) => ("ensemble", 1, ensemble.n_models(), atoms(ensemble)),
            Model::Multilevel(multilevel) => {
                let first = multilevel.levels().first();
                (
                    "multilevel dictionary",
                    multilevel.n_levels(),
                    first.map_or(0, Ensemble::n_models),
                    first.map_or(0, atoms),
                )
            }
            Model::Gaussians(gaussians) => (GAUSSIANS, 1, 1, gaussians.count()),
            Model::Upscaler(upscaler) => {
                let first = upscaler.stages().first().map(UpscalerStage::ensemble);
                let members = first.map_or(0, |ensemble| ensemble.members().len());
                let atoms =
                    first.and_then(|ensemble| ensemble.members().first()).map_or(0, |member| member.maps().n_atoms());
                (UPSCALER, upscaler.stages().len(), members, atoms)
            }
            Model::Online(..) => ("online dictionary", 1, 1, model.n_atoms()),
            _ => ("dictionary", 1, 1, model.n_atoms()),
        };
        Self { kind, n_inputs, n_features, n_levels, n_models, n_atoms }
    }

    /// `ensemble of 20 dictionaries of 256 atoms`.
    pub(crate) fn words(&self) -> String {
        let Self { kind, n_levels, n_models, n_atoms, .. } = self;
        if *kind == GAUSSIANS {
            return format!("{n_atoms} {kind}");
        }
        let parts = if *kind == UPSCALER { "stages, the first" } else { "levels" };
        let levels = if *n_levels > 1 { format!(" of {n_levels} {parts}") } else { String::new() };
        let models = match n_models {
            0 | 1 => String::new(),
            n => format!(" of {n} dictionaries"),
        };
        format!("{kind}{levels}{models} of {n_atoms} atoms")
    }

    /// The features, with `unit` after their number, and what they are seen through.
    pub(crate) fn features(&self, unit: &str) -> String {
        let Self { n_inputs, n_features, .. } = self;
        if n_inputs == n_features {
            format!("{n_features}{unit}")
        } else {
            format!("{n_features}{unit}, seen through {n_inputs} measurements")
        }
    }

    /// The atoms of the first dictionary.
    pub(crate) fn n_atoms(&self) -> usize {
        self.n_atoms
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "kind": self.kind,
            "n_inputs": self.n_inputs,
            "n_features": self.n_features,
            "n_levels": self.n_levels,
            "n_models": self.n_models,
            "n_atoms": self.n_atoms,
        })
    }
}

/// An error as people read it: four digits after the point, unless it is too small or too large for that.
pub(crate) fn shown(error: f64) -> String {
    if (1e-2..1e5).contains(&error.abs()) { format!("{error:.4}") } else { format!("{error:.3e}") }
}

/// The error after each step of the training: of the ensemble so far, the objective, or the residuals of a level.
pub(crate) fn errors<T: Scalar>(model: &Model<T>) -> Vec<f64> {
    let training = model.training();
    if training.curve.is_empty() {
        training.objective.clone()
    } else {
        training.curve.iter().map(|round| round.error).collect()
    }
}

/// The error of the model itself on its training samples; rounds beyond the best one of a validation are not in it. It
/// is not known of an ensemble that was given other weights.
pub(crate) fn error<T: Scalar>(model: &Model<T>) -> Option<f64> {
    let Model::Ensemble(ensemble) = model else { return errors(model).last().copied() };
    let rounds = model.training().curve.get(..ensemble.n_models())?;
    let alphas: Vec<f64> = rounds.iter().map(|round| round.alpha).collect();
    let its_own = ensemble.beta() == weights_of_rounds(&alphas);
    rounds.last().filter(|_| its_own).map(|round| round.error)
}
