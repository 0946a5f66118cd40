//! FISTA and ISTA: what sets them apart from the other coders. The laws of all coders are in `coding_laws.rs`.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use sparsemble::coding::{CodingBasis, Fista, Momentum, SampleStatus, Samples, SparseCoder};
use sparsemble::degradation::{Degradation, Dense, Identity};
use sparsemble::{Matrix, Run, Scalar};

use crate::problems::{Judged, Problem, Values, cases, code, norm, support};

/// Φ·D as a matrix, which the coder must never need.
fn degraded<T: Scalar>(phi: &dyn Degradation<T>, atoms: &Matrix<T>) -> Matrix<T> {
    let mut product = Matrix::zeros(phi.n_measurements(), atoms.columns());
    for j in 0..atoms.columns() {
        phi.apply(atoms.column(j), product.column_mut(j));
    }
    product
}

fn measurements_are_coded_to_a_certified_optimum<T: Scalar>(seed: u64, tolerance: f64) {
    let mut values = Values::new(seed);
    let phi = Dense::new(values.matrix::<T>(6, 10).view()).unwrap();
    let (atoms, measured) = (values.matrix::<T>(10, 14), values.matrix::<T>(6, 5));
    for nonnegative in [false, true] {
        let coder = Fista { nonnegative, tolerance, ..Fista::lambda(1.5) };
        let coding = coder.encode_through(atoms.view(), &phi, measured.view(), Run::threads(1)).unwrap();
        assert!(coding.report.converged);
        let as_matrix = degraded(&phi, &atoms);
        let gaps = (0..5).map(|i| {
            let judged = Judged::new(&as_matrix, measured.column(i), &code(&coding, i));
            judged.gap(1.5, &[1.0; 14], nonnegative)
        });
        let worst = gaps.fold(0.0, f64::max);
        let slack = 100.0 * T::EPSILON.to_f64();
        assert!(worst <= tolerance + slack, "worst gap {worst:e}");
        assert!((worst - coding.report.worst_gap.unwrap()).abs() <= slack + 1e-3 * tolerance, "{:?}", coding.report);
        assert!(coding.codes.n_nonzero() > 0 && coding.codes.n_nonzero() < 14 * 5);
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn codes_through_a_degradation_have_a_small_duality_gap(seed in any::<u64>()) {
        measurements_are_coded_to_a_certified_optimum::<f32>(seed, 1e-5);
        measurements_are_coded_to_a_certified_optimum::<f64>(seed, 1e-9);
    }

    #[test]
    fn coding_through_the_identity_is_plain_coding_bit_for_bit(seed in any::<u64>()) {
        let problem = Problem::<f32>::random(seed, 7, 12, 20);
        let coder = Fista::lambda(1.0);
        let through = coder
            .encode_through(problem.atoms.view(), &Identity::new(7), problem.samples.view(), Run::threads(1))
            .unwrap();
        prop_assert_eq!(through, problem.encode(&coder));
    }

    #[test]
    fn momentum_changes_the_way_and_not_the_goal(seed in any::<u64>()) {
        let problem = Problem::<f64>::random(seed, 8, 10, 4);
        let fast = Fista { tolerance: 1e-8, ..Fista::lambda(2.0) };
        let slow = Fista { momentum: Momentum::None, max_iterations: 200_000, ..fast.clone() };
        let (fast, slow) = (problem.encode(&fast), problem.encode(&slow));
        prop_assert!(fast.report.converged && slow.report.converged);
        for i in 0..4 {
            let [a, b] = [&fast, &slow].map(|coding| problem.judge(i, &code(coding, i)));
            let difference = a.objective(2.0, &[1.0; 10]) - b.objective(2.0, &[1.0; 10]);
            prop_assert!(difference.abs() <= 1e-8 * a.energy, "sample {}: objectives differ by {:e}", i, difference);
        }
    }
}

#[test]
fn momentum_saves_most_of_the_steps_on_coherent_atoms() {
    // Neighbouring atoms are nearly the same bump.
    let bump = |r: usize, c: usize| (-(r as f64 - c as f64 / 2.0).powi(2) / 2.0).exp();
    let problem = Problem { atoms: Matrix::from_fn(16, 32, bump), samples: Values::new(1).matrix(16, 8) };
    let fast = problem.encode(&Fista::lambda(0.3));
    let slow = problem.encode(&Fista { momentum: Momentum::None, max_iterations: 200_000, ..Fista::lambda(0.3) });
    assert!(fast.report.converged && slow.report.converged);
    assert!(
        4 * fast.report.iterations < slow.report.iterations,
        "{} {}",
        fast.report.iterations,
        slow.report.iterations
    );
}

/// Counts how often it is used.
#[derive(Debug)]
struct Counting<'a> {
    inner: &'a dyn Degradation<f64>,
    uses: AtomicUsize,
}

impl Degradation<f64> for Counting<'_> {
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }
    fn n_measurements(&self) -> usize {
        self.inner.n_measurements()
    }
    fn apply(&self, features: &[f64], measurements: &mut [f64]) {
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.inner.apply(features, measurements);
    }
    fn adjoint(&self, measurements: &[f64], features: &mut [f64]) {
        self.inner.adjoint(measurements, features);
    }
}

#[test]
fn the_degradation_is_used_once_a_step_and_never_once_an_atom() {
    let mut values = Values::new(5);
    let dense = Dense::new(values.matrix(4, 9).view()).unwrap();
    let phi = Counting { inner: &dense, uses: AtomicUsize::new(0) };
    let (atoms, measured) = (values.matrix(9, 3000), values.matrix(4, 1));
    let coder = Fista { max_iterations: 200, tolerance: 1e-3, ..Fista::lambda(40.0) };
    let coding = coder.encode_through(atoms.view(), &phi, measured.view(), Run::threads(1)).unwrap();
    let uses = phi.uses.into_inner();
    assert!(uses < coding.report.iterations + 50, "{uses} uses for {} steps", coding.report.iterations);
    assert!(uses < 3000);
}

#[test]
fn a_step_limit_is_reported_with_the_gap_that_was_reached() {
    let problem = Problem::<f64>::random(3, 10, 20, 3);
    let mut last = f64::INFINITY;
    for max_iterations in [1, 5, 25] {
        let coding = problem.encode(&Fista { max_iterations, tolerance: 1e-12, ..Fista::lambda(0.5) });
        assert_eq!(coding.report.status, [SampleStatus::IterationLimit; 3]);
        assert_eq!((coding.report.converged, coding.report.iterations), (false, max_iterations));
        let gaps = (0..3).map(|i| problem.judge(i, &code(&coding, i)).gap(0.5, &[1.0; 20], false));
        let worst = gaps.fold(0.0, f64::max);
        assert!((worst - coding.report.worst_gap.unwrap()).abs() <= 1e-12, "{worst} and {:?}", coding.report);
        assert!(worst < last);
        last = worst;
    }
    assert_eq!(problem.encode(&Fista { max_iterations: 1, ..Fista::lambda(0.5) }).codes.n_nonzero(), 0);
}

#[test]
fn without_a_penalty_it_is_least_squares() {
    let reachable = Problem::<f64>::random(4, 5, 8, 3);
    let coding = reachable.encode(&Fista::lambda(0.0));
    assert!(coding.report.converged); // the atoms span everything, so the residual itself certifies

    let out_of_reach = Problem::<f64>::random(4, 8, 5, 3);
    let coding = out_of_reach.encode(&Fista { max_iterations: 3000, ..Fista::lambda(0.0) });
    assert!(!coding.report.converged);
    for i in 0..3 {
        let judged = out_of_reach.judge(i, &code(&coding, i));
        let worst = judged.correlations.iter().fold(0.0_f64, |worst, c| worst.max(c.abs()));
        assert!(worst <= 1e-6 * norm(&judged.residual), "the residual still has {worst:e} of an atom");
        assert_eq!(support(&judged.code).len(), 5);
    }
}

#[test]
fn a_degradation_that_does_not_fit_is_refused_by_name() {
    let problem = Problem::<f64>::random(6, 5, 8, 2);
    let message = |phi: &dyn Degradation<f64>| {
        let result =
            Fista::lambda(0.1).encode_through(problem.atoms.view(), phi, problem.samples.view(), Run::threads(1));
        result.unwrap_err().to_string()
    };
    let wide = Dense::new(Values::new(1).matrix(5, 6).view()).unwrap();
    assert_eq!(message(&wide), "atoms: number of features (that of phi): expected 6, found 5");
    let short = Dense::new(Values::new(1).matrix(3, 5).view()).unwrap();
    assert_eq!(message(&short), "samples: number of measurements (that of phi): expected 3, found 5");
    for extreme in [1e308, 1e200, 1e-200] {
        let phi = Dense::new(Matrix::from_fn(5, 5, |_, _| extreme).view()).unwrap();
        assert!(message(&phi).starts_with("phi = "), "{}", message(&phi));
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let problem = Problem::<f64>::random(6, 5, 8, 2);
    let basis = CodingBasis::new(problem.atoms.view()).unwrap();
    let message = |coder: Fista| {
        let result = coder.encode(&basis, &Samples::new(problem.samples.view()), Run::threads(1));
        result.unwrap_err().to_string()
    };
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(message(Fista::lambda(bad)).starts_with("lambda = "));
        assert!(message(Fista { tolerance: bad, ..Fista::lambda(1.0) }).starts_with("tolerance = "));
    }
    assert!(message(Fista { max_iterations: 0, ..Fista::lambda(1.0) }).starts_with("max_iterations = 0"));
}
