//! Laws of recipes: every method trains, tells of its steps, and goes on where it was left.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use sparsemble::coding::Coder;
use sparsemble::degradation::Dense;
use sparsemble::ensemble::Validation;
use sparsemble::model_file::{self, Checkpoint, Record};
use sparsemble::recipe::{Method, Recipe, Step, ToKeep, TrainingSet};
use sparsemble::{Error, Matrix, Model, Result, Run, Scalar};

use crate::problems::Values;

/// A small recipe of each method; the coders differ.
fn recipes() -> Vec<Recipe> {
    let small = |method: Method| Recipe {
        n_atoms: 5,
        n_models: 4,
        n_levels: 4,
        max_iterations: 4,
        tolerance: 0.0,
        seed: 3,
        coder: match method {
            Method::KSvd => Coder::omp(2),
            Method::Online => "lasso:lambda=0.3,tolerance=0.001".parse().unwrap(),
            _ => Coder::lambda(0.3),
        },
        ..Recipe::new(method)
    };
    let mut recipes: Vec<Recipe> = Method::ALL.map(small).into();
    let validation = Some(Validation { fraction: 0.25, patience: 2 });
    recipes.push(Recipe { validation, coder: "one-sparse".parse().unwrap(), ..small(Method::BoostEx) });
    recipes
}

fn train<T: Scalar>(recipe: &Recipe, set: TrainingSet<'_, T>, run: Run<'_>) -> Result<(Model<T>, Vec<Step>)> {
    let mut steps = Vec::new();
    let trained = recipe.train(
        set,
        &mut |step, to_keep| {
            assert_eq!(to_keep.model()?.training().method, recipe.method.name());
            steps.push(step);
            Ok(())
        },
        run,
    )?;
    Ok((trained.model, steps))
}

fn bytes<T: Scalar>(model: &Model<T>) -> Vec<u8> {
    model_file::encode(model, &Record::default()).unwrap()
}

#[test]
fn every_method_trains_a_model_that_represents_samples_and_knows_how_it_was_made() {
    let samples: Matrix<f32> = Values::new(1).matrix(6, 300);
    for recipe in recipes() {
        let (model, steps) = train(&recipe, TrainingSet::new(samples.view()), Run::threads(1)).unwrap();
        let training = model.training();
        assert_eq!((training.method.as_str(), training.seed), (recipe.method.name(), 3));
        assert!(steps.iter().enumerate().all(|(i, step)| (step.number, step.of) == (i + 1, 4)), "{steps:?}");
        assert!(steps.len() >= 2, "{recipe:?}");
        assert_eq!(steps.iter().all(|step| step.error.is_some()), recipe.method != Method::RandExAv);

        assert_eq!(bytes(&train(&recipe, TrainingSet::new(samples.view()), Run::threads(3)).unwrap().0), bytes(&model));
        assert_eq!(model.atoms().columns(), model.n_atoms());
        if recipe.method == Method::Gaussians {
            let refused = model.transform(samples.view(), &Coder::omp(1), Run::default()).unwrap_err();
            assert!(refused.to_string().contains("has no sparse codes"));
            continue;
        }

        let coder = if recipe.method.has_levels() { Coder::omp(1) } else { model.coder().unwrap() };
        assert!(recipe.method.has_levels() || coder == recipe.coder);
        let coding = model.transform(samples.view(), &coder, Run::default()).unwrap();
        assert_eq!(coding.codes.n_atoms(), model.n_atoms());
        let values = model.approximate(samples.view(), &coder, Run::default()).unwrap().values;
        assert_eq!(model.reconstruct(&coding.codes, Run::default()).unwrap(), values);
        let energy = |matrix: &Matrix<f32>| matrix.as_slice().iter().map(|x| x * x).sum::<f32>();
        let left = Matrix::from_fn(6, 300, |r, c| samples.column(c)[r] - values.column(c)[r]);
        assert!(energy(&left) < 0.8 * energy(&samples), "{}", recipe.method);
    }
}

/// Leaves a run after a step, by a file, and goes on from there.
fn resumed_after<T: Scalar>(recipe: &Recipe, set: TrainingSet<'_, T>, number: usize) -> Option<Model<T>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let record = Record::of(recipe, set, "random".into(), Run::default()).unwrap();
    let mut checkpoint = Checkpoint::begin(&path, &record);
    let mut leave = |step: Step, to_keep: &ToKeep<'_, T>| {
        checkpoint.keep(to_keep)?;
        if step.number == number { Err(Error::Interrupted { done: 0, total: 0 }) } else { Ok(()) }
    };
    if recipe.train(set, &mut leave, Run::default()).is_ok() {
        return None; // it ended before that step
    }
    let (_, mut past) = Checkpoint::resume(&path, &record).unwrap();
    Some(recipe.resume(set, &mut past, &mut |_, _| Ok(()), Run::threads(1)).unwrap().model)
}

#[test]
fn a_run_left_after_any_step_goes_on_to_the_same_bits() {
    let samples: Matrix<f64> = Values::new(2).matrix(6, 300);
    let masses: Vec<f64> = (0..300).map(|i| f64::from(i % 4)).collect();
    let phi = Dense::new(Values::new(3).matrix(4, 6).view()).unwrap();
    for recipe in recipes() {
        let phi = recipe.method.boosts().then_some(&phi as &dyn sparsemble::degradation::Degradation<f64>);
        let set = TrainingSet { samples: samples.view(), masses: Some(&masses), phi, n_judged: None };
        let (whole, steps) = train(&recipe, set, Run::default()).unwrap();
        for number in 1..=steps.len() {
            let resumed = resumed_after(&recipe, set, number).unwrap();
            assert!(bytes(&resumed) == bytes(&whole), "{} after step {number}", recipe.method);
        }
    }
}

#[test]
fn a_run_may_be_continued_beyond_its_end_but_with_no_other_change() {
    let samples: Matrix<f32> = Values::new(4).matrix(6, 200);
    let set = TrainingSet::new(samples.view());
    let short = Recipe { n_atoms: 5, n_models: 2, ..Recipe::new(Method::BoostKm) };
    let record =
        |recipe: &Recipe, set: TrainingSet<'_, f32>| Record::of(recipe, set, "random".into(), Run::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let of_short = record(&short, set);
    let mut checkpoint = Checkpoint::begin(&path, &of_short);
    let ended = short.train(set, &mut |_, to_keep| checkpoint.keep(to_keep), Run::default()).unwrap().model;
    let loaded = model_file::load::<f32>(&path).unwrap();
    assert!(!loaded.complete && model_file::encode(&loaded.model, &of_short) == model_file::encode(&ended, &of_short));

    let long = Recipe { n_models: 4, ..short.clone() };
    loaded.expect_resumable(&record(&long, set)).unwrap();
    let refused = |recipe: &Recipe, set: TrainingSet<'_, f32>| {
        loaded.expect_resumable(&record(recipe, set)).unwrap_err().to_string()
    };
    let other_seed = Recipe { seed: 1, ..short.clone() };
    assert!(refused(&other_seed, set).starts_with("parameter = seed = 1: is not that of the checkpoint"));
    assert!(refused(&Recipe { coder: Coder::omp(2), ..short.clone() }, set).contains("coder = omp:sparsity=2"));
    assert!(refused(&Recipe { method: Method::BoostEx, ..short.clone() }, set).contains("method = boost-ex"));
    let validation = Some(Validation { fraction: 0.5, patience: 3 });
    assert!(refused(&Recipe { validation, ..short.clone() }, set).contains("validation_fraction = 0.5"));
    let others: Matrix<f32> = Values::new(5).matrix(6, 200);
    assert!(refused(&short, TrainingSet::new(others.view())).starts_with("samples = random: is not that"));
    assert!(refused(&short, TrainingSet { masses: Some(&[2.0; 200]), ..set }).starts_with("samples"));
    let complete = model_file::decode::<f32>(&model_file::encode(&ended, &record(&short, set)).unwrap()).unwrap();
    assert!(complete.expect_resumable(&record(&short, set)).is_err());

    let of_long = record(&long, set);
    let (_, mut past) = Checkpoint::resume(&path, &of_long).unwrap();
    let resumed = long.resume(set, &mut past, &mut |_, _| Ok(()), Run::default()).unwrap().model;
    assert!(bytes(&resumed) == bytes(&train(&long, set, Run::default()).unwrap().0));
}

#[test]
fn wrong_use_is_refused() {
    assert!(
        "boost"
            .parse::<Method>()
            .unwrap_err()
            .to_string()
            .contains("use one of alt-opt, mod, k-svd, online, rand-ex-av")
    );
    assert!(Method::ALL.into_iter().all(|method| method.to_string().parse() == Ok(method)));
    let samples: Matrix<f64> = Values::new(6).matrix(6, 50);
    let phi = Dense::new(Values::new(3).matrix(4, 6).view()).unwrap();
    let set = TrainingSet::new(samples.view());
    for recipe in recipes().into_iter().filter(|recipe| !recipe.method.boosts()) {
        let message = train(&recipe, TrainingSet { phi: Some(&phi), ..set }, Run::default()).unwrap_err().to_string();
        assert!(message.contains("leave phi out"), "{message}");
    }
    let [alt_opt, boost] = [Method::AltOpt, Method::BoostEx].map(|method| Recipe { n_atoms: 5, ..Recipe::new(method) });
    let dictionary = train(&alt_opt, set, Run::default()).unwrap().0;
    let mut past = [Ok(dictionary.into())].into_iter();
    let message = boost.resume(set, &mut past, &mut |_, _| Ok(()), Run::default()).unwrap_err().to_string();
    assert!(message.contains("was made by alt-opt"), "{message}");
    let no_coder = train(&Recipe::new(Method::ExMld), set, Run::default()).unwrap().0;
    assert!(no_coder.coder().is_err());
    let fail = train(&Recipe { n_atoms: 51, ..Recipe::new(Method::RandExAv) }, set, Run::default());
    assert!(matches!(fail, Err(Error::TooFewSamples { .. })));
    let failed = boost.train(set, &mut |_, _| Err(Error::Interrupted { done: 1, total: 2 }), Run::default());
    assert!(matches!(failed, Err(Error::Interrupted { done: 1, total: 2 })));
}
