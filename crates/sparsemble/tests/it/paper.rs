//! What the paper says of its ensembles (§II-B, §III-C), on small numbers of patches of the committed photographs.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::path::Path;

use sparsemble::coding::Lasso;
use sparsemble::dictionary::{AltOpt, Centers, Examples, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost, Ensemble, MemberGram, WeightConstraint};
use sparsemble::image::{self, GrayImage};
use sparsemble::patch::TrainingPatches;
use sparsemble::{Matrix, MatrixView, Run};

/// K and L; the paper has 256 to 2048 and 20.
const N_ATOMS: usize = 64;
const N_MODELS: usize = 8;

/// λ of the paper, for patches of unit norm.
fn coder() -> Lasso {
    Lasso::lambda(0.2)
}

fn photographs(names: &[&str]) -> Vec<GrayImage> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0");
    names.iter().map(|name| image::read(folder.join(name)).unwrap()).collect()
}

/// 8 × 8 patches to train on, and others of another photograph.
fn patches() -> (Matrix<f32>, Matrix<f32>) {
    let draw = |count| TrainingPatches { side: 8, count, unit_norm: true, ..TrainingPatches::default() };
    let training = draw(1200).draw(&photographs(&["chelsea.png", "coffee.png", "astronaut.png"])).unwrap();
    (training, draw(300).draw(&photographs(&["camera.png"])).unwrap())
}

fn averaged(learner: &dyn WeakLearner<f32>, training: MatrixView<'_, f32>) -> Ensemble<f32> {
    Averaging { n_models: N_MODELS, seed: 1, ..Averaging::new(learner) }.fit(training, Run::default()).unwrap()
}

fn boosted(learner: &dyn WeakLearner<f32>, training: MatrixView<'_, f32>) -> Ensemble<f32> {
    let coder = coder();
    let boost = Boost { n_models: N_MODELS, seed: 1, ..Boost::new(learner, &coder) };
    boost.fit(training, Run::default()).unwrap()
}

/// RandExAv, BoostEx and BoostKM.
fn ensembles(training: MatrixView<'_, f32>) -> [Ensemble<f32>; 3] {
    let (examples, centers) = (Examples { n_atoms: N_ATOMS }, Centers::new(N_ATOMS));
    [averaged(&examples, training), boosted(&examples, training), boosted(&centers, training)]
}

fn gram(ensemble: &Ensemble<f32>, samples: MatrixView<'_, f32>) -> MemberGram {
    ensemble.member_gram(samples, samples, None, &coder(), Run::default()).unwrap()
}

/// The mean error of the first members, with the weights they would have alone.
fn error_of_first(gram: &MemberGram, beta: &[f64], n_models: usize) -> f64 {
    let sum: f64 = beta[..n_models].iter().sum();
    let weight = |(l, weight): (usize, &f64)| if l < n_models { weight / sum } else { 0.0 };
    gram.residual(&beta.iter().enumerate().map(weight).collect::<Vec<_>>()).unwrap().powi(2)
}

#[test]
fn ensembles_are_better_than_their_best_member_and_gain_with_every_size() {
    let (training, test) = patches();
    let ensembles = ensembles(training.view());
    assert_eq!(
        ensembles.each_ref().map(|ensemble| &*ensemble.training().method),
        ["rand-ex-av", "boost-ex", "boost-km"]
    );
    for ensemble in &ensembles {
        for samples in [&training, &test] {
            let gram = gram(ensemble, samples.view());
            let best = (0..N_MODELS).map(|l| gram.member_residual(l).powi(2)).fold(f64::INFINITY, f64::min);
            let errors = [1, 2, 4, N_MODELS].map(|l| error_of_first(&gram, ensemble.beta(), l));
            let method = &ensemble.training().method;
            assert!(errors[3] < best, "{method}: {} of the best member {best}", errors[3]);
            assert!(errors.is_sorted_by(|fewer, more| more < fewer), "{method}: {errors:?}");
        }
    }
}

#[test]
fn boosted_centres_represent_the_training_patches_no_worse_than_random_examples() {
    let training = patches().0;
    let random = averaged(&Examples { n_atoms: N_ATOMS }, training.view());
    let random = error_of_first(&gram(&random, training.view()), random.beta(), N_MODELS);
    let boosted = boosted(&Centers::new(N_ATOMS), training.view());
    let boosted = boosted.training().curve[N_MODELS - 1].error;
    assert!(boosted <= random, "{boosted} for {random}");
}

#[test]
fn the_four_kinds_of_weights_are_in_their_order_and_below_the_best_member() {
    let (training, test) = patches();
    let ensemble = averaged(&Examples { n_atoms: N_ATOMS }, training.view());
    let cases = WeightConstraint::ALL;
    let oracle = ensemble.oracle_weights(test.view(), test.view(), &cases, &coder(), Run::default()).unwrap();
    let [free, nonnegative, affine, simplex] = [0, 1, 2, 3].map(|case| oracle[case].mean_squared_residual());
    assert!(free < nonnegative && free < affine && nonnegative < simplex && affine < simplex);
    // The best member of every single patch, which no real ensemble knows.
    let best = |case: usize| oracle[case].certificates.iter().map(|c| c.best_member.powi(2)).sum::<f64>() / 300.0;
    assert!(simplex < best(3), "{simplex} for {}", best(3));
}

#[test]
fn alternating_optimisation_improves_on_the_centres_it_starts_from() {
    let training = patches().0;
    let start = Centers::new(N_ATOMS).start(training.view(), None, 1, Run::default()).unwrap();
    let learner = AltOpt { max_iterations: 5, ..AltOpt::lambda(0.2) };
    let learned = learner.fit(training.view(), None, &start, Run::default()).unwrap();
    assert!(learned.curve[5] < 0.95 * learned.curve[0], "{:?}", learned.curve);
}
