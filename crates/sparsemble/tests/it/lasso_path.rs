//! Laws of the path of the lasso: its corners are codes of the lasso, and so is what lies between.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use sparsemble::coding::{CodingBasis, Lasso, Penalty, Samples, SparseCoder, lasso_path};
use sparsemble::{Matrix, Run};

use crate::problems::Values;

/// The code of the lasso at some λ.
fn code(atoms: &Matrix<f64>, sample: &Matrix<f64>, lambda: f64, nonnegative: bool) -> Vec<f64> {
    let lasso = Lasso { nonnegative, tolerance: 1e-13, ..Lasso::lambda(lambda) };
    let basis = CodingBasis::new(atoms.view()).unwrap();
    let coding = lasso.encode(&basis, &Samples::new(sample.view()), Run::threads(1)).unwrap();
    let mut code = vec![0.0; atoms.columns()];
    coding.codes.column(0).for_each(|(atom, value)| code[atom] = value);
    code
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn every_point_of_a_path_is_the_code_at_its_lambda() {
    let mut leaves = 0;
    for seed in 0..20 {
        let nonnegative = seed % 2 == 1;
        let mut values = Values::new(seed);
        let (atoms, sample) = (values.matrix(12, 30), values.matrix(12, 1));
        let path =
            lasso_path(atoms.view(), sample.column(0), (Penalty::Lambda(0.05), nonnegative), 200, Run::default())
                .unwrap();
        assert!((path.lambdas.last().unwrap() - 0.05).abs() < 1e-12 && path.codes.column(0).iter().all(|a| *a == 0.0));
        for corner in 1..path.lambdas.len() {
            let (before, here) = (path.codes.column(corner - 1), path.codes.column(corner));
            let used = |code: &[f64]| code.iter().filter(|a| **a != 0.0).count();
            leaves += usize::from(used(here) < used(before) + usize::from(corner + 1 < path.lambdas.len()));
            let middle: Vec<f64> = before.iter().zip(here).map(|(a, b)| 0.5 * (a + b)).collect();
            let between = 0.5 * (path.lambdas[corner - 1] + path.lambdas[corner]);
            for (lambda, point) in [(path.lambdas[corner], here), (between, &middle)] {
                let apart = furthest(&code(&atoms, &sample, lambda, nonnegative), point);
                assert!(apart < 1e-6, "seed {seed}, λ = {lambda}: {apart}");
            }
        }
    }
    assert!(leaves > 0, "no atom has left any path: the law was not tried where it is hard");
}

#[test]
fn a_path_ends_at_an_error_or_a_norm() {
    let mut values = Values::new(3);
    let (atoms, sample): (Matrix<f64>, Matrix<f64>) = (values.matrix(10, 25), values.matrix(10, 1));
    let end = |penalty: Penalty| {
        let path = lasso_path(atoms.view(), sample.column(0), (penalty, false), 200, Run::default()).unwrap();
        path.codes.column(path.lambdas.len() - 1).to_vec()
    };
    let norm: f64 = end(Penalty::L1Norm(1.2)).iter().map(|a| a.abs()).sum();
    assert!((norm - 1.2).abs() < 1e-12);
    let code = end(Penalty::Error(0.7));
    let missing = |row: usize| sample.column(0)[row] - (0..25).map(|j| code[j] * atoms.column(j)[row]).sum::<f64>();
    assert!(((0..10).map(|row| missing(row).powi(2)).sum::<f64>() - 0.7).abs() < 1e-12);
}

#[test]
fn a_path_of_nothing_is_the_zero_code() {
    let mut values = Values::new(4);
    let atoms: Matrix<f32> = values.matrix(6, 9);
    let path = lasso_path(atoms.view(), &[0.0; 6], (Penalty::Relative(0.1), false), 50, Run::default()).unwrap();
    assert_eq!((path.lambdas, path.codes), (vec![0.0], Matrix::zeros(9, 1)));
    let refused = |sample: &[f32], end: f64| {
        lasso_path(atoms.view(), sample, (Penalty::Lambda(end), false), 9, Run::default()).is_err()
    };
    assert!(refused(&[0.0; 5], 0.1) && refused(&[f32::NAN; 6], 0.1) && refused(&[1.0; 6], 0.0));
}

#[test]
fn a_path_is_left_when_whoever_watches_wants_no_more() {
    let mut values = Values::new(3);
    let (atoms, sample): (Matrix<f64>, Matrix<f64>) = (values.matrix(300, 900), values.matrix(300, 1));
    let stop = |_: usize, _: usize| std::ops::ControlFlow::Break(());
    let run = Run::default().on_progress(&stop);
    let path = lasso_path(atoms.view(), sample.column(0), (Penalty::Relative(1e-3), false), usize::MAX, run);
    assert_eq!(path, Err(sparsemble::Error::Interrupted { done: 0, total: 1 }));
}
