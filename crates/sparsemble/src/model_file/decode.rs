//! From texts and tensors to a model.

use std::io::{Read, Seek};

use crate::degradation::Dense;
use crate::dictionary::{Dictionary, Memory, OnlineAltOpt, OnlineLearner};
use crate::ensemble::{
    Coefficients, Ensemble, LocalGaussians, MeanPrior, MultilevelDictionary, Round, SparseModel, Training,
};
use crate::matrix::Matrix;
use crate::model::Model;
use crate::scalar::Scalar;

use super::container::Container;
use super::encode::MEMORY;
use super::inspection::{Identity, Kind, identify};
use super::upscaling::upscaler;
use super::{Loaded, PhiRecord, Record, TrainingData};
use crate::reason::Outcome;

/// All that a file of this length holds.
pub(super) fn loaded<T: Scalar>(file: impl Read + Seek, length: u64) -> Outcome<Loaded<T>> {
    let mut file = Container::open(file, length)?;
    let Identity { kind, complete, dtype, .. } = identify(&mut file)?;
    if dtype != T::NAME {
        return Err(format!("the model holds {dtype} and was asked for as {}; load it as {dtype}", T::NAME).into());
    }
    let library_version = file.text("library_version")?;
    let algorithm_version = file.parsed("algorithm_version")?;
    let training = training(&mut file)?;
    let model = match kind {
        Kind::Dictionary => Model::Dictionary(dictionary(&mut file, "")?, training),
        Kind::Online => Model::Online(Box::new(online(&mut file, &training)?), training),
        Kind::Ensemble => Model::Ensemble(ensemble(&mut file, "")?.with_training(training)),
        Kind::Multilevel => Model::Multilevel(multilevel(&mut file)?.with_training(training)),
        Kind::Gaussians => Model::Gaussians(gaussians(&mut file)?.with_training(training)),
        Kind::Upscaler => Model::Upscaler(upscaler(&mut file)?.with_training(training)),
    };
    let record = record(&mut file)?;
    file.finish()?;
    Ok(Loaded { model, record, complete, library_version, algorithm_version })
}

fn online<T: Scalar, R: Read + Seek>(file: &mut Container<R>, training: &Training) -> Outcome<OnlineLearner<T>> {
    let dictionary = dictionary(file, "")?;
    let memory = Memory {
        sums: [file.reals(MEMORY[0])?, file.reals(MEMORY[1])?, file.reals(MEMORY[2])?],
        idle: file.counts("memory.idle")?,
        seen: file.parsed("seen")?,
        replaced: file.parsed("replaced")?,
        mass: file.parsed("mass")?,
        unit: file.parsed("unit")?,
    };
    let settings = OnlineAltOpt::from_text(&file.text("online")?, training.coder.parse()?, training.seed)?;
    let learner = OnlineLearner::from_memory(settings, dictionary, training.objective.clone(), memory);
    learner.ok_or_else(|| "the sums of the learner do not fit its dictionary; the file is damaged".into())
}

fn gaussians<T: Scalar, R: Read + Seek>(file: &mut Container<R>) -> Outcome<LocalGaussians<T>> {
    let count: usize = file.parsed("gaussians")?;
    // A covariance that is not there ends it, whatever number the file tells.
    let covariances = (0..count).map(|k| matrix(file, &format!("covariance.{k}"))).collect::<Outcome<Vec<_>>>()?;
    let mean = MeanPrior { mean: file.parsed("mean")?, deviation: file.parsed("mean_deviation")? };
    Ok(LocalGaussians::new(file.reals("weights")?, &covariances, mean)?)
}

fn multilevel<T: Scalar, R: Read + Seek>(file: &mut Container<R>) -> Outcome<MultilevelDictionary<T>> {
    let n_levels: usize = file.parsed("levels")?;
    let coefficients = file.text("coefficients")?;
    let known = [Coefficients::LeastSquares, Coefficients::Correlation];
    let coefficients = known.into_iter().find(|rule| rule.name() == coefficients);
    let coefficients = coefficients.ok_or("the text `coefficients` names no rule; the file is damaged")?;
    // A level that is not there ends it, whatever number the file tells.
    let levels = (0..n_levels).map(|v| ensemble(file, &format!("level.{v}."))).collect::<Outcome<Vec<_>>>()?;
    Ok(MultilevelDictionary::new(levels)?.with_coefficients(coefficients))
}

fn ensemble<T: Scalar, R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<Ensemble<T>> {
    let beta = file.reals(&format!("{prefix}beta"))?;
    let members = (0..beta.len()).map(|l| member(file, &format!("{prefix}member.{l}.")));
    let members = members.collect::<Outcome<Vec<_>>>()?;
    Ok(Ensemble::new(members, beta)?)
}

fn member<T: Scalar, R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<SparseModel<T>> {
    if file.has(&format!("{prefix}dictionary")) {
        return Ok(SparseModel::plain(&dictionary(file, prefix)?)?);
    }
    let coding: Matrix<T> = matrix(file, &format!("{prefix}coding"))?;
    let synthesis = matrix(file, &format!("{prefix}synthesis"))?;
    let model = SparseModel::paired(coding.view(), synthesis.view())?;
    match sources(file, prefix)? {
        Some(sources) => Ok(model.with_sources(sources)?),
        None => Ok(model),
    }
}

fn dictionary<T: Scalar, R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<Dictionary<T>> {
    let atoms = matrix(file, &format!("{prefix}dictionary"))?;
    let dictionary = Dictionary::from_unit_atoms(atoms).map_err(|error| format!("{prefix}{error}"))?;
    match sources(file, prefix)? {
        Some(sources) => Ok(dictionary.with_sources(sources)?),
        None => Ok(dictionary),
    }
}

pub(super) fn matrix<T: Scalar, R: Read + Seek>(file: &mut Container<R>, name: &str) -> Outcome<Matrix<T>> {
    let (values, [rows, columns]) = file.scalars(name)?;
    // Before any other check: one without rows can have any number of columns in no bytes.
    if values.is_empty() {
        return Err(format!("the tensor `{name}` is empty").into());
    }
    Ok(Matrix::from_columns(values, rows, columns)?)
}

fn sources<R: Read + Seek>(file: &mut Container<R>, prefix: &str) -> Outcome<Option<Vec<usize>>> {
    let name = format!("{prefix}sources");
    if file.has(&name) { file.counts(&name).map(Some) } else { Ok(None) }
}

fn training<R: Read + Seek>(file: &mut Container<R>) -> Outcome<Training> {
    Ok(Training {
        method: file.text("method")?,
        learner: file.text("learner")?,
        coder: file.text("coder")?,
        seed: file.parsed("seed")?,
        curve: curve(file)?,
        objective: if file.has("objective") { file.reals("objective")? } else { Vec::new() },
    })
}

fn curve<R: Read + Seek>(file: &mut Container<R>) -> Outcome<Vec<Round>> {
    // Without this one, whatever there is of the others is left over, and refused.
    if !file.has("curve.alpha") {
        return Ok(Vec::new());
    }
    let alpha = file.reals("curve.alpha")?;
    let (member_error, error) = (file.reals("curve.member_error")?, file.reals("curve.error")?);
    let validation = "curve.validation_error";
    let validation_error = if file.has(validation) { Some(file.reals(validation)?) } else { None };
    let unconverged = file.counts("curve.unconverged")?;
    let rounds = alpha.len();
    let validated = validation_error.as_ref().map_or(rounds, Vec::len);
    if [member_error.len(), error.len(), validated, unconverged.len()] != [rounds; 4] {
        return Err("the columns of the training curve differ in length".into());
    }
    let round = |l: usize| Round {
        alpha: alpha[l],
        member_error: member_error[l],
        error: error[l],
        validation_error: validation_error.as_ref().map(|errors| errors[l]),
        unconverged: unconverged[l],
    };
    Ok((0..rounds).map(round).collect())
}

fn record<T: Scalar, R: Read + Seek>(file: &mut Container<R>) -> Outcome<Record<T>> {
    const PARAMETER: &str = "parameter.";
    let fingerprint = u64::from_str_radix(&file.text("data_fingerprint")?, 16)
        .map_err(|_| "the text `data_fingerprint` is no number; the file is damaged")?;
    let data = TrainingData {
        description: file.text("data")?,
        n_samples: file.parsed("data_samples")?,
        n_features: file.parsed("data_features")?,
        fingerprint,
    };
    let phi = match file.texts.remove("phi") {
        None => None,
        Some(description) => {
            let matrix: Option<Matrix<T>> = if file.has("phi") { Some(matrix(file, "phi")?) } else { None };
            let matrix = matrix.map(|matrix| Dense::new(matrix.view())).transpose()?;
            Some(PhiRecord { description, matrix })
        }
    };
    let is_parameter = |key: &String, _: &mut String| key.starts_with(PARAMETER);
    let parameters = file.texts.extract_if(.., is_parameter);
    let parameters = parameters.map(|(key, value)| (key[PARAMETER.len()..].to_owned(), value)).collect();
    Ok(Record { parameters, data, phi })
}
