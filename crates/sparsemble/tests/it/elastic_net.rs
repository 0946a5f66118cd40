//! The elastic net is the lasso in a larger dictionary.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::prelude::*;
use sparsemble::coding::{CodingBasis, ElasticNet, Lasso, Samples, SparseCoder, lambda_max};
use sparsemble::{Matrix, Run, Scalar};

use crate::problems::{Problem, Values, cases, code};

/// ‖x − Da‖² + λ‖a‖₁ + ρ‖a‖².
fn objective<T: Scalar>(atoms: &Matrix<T>, x: &[T], code: &[f64], net: ElasticNet) -> f64 {
    let mut residual: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    for (j, a) in code.iter().enumerate() {
        residual.iter_mut().zip(atoms.column(j)).for_each(|(r, d)| *r -= a * d.to_f64());
    }
    let squares = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
    squares(&residual) + net.lambda * code.iter().map(|a| a.abs()).sum::<f64>() + net.ridge * squares(code)
}

fn is_the_lasso_of_the_larger_dictionary<T: Scalar>(problem: &Problem<T>, net: ElasticNet, excluded: &[Option<usize>]) {
    let (rows, n_atoms, n_samples) = (problem.atoms.rows(), problem.atoms.columns(), problem.samples.columns());
    let larger = Matrix::from_fn(rows + n_atoms, n_atoms, |r, j| match r.checked_sub(rows) {
        None => problem.atoms.column(j)[r],
        Some(extra) => T::from_f64(if extra == j { net.ridge.sqrt() } else { 0.0 }),
    });
    let longer =
        Matrix::from_fn(
            rows + n_atoms,
            n_samples,
            |r, i| if r < rows { problem.samples.column(i)[r] } else { T::ZERO },
        );
    let basis = CodingBasis::new(larger.view()).unwrap();
    let by_lasso = Lasso { tolerance: 1e-7, nonnegative: net.nonnegative, ..Lasso::lambda(net.lambda) }
        .encode(&basis, &Samples::new(longer.view()).excluding(excluded), Run::threads(1))
        .unwrap();
    let coding = problem.encode_as(&net, Samples::new(problem.samples.view()).excluding(excluded));
    assert!(coding.report.converged && coding.report.worst_gap <= Some(1e-6), "{:?}", coding.report);
    for (i, excluded) in excluded.iter().enumerate() {
        let (found, expected) = (code(&coding, i), code(&by_lasso, i));
        let x = problem.samples.column(i);
        let energy: f64 = x.iter().map(|x| x.to_f64().powi(2)).sum();
        let values = [&found, &expected].map(|code| objective(&problem.atoms, x, code, net));
        assert!(values[0] <= values[1] + 2e-6 * energy, "sample {i}: {values:?}");
        assert!(excluded.is_none_or(|own| found[own].abs() <= 0.0));
        assert!(!net.nonnegative || found.iter().all(|a| *a >= 0.0), "sample {i}: {found:?}");
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn the_elastic_net_is_the_lasso_of_a_larger_dictionary(
        seed in any::<u64>(), n_features in 1_usize..40, n_atoms in 1_usize..120,
        lambda in 0.05_f64..3.0, ridge in prop_oneof![Just(1e-3), 0.01_f64..2.0], nonnegative: bool,
    ) {
        let mut values = Values::new(seed);
        let excluded: Vec<_> = (0..30).map(|i| (i % 3 == 0).then(|| values.below(n_atoms))).collect();
        let net = ElasticNet { nonnegative, ..ElasticNet::new(lambda, ridge) };
        is_the_lasso_of_the_larger_dictionary(&Problem::<f64>::random(seed, n_features, n_atoms, 30), net, &excluded);
        is_the_lasso_of_the_larger_dictionary(&Problem::<f32>::random(seed, n_features, n_atoms, 30), net, &excluded);
    }
}

#[test]
fn codes_are_the_same_bits_for_any_number_of_threads_and_scale_with_the_samples() {
    let problem = Problem::<f32>::random(3, 20, 150, 100);
    let basis = problem.basis();
    let encode = |problem: &Problem<f32>, lambda, threads| {
        let samples = Samples::new(problem.samples.view());
        ElasticNet::new(lambda, 0.1).encode(&basis, &samples, Run::threads(threads)).unwrap()
    };
    let coding = encode(&problem, 0.5, 1);
    assert_eq!(coding, encode(&problem, 0.5, 3));
    let large = encode(&problem.scaled(1.0, 2.0_f64.powi(40)), 0.5 * 2.0_f64.powi(40), 1);
    for i in 0..100 {
        let pairs = code(&coding, i).into_iter().zip(code(&large, i));
        pairs.for_each(|(a, b)| assert!((a - b / 2.0_f64.powi(40)).abs() < 1e-4, "{a} and {b}"));
    }
}

#[test]
fn relative_prices_are_those_of_each_sample_and_scale_with_atoms_and_samples() {
    let problem = Problem::<f64>::random(6, 15, 60, 20);
    let net = ElasticNet { relative: true, tolerance: 1e-10, ..ElasticNet::new(0.1, 0.05) };
    let coding = problem.encode_as(&net, Samples::new(problem.samples.view()));
    let largest = lambda_max(&problem.basis(), &Samples::new(problem.samples.view()), Run::threads(1)).unwrap();
    for (i, largest) in largest.into_iter().enumerate() {
        let x = problem.samples.column(i);
        let energy: f64 = x.iter().map(|x| x * x).sum();
        let absolute =
            ElasticNet { tolerance: 1e-10, ..ElasticNet::new(0.1 * largest, 0.0125 * largest.powi(2) / energy) };
        let sample = Matrix::from_columns(x.to_vec(), 15, 1).unwrap();
        let alone = problem.encode_as(&absolute, Samples::new(sample.view()));
        let pairs = code(&coding, i).into_iter().zip(code(&alone, 0));
        pairs.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-6, "{found} for {expected}"));
    }
    for (atoms, samples) in [(8.0, 1.0), (1.0, 8.0), (0.125, 0.125)] {
        let scaled = problem.scaled(atoms, samples);
        let again = scaled.encode_as(&net, Samples::new(scaled.samples.view()));
        for i in 0..20 {
            let pairs = code(&coding, i).into_iter().zip(code(&again, i).into_iter().map(|a| a * atoms / samples));
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "atoms × {atoms}, samples × {samples}: {a}, {b}"));
        }
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = Problem::<f64>::random(4, 3, 5, 2);
    let samples = Samples::new(problem.samples.view());
    let encode = |net: ElasticNet| net.encode(&problem.basis(), &samples, Run::threads(1)).map(|_| ());
    assert!(encode(ElasticNet::new(0.2, 0.1)).is_ok());
    for net in [
        ElasticNet::new(0.0, 0.1),
        ElasticNet::new(0.2, 0.0),
        ElasticNet::new(f64::NAN, 0.1),
        ElasticNet { max_rounds: 0, ..ElasticNet::new(0.2, 0.1) },
        ElasticNet { tolerance: -1.0, ..ElasticNet::new(0.2, 0.1) },
    ] {
        assert!(encode(net).is_err(), "{net:?}");
    }
}

#[test]
fn what_was_not_observed_plays_no_part() {
    let problem = Problem::<f64>::random(5, 12, 30, 40);
    let observed = Matrix::from_fn(12, 40, |r, _| r % 4 != 1);
    let rows: Vec<usize> = (0..12).filter(|r| r % 4 != 1).collect();
    let seen = |matrix: &Matrix<f64>| Matrix::from_fn(9, matrix.columns(), |r, c| matrix.column(c)[rows[r]]);
    let part = Problem { atoms: seen(&problem.atoms), samples: seen(&problem.samples) };
    let holes = Matrix::from_fn(12, 40, |r, c| if r % 4 == 1 { f64::NAN } else { problem.samples.column(c)[r] });
    let net = ElasticNet { tolerance: 1e-10, ..ElasticNet::new(0.4, 0.2) };
    let masked = problem.encode_as(&net, Samples::new(holes.view()).observed(observed.view()));
    let expected = part.encode_as(&net, Samples::new(part.samples.view()));
    for i in 0..40 {
        let pairs = code(&masked, i).into_iter().zip(code(&expected, i));
        pairs.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-6, "{found} for {expected}"));
    }
}
