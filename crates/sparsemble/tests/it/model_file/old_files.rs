//! Files written by earlier versions are read as long as there is a version that knows their format.
//!
//! The files in `golden/model_v1` were written by version 0.1.0 from the models below and are never written again: a test
//! that fails here means that users can no longer open their models.

use std::fs;
use std::path::{Path, PathBuf};

use sparsemble::coding::OneSparse;
use sparsemble::dictionary::Examples;
use sparsemble::ensemble::{Boost, SparseModel};
use sparsemble::model_file::{self, Loaded, Model};
use sparsemble::{Matrix, Run, Scalar};

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

#[test]
fn a_checkpoint_of_version_1_is_resumed() {
    let samples = checkpoint_samples();
    let (learner, coder) = (Examples { n_atoms: 4 }, OneSparse::default());
    let boost = Boost { n_models: 4, seed: 3, ..Boost::new(&learner, &coder) };
    let Model::Checkpoint(checkpoint) = load::<f32>("checkpoint_f32").model else { panic!("another kind") };
    assert_eq!(checkpoint.members().len(), 2);
    let mut resumed = checkpoint.resume(&boost, samples.view(), Run::default()).unwrap();
    assert_eq!(resumed.members(), checkpoint.members());
    while resumed.step(Run::default()).unwrap().is_some() {}
    assert_eq!(resumed.members().len(), 4);
}

fn checkpoint_samples() -> Matrix<f32> {
    Matrix::from_fn(5, 40, |r, i| ((r * 7 + i * 5 + r * i) % 13) as f32 / 4.0 - 1.375)
}
