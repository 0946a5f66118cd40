//! From a model to texts and tensors.

use std::borrow::Cow;

use crate::dictionary::{OnlineLearner, has_unit_norm};
use crate::ensemble::{Ensemble, Round, SparseModel, Training};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::contents::{Contents, Values};
use super::inspection::{FORMAT, Kind};
use super::upscaling::add_upscaler;
use super::{ALGORITHM_VERSION, FORMAT_VERSION, ModelRef, Record};
use crate::reason::Outcome;

/// The sums of an online learner.
pub(super) const MEMORY: [&str; 3] = ["memory.products", "memory.moments", "memory.usage"];

/// All that a file holds.
pub(super) fn contents<'a, T: Scalar>(
    model: ModelRef<'a, T>,
    record: &'a Record<T>,
    complete: bool,
) -> Outcome<Contents<'a, T>> {
    let mut contents = Contents::new();
    let kind = match model {
        ModelRef::Dictionary(dictionary, training) => {
            add_matrix(&mut contents, "dictionary".into(), dictionary.atoms());
            add_sources(&mut contents, "", dictionary.sources());
            add_training(&mut contents, training)?;
            Kind::Dictionary
        }
        ModelRef::Online(learner, training) => {
            add_matrix(&mut contents, "dictionary".into(), learner.dictionary().atoms());
            add_sources(&mut contents, "", learner.dictionary().sources());
            add_memory(&mut contents, learner)?;
            // The learner's own curve, whatever the record says.
            add_training(&mut contents, &Training { objective: learner.curve().to_vec(), ..training.clone() })?;
            Kind::Online
        }
        ModelRef::Ensemble(ensemble) => {
            add_ensemble(&mut contents, "", ensemble)?;
            add_training(&mut contents, ensemble.training())?;
            Kind::Ensemble
        }
        ModelRef::Multilevel(multilevel) => {
            for (v, level) in multilevel.levels().iter().enumerate() {
                add_ensemble(&mut contents, &format!("level.{v}."), level)?;
            }
            contents.text("levels", &multilevel.n_levels());
            contents.text("coefficients", multilevel.coefficients().name());
            add_training(&mut contents, multilevel.training())?;
            Kind::Multilevel
        }
        ModelRef::Gaussians(gaussians) => {
            for (k, covariance) in gaussians.covariances().iter().enumerate() {
                add_matrix(&mut contents, format!("covariance.{k}"), covariance);
            }
            add_reals(&mut contents, "weights", gaussians.weights().to_vec())?;
            contents.text("gaussians", &gaussians.count());
            contents.text("mean", &gaussians.mean().mean);
            contents.text("mean_deviation", &gaussians.mean().deviation);
            add_training(&mut contents, gaussians.training())?;
            Kind::Gaussians
        }
        ModelRef::Upscaler(upscaler) => {
            add_upscaler(&mut contents, upscaler)?;
            add_training(&mut contents, upscaler.training())?;
            Kind::Upscaler
        }
    };
    contents.text("format", FORMAT);
    contents.text("format_version", &FORMAT_VERSION);
    contents.text("library_version", env!("CARGO_PKG_VERSION"));
    contents.text("algorithm_version", &ALGORITHM_VERSION);
    contents.text("kind", kind.name());
    contents.text("complete", &complete);
    contents.text("dtype", T::NAME);
    add_record(&mut contents, record);
    Ok(contents)
}

/// The bytes of a file.
pub(super) fn bytes<T: Scalar>(model: ModelRef<'_, T>, record: &Record<T>, complete: bool) -> Outcome<Vec<u8>> {
    let contents = contents(model, record, complete)?;
    let mut bytes = contents.header()?;
    contents.write_body(&mut bytes)?;
    Ok(bytes)
}

fn add_memory<T: Scalar>(contents: &mut Contents<'_, T>, learner: &OnlineLearner<T>) -> Outcome<()> {
    let memory = learner.memory();
    for (name, sums) in MEMORY.into_iter().zip(memory.sums) {
        add_reals(contents, name, sums)?;
    }
    add_counts(contents, "memory.idle".into(), memory.idle.into_iter());
    contents.text("online", learner.settings());
    contents.text("seen", &memory.seen);
    contents.text("replaced", &memory.replaced);
    contents.text("mass", &memory.mass);
    contents.text("unit", &memory.unit);
    Ok(())
}

fn add_ensemble<'a, T: Scalar>(contents: &mut Contents<'a, T>, prefix: &str, ensemble: &'a Ensemble<T>) -> Outcome<()> {
    for (l, member) in ensemble.models().iter().enumerate() {
        add_member(contents, &format!("{prefix}member.{l}."), member);
    }
    add_reals(contents, &format!("{prefix}beta"), ensemble.beta().to_vec())
}

/// A model, its matrix once if it is (D, D).
fn add_member<'a, T: Scalar>(contents: &mut Contents<'a, T>, prefix: &str, model: &'a SparseModel<T>) {
    let (coding, synthesis) = (model.coding_atoms(), model.synthesis());
    let is_plain =
        same_bits(&coding, synthesis) && (0..synthesis.columns()).all(|j| has_unit_norm(synthesis.column(j)));
    if is_plain {
        add_matrix(contents, format!("{prefix}dictionary"), synthesis);
    } else {
        let shape = [coding.columns(), coding.rows()];
        contents.tensor(format!("{prefix}coding"), &shape, Values::Scalars(Cow::Owned(coding.into_vec())));
        add_matrix(contents, format!("{prefix}synthesis"), synthesis);
    }
    add_sources(contents, prefix, model.sources());
}

pub(super) fn add_matrix<'a, T: Scalar>(contents: &mut Contents<'a, T>, name: String, matrix: &'a Matrix<T>) {
    contents.tensor(name, &[matrix.columns(), matrix.rows()], Values::Scalars(Cow::Borrowed(matrix.as_slice())));
}

fn add_sources<T: Scalar>(contents: &mut Contents<'_, T>, prefix: &str, sources: Option<&[usize]>) {
    if let Some(sources) = sources {
        add_counts(contents, format!("{prefix}sources"), sources.iter().copied());
    }
}

fn add_counts<T: Scalar>(contents: &mut Contents<'_, T>, name: String, counts: impl Iterator<Item = usize>) {
    let counts: Vec<u64> = counts.map(|count| count as u64).collect();
    contents.tensor(name, &[counts.len()], Values::Counts(counts));
}

/// Reals, which must be finite: a reader refuses others.
pub(super) fn add_reals<T: Scalar>(contents: &mut Contents<'_, T>, name: &str, values: Vec<f64>) -> Outcome<()> {
    if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
        return Err(format!("`{name}` holds {bad}; a model file holds finite numbers only").into());
    }
    contents.tensor(name, &[values.len()], Values::Reals(values));
    Ok(())
}

fn add_training<T: Scalar>(contents: &mut Contents<'_, T>, training: &Training) -> Outcome<()> {
    contents.text("method", &training.method);
    contents.text("learner", &training.learner);
    contents.text("coder", &training.coder);
    contents.text("seed", &training.seed);
    if !training.objective.is_empty() {
        add_reals(contents, "objective", training.objective.clone())?;
    }
    let curve = &training.curve;
    if curve.is_empty() {
        return Ok(());
    }
    let column = |value: fn(&Round) -> f64| curve.iter().map(value).collect();
    add_reals(contents, "curve.alpha", column(|round| round.alpha))?;
    add_reals(contents, "curve.member_error", column(|round| round.member_error))?;
    add_reals(contents, "curve.error", column(|round| round.error))?;
    let validation: Vec<f64> = curve.iter().filter_map(|round| round.validation_error).collect();
    if validation.len() == curve.len() {
        add_reals(contents, "curve.validation_error", validation)?;
    } else if !validation.is_empty() {
        return Err("some rounds of the curve have a validation error and some have none".into());
    }
    add_counts(contents, "curve.unconverged".into(), curve.iter().map(|round| round.unconverged));
    Ok(())
}

fn add_record<'a, T: Scalar>(contents: &mut Contents<'a, T>, record: &'a Record<T>) {
    for (name, value) in &record.parameters {
        contents.text(format!("parameter.{name}"), value);
    }
    contents.text("data", &record.data.description);
    contents.text("data_samples", &record.data.n_samples);
    contents.text("data_features", &record.data.n_features);
    contents.text("data_fingerprint", &format!("{:016x}", record.data.fingerprint));
    if let Some(phi) = &record.phi {
        contents.text("phi", &phi.description);
        if let Some(dense) = &phi.matrix {
            let matrix = dense.matrix();
            let shape = [matrix.columns(), matrix.rows()];
            contents.tensor("phi", &shape, Values::Scalars(Cow::Owned(matrix.to_matrix().into_vec())));
        }
    }
}

fn same_bits<T: Scalar>(a: &Matrix<T>, b: &Matrix<T>) -> bool {
    let bits = |value: &T| value.to_f64().to_bits();
    a.rows() == b.rows() && a.as_slice().iter().map(bits).eq(b.as_slice().iter().map(bits))
}
