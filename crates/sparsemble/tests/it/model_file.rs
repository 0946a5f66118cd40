//! Laws of model files: what comes back is what was written, old files are read, and no file is trusted.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod checkpoints;
mod hostile;
mod models;
mod old_files;

use std::fs;

use sparsemble::degradation::Dense;
use sparsemble::dictionary::{Dictionary, Examples};
use sparsemble::ensemble::{Averaging, Coefficients, Ensemble, Multilevel, SparseModel, Training};
use sparsemble::model_file::{self, Kind, Loaded, Record};
use sparsemble::{Error, Matrix, Model, Run, Scalar};

use crate::problems::Values;
use models::{data, dictionary, ensemble, record, training};

fn bits<T: Scalar>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

fn loaded_ensemble<T: Scalar>(loaded: Loaded<T>) -> Ensemble<T> {
    match loaded.model {
        Model::Ensemble(ensemble) => ensemble,
        other => panic!("expected an ensemble, found {other:?}"),
    }
}

/// Writes and reads an ensemble, and compares what it is and what it computes.
fn assert_same_after_a_file<T: Scalar>(ensemble: &Ensemble<T>, record: &Record<T>) {
    let loaded = model_file::decode::<T>(&model_file::encode(ensemble, record).unwrap()).unwrap();
    assert_eq!(&loaded.record, record);
    assert_eq!(loaded.library_version, env!("CARGO_PKG_VERSION"));
    let again = loaded_ensemble(loaded);
    assert_eq!(bits(again.beta()), bits(ensemble.beta()));
    assert_eq!(again.training(), ensemble.training());
    assert_eq!(again.n_models(), ensemble.n_models());
    for (again, model) in again.models().iter().zip(ensemble.models()) {
        assert_eq!(again.sources(), model.sources());
        assert_eq!(bits(again.synthesis().as_slice()), bits(model.synthesis().as_slice()));
    }
    let inputs: Matrix<T> = Values::new(5).matrix(ensemble.n_inputs(), 50);
    for coder in models::coders() {
        let [before, after] =
            [ensemble, &again].map(|model| model.approximate(inputs.view(), &*coder, Run::default()).unwrap());
        assert_eq!(bits(before.values.as_slice()), bits(after.values.as_slice()));
        assert_eq!(before.spread.map(|spread| bits(&spread)), after.spread.map(|spread| bits(&spread)));
    }
}

fn ensembles_come_back<T: Scalar>() {
    assert_same_after_a_file(&ensemble::<T>(), &record());
    let phi = Dense::new(Values::new(2).matrix(2, 3).view()).unwrap();
    assert_same_after_a_file(&ensemble::<T>().degraded_by(&phi).unwrap(), &Record::default());

    // Atoms of extreme norm, and equal halves that are no dictionary.
    let coding = Matrix::from_fn(2, 3, |r, c| T::from_f64([3e9, 0.0, 1e-9][c] * (r + 1) as f64));
    let paired = SparseModel::paired(coding.view(), coding.view()).unwrap();
    assert_same_after_a_file(&Ensemble::new(vec![paired], vec![-0.5]).unwrap(), &Record::default());
}

#[test]
fn an_ensemble_computes_the_same_bits_after_a_file() {
    ensembles_come_back::<f32>();
    ensembles_come_back::<f64>();
}

#[test]
fn a_dictionary_comes_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dictionary.safetensors");
    // Many atoms, as some of them would change if they were normalised again.
    let dictionary: Dictionary<f32> = Dictionary::new(Values::new(1).matrix(7, 300)).unwrap();
    assert_ne!(Dictionary::new(dictionary.atoms().clone()).unwrap(), dictionary);
    model_file::save(&path, (&dictionary, &training()), &record()).unwrap();
    let Model::Dictionary(again, its_training) = model_file::load(&path).unwrap().model else { panic!("another kind") };
    assert_eq!((again, its_training), (dictionary, training()));
}

#[test]
fn the_same_model_gives_the_same_bytes_and_a_plain_one_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model_file::save(&path, &ensemble::<f64>(), &record()).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes, model_file::encode(&ensemble::<f64>(), &record()).unwrap());
    let again = model_file::decode::<f64>(&bytes).unwrap();
    let its_record = again.record.clone();
    assert_eq!(bytes, model_file::encode(&loaded_ensemble(again), &its_record).unwrap());

    let names: Vec<_> = model_file::inspect(&path).unwrap().tensors.into_iter().map(|tensor| tensor.name).collect();
    let members: Vec<_> = names.iter().filter(|name| name.starts_with("member")).collect();
    assert_eq!(
        members,
        ["member.0.dictionary", "member.0.sources", "member.1.coding", "member.1.sources", "member.1.synthesis"]
    );
}

#[test]
fn a_file_tells_what_it_is_without_being_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model_file::save(&path, &ensemble::<f32>(), &record()).unwrap();
    let about = model_file::inspect(&path).unwrap();
    assert_eq!((about.kind, about.complete, about.dtype, about.format_version), (Kind::Ensemble, true, "float32", 1));
    let shape = |name: &str| {
        let tensor = about.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        (tensor.dtype.as_str(), tensor.shape.as_slice())
    };
    assert_eq!(shape("member.0.dictionary"), ("float32", [4, 3].as_slice())); // K × M
    assert_eq!(shape("member.0.sources"), ("uint64", [4].as_slice()));
    assert_eq!(shape("beta"), ("float64", [2].as_slice()));
    let texts = [
        ("method", "boost-ex"),
        ("seed", "18446744073709551615"),
        ("data", "a \"quoted\"\nline, λ"),
        ("data_samples", "1000"),
        ("phi", "projection:2"),
        ("parameter.lambda", "0.2"),
        ("algorithm_version", "7"),
    ];
    for (key, value) in texts {
        assert_eq!(about.texts[key], value);
    }
}

#[test]
fn the_other_number_type_is_refused_by_name() {
    let bytes = model_file::encode(&ensemble::<f32>(), &record()).unwrap();
    let error = model_file::decode::<f64>(&bytes).unwrap_err();
    assert!(error.to_string().contains("holds float32 and was asked for as float64; load it as float32"), "{error}");
}

#[test]
fn a_multilevel_dictionary_computes_the_same_bits_after_a_file() {
    let samples: Matrix<f32> = Values::new(3).matrix(6, 200);
    let examples = Examples { n_atoms: 4 };
    let level = Averaging { n_models: 3, seed: 2, ..Averaging::new(&examples) };
    let multilevel = Multilevel { n_levels: 4, level }.fit(samples.view(), Run::default()).unwrap();
    let multilevel = multilevel.with_coefficients(Coefficients::Correlation);
    let bytes = model_file::encode(&multilevel, &record()).unwrap();
    let loaded = model_file::decode::<f32>(&bytes).unwrap();
    assert!(loaded.complete);
    let Model::Multilevel(again) = loaded.model else { panic!("another kind") };
    assert_eq!(again.coefficients(), Coefficients::Correlation);
    assert_eq!((again.training(), again.n_levels()), (multilevel.training(), 4));
    assert_eq!(again.training().method, "ex-mld");
    let [before, after] = [&multilevel, &again].map(|model| model.transform(samples.view(), Run::default()).unwrap());
    assert_eq!(before, after);
    assert_eq!(bytes, model_file::encode(&again, &record()).unwrap());
}

#[test]
fn what_could_not_be_read_again_is_not_written_and_the_old_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let good = dictionary::<f64>();
    model_file::save(&path, (&good, &training()), &record()).unwrap();
    let before = fs::read(&path).unwrap();

    let mut bad = training();
    bad.curve[1].error = f64::NAN;
    let mut mixed = training();
    mixed.curve[0].validation_error = None;
    for training in [bad, mixed] {
        let refused = model_file::save(&path, (&good, &training), &record()).unwrap_err();
        assert!(matches!(refused, Error::Model { .. }), "{refused}");
    }
    let long = Record { parameters: [("x".repeat(300), String::new())].into(), ..record() };
    assert!(model_file::save(&path, (&good, &Training::default()), &long).is_err());
    let mut huge = data();
    huge.description = "x".repeat(2 << 20);
    assert!(model_file::save(&path, (&good, &training()), &Record { data: huge, ..record() }).is_err());

    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = model_file::save(folder.path().join("no/such"), (&good, &training()), &record()).unwrap_err();
    assert!(matches!(nowhere, Error::Io { action: "write", .. }), "{nowhere}");
}
