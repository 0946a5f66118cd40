//! Files written by earlier versions are read as long as there is a version that knows their format.
//!
//! The files in `golden/model_v1` were written by version 0.1.0 from the models below and are never written again: a test
//! that fails here means that users can no longer open their models.

use std::fs;
use std::path::{Path, PathBuf};

use sparsemble::coding::OneSparse;
use sparsemble::ensemble::SparseModel;
use sparsemble::model_file::{self, Loaded, Record};
use sparsemble::recipe::{Method, Recipe, Step, TrainingSet};
use sparsemble::{Error, Matrix, Model, Run, Scalar};

use super::models::{dictionary, ensemble, record, training};
use super::{bits, loaded_ensemble};

fn old_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/model_v1").join(name).with_extension("safetensors")
}

fn load<T: Scalar>(name: &str) -> Loaded<T> {
    let path = old_file(name);
    assert_eq!(model_file::inspect(&path).unwrap().format_version, 1);
    assert!(fs::metadata(&path).unwrap().len() < 8000, "the file is small enough to be committed");
    let loaded = model_file::load(&path).unwrap();
    assert_eq!((loaded.library_version.as_str(), loaded.algorithm_version), ("0.1.0", 1));
    assert_eq!(loaded.record, record());
    loaded
}

#[test]
fn an_ensemble_of_version_1_is_read() {
    let (loaded, expected) = (loaded_ensemble(load::<f32>("ensemble_f32")), ensemble::<f32>());
    assert_eq!(bits(loaded.beta()), bits(expected.beta()));
    assert_eq!(loaded.training(), expected.training());
    assert_eq!(loaded.n_models(), 2);
    for (loaded, expected) in loaded.models().iter().zip(expected.models()) {
        assert_eq!(loaded.sources(), expected.sources());
        assert_eq!(bits(loaded.synthesis().as_slice()), bits(expected.synthesis().as_slice()));
    }
    let samples = Matrix::from_fn(3, 10, |r, c| ((r * 5 + c * 3) % 7) as f32 - 2.5);
    let approximate =
        |model: &SparseModel<f32>| model.approximate(samples.view(), &OneSparse::default(), Run::default()).unwrap();
    assert_eq!(approximate(&loaded.models()[1]), approximate(&expected.models()[1]));
}

#[test]
fn a_dictionary_of_version_1_is_read() {
    let Model::Dictionary(loaded, its_training) = load::<f64>("dictionary_f64").model else { panic!("another kind") };
    assert_eq!((loaded, its_training), (dictionary(), training()));
}

/// The model that a checkpoint ends in.
fn resumed(name: &str, recipe: &Recipe) -> Model<f32> {
    let loaded: Loaded<f32> = model_file::load(old_file(name)).unwrap();
    let samples = checkpoint_samples();
    let set = TrainingSet::new(samples.view());
    loaded.expect_resumable(&Record::of(recipe, set, "a pattern".into(), Run::default()).unwrap()).unwrap();
    recipe.resume(set, loaded.model, &mut |_, _| Ok(()), Run::default()).unwrap().model
}

#[test]
fn checkpoints_of_version_1_are_resumed() {
    let Model::Multilevel(levels) = resumed("checkpoint_f32", &levels_recipe()) else { panic!("another kind") };
    assert_eq!(levels.n_levels(), 3);
    let Model::Dictionary(_, training) = resumed("online_f32", &online_recipe()) else { panic!("another kind") };
    assert_eq!(training.objective.len(), 3);
}

fn checkpoint_samples() -> Matrix<f32> {
    Matrix::from_fn(5, 40, |r, i| ((r * 7 + i * 5 + r * i) % 13) as f32 / 4.0 - 1.375)
}

fn levels_recipe() -> Recipe {
    Recipe { n_atoms: 4, n_models: 2, n_levels: 3, seed: 3, ..Recipe::new(Method::ExMld) }
}

fn online_recipe() -> Recipe {
    Recipe { n_atoms: 4, max_iterations: 3, seed: 3, ..Recipe::new(Method::Online) }
}

/// Makes the files anew: for the day the format gets another version, which then has a folder of its own.
#[test]
#[ignore = "writes to the sources; version 1 stays as it is"]
fn write_the_files() {
    model_file::save(old_file("ensemble_f32"), &ensemble::<f32>(), &record()).unwrap();
    model_file::save(old_file("dictionary_f64"), (&dictionary::<f64>(), &training()), &record()).unwrap();
    let samples = checkpoint_samples();
    let set = TrainingSet::new(samples.view());
    for (name, recipe) in [("checkpoint_f32", levels_recipe()), ("online_f32", online_recipe())] {
        let record = Record::of(&recipe, set, "a pattern".into(), Run::default()).unwrap();
        let mut stop_after_the_second = |step: Step, so_far: &dyn Fn() -> Result<Model<f32>, Error>| {
            model_file::save_checkpoint(old_file(name), &so_far()?, &record)?;
            if step.number == 2 { Err(Error::Interrupted { done: 0, total: 0 }) } else { Ok(()) }
        };
        assert!(recipe.train(set, &mut stop_after_the_second, Run::default()).is_err());
    }
}
