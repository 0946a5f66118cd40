//! Long work tells of one whole, from its first sample to its last, and stops as soon as it is asked to.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::cell::RefCell;
use std::ops::ControlFlow;

use sparsemble::clustering::{Duplicates, Preparation};
use sparsemble::coding::{
    Coder, CodingBasis, ElasticNet, Fista, Lasso, Momentum, OneSparse, Penalty, Pursuit, PursuitKind, Samples,
    SparseCoder,
};
use sparsemble::degradation::{Degradation, Identity};
use sparsemble::dictionary::{AltOpt, Centers, Dictionary, Examples, Hyperlines, OnlineAltOpt, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost, BoostedRound, Ensemble, Multilevel, SparseModel};
use sparsemble::graph::{AtomCount, ExampleGraph, MemberGraph, NeighbourGraph};
use sparsemble::kmeans::{KMeansInit, WeightedKMeans};
use sparsemble::{Draw, Error, Matrix, Result, Run};

use crate::problems::Values;

const N_SAMPLES: usize = 6000;

/// Some work on the samples below, the number of samples it tells of, and whether it surely does all of them: what
/// iterates until it has converged may not.
struct Work<'a> {
    name: &'static str,
    total: usize,
    counts_all: bool,
    call: &'a dyn Fn(Run<'_>) -> Result<()>,
}

/// Shows every long call of the library to `judge`.
fn every_long_work(judge: impl Fn(&Work<'_>)) {
    let samples: Matrix<f64> = Values::new(1).matrix(8, N_SAMPLES);
    let (samples, masses) = (samples.view(), vec![1.0; N_SAMPLES]);
    let start: Dictionary<f64> = Examples { n_atoms: 12 }.start(samples, None, 1, Run::default()).unwrap();
    let coder = Coder::omp(2);
    let batch = AltOpt { coder: coder.clone(), max_iterations: 3, tolerance: 0.0, ..AltOpt::default() };
    let online = OnlineAltOpt { coder, epochs: 2, ..OnlineAltOpt::default() };
    let kmeans = |init| WeightedKMeans { init, max_iterations: 4, tolerance: 0.0, ..WeightedKMeans::new(20) };
    let (examples, centers, one) = (Examples { n_atoms: 12 }, Centers::new(12), OneSparse::default());
    let averaging = Averaging { n_models: 3, ..Averaging::new(&centers) };
    let boost = Boost { n_models: 3, ..Boost::new(&examples, &one) };
    let mut boosting = boost.start(samples, Run::default()).unwrap();
    let mut past = Vec::new();
    while let Some((round, codes)) = boosting.step_with_codes(Run::default()).unwrap() {
        past.push(BoostedRound { dictionary: boosting.members()[past.len()].clone(), round, codes });
    }

    let work = |name, passes: usize, counts_all, call: &dyn Fn(Run<'_>) -> Result<()>| {
        judge(&Work { name, total: passes * N_SAMPLES, counts_all, call });
    };
    work("batch", 4, true, &|run| batch.fit(samples, None, &start, run).map(drop));
    work("online", 2, true, &|run| online.fit(samples, None, &start, run).map(drop));
    for (name, init) in [("k-means||", KMeansInit::parallel()), ("k-means++", KMeansInit::PlusPlus)] {
        let kmeans = kmeans(init);
        work(name, 11, true, &|run| kmeans.fit(samples, &masses, Draw::first(1), run).map(drop));
    }
    work("centres", 6, false, &|run| centers.fit(samples, &masses, Draw::first(1), run).map(drop));
    work("averaging", 3, false, &|run| averaging.fit(samples, run).map(drop));
    let lines = Hyperlines { max_passes: 5, ..Hyperlines::new(12) };
    work("hyperlines", 7, false, &|run| lines.fit(samples, &masses, Draw::first(1), run).map(drop));
    let multilevel = Multilevel { n_levels: 2, ..Multilevel::new(averaging.clone()) };
    work("multilevel", 2, false, &|run| multilevel.fit(samples, run).map(drop));
    work("boosting", 6, true, &|run| boost.fit(samples, run).map(drop));
    work("resuming", 3, true, &|run| boost.resume(samples, &mut past.iter().cloned().map(Ok), run).map(drop));
    let atoms = AtomCount::Exactly(12);
    let stacked = MemberGraph { n_members: 3, atoms, ..MemberGraph::default() };
    let averaged = ExampleGraph { n_members: 3, atoms, ..ExampleGraph::default() };
    let boosted = ExampleGraph { n_members: 3, atoms, ..ExampleGraph::boost_ex() };
    work("graph of members", 4, true, &|run| stacked.build(samples, 1, run).map(drop));
    work("averaged examples", 6, true, &|run| averaged.build(samples, 1, run).map(drop));
    work("boosted examples", 3, true, &|run| boosted.build(samples, 1, run).map(drop));
    work("neighbours", 1, true, &|run| NeighbourGraph::default().build(samples, run).map(drop));
    work("preparation", 3, true, &|run| Preparation::default().prepare(samples, None, run).map(drop));
    work("duplicates", 1, true, &|run| Duplicates::find(samples, run).map(drop));
    // More iterations than can be counted in samples.
    let patient = WeightedKMeans { max_iterations: usize::MAX, ..WeightedKMeans::new(3) };
    judge(&Work {
        name: "patient",
        total: usize::MAX,
        counts_all: false,
        call: &|run| patient.fit(samples, &masses, Draw::first(1), run).map(drop),
    });
}

#[test]
fn progress_is_that_of_the_whole_and_never_falls() {
    every_long_work(|work| {
        let told = RefCell::new(Vec::new());
        let tell = |done: usize, total: usize| {
            told.borrow_mut().push(done);
            assert_eq!(total, work.total, "{}", work.name);
            ControlFlow::Continue(())
        };
        (work.call)(Run::threads(1).on_progress(&tell)).unwrap();
        let told = told.into_inner();
        assert!(told.is_sorted() && told.len() > 3, "{}: {told:?}", work.name);
        assert!(!work.counts_all || told.last() == Some(&work.total), "{}: {told:?}", work.name);
    });
}

#[test]
fn a_part_of_something_longer_stays_within_its_part() {
    every_long_work(|work| {
        let tell = |done: usize, total: usize| {
            assert!((500..=700).contains(&done) && total == 1000, "{}: {done}", work.name);
            ControlFlow::Continue(())
        };
        (work.call)(Run::threads(2).on_progress(&tell).part(500..700, 1000)).unwrap();
    });
}

#[test]
fn no_more_is_told_after_the_work_was_asked_to_stop() {
    every_long_work(|work| {
        for threads in [1, 2] {
            for most in [1, 2, 5] {
                let times = RefCell::new(0);
                let stop = |_: usize, _: usize| {
                    *times.borrow_mut() += 1;
                    if *times.borrow() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let result = (work.call)(Run::threads(threads).on_progress(&stop));
                let interrupted =
                    matches!(result, Err(Error::Interrupted { done, total }) if done < total && total == work.total);
                // Of two threads the other one may do so much that the caller is asked less often, or has nothing left to stop.
                let told = *times.borrow();
                assert!(told <= most && (!interrupted || told == most), "{}: {result:?} after {told}", work.name);
                assert!(interrupted || result.is_ok(), "{}: {result:?} after {told}", work.name);
                assert!(threads > 1 || interrupted, "{}: {result:?}", work.name);
            }
        }
    });
}

/// A callback that asks to stop when it is asked for the n-th time, and how often it was asked.
fn stops_at(nth: usize, asked: &RefCell<usize>) -> impl Fn(usize, usize) -> ControlFlow<()> {
    move |_, _| {
        *asked.borrow_mut() += 1;
        if *asked.borrow() >= nth { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whether one sample, whose coding takes many times as long as it may take to ask, is left at the second question.
fn a_single_sample_can_be_stopped(name: &str, encode: impl Fn(Run<'_>) -> Result<()>) {
    let asked = RefCell::new(0);
    let result = encode(Run::threads(1).on_progress(&stops_at(2, &asked)));
    assert_eq!(result, Err(Error::Interrupted { done: 0, total: 1 }), "{name}");
    assert_eq!(*asked.borrow(), 2, "{name}");
}

#[test]
fn every_coder_hears_a_stop_within_one_sample() {
    const SIZE: usize = 900;
    let mut values = Values::new(2);
    let (atoms, sample): (Matrix<f64>, Matrix<f64>) = (values.matrix(SIZE, SIZE), values.matrix(SIZE, 1));
    let mask = Matrix::from_fn(SIZE, 1, |r, _| r > 0);
    let basis = CodingBasis::new(atoms.view()).unwrap();
    // Small enough to be seen whole through a Gram matrix.
    let few = CodingBasis::new(Matrix::from_fn(SIZE, 500, |r, c| atoms.column(c)[r]).view()).unwrap();
    let (whole, masked) = (Samples::new(sample.view()), Samples::new(sample.view()).observed(mask.view()));
    let pursuit = |kind| Pursuit { kind, sparsity: Some(SIZE), error: None, gain: None };
    let fista = |momentum| Fista { momentum, tolerance: 1e-30, ..Fista::lambda(1e-6) };
    let coders: [(&str, &dyn SparseCoder<f64>); 8] = [
        ("lasso", &Lasso::new(Penalty::Lambda(1e-6))),
        ("lasso by error", &Lasso::new(Penalty::Error(1e-6))),
        ("elastic net", &ElasticNet::new(1e-6, 1e-6)),
        ("mp", &Pursuit { sparsity: None, error: Some(0.0), ..pursuit(PursuitKind::Matching) }),
        ("omp", &pursuit(PursuitKind::Orthogonal)),
        ("ormp", &pursuit(PursuitKind::OrderRecursive)),
        ("fista", &fista(Momentum::Nesterov)),
        ("ista", &fista(Momentum::None)),
    ];
    for (name, coder) in coders {
        a_single_sample_can_be_stopped(name, |run| coder.encode(&basis, &whole, run).map(drop));
        a_single_sample_can_be_stopped(name, |run| coder.encode(&basis, &masked, run).map(drop));
    }
    a_single_sample_can_be_stopped("lasso, overlooking", |run| coders[0].1.encode(&few, &whole, run).map(drop));
    let free = Lasso { atom_weights: Some(vec![0.0; SIZE]), ..Lasso::lambda(1e-6) };
    a_single_sample_can_be_stopped("lasso, free atoms", |run| free.encode(&basis, &whole, run).map(drop));
}

#[test]
fn an_ensemble_hears_a_stop_within_one_strip() {
    const SIZE: usize = 700;
    let mut values = Values::new(3);
    let members = [(); 2].map(|()| SparseModel::plain(&Dictionary::new(values.matrix(SIZE, SIZE)).unwrap()).unwrap());
    let ensemble = Ensemble::new(members.into(), vec![0.5, 0.5]).unwrap();
    let (sample, coder): (Matrix<f64>, _) = (values.matrix(SIZE, 1), Pursuit::omp(SIZE));
    a_single_sample_can_be_stopped("approximate", |run| ensemble.approximate(sample.view(), &coder, run).map(drop));
    a_single_sample_can_be_stopped("transform", |run| ensemble.transform(sample.view(), &coder, run).map(drop));
}

/// Says when it is used, and does nothing else.
#[derive(Debug)]
struct Counting<'a>(Identity, &'a std::sync::atomic::AtomicUsize);

impl Degradation<f64> for Counting<'_> {
    fn n_features(&self) -> usize {
        Degradation::<f64>::n_features(&self.0)
    }
    fn n_measurements(&self) -> usize {
        Degradation::<f64>::n_measurements(&self.0)
    }
    fn apply(&self, features: &[f64], measurements: &mut [f64]) {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.0.apply(features, measurements);
    }
    fn adjoint(&self, measurements: &[f64], features: &mut [f64]) {
        self.0.adjoint(measurements, features);
    }
}

#[test]
fn a_large_operator_is_not_used_again_after_the_stop_while_it_is_measured_or_inverted() {
    // As a matrix it would have so many entries that one use of it could take long.
    let atoms = Matrix::from_fn(9000, 3, |r, c| ((r * 7 + c * 5) % 11) as f64 - 5.0);
    let sample = Matrix::from_fn(9000, 1, |r, _| (r % 13) as f64);
    for stop_after in [1, 20, 40] {
        let uses = std::sync::atomic::AtomicUsize::new(0);
        let phi = Counting(Identity::new(9000), &uses);
        let asked = RefCell::new(0);
        let stop = stops_at(stop_after, &asked);
        let coder = Fista { tolerance: 1e-300, ..Fista::lambda(1e-9) };
        let result = coder.encode_through(atoms.view(), &phi, sample.view(), Run::threads(1).on_progress(&stop));
        assert!(matches!(result, Err(Error::Interrupted { done: 0, total: 1 })), "{result:?}");
        assert!(uses.into_inner() <= stop_after, "asked before each use");
    }
}
