//! Checkpoints: files that grow step by step, are cut anywhere, and never lose a step that was whole.

use std::fs;
use std::path::{Path, PathBuf};

use sparsemble::coding::Coder;
use sparsemble::model_file::{self, Checkpoint, Kind, Record};
use sparsemble::recipe::{Method, Recipe, Step, ToKeep, TrainingSet};
use sparsemble::{Error, Matrix, Run};

use crate::problems::Values;

/// More samples than fit into one strip.
fn samples() -> Matrix<f32> {
    Values::new(7).matrix(6, 500)
}

fn recipe(method: Method) -> Recipe {
    Recipe { n_atoms: 5, n_models: 4, n_levels: 4, seed: 3, coder: Coder::lambda(0.3), ..Recipe::new(method) }
}

fn record(recipe: &Recipe, samples: &Matrix<f32>) -> Record<f32> {
    Record::of(recipe, TrainingSet::new(samples.view()), "random".into(), Run::default()).unwrap()
}

/// The bytes of the model, and those of the checkpoint after each step.
fn trained(recipe: &Recipe, path: &Path) -> (Vec<u8>, Vec<Vec<u8>>) {
    trained_by(recipe, path, Run::default())
}

fn trained_by(recipe: &Recipe, path: &Path, run: Run<'_>) -> (Vec<u8>, Vec<Vec<u8>>) {
    let samples = samples();
    let (record, mut files) = (record(recipe, &samples), Vec::new());
    let mut checkpoint = Checkpoint::begin(path, &record);
    let mut keep = |_: Step, to_keep: &ToKeep<'_, f32>| {
        checkpoint.keep(to_keep)?;
        files.push(fs::read(path).unwrap());
        Ok(())
    };
    let model = recipe.train(TrainingSet::new(samples.view()), &mut keep, run).unwrap().model;
    (model_file::encode(&model, &record).unwrap(), files)
}

/// Goes on from a file; the bytes of the model, how many steps were known, and those of the checkpoint at the end.
fn resumed(recipe: &Recipe, path: &Path) -> Result<(Vec<u8>, usize, Vec<u8>), Error> {
    let samples = samples();
    let record = record(recipe, &samples);
    let (mut checkpoint, mut past) = Checkpoint::resume(path, &record)?;
    let known = past.len();
    let mut keep = |_: Step, to_keep: &ToKeep<'_, f32>| checkpoint.keep(to_keep);
    let model = recipe.resume(TrainingSet::new(samples.view()), &mut past, &mut keep, Run::default())?.model;
    Ok((model_file::encode(&model, &record)?, known, fs::read(path).unwrap()))
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    (folder, path)
}

#[test]
fn a_member_is_written_behind_the_others_and_never_again() {
    let (_folder, path) = place();
    for method in [Method::RandExAv, Method::BoostEx, Method::BoostKm] {
        let (_, files) = trained(&recipe(method), &path);
        assert_eq!(files.len(), 4);
        assert!(files.windows(2).all(|pair| pair[1].len() > pair[0].len() && pair[1].starts_with(&pair[0])));
    }
    // What is no member takes the place of the file.
    let (_, files) = trained(&recipe(Method::ExMld), &path);
    let growth = |i: usize| files[i].len() - files[i - 1].len();
    assert!(growth(1).abs_diff(growth(3)) < 100 && 2 * growth(1) < files[0].len());
}

#[test]
fn a_file_that_is_cut_anywhere_goes_on_from_its_whole_steps() {
    let (_folder, path) = place();
    let recipe = recipe(Method::BoostEx);
    let (model, files) = trained(&recipe, &path);
    let ends: Vec<usize> = files.iter().map(Vec::len).collect();
    // Each end and the bytes around it, places within the lengths, the model and the codes.
    let around = ends.iter().flat_map(|&end| [end.saturating_sub(1), end, end + 1, end + 15, end + 16, end + 17]);
    let cuts = around.chain((ends[0]..ends[3]).step_by(1701)).filter(|cut| (ends[0]..=ends[3]).contains(cut));
    for cut in cuts {
        fs::write(&path, &files[3][..cut]).unwrap();
        let (again, known, whole) = resumed(&recipe, &path).unwrap();
        assert_eq!(known, ends.iter().filter(|end| **end <= cut).count(), "cut at {cut} of {ends:?}");
        assert!(again == model && whole == files[3], "cut at {cut} of {ends:?}");
    }
    // A first step that is not whole, which no kill leaves behind, is told.
    for cut in [0, 5, 8, 9, 30, ends[0] - 1] {
        fs::write(&path, &files[3][..cut]).unwrap();
        let message = resumed(&recipe, &path).unwrap_err().to_string();
        assert!(message.contains("begin anew"), "{message}");
    }
}

#[test]
fn codes_that_were_put_aside_are_kept_as_those_in_memory() {
    let (folder, path) = place();
    for method in [Method::BoostEx, Method::BoostKm] {
        let recipe = recipe(method);
        let (model, files) = trained(&recipe, &path);
        let (again, aside) = trained_by(&recipe, &path, Run::threads(2).scratch_in(folder.path(), 0));
        assert!(again == model && aside == files);
    }
}

#[test]
fn a_step_that_was_changed_is_not_gone_on_from() {
    let (_folder, path) = place();
    let recipe = recipe(Method::BoostKm);
    let (model, files) = trained(&recipe, &path);
    let ends: Vec<usize> = files.iter().map(Vec::len).collect();
    for place in (ends[0]..ends[3]).step_by(997).chain([ends[1], ends[2] + 8, ends[3] - 1]) {
        let mut changed = files[3].clone();
        changed[place] ^= 0x41;
        fs::write(&path, &changed).unwrap();
        let (again, known, _) = resumed(&recipe, &path).unwrap();
        assert_eq!(known, ends.iter().filter(|end| **end <= place).count(), "changed at {place} of {ends:?}");
        assert!(again == model, "changed at {place}");
    }
    // Zeros, as a failing machine may leave them.
    fs::write(&path, [&files[1][..], &[0; 4096]].concat()).unwrap();
    assert_eq!(resumed(&recipe, &path).unwrap().1, 2);
}

#[test]
fn another_run_s_checkpoint_is_refused_before_anything_is_done() {
    let (_folder, path) = place();
    let boost = recipe(Method::BoostEx);
    trained(&boost, &path);
    let refused = |recipe: &Recipe| resumed(recipe, &path).unwrap_err().to_string();
    assert!(refused(&Recipe { seed: 4, ..boost.clone() }).contains("seed = 4: is not that of the checkpoint"));
    assert!(refused(&recipe(Method::RandExAv)).contains("method = rand-ex-av: is not that of the checkpoint"));
    for method in [Method::RandExAv, Method::BoostEx] {
        trained(&recipe(method), &path);
        let fewer = Recipe { n_models: 3, ..recipe(method) };
        assert!(refused(&fewer).contains("is less than the members there already are"));
    }
    let (few, set) = (Matrix::from_fn(6, 400, |r, i| (r + i) as f32), record(&boost, &samples()));
    let of_few = Record { data: record(&boost, &few).data, ..set };
    assert!(Checkpoint::resume(&path, &of_few).unwrap_err().to_string().contains("samples = random: is not that"));
    let double = Record::<f64>::default();
    assert!(Checkpoint::resume(&path, &double).unwrap_err().to_string().contains("load it as float32"));

    let model = path.with_file_name("model");
    let loaded = model_file::load::<f32>(&path).unwrap();
    model_file::save(&model, &loaded.model, &loaded.record).unwrap();
    for file in [&model, Path::new("Cargo.toml")] {
        let message = Checkpoint::resume(file, &loaded.record).unwrap_err().to_string();
        assert!(message.contains("this is no checkpoint of this version"), "{message}");
    }
    assert!(matches!(Checkpoint::resume(path.with_file_name("none"), &loaded.record), Err(Error::Io { .. })));
}

#[test]
fn a_checkpoint_is_read_as_the_model_so_far() {
    let (_folder, path) = place();
    for (method, kind) in [
        (Method::BoostEx, Kind::Ensemble),
        (Method::RandExAv, Kind::Ensemble),
        (Method::ExMld, Kind::Multilevel),
        (Method::AltOpt, Kind::Dictionary),
        (Method::Online, Kind::Online),
        (Method::Gaussians, Kind::Gaussians),
    ] {
        let recipe = Recipe { max_iterations: 3, ..recipe(method) };
        let (model, files) = trained(&recipe, &path);
        let about = model_file::inspect(&path).unwrap();
        assert_eq!((about.kind, about.complete, about.dtype), (kind, false, "float32"));
        let loaded = model_file::load::<f32>(&path).unwrap();
        assert!(!loaded.complete && loaded.model.training().method == method.name());
        // All members are there after the last step.
        if method.has_models() || method.has_levels() {
            assert_eq!(model_file::encode(&loaded.model, &loaded.record).unwrap(), model, "{method}");
            fs::write(&path, &files[1]).unwrap();
            assert_eq!(2 * model_file::load::<f32>(&path).unwrap().model.n_atoms(), loaded.model.n_atoms());
        }
        assert!(model_file::load::<f64>(&path).unwrap_err().to_string().contains("load it as float32"));
    }
}

#[test]
fn a_step_that_cannot_be_written_leaves_those_before_it() {
    let (_folder, path) = place();
    let (recipe, samples) = (recipe(Method::BoostEx), samples());
    let (model, files) = trained(&recipe, &path);
    let record = record(&recipe, &samples);
    fs::remove_file(&path).unwrap();
    let mut checkpoint = Checkpoint::begin(&path, &record);
    let mut keep = |step: Step, to_keep: &ToKeep<'_, f32>| {
        if step.number == 3 {
            // Another program shortens the file: the place of the next step is no longer there.
            fs::write(&path, &files[0]).unwrap();
        }
        checkpoint.keep(to_keep)
    };
    let failed = recipe.train(TrainingSet::new(samples.view()), &mut keep, Run::default()).unwrap_err();
    assert!(matches!(failed, Error::Io { action: "write", .. }), "{failed}");
    let (again, known, _) = resumed(&recipe, &path).unwrap();
    assert!(known == 1 && again == model);
}
