//! Laws of the ensembles: what is combined is what the members say, and boosting does what §III-B promises.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use sparsemble::coding::{Coding, CodingBasis, Lasso, OneSparse, Pursuit, Samples, SparseCoder};
use sparsemble::degradation::{Degradation, Dense, Identity};
use sparsemble::dictionary::{Centers, Dictionary, Examples, WeakLearner};
use sparsemble::ensemble::{
    Averaging, Boost, BoostedRound, Boosting, Certificate, Ensemble, Round, SparseModel, Stop, Validation,
    WeightConstraint,
};
use sparsemble::{Draw, Error, Matrix, MatrixView, Result, Run, Scalar};

use crate::problems::{Values, cases, norm, to_f64};

type Coder<T> = dyn SparseCoder<T> + Sync;

/// Samples of a few kinds with noise, so that there is something to learn.
fn samples<T: Scalar>(seed: u64, n_features: usize, n_samples: usize) -> Matrix<T> {
    let mut values = Values::new(seed);
    let kinds: Matrix<f64> = values.matrix(n_features, 6);
    let mut samples = Matrix::zeros(n_features, n_samples);
    for i in 0..n_samples {
        let (kind, other, size) = (values.below(6), values.below(6), 0.3 + values.unit());
        for (r, x) in samples.column_mut(i).iter_mut().enumerate() {
            *x = T::from_f64(size * kinds.column(kind)[r] + 0.5 * kinds.column(other)[r] + 0.1 * values.normal());
        }
    }
    samples
}

fn coders<T: Scalar>() -> [Box<Coder<T>>; 3] {
    [Box::new(OneSparse::default()), Box::new(Lasso::lambda(0.5)), Box::new(Pursuit::omp(2))]
}

fn boost<'a, T: Scalar>(learner: &'a dyn WeakLearner<T>, coder: &'a Coder<T>, n_models: usize) -> Boost<'a, T> {
    Boost { n_models, seed: 3, ..Boost::new(learner, coder) }
}

fn finish<'a, T: Scalar>(mut boosting: Boosting<'a, T>, run: Run<'_>) -> Boosting<'a, T> {
    while boosting.step(run).unwrap().is_some() {}
    boosting
}

fn mean_error<T: Scalar>(samples: &Matrix<T>, approximations: &Matrix<T>) -> f64 {
    let error = |i: usize| {
        let residual = to_f64(samples.column(i)).into_iter().zip(to_f64(approximations.column(i))).map(|(a, b)| a - b);
        norm(&residual.collect::<Vec<_>>()).powi(2)
    };
    (0..samples.columns()).map(error).sum::<f64>() / samples.columns() as f64
}

fn assert_close<T: Scalar>(a: &Matrix<T>, b: &Matrix<T>, relative: f64) {
    let size = norm(&to_f64(a.as_slice()));
    let apart = to_f64(a.as_slice()).iter().zip(to_f64(b.as_slice())).map(|(a, b)| a - b).collect::<Vec<_>>();
    assert!(norm(&apart) <= relative * size, "{:e} apart of {size:e}", norm(&apart));
}

/// BoostEx and BoostKM.
fn the_laws_of_boosting<T: Scalar>(seed: u64, coder: &Coder<T>, phi: Option<&dyn Degradation<T>>) {
    the_laws_of_boosting_by(&Examples { n_atoms: 4 }, "boost-ex", seed, coder, phi);
    the_laws_of_boosting_by(&Centers::new(4), "boost-km", seed, coder, phi);
}

fn the_laws_of_boosting_by<T: Scalar>(
    learner: &dyn WeakLearner<T>,
    method: &str,
    seed: u64,
    coder: &Coder<T>,
    phi: Option<&dyn Degradation<T>>,
) {
    let samples = samples::<T>(seed, 6, 500);
    let boost = Boost { phi, ..boost(learner, coder, 6) };
    let mut boosting = boost.start(samples.view(), Run::default()).unwrap();
    while boosting.step(Run::threads(1)).unwrap().is_some() {
        assert!((boosting.masses().iter().sum::<f64>() - 1.0).abs() < 1e-12, "masses sum to one");
    }
    assert_eq!(boosting.stopped(), Some(Stop::AllRounds));
    let ensemble = boosting.ensemble().unwrap();
    let precision = 100.0 * T::EPSILON.to_f64();
    let training = ensemble.training();
    assert_eq!((&*training.method, &training.learner), (method, &learner.to_string()));
    assert_eq!(training.coder, coder.to_string());

    let curve = ensemble.training().curve.clone();
    assert_eq!(curve.len(), 6);
    assert!((curve[0].alpha - 1.0).abs() <= 0.0);
    assert!(curve.windows(2).all(|pair| pair[1].error <= pair[0].error * (1.0 + precision)), "never rises: {curve:?}");
    assert!(curve.iter().all(|round| curve[5].error <= round.member_error), "no worse than any member: {curve:?}");
    assert!((ensemble.beta().iter().sum::<f64>() - 1.0).abs() < 1e-12, "β sums to one");

    // The sequential form is the weighted sum, and its error is what the curve says.
    let (ensemble, inputs) = match phi {
        Some(phi) => (ensemble.degraded_by(phi).unwrap(), degraded(phi, &samples)),
        None => (ensemble, samples.clone()),
    };
    let combined = ensemble.approximate(inputs.view(), coder, Run::default()).unwrap();
    assert_close(&combined.values, &boosting.approximations().unwrap(), 1e3 * precision);
    assert!((mean_error(&samples, &combined.values) - curve[5].error).abs() <= 1e3 * precision * curve[0].error);

    // So is the error of every prefix, from one Gram matrix.
    let gram = ensemble.member_gram(inputs.view(), samples.view(), None, coder, Run::default()).unwrap();
    for (l, round) in curve.iter().enumerate() {
        assert!((gram.member_residual(l).powi(2) - round.member_error).abs() <= 1e3 * precision * curve[0].error);
    }
    let best = gram.weights(WeightConstraint::Affine);
    assert!(best.certificate.residual.powi(2) <= curve[5].error * (1.0 + 1e3 * precision), "greedy is not best");
    let shorter = ensemble.truncated(3).unwrap();
    let shorter = shorter.approximate(inputs.view(), coder, Run::default()).unwrap();
    assert!((mean_error(&samples, &shorter.values) - curve[2].error).abs() <= 1e3 * precision * curve[0].error);
}

fn degraded<T: Scalar>(phi: &dyn Degradation<T>, samples: &Matrix<T>) -> Matrix<T> {
    let mut out = Matrix::zeros(phi.n_measurements(), samples.columns());
    (0..samples.columns()).for_each(|i| phi.apply(samples.column(i), out.column_mut(i)));
    out
}

fn projection<T: Scalar>() -> Dense<T> {
    Dense::new(Values::new(77).matrix::<T>(4, 6).view()).unwrap()
}

#[test]
fn boosting_keeps_its_laws_with_every_coder() {
    for (number, coder) in coders::<f64>().iter().enumerate() {
        the_laws_of_boosting::<f64>(number as u64, coder.as_ref(), None);
    }
    for (number, coder) in coders::<f32>().iter().enumerate() {
        the_laws_of_boosting::<f32>(number as u64, coder.as_ref(), None);
    }
}

#[test]
fn boosting_keeps_its_laws_through_a_degradation() {
    for (number, coder) in coders::<f64>().iter().enumerate() {
        the_laws_of_boosting::<f64>(10 + number as u64, coder.as_ref(), Some(&projection()));
    }
}

/// Everything a training gives, as bits.
fn bits<T: Scalar>(boosting: &Boosting<'_, T>) -> (Vec<u64>, Vec<u64>) {
    let members = boosting.members().iter().flat_map(|member| to_f64(member.atoms().as_slice()));
    let approximations = boosting.approximations().unwrap();
    let values = members.chain(to_f64(approximations.as_slice())).map(f64::to_bits).collect();
    let rounds = boosting
        .curve()
        .iter()
        .flat_map(|r| [r.alpha, r.member_error, r.error, r.validation_error.unwrap_or(0.0)].map(f64::to_bits));
    (values, rounds.chain(boosting.masses().iter().map(|mass| mass.to_bits())).collect())
}

#[test]
fn the_identity_as_degradation_changes_no_bit() {
    let samples = samples::<f32>(1, 6, 450);
    for coder in coders::<f32>() {
        let learner = Examples { n_atoms: 5 };
        let plain = boost(&learner, coder.as_ref(), 4);
        let identity = Identity::new(6);
        let degraded = Boost { phi: Some(&identity), ..plain.clone() };
        let plain = finish(plain.start(samples.view(), Run::default()).unwrap(), Run::default());
        let degraded = finish(degraded.start(samples.view(), Run::default()).unwrap(), Run::default());
        assert_eq!(bits(&plain), bits(&degraded));
    }
}

#[test]
fn boosting_judges_by_the_features_it_is_told_to() {
    let samples = samples::<f64>(8, 6, 450);
    let (learner, coder) = (Examples { n_atoms: 5 }, OneSparse::default());
    let judged_by = |n_judged| Boost { n_judged, ..boost(&learner, &coder, 5) };
    let [all, six, two] = [None, Some(6), Some(2)].map(judged_by);
    let [all, six, two] =
        [&all, &six, &two].map(|boost| finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default()));
    assert_eq!(bits(&all), bits(&six));
    // The first dictionary is drawn before anything was judged; the next by errors of two features.
    assert_eq!(all.members()[0], two.members()[0]);
    assert_ne!(all.members()[1], two.members()[1]);
    let first_two = |matrix: &Matrix<f64>| Matrix::from_fn(2, 450, |r, i| matrix.column(i)[r]);
    let errors: Vec<f64> = two.curve().iter().map(|round| round.error).collect();
    assert!(errors.is_sorted_by(|before, after| after <= before), "{errors:?}");
    let left = mean_error(&first_two(&samples), &first_two(&two.approximations().unwrap()));
    assert!((left - errors[4]).abs() < 1e-12, "{left} for {}", errors[4]);
    // So are the masses of the next round, by the last member alone.
    let alone = SparseModel::plain(&two.members()[4]).unwrap();
    let alone = first_two(&alone.approximate(samples.view(), &coder, Run::default()).unwrap());
    let energy = |i: usize| {
        let pairs = alone.column(i).iter().zip(samples.column(i));
        pairs.map(|(made, x)| (x - made).powi(2)).sum::<f64>()
    };
    let total: f64 = (0..450).map(energy).sum();
    assert!((0..450).all(|i| (two.masses()[i] - energy(i) / total).abs() < 1e-12));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let samples = samples::<f32>(2, 6, 1500);
    let learner = Examples { n_atoms: 5 };
    let coder = Lasso::lambda(0.3);
    let boost = Boost { validation: Some(Validation { fraction: 0.2, patience: 9 }), ..boost(&learner, &coder, 4) };
    let [one, three] = [1, 3].map(|n| finish(boost.start(samples.view(), Run::default()).unwrap(), Run::threads(n)));
    assert_eq!(bits(&one), bits(&three));

    let ensemble = one.ensemble().unwrap();
    let [one, three] = [1, 3].map(|n| ensemble.approximate(samples.view(), &coder, Run::threads(n)).unwrap());
    assert_eq!(one, three);
    let [one, three] =
        [1, 3].map(|n| ensemble.member_gram(samples.view(), samples.view(), None, &coder, Run::threads(n)).unwrap());
    assert_eq!(one, three);
    let oracle =
        |n| ensemble.oracle_weights(samples.view(), samples.view(), &WeightConstraint::ALL, &coder, Run::threads(n));
    assert_eq!(oracle(1).unwrap(), oracle(3).unwrap());
}

#[test]
fn a_resumed_training_is_the_uninterrupted_one_bit_for_bit() {
    let samples = samples::<f64>(3, 6, 700);
    let learner = Examples { n_atoms: 5 };
    let coder = Lasso::lambda(0.4);
    let phi = projection();
    let validation = Some(Validation { fraction: 0.3, patience: 9 });
    let boost = Boost { phi: Some(&phi), validation, ..boost(&learner, &coder, 6) };
    let whole = finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default());
    for rounds in [0, 1, 4, 6] {
        let (left, past) = rounds_of(&boost, &samples, rounds);
        let resumed = boost.resume(samples.view(), &mut past.into_iter().map(Ok), Run::default()).unwrap();
        assert_eq!(bits(&left), bits(&resumed));
        let resumed = finish(resumed, Run::default());
        assert_eq!(bits(&whole), bits(&resumed));
        assert_eq!(whole.stopped(), resumed.stopped());
    }
    // Other data, even after one round, other codes and another validation are noticed.
    let others = self::samples::<f64>(4, 6, 700);
    let past = rounds_of(&boost, &samples, 6).1;
    let resume = |boost: &Boost<'_, f64>, samples: &Matrix<f64>, rounds: usize| {
        boost.resume(samples.view(), &mut past[..rounds].iter().cloned().map(Ok), Run::default()).map(drop)
    };
    assert!(resume(&boost, &samples, 1).is_ok());
    assert!(resume(&boost, &others, 1).is_err() && resume(&boost, &others, 6).is_err());
    let few = self::samples::<f64>(3, 6, 384);
    assert!(resume(&boost, &few, 1).is_err());
    let swapped = [0, 1].map(|i| BoostedRound { codes: past[1 - i].codes.clone(), ..past[i].clone() });
    assert!(boost.resume(samples.view(), &mut swapped.into_iter().map(Ok), Run::default()).is_err());
    let other = Some(Validation { fraction: 0.4, patience: 9 });
    assert!(resume(&Boost { validation: other, ..boost.clone() }, &samples, 1).is_err());
    assert!(resume(&Boost { validation: None, ..boost.clone() }, &samples, 1).is_err());
    assert!(resume(&Boost { n_models: 5, ..boost.clone() }, &samples, 6).is_err());
}

#[cfg(feature = "io")]
#[test]
fn what_is_put_aside_in_files_changes_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let samples = samples::<f64>(5, 6, 900);
    let learner = Examples { n_atoms: 5 };
    let validation = Some(Validation { fraction: 0.3, patience: 9 });
    for coder in coders::<f64>() {
        let boost = Boost { validation, ..boost(&learner, coder.as_ref(), 4) };
        let held = finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default());
        let run = Run::threads(3).scratch_in(folder.path(), 900 * 6 * 8 - 1);
        let mut aside = boost.start(samples.view(), run).unwrap();
        let (round, codes) = aside.step_with_codes(run).unwrap().unwrap();
        let done = BoostedRound { dictionary: aside.members()[0].clone(), round, codes };
        assert_eq!(bits(&held), bits(&finish(aside, run)));
        // The codes stay in their file for as long as they are kept, and go on in either place.
        for run in [run, Run::default()] {
            let again = boost.resume(samples.view(), &mut [Ok(done.clone())].into_iter(), run).unwrap();
            assert_eq!(bits(&held), bits(&finish(again, run)));
        }
    }
    // Nothing is seen of it, and a folder in which nothing can be written is told.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let (coder, nowhere) = (OneSparse::default(), folder.path().join("none"));
    let boost = boost(&learner, &coder, 4);
    let refused = boost.start(samples.view(), Run::default().scratch_in(&nowhere, 0)).err().unwrap();
    assert!(refused.to_string().contains("make its folder first"), "{refused}");
    assert!(boost.start(samples.view(), Run::default().scratch_in(&nowhere, 900 * 6 * 8)).is_ok());
}

/// A training left after so many rounds, and what is kept of them.
fn rounds_of<'a>(
    boost: &'a Boost<'a, f64>,
    samples: &'a Matrix<f64>,
    rounds: usize,
) -> (Boosting<'a, f64>, Vec<BoostedRound<f64>>) {
    let mut left = boost.start(samples.view(), Run::default()).unwrap();
    let mut past = Vec::new();
    for number in 0..rounds {
        let (round, codes) = left.step_with_codes(Run::default()).unwrap().unwrap();
        past.push(BoostedRound { dictionary: left.members()[number].clone(), round, codes });
    }
    (left, past)
}

/// A coder that counts the samples it is given.
#[derive(Debug)]
struct Counting(OneSparse, AtomicUsize);

impl std::fmt::Display for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl SparseCoder<f64> for Counting {
    fn encode(&self, basis: &CodingBasis<f64>, samples: &Samples<'_, f64>, run: Run<'_>) -> Result<Coding<f64>> {
        self.1.fetch_add(samples.count(), Ordering::Relaxed);
        self.0.encode(basis, samples, run)
    }
}

#[test]
fn rounds_that_are_done_are_not_coded_again() {
    let samples = samples::<f64>(3, 6, 700);
    let learner = Examples { n_atoms: 5 };
    let coder = Counting(OneSparse::default(), AtomicUsize::new(0));
    let boost = boost(&learner, &coder, 6);
    let past = rounds_of(&boost, &samples, 5).1;
    assert_eq!(coder.1.load(Ordering::Relaxed), 5 * 700);
    let resumed = boost.resume(samples.view(), &mut past.into_iter().map(Ok), Run::default()).unwrap();
    assert_eq!(coder.1.load(Ordering::Relaxed), 5 * 700);
    finish(resumed, Run::default());
    assert_eq!(coder.1.load(Ordering::Relaxed), 6 * 700);
}

#[test]
fn an_interrupted_step_changes_nothing_and_can_be_repeated() {
    let samples = samples::<f64>(5, 6, 2000);
    let learner = Examples { n_atoms: 5 };
    let coder = OneSparse::default();
    let boost = boost(&learner, &coder, 3);
    let mut boosting = boost.start(samples.view(), Run::default()).unwrap();
    boosting.step(Run::threads(1)).unwrap();
    let before = bits(&boosting);
    // While it learns, at the end of that, and while it codes: a step counts every sample twice.
    for most in [1000, 1999, 2500] {
        let stop = |done: usize, _: usize| if done > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let interrupted = boosting.step(Run::threads(1).on_progress(&stop));
        assert!(matches!(interrupted, Err(Error::Interrupted { done, total: 4000 }) if done > most), "{most}");
        assert_eq!(before, bits(&boosting));
    }
    let boosting = finish(boosting, Run::threads(1));
    assert_eq!(bits(&boosting), bits(&finish(boost.start(samples.view(), Run::default()).unwrap(), Run::threads(1))));
}

#[test]
fn boosting_turns_to_what_the_last_member_represents_badly() {
    // The masses are the energies of the residuals of the last member alone, not of the ensemble.
    let samples = samples::<f64>(7, 6, 400);
    let learner = Examples { n_atoms: 5 };
    let coder = OneSparse::default();
    let boost = boost(&learner, &coder, 3);
    let boosting = finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default());
    let last = SparseModel::plain(&boosting.members()[2]).unwrap();
    let approximations = last.approximate(samples.view(), &coder, Run::default()).unwrap();
    let energy = |i: usize| {
        let residual = samples.column(i).iter().zip(approximations.column(i)).map(|(x, c)| x - c);
        norm(&residual.collect::<Vec<_>>()).powi(2)
    };
    let total: f64 = (0..400).map(energy).sum();
    assert!((0..400).all(|i| (boosting.masses()[i] - energy(i) / total).abs() < 1e-12));
}

#[test]
fn each_alpha_is_the_quotient_of_equation_12_and_moves_the_approximation_by_equation_9() {
    let samples = samples::<f64>(8, 6, 300);
    let learner = Examples { n_atoms: 5 };
    let coder = OneSparse::default();
    let boost = boost(&learner, &coder, 4);
    let boosting = finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default());
    let mut now = Matrix::<f64>::zeros(6, 300);
    for (l, (member, round)) in boosting.members().iter().zip(boosting.curve()).enumerate() {
        let member = SparseModel::plain(member).unwrap().approximate(samples.view(), &coder, Run::default()).unwrap();
        let (mut above, mut below) = (0.0, 0.0);
        for ((&x, &c), &before) in samples.as_slice().iter().zip(member.as_slice()).zip(now.as_slice()) {
            above += (x - before) * (c - before);
            below += (c - before).powi(2);
        }
        // The first is fixed: X_1 = D_1A_1.
        let alpha = if l == 0 { 1.0 } else { above / below };
        assert!((round.alpha - alpha).abs() < 1e-12, "round {l}: {} is not {alpha}", round.alpha);
        let moved = |r: usize, i: usize| (1.0 - alpha) * now.column(i)[r] + alpha * member.column(i)[r];
        now = Matrix::from_fn(6, 300, moved);
    }
    assert_close(&now, &boosting.approximations().unwrap(), 1e-12);
}

#[test]
fn data_without_error_ends_the_training_at_once() {
    let kinds: Matrix<f32> = Values::new(8).matrix(5, 3);
    let samples = Matrix::from_fn(5, 90, |r, i| kinds.column(i % 3)[r] * (1 + i) as f32);
    let learner = Examples { n_atoms: 60 }; // two thirds of the samples: all three kinds
    let coder = OneSparse::default();
    let boost = boost(&learner, &coder, 5);
    let boosting = finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default());
    assert_eq!(boosting.stopped(), Some(Stop::NoErrorLeft));
    assert_eq!(boosting.ensemble().unwrap().beta(), [1.0]);
}

#[test]
fn too_few_samples_with_an_error_end_the_training() {
    // Two samples span the first feature's line and are exact; the third is not drawn at first or is drawn alone.
    let samples = Matrix::from_columns(vec![1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 1.0, 1.0], 2, 4).unwrap();
    let learner = Examples { n_atoms: 2 };
    let coder = OneSparse::default();
    let stops = (0..20).map(|seed| {
        let boost = Boost { seed, ..boost::<f64>(&learner, &coder, 9) };
        finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default()).stopped().unwrap()
    });
    let stops: Vec<Stop> = stops.collect();
    assert!(stops.contains(&Stop::TooFewSamplesLeft) && stops.contains(&Stop::NoErrorLeft), "{stops:?}");
}

#[test]
fn a_validation_split_stops_early_and_keeps_the_best_round() {
    // Few noisy samples and many rounds: what is held out soon gains nothing.
    let samples: Matrix<f64> = Values::new(9).matrix(8, 60);
    let learner = Examples { n_atoms: 3 };
    let coder = OneSparse::default();
    let validation = Some(Validation { fraction: 0.5, patience: 2 });
    let boost = Boost { validation, ..boost(&learner, &coder, 60) };
    let boosting = finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default());
    let curve = boosting.curve();
    let held_out = |round: &Round| round.validation_error.unwrap();
    let best = curve.iter().map(held_out).fold(f64::INFINITY, f64::min);
    assert_eq!(boosting.stopped(), Some(Stop::Validation));
    assert_eq!(curve.len(), boosting.best_round() + 2);
    assert!((held_out(&curve[boosting.best_round() - 1]) - best).abs() <= 0.0);
    let ensemble = boosting.ensemble().unwrap();
    assert_eq!((ensemble.n_models(), ensemble.training().curve.len()), (boosting.best_round(), curve.len()));
    assert!((ensemble.beta().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    // No held-out sample was an atom: what was ever drawn is at most the other half.
    let mut drawn: Vec<usize> =
        boosting.members().iter().flat_map(|member| member.sources().unwrap().to_vec()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert!(drawn.len() <= 30);
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn integer_masses_are_repeated_samples(seed: u64) {
        let samples = samples::<f64>(seed, 5, 60);
        let mut values = Values::new(seed);
        let masses: Vec<f64> = (0..60).map(|_| values.below(4) as f64).collect();
        let copies: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, masses[i] as usize)).collect();
        let repeated = Matrix::from_fn(5, copies.len(), |r, c| samples.column(copies[c])[r]);
        let coder = OneSparse::default();
        // The learner does not know of copies, so both trainings are given the same dictionaries.
        let dictionaries: Vec<_> = (0..4).map(|_| Dictionary::new(values.matrix(5, 7)).unwrap()).collect();
        let learner = Given(dictionaries);
        let curve = |samples: &Matrix<f64>, masses: Option<&[f64]>| {
            let boost = Boost { masses, n_models: 4, ..Boost::new(&learner, &coder) };
            finish(boost.start(samples.view(), Run::default()).unwrap(), Run::default()).curve().to_vec()
        };
        for (a, b) in curve(&samples, Some(&masses)).iter().zip(curve(&repeated, None)) {
            prop_assert!((a.alpha - b.alpha).abs() < 1e-9 && (a.error - b.error).abs() < 1e-9 * b.error);
            prop_assert!((a.member_error - b.member_error).abs() < 1e-9 * b.member_error);
        }
    }

    #[test]
    fn an_average_is_the_average_by_hand(seed: u64, n_models in 1_usize..5) {
        let samples = samples::<f64>(seed, 6, 400);
        let learner = Examples { n_atoms: 5 };
        let coder = Lasso::lambda(0.3);
        let averaging = Averaging { n_models, seed, ..Averaging::new(&learner) };
        let ensemble = averaging.fit(samples.view(), Run::default()).unwrap();
        prop_assert_eq!(&ensemble.training().method, "rand-ex-av");
        let combined = ensemble.approximate(samples.view(), &coder, Run::default()).unwrap();
        let members: Vec<Matrix<f64>> = ensemble
            .models()
            .iter()
            .map(|model| model.approximate(samples.view(), &coder, Run::default()).unwrap())
            .collect();
        let average = |r: usize, i: usize| members.iter().map(|m| m.column(i)[r]).sum::<f64>() / n_models as f64;
        assert_close(&combined.values, &Matrix::from_fn(6, 400, average), 1e-13);
        for i in 0..400 {
            let apart = |m: &Matrix<f64>| (0..6).map(|r| (m.column(i)[r] - average(r, i)).powi(2)).sum::<f64>();
            let spread = (members.iter().map(apart).sum::<f64>() / n_models as f64).sqrt();
            prop_assert!(combined.spread.as_ref().map_or(n_models == 1, |all| (all[i] - spread).abs() < 1e-9));
        }
        // The error of the average is at most the average of the errors (Jensen).
        let errors = members.iter().map(|member| mean_error(&samples, member)).sum::<f64>() / n_models as f64;
        prop_assert!(mean_error(&samples, &combined.values) <= errors * (1.0 + 1e-12));
        let [codes, again] = [1, 3].map(|n| ensemble.transform(samples.view(), &coder, Run::threads(n)).unwrap());
        prop_assert_eq!(&codes, &again);
        prop_assert_eq!(codes.codes.n_atoms(), 5 * n_models);
        prop_assert_eq!(ensemble.reconstruct(&codes.codes, Run::default()).unwrap(), combined.values);
    }
}

/// A dictionary for each round.
#[derive(Debug)]
struct Given(Vec<Dictionary<f64>>);

impl std::fmt::Display for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("given")
    }
}

impl WeakLearner<f64> for Given {
    fn name(&self) -> &'static str {
        "given"
    }

    fn fit(&self, _: MatrixView<'_, f64>, _: &[f64], draw: Draw, _: Run<'_>) -> Result<Dictionary<f64>> {
        Ok(self.0[draw.round as usize].clone())
    }
}

#[test]
fn a_member_that_says_nothing_new_gets_no_weight() {
    let dictionary = Dictionary::new(Values::new(10).matrix(5, 7)).unwrap();
    let learner = Given(vec![dictionary.clone(), dictionary.clone(), dictionary]);
    let coder = OneSparse::default();
    let boost = Boost { n_models: 3, ..Boost::new(&learner, &coder) };
    let ensemble = boost.fit(samples(11, 5, 100).view(), Run::default()).unwrap();
    assert_eq!(ensemble.beta(), [1.0, 0.0, 0.0]);
}

#[test]
fn oracle_weights_beat_shared_ones_and_both_keep_the_bound() {
    let samples = samples::<f32>(12, 6, 900);
    let learner = Examples { n_atoms: 5 };
    let coder = OneSparse::default();
    let ensemble = Averaging { n_models: 6, ..Averaging::new(&learner) }.fit(samples.view(), Run::default()).unwrap();
    let view = samples.view();
    let oracle = ensemble.oracle_weights(view, view, &WeightConstraint::ALL, &coder, Run::default()).unwrap();
    let gram = ensemble.member_gram(view, view, None, &coder, Run::default()).unwrap();
    let average = gram.residual(ensemble.beta()).unwrap();
    for case in &oracle {
        let shared = gram.weights(case.constraint);
        assert!(case.certificates.iter().all(Certificate::holds));
        assert!(shared.certificate.holds() && shared.certificate.residual <= average * (1.0 + 1e-12));
        assert!(case.mean_squared_residual() <= shared.certificate.residual.powi(2) * (1.0 + 1e-9));
    }
    // With the shared weights in place the ensemble has the error they promise.
    let shared = gram.weights(WeightConstraint::Simplex);
    let ensemble = ensemble.with_beta(shared.beta.clone()).unwrap();
    let combined = ensemble.approximate(view, &coder, Run::default()).unwrap();
    assert!((mean_error(&samples, &combined.values).sqrt() - shared.certificate.residual).abs() < 1e-4);
}

fn refused<R>(result: Result<R>, words: &str) {
    let message = result.err().expect("an error").to_string();
    assert!(message.contains(words), "{message:?} does not say {words:?}");
}

#[test]
fn what_cannot_be_trained_is_refused_with_a_reason() {
    let samples = samples::<f64>(13, 6, 40);
    let learner = Examples { n_atoms: 5 };
    let coder = OneSparse::default();
    let good = boost::<f64>(&learner, &coder, 3);
    let train = |boost: Boost<'_, f64>| boost.fit(samples.view(), Run::default());
    refused(train(Boost { n_models: 0, ..good.clone() }), "n_models = 0");
    refused(train(Boost { masses: Some(&[1.0]), ..good.clone() }), "masses: number of samples");
    refused(train(Boost { masses: Some(&[0.0; 40]), ..good.clone() }), "masses: sum");
    refused(train(Boost { masses: Some(&[-1.0; 40]), ..good.clone() }), "masses = -1");
    refused(train(Boost { phi: Some(&Identity::new(5)), ..good.clone() }), "phi: number of features");
    refused(train(Boost { n_judged: Some(0), ..good.clone() }), "n_judged = 0");
    refused(train(Boost { n_judged: Some(7), ..good.clone() }), "n_judged = 7");
    let split = |fraction, patience| Some(Validation { fraction, patience });
    refused(train(Boost { validation: split(1.0, 1), ..good.clone() }), "validation fraction = 1");
    refused(train(Boost { validation: split(0.5, 0), ..good.clone() }), "validation patience = 0");
    refused(train(Boost { validation: split(0.001, 1), ..good.clone() }), "hold out");
    refused(train(Boost { learner: &Examples { n_atoms: 41 }, ..good.clone() }), "needed 41, found 40");
    refused(good.fit(Matrix::zeros(6, 0).view(), Run::default()), "samples is empty");
    refused(good.start(samples.view(), Run::default()).unwrap().ensemble(), "ensemble is empty");

    let wide = Given(vec![Dictionary::new(Values::new(1).matrix(7, 2)).unwrap()]);
    refused(train(Boost { learner: &wide, ..good.clone() }), "dictionary: number of features");
    // A value that is not a number is found where it is, whatever Φ makes of it.
    let fitting = Given(vec![Dictionary::new(Values::new(1).matrix(6, 2)).unwrap()]);
    let mut bad = self::samples::<f64>(13, 6, 500);
    bad.column_mut(450)[2] = f64::NAN;
    let phi = projection();
    let result = Boost { learner: &fitting, phi: Some(&phi), ..good.clone() }.fit(bad.view(), Run::default());
    refused(result, "row 2, column 450");
    let mut bad = self::samples::<f64>(13, 6, 40);
    bad.column_mut(4)[2] = 1e200;
    refused(Boost { learner: &fitting, ..good }.fit(bad.view(), Run::default()), "scale the data");
}

#[test]
fn what_cannot_be_combined_is_refused_with_a_reason() {
    let model = |n_features, seed| {
        SparseModel::plain(&Dictionary::<f64>::new(Values::new(seed).matrix(n_features, 3)).unwrap()).unwrap()
    };
    refused(Ensemble::<f64>::new(Vec::new(), Vec::new()), "ensemble is empty");
    refused(Ensemble::new(vec![model(4, 1), model(5, 2)], vec![0.5, 0.5]), "expected 4, found 5");
    refused(Ensemble::new(vec![model(4, 1)], vec![0.5, 0.5]), "beta: number of models");
    refused(Ensemble::new(vec![model(4, 1)], vec![f64::NAN]), "beta = NaN");
    let ensemble = Ensemble::new(vec![model(4, 1), model(4, 2)], vec![0.5, -0.5]).unwrap();
    let (four, five) = (Matrix::zeros(4, 2), Matrix::zeros(5, 2));
    let coder = OneSparse::default();
    refused(ensemble.approximate(five.view(), &coder, Run::default()), "samples: number of features");
    refused(ensemble.member_gram(four.view(), five.view(), None, &coder, Run::default()), "targets");
    refused(ensemble.degraded_by(&Identity::new(5)), "degradation: number of features");
    let one =
        Ensemble::new(vec![model(4, 1)], vec![1.0]).unwrap().transform(four.view(), &coder, Run::default()).unwrap();
    refused(ensemble.reconstruct(&one.codes, Run::default()), "codes: number of atoms");
    refused(
        Averaging { n_models: 0, ..Averaging::new(&Examples { n_atoms: 2 }) }.fit(four.view(), Run::default()),
        "n_models = 0",
    );
    refused(ensemble.truncated(2), "sum to zero");
}
