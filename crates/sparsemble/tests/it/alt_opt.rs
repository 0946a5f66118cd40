//! Laws of dictionary learning: what may never rise, what masses mean, and what must not matter.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use sparsemble::coding::{Coder, CodingBasis, Lasso, Penalty, Pursuit, Samples, SparseCoder};
use sparsemble::dictionary::{
    AltOpt, AtomUpdate, BatchOrder, Centers, Dictionary, Examples, Learned, OnlineAltOpt, OnlineLearner, WeakLearner,
};
use sparsemble::image::{GrayImage, Size};
use sparsemble::patch::TrainingPatches;
use sparsemble::{Error, Matrix, MatrixView, Run, Scalar};

use crate::problems::{Values, cases, columns, dot, norm, to_f64};

/// Block coordinate descent on Eq. (1), with codes as exact as the type allows.
fn descent<T: Scalar>(lambda: f64, iterations: usize) -> AltOpt {
    let tolerance = if T::EPSILON.to_f64() > 1e-10 { 1e-6 } else { 1e-11 };
    let coder = Coder::Lasso(Lasso { tolerance, ..Lasso::lambda(lambda) });
    AltOpt { coder, max_iterations: iterations, tolerance: 0.0, ..AltOpt::default() }
}

fn fit<T: Scalar>(learner: &AltOpt, samples: &Matrix<T>, start: &Dictionary<T>) -> Learned<T> {
    learner.fit(samples.view(), None, start, Run::threads(1)).unwrap()
}

fn fit_masses<T: Scalar>(learner: &AltOpt, samples: &Matrix<T>, masses: &[f64], start: &Dictionary<T>) -> Learned<T> {
    learner.fit(samples.view(), Some(masses), start, Run::threads(1)).unwrap()
}

/// Arbitrary samples and a start that has nothing to do with them.
fn random<T: Scalar>(seed: u64, (n_features, n_atoms, n_samples): (usize, usize, usize)) -> (Matrix<T>, Dictionary<T>) {
    let mut values = Values::new(seed);
    let samples = values.matrix(n_features, n_samples);
    (samples, Dictionary::new(values.matrix(n_features, n_atoms)).unwrap())
}

/// Patches of a picture with edges and waves, of unit norm, the last of them as the start.
fn patches<T: Scalar>(count: usize, n_atoms: usize) -> (Matrix<T>, Dictionary<T>) {
    let size = Size { width: 128, height: 128 };
    let picture = GrayImage::from_fn(size, |row, column| {
        let (r, c) = (row as f64, column as f64);
        let edge = if (r - 40.0) * 0.7 + c > 70.0 { 60.0 } else { 0.0 };
        120.0 + edge + 30.0 * (0.05 * r * (1.0 + 0.02 * c)).sin() + 20.0 * (0.9 * c + 0.3 * r).cos()
    });
    let draw = TrainingPatches { side: 6, count: count + n_atoms, unit_norm: true, ..TrainingPatches::default() };
    let all = draw.draw::<T>(&[picture.unwrap()]).unwrap();
    let samples = columns(&all, &(0..count).collect::<Vec<_>>());
    let start = columns(&all, &(count..count + n_atoms).collect::<Vec<_>>());
    (samples, Dictionary::new(start).unwrap())
}

/// Σ p·h(x, D) by the coder itself and plain arithmetic.
fn objective<T: Scalar>(samples: &Matrix<T>, dictionary: &Dictionary<T>, lambda: f64) -> f64 {
    let basis = CodingBasis::new(dictionary.view()).unwrap();
    let coding = Lasso::lambda(lambda).encode(&basis, &Samples::new(samples.view()), Run::threads(1)).unwrap();
    let mut sum = 0.0;
    for i in 0..samples.columns() {
        let mut residual = to_f64(samples.column(i));
        for (j, a) in coding.codes.column(i) {
            let atom = to_f64(dictionary.atoms().column(j));
            residual.iter_mut().zip(atom).for_each(|(r, d)| *r -= a.to_f64() * d);
            sum += lambda * a.to_f64().abs();
        }
        sum += dot(&residual, &residual);
    }
    sum / samples.columns() as f64
}

fn assert_unit_norms<T: Scalar>(dictionary: &Dictionary<T>) {
    for j in 0..dictionary.n_atoms() {
        let norm = norm(&to_f64(dictionary.atoms().column(j)));
        assert!((norm - 1.0).abs() < 4.0 * T::EPSILON.to_f64(), "atom {j} of {}: {norm}", T::NAME);
    }
}

fn furthest<T: Scalar>(a: &Dictionary<T>, b: &Dictionary<T>) -> f64 {
    let pairs = a.atoms().as_slice().iter().zip(b.atoms().as_slice());
    pairs.map(|(a, b)| (a.to_f64() - b.to_f64()).abs()).fold(0.0, f64::max)
}

fn assert_never_rises<T: Scalar>(curve: &[f64], slack: f64) {
    for (i, pair) in curve.windows(2).enumerate() {
        assert!(pair[1] <= pair[0] * (1.0 + slack), "{}, iteration {i}: {} to {}", T::NAME, pair[0], pair[1]);
    }
}

fn descent_descends<T: Scalar>((samples, start): (Matrix<T>, Dictionary<T>), lambda: f64, slack: f64) {
    let learned = fit(&descent::<T>(lambda, 8), &samples, &start);
    assert_eq!(learned.curve.len(), learned.iterations + 1);
    assert_never_rises::<T>(&learned.curve, slack);
    assert_unit_norms(&learned.dictionary);
    let judged = objective(&samples, &learned.dictionary, lambda);
    let last = *learned.curve.last().unwrap();
    assert!((last - judged).abs() < 1e-4 * judged, "{}: the curve ends at {last}, not {judged}", T::NAME);
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn the_objective_never_rises_on_random_samples(
        seed: u64, n_features in 2_usize..20, n_atoms in 1_usize..40, n_samples in 1_usize..120, lambda in 0.05_f64..2.0,
    ) {
        let size = (n_features, n_atoms, n_samples);
        descent_descends(random::<f64>(seed, size), lambda, 1e-9);
        descent_descends(random::<f32>(seed, size), lambda, 1e-5);
    }

    #[test]
    fn integer_masses_are_repeated_samples(seed: u64, n_atoms in 2_usize..12, n_dead in 0_usize..4) {
        let (mut samples, start) = random::<f64>(seed, (7, n_atoms, 30));
        // Atoms of which neither a sample nor another atom has anything: they are dead, and replaced.
        (0..30).for_each(|i| samples.column_mut(i)[6] = 0.0);
        let mut start = start.atoms().clone();
        (0..n_atoms).for_each(|j| start.column_mut(j)[6] = 0.0);
        let nothing = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        (0..n_dead.min(n_atoms)).for_each(|j| start.column_mut(j).copy_from_slice(&nothing));
        let start = Dictionary::new(start).unwrap();
        let mut values = Values::new(seed ^ 1);
        let counts: Vec<usize> = (0..30).map(|_| values.below(4)).collect();
        prop_assume!(counts.iter().any(|count| *count > 0));
        let masses: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let names: Vec<usize> = (0..30).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
        for update in [AtomUpdate::BlockCoordinate { sweeps: 2 }, AtomUpdate::Mod] {
            let learner = AltOpt { update, ..descent::<f64>(0.5, 3) };
            let weighted = fit_masses(&learner, &samples, &masses, &start);
            let repeated = fit(&learner, &columns(&samples, &names), &start);
            prop_assert_eq!(weighted.replaced, repeated.replaced);
            prop_assert!(weighted.replaced >= n_dead.min(n_atoms), "{} of {n_dead}", weighted.replaced);
            prop_assert!(furthest(&weighted.dictionary, &repeated.dictionary) < 1e-6, "{update:?}");
            prop_assert!((weighted.curve[0] - repeated.curve[0]).abs() < 1e-9 * repeated.curve[0]);
        }
    }

    #[test]
    fn only_the_ratios_of_masses_matter_and_zero_is_nothing(seed: u64) {
        let (samples, start) = random::<f64>(seed, (6, 9, 40));
        let mut values = Values::new(seed ^ 2);
        let masses: Vec<f64> = (0..40).map(|i| if i % 4 == 1 { 0.0 } else { values.unit() }).collect();
        let learner = descent::<f64>(0.4, 4);
        let reference = fit_masses(&learner, &samples, &masses, &start);
        // A power of two changes no digit.
        let scaled: Vec<f64> = masses.iter().map(|mass| mass * 1024.0).collect();
        prop_assert_eq!(&fit_masses(&learner, &samples, &scaled, &start), &reference);
        let counted: Vec<usize> = (0..40).filter(|i| i % 4 != 1).collect();
        let kept: Vec<f64> = counted.iter().map(|&i| masses[i]).collect();
        prop_assert_eq!(&fit_masses(&learner, &columns(&samples, &counted), &kept, &start), &reference);
        // What has no mass may hold anything.
        let mut spoilt = samples.clone();
        spoilt.column_mut(1).fill(f64::NAN);
        prop_assert_eq!(&fit_masses(&learner, &spoilt, &masses, &start), &reference);
    }
}

#[test]
fn the_objective_never_rises_on_patches() {
    descent_descends(patches::<f64>(500, 50), 0.2, 1e-9);
    descent_descends(patches::<f32>(500, 50), 0.2, 1e-5);
}

#[test]
fn every_update_improves_on_its_start_and_keeps_unit_norms() {
    let (samples, start) = patches::<f64>(400, 40);
    let omp = Coder::omp(3);
    let (descend, lasso) = (AtomUpdate::BlockCoordinate { sweeps: 2 }, descent::<f64>(0.2, 10));
    let learners = [
        AltOpt { update: descend, coder: omp.clone(), ..lasso.clone() },
        AltOpt { update: AtomUpdate::Mod, coder: omp.clone(), ..lasso.clone() },
        AltOpt { update: AtomUpdate::KSvd, coder: omp, ..lasso.clone() },
        AltOpt { update: AtomUpdate::Mod, ..lasso.clone() },
        lasso,
    ];
    for learner in learners {
        let learned = fit(&learner, &samples, &start);
        let (first, last) = (learned.curve[0], *learned.curve.last().unwrap());
        assert!(last < 0.95 * first, "{:?}: {first} to {last}", learner.update);
        assert_unit_norms(&learned.dictionary);
        assert!((learned.usage.iter().sum::<f64>() * 400.0 - learned.codes.n_nonzero as f64).abs() < 1e-6);
    }
}

#[test]
fn a_dictionary_that_is_done_stays_nearly_as_it_is() {
    let (samples, start) = patches::<f64>(400, 30);
    let learner = AltOpt { max_iterations: 300, tolerance: 1e-5, ..descent::<f64>(0.2, 0) };
    let done = fit(&learner, &samples, &start);
    assert!(done.converged, "{:?}", done.curve.last());
    let again = fit(&learner, &samples, &done.dictionary);
    assert!(again.converged && again.iterations <= 2, "{} iterations", again.iterations);
    assert_eq!(again.curve[0].to_bits(), done.curve.last().unwrap().to_bits());
    assert!(furthest(&again.dictionary, &done.dictionary) < 0.05);
}

fn same_bits<T: Scalar>() {
    let (samples, start) = patches::<T>(900, 70);
    for learner in [descent::<T>(0.2, 2), AltOpt { max_iterations: 2, ..AltOpt::k_svd(3) }] {
        let one = learner.fit(samples.view(), None, &start, Run::threads(1)).unwrap();
        for threads in [2, 5] {
            assert_eq!(learner.fit(samples.view(), None, &start, Run::threads(threads)).unwrap(), one);
        }
    }
    let online = OnlineAltOpt { batch: 300, ..OnlineAltOpt::default() };
    let one = online.fit(samples.view(), None, &start, Run::threads(1)).unwrap();
    assert_eq!(online.fit(samples.view(), None, &start, Run::threads(3)).unwrap(), one);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    same_bits::<f32>();
    same_bits::<f64>();
}

/// Samples of three atoms each of a random dictionary, with a little noise.
fn planted(seed: u64) -> (Matrix<f64>, Dictionary<f64>) {
    let mut values = Values::new(seed);
    let truth = Dictionary::new(values.matrix::<f64>(20, 30)).unwrap();
    let mut samples = Matrix::zeros(20, 1000);
    for i in 0..1000 {
        for &j in &values.order(30)[..3] {
            let a = (0.5 + values.unit()) * if values.unit() < 0.5 { -1.0 } else { 1.0 };
            samples.column_mut(i).iter_mut().zip(truth.atoms().column(j)).for_each(|(x, d)| *x += a * d);
        }
        samples.column_mut(i).iter_mut().for_each(|x| *x += 0.01 * values.normal());
    }
    (samples, truth)
}

/// How many atoms of `truth` have an atom of `found` within |cos| > 0.95.
fn recovered(truth: &Dictionary<f64>, found: &Dictionary<f64>) -> usize {
    let close = |j: &usize| {
        let atom = truth.atoms().column(*j);
        (0..found.n_atoms()).any(|k| dot(atom, found.atoms().column(k)).abs() > 0.95)
    };
    (0..truth.n_atoms()).filter(close).count()
}

#[test]
fn a_planted_dictionary_is_found() {
    let (samples, truth) = planted(5);
    let start = Dictionary::new(columns(&samples, &(0..30).collect::<Vec<_>>())).unwrap();
    assert!(recovered(&truth, &start) < 5);
    let greedy = AltOpt { max_iterations: 30, tolerance: 0.0, ..AltOpt::k_svd(3) };
    let optimal = AltOpt { update: AtomUpdate::Mod, ..greedy.clone() };
    let lasso = AltOpt { max_iterations: 40, ..AltOpt::lambda(0.3) };
    for learner in [greedy, optimal, lasso] {
        let found = recovered(&truth, &fit(&learner, &samples, &start).dictionary);
        assert!(found >= 27, "{:?}: {found} of 30", learner.update);
    }
    let online = OnlineAltOpt { batch: 100, epochs: 15, ..OnlineAltOpt::lambda(0.3) };
    let learner = online.fit(samples.view(), None, &start, Run::threads(1)).unwrap();
    let found = recovered(&truth, learner.dictionary());
    assert!(found >= 27, "online: {found} of 30");
}

#[test]
fn atoms_nobody_uses_are_replaced_by_distinct_samples() {
    // Samples in the first four coordinates; three atoms point elsewhere.
    let mut values = Values::new(3);
    let samples = Matrix::from_fn(8, 60, |r, _| if r < 4 { values.normal() } else { 0.0 });
    let start = Matrix::from_fn(8, 5, |r, c| f64::from(u8::from(r == [0, 1, 5, 6, 7][c])));
    let start = Dictionary::new(start).unwrap();
    let learned = fit(&descent::<f64>(0.1, 1), &samples, &start);
    assert_eq!(learned.replaced, 3);
    assert_never_rises::<f64>(&learned.curve, 0.0);
    for j in 2..5 {
        let atom = learned.dictionary.atoms().column(j);
        let matches = |i: &usize| dot(atom, samples.column(*i)) > (1.0 - 1e-12) * norm(samples.column(*i));
        assert!((0..60).any(|i| matches(&i)), "atom {j} is no sample");
        assert!(learned.usage[j] > 0.0);
        assert!((j + 1..5).all(|k| dot(atom, learned.dictionary.atoms().column(k)).abs() < 0.99));
    }
}

#[test]
fn a_step_for_each_block_is_an_epoch_in_order() {
    let (samples, start) = patches::<f32>(700, 40);
    let masses: Vec<f64> = (0..700).map(|i| 0.5 + f64::from(i % 3)).collect();
    let online = OnlineAltOpt { batch: 100, epochs: 2, order: BatchOrder::Sequential, ..OnlineAltOpt::default() };
    let whole = online.fit(samples.view(), Some(&masses), &start, Run::threads(1)).unwrap();
    let mut stepped = online.begin(&start).unwrap();
    for _ in 0..2 {
        for (block, masses) in samples.as_slice().chunks(100 * 36).zip(masses.chunks(100)) {
            let block = MatrixView::from_columns(block, 36, 100).unwrap();
            stepped.partial_fit(block, Some(masses), Run::threads(2)).unwrap();
        }
    }
    assert_eq!(stepped, whole);
    assert_eq!((whole.seen(), whole.curve().len()), (1400, 14));
    assert_unit_norms(whole.dictionary());
}

#[test]
fn online_learning_approaches_batch_learning() {
    let (samples, start) = patches::<f64>(1000, 40);
    let batch = fit(&AltOpt { max_iterations: 15, ..AltOpt::default() }, &samples, &start);
    let online = OnlineAltOpt { batch: 100, epochs: 6, ..OnlineAltOpt::default() };
    let learner: OnlineLearner<f64> = online.fit(samples.view(), None, &start, Run::threads(1)).unwrap();
    let (last, reached) = (*batch.curve.last().unwrap(), objective(&samples, learner.dictionary(), 0.2));
    assert!(last < 0.95 * batch.curve[0], "batch: {} to {last}", batch.curve[0]);
    assert!(reached < 1.01 * last, "online {reached}, batch {last}");
    let other = OnlineAltOpt { seed: 1, ..online }.fit(samples.view(), None, &start, Run::threads(1)).unwrap();
    assert_ne!(other.dictionary(), learner.dictionary());
}

#[test]
fn masses_mean_the_same_online() {
    let (samples, start) = random::<f64>(9, (6, 8, 60));
    let masses: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let online = OnlineAltOpt { batch: 10, order: BatchOrder::Sequential, ..OnlineAltOpt::lambda(0.4) };
    let reference = online.fit(samples.view(), Some(&masses), &start, Run::threads(1)).unwrap();
    let scaled: Vec<f64> = masses.iter().map(|mass| mass * 0.25).collect();
    let scaled = online.fit(samples.view(), Some(&scaled), &start, Run::threads(1)).unwrap();
    assert_eq!(scaled.dictionary(), reference.dictionary());
    assert_eq!(reference.seen(), 40);
}

#[test]
fn a_failed_step_changes_nothing() {
    let (samples, start) = patches::<f64>(8500, 30);
    let online = OnlineAltOpt::lambda(0.3);
    let mut learner = online.begin(&start).unwrap();
    learner.partial_fit(samples.view(), None, Run::threads(1)).unwrap();
    let before = learner.clone();
    let mut spoilt = samples.clone();
    spoilt.column_mut(8450)[2] = f64::INFINITY;
    let error = learner.partial_fit(spoilt.view(), None, Run::threads(1)).unwrap_err();
    assert_eq!(error, Error::NotFinite { what: "samples", row: 2, column: 8450 });
    let stop = |_: usize, _: usize| ControlFlow::Break(());
    let run = Run::threads(1).on_progress(&stop);
    assert!(matches!(learner.partial_fit(samples.view(), None, run), Err(Error::Interrupted { .. })));
    assert_eq!(learner, before);
}

#[test]
fn bad_input_is_refused_with_its_name() {
    let (samples, start) = random::<f64>(1, (4, 3, 5));
    let learner = AltOpt::lambda(0.1);
    let refuse = |learner: &AltOpt, samples: &Matrix<f64>, masses: Option<&[f64]>| {
        let error = learner.fit(samples.view(), masses, &start, Run::threads(1)).unwrap_err();
        error.to_string()
    };
    assert!(refuse(&learner, &Matrix::zeros(4, 0), None).contains("samples is empty"));
    assert!(refuse(&learner, &Matrix::zeros(3, 5), None).contains("number of features"));
    assert!(refuse(&learner, &samples, Some(&[1.0; 4])).contains("masses"));
    assert!(refuse(&learner, &samples, Some(&[1.0, 1.0, -1.0, 1.0, 1.0])).contains("negative"));
    assert!(refuse(&learner, &samples, Some(&[0.0; 5])).contains("masses: sum"));
    let mut spoilt = samples.clone();
    spoilt.column_mut(3)[1] = f64::NAN;
    assert!(refuse(&learner, &spoilt, None).contains("row 1, column 3"));
    let huge = Matrix::from_fn(4, 5, |_, _| 1e200);
    assert!(refuse(&learner, &huge, None).contains("divide all samples"));
    assert!(refuse(&AltOpt::lambda(-1.0), &samples, None).contains("lambda"));
    assert!(refuse(&AltOpt { tolerance: f64::NAN, ..learner.clone() }, &samples, None).contains("tolerance"));
    assert!(refuse(&AltOpt { update: AtomUpdate::KSvd, ..learner.clone() }, &samples, None).contains("pursuit"));
    let relative = Coder::Lasso(Lasso::new(Penalty::Relative(0.1)));
    assert!(refuse(&AltOpt { coder: relative, ..learner.clone() }, &samples, None).contains("one lambda"));
    let no_sweep = AtomUpdate::BlockCoordinate { sweeps: 0 };
    assert!(refuse(&AltOpt { update: no_sweep, ..learner }, &samples, None).contains("sweeps"));
    for online in [
        OnlineAltOpt { batch: 0, ..OnlineAltOpt::default() },
        OnlineAltOpt { sweeps: 0, ..OnlineAltOpt::default() },
        OnlineAltOpt { forgetting: -1.0, ..OnlineAltOpt::default() },
    ] {
        assert!(matches!(online.begin(&start), Err(Error::InvalidParameter { .. })));
    }
}

#[test]
fn learning_within_a_norm_or_an_error_helps_samples_that_were_not_seen() {
    let mut values = Values::new(6);
    let atoms: Matrix<f64> = values.matrix(8, 12);
    let mut sample = || {
        let (i, j, a, b) = (values.below(12), values.below(12), values.normal(), values.normal());
        (0..8).map(|r| a * atoms.column(i)[r] + b * atoms.column(j)[r]).collect::<Vec<_>>()
    };
    let data: Vec<f64> = (0..600).flat_map(|_| sample()).collect();
    let samples = Matrix::from_columns(data[..8 * 500].to_vec(), 8, 500).unwrap();
    let unseen = Matrix::from_columns(data[8 * 500..].to_vec(), 8, 100).unwrap();
    let (_, start) = random::<f64>(7, (8, 12, 1));
    for (penalty, by_error) in [(Penalty::L1Norm(2.0), true), (Penalty::Error(0.5), false)] {
        let coder = Coder::Lasso(Lasso::new(penalty));
        let learned = fit(&AltOpt { coder: coder.clone(), max_iterations: 15, ..AltOpt::default() }, &samples, &start);
        let cost = |dictionary: &Dictionary<f64>| {
            let basis = CodingBasis::new(dictionary.view()).unwrap();
            let codes = coder.encode(&basis, &Samples::new(unseen.view()), Run::threads(1)).unwrap().codes;
            if !by_error {
                return codes.coefficients().iter().map(|a| a.abs()).sum::<f64>();
            }
            let miss = |c: usize, r: usize| {
                let sum: f64 = codes.column(c).map(|(j, a)| a * dictionary.view().get(r, j)).sum();
                (unseen.column(c)[r] - sum).powi(2)
            };
            (0..100).flat_map(|c| (0..8).map(move |r| (c, r))).map(|(c, r)| miss(c, r)).sum()
        };
        let (before, after) = (cost(&start), cost(&learned.dictionary));
        assert!(after < 0.9 * before, "{penalty:?}: {before} to {after}");
    }
}

fn odd_samples_work<T: Scalar>() {
    let zero = Matrix::<T>::zeros(4, 6);
    let constant = Matrix::from_fn(4, 6, |_, _| T::from_f64(2.5));
    let single = Matrix::from_fn(4, 1, |r, _| T::from_f64(r as f64));
    let tiny = Matrix::from_fn(4, 6, |r, c| T::from_f64(1e-30 * (r + c) as f64));
    let large = Matrix::from_fn(4, 6, |r, c| T::from_f64(1e25 * ((r * c) as f64 - 3.0)));
    let (_, start) = random::<T>(2, (4, 9, 1));
    let greedy = AltOpt { update: AtomUpdate::Mod, coder: Coder::Pursuit(Pursuit::omp(2)), ..AltOpt::default() };
    for samples in [zero, constant, single, tiny, large] {
        for learner in [AltOpt::default(), greedy.clone(), AltOpt::k_svd(2)] {
            let learned = fit(&AltOpt { max_iterations: 3, ..learner }, &samples, &start);
            assert!(learned.curve.iter().all(|value| value.is_finite()));
            assert_unit_norms(&learned.dictionary);
        }
        let learner = OnlineAltOpt::default().fit(samples.view(), None, &start, Run::threads(1)).unwrap();
        assert_unit_norms(learner.dictionary());
    }
}

#[test]
fn zero_constant_single_tiny_and_large_samples_work() {
    odd_samples_work::<f32>();
    odd_samples_work::<f64>();
}

#[test]
fn any_weak_learner_makes_a_start_and_that_of_centres_is_the_best() {
    let (samples, random) = patches::<f64>(1500, 24);
    let (samples, masses) = (samples.view(), vec![2.0; 1500]);
    let learners: [&dyn WeakLearner<f64>; 2] = [&Centers::new(24), &Examples { n_atoms: 24 }];
    let [centres, examples] = learners.map(|learner| learner.start(samples, None, 1, Run::threads(1)).unwrap());
    assert_unit_norms(&centres);
    assert_eq!(centres, Centers::new(24).start(samples, Some(&masses), 1, Run::threads(2)).unwrap());
    let judge = |start| {
        let judge = AltOpt { max_iterations: 0, ..AltOpt::lambda(0.2) };
        judge.fit(samples, None, start, Run::threads(1)).unwrap().curve[0]
    };
    assert!(judge(&centres) < judge(&examples) && judge(&centres) < judge(&random));
}

/// Reads a reference of `make_dictionary_goldens.py`, its lines as columns.
fn golden(name: &str) -> Matrix<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/golden/dictionary_{name}.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let values: Vec<f64> = lines.iter().flat_map(|line| line.split(' ')).map(|value| value.parse().unwrap()).collect();
    Matrix::from_columns(values.clone(), values.len() / lines.len(), lines.len()).unwrap()
}

#[test]
fn the_golden_objective_of_scikit_learn_is_reached() {
    let (samples, start) = (golden("samples"), Dictionary::new(golden("start")).unwrap());
    let [before, after] = *golden("objectives").as_slice() else { panic!("two objectives were expected") };
    let learned = fit(&AltOpt { max_iterations: 200, tolerance: 1e-7, ..descent::<f64>(0.2, 0) }, &samples, &start);
    assert!((learned.curve[0] - before).abs() < 1e-7, "start: {} for {before}", learned.curve[0]);
    let last = *learned.curve.last().unwrap();
    assert!(last <= after, "{last} after {} iterations, scikit-learn {after}", learned.iterations);
}

#[test]
fn online_learning_in_portions_is_that_in_one_go() {
    let samples: Matrix<f64> = Values::new(8).matrix(5, 230);
    let masses: Vec<f64> = (0..230).map(|i| f64::from(i % 3)).collect();
    let start = Examples { n_atoms: 7 }.start(samples.view(), None, 1, Run::default()).unwrap();
    let online = OnlineAltOpt { batch: 32, epochs: 3, seed: 4, ..OnlineAltOpt::lambda(0.2) };
    let whole = online.fit(samples.view(), Some(&masses), &start, Run::default()).unwrap();
    for about in [1, 40, 200, 100_000] {
        let mut learner = online.begin(&start).unwrap();
        let mut calls = 1;
        while learner.go_on(samples.view(), Some(&masses), about, Run::threads(1)).unwrap() > 0 {
            calls += 1;
        }
        assert!(learner == whole, "{about} samples at a time");
        assert!(calls == 1 || about < 1000);
    }
    assert_eq!(whole.seen(), 3 * masses.iter().filter(|mass| **mass > 0.0).count());
}

#[test]
fn atoms_without_negative_entries_descend_all_the_same() {
    let (samples, start) = random::<f64>(11, (8, 12, 150));
    let learner = AltOpt { nonnegative_atoms: true, ..descent::<f64>(0.4, 10) };
    let learned = fit(&learner, &samples, &start);
    assert_never_rises::<f64>(&learned.curve, 1e-9);
    assert_unit_norms(&learned.dictionary);
    let online = OnlineAltOpt { nonnegative_atoms: true, batch: 50, epochs: 3, ..OnlineAltOpt::lambda(0.4) };
    let streamed = online.fit(samples.view(), None, &start, Run::threads(1)).unwrap();
    for dictionary in [&learned.dictionary, streamed.dictionary()] {
        assert!(dictionary.atoms().as_slice().iter().all(|entry| *entry >= 0.0));
    }
    // Where all is positive anyway, there is nothing to give up.
    let positive = Matrix::from_fn(8, 150, |r, i| samples.column(i)[r].abs());
    let free = fit(&AltOpt { nonnegative_atoms: false, ..learner.clone() }, &positive, &start);
    let bound = fit(&learner, &positive, &start);
    assert!(bound.curve.last() < free.curve.first() && bound.curve.last().unwrap() < &bound.curve[0]);
    // Resumed, it goes on with the same bits.
    let half = fit(&AltOpt { max_iterations: 4, ..learner.clone() }, &samples, &start);
    let mut resumed = learner.resume(samples.view(), None, &half.dictionary, half.curve[..4].to_vec()).unwrap();
    while resumed.step(Run::threads(1)).unwrap().is_some() {}
    assert_eq!(resumed.take_learned().unwrap().dictionary, learned.dictionary);
    for update in [AtomUpdate::Mod, AtomUpdate::KSvd] {
        let refused = AltOpt { update, coder: Coder::omp(2), ..learner.clone() };
        let message = refused.fit(samples.view(), None, &start, Run::threads(1)).unwrap_err().to_string();
        assert!(message.contains("block coordinate descent"), "{message}");
    }
}
