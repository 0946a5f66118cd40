//! Codes that scikit-learn found for the same problems (`golden/coding.txt` says how, and with which version).

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use sparsemble::coding::{
    Coding, CodingBasis, Fista, Lasso, OneSparse, Penalty, Pursuit, Samples, SparseCoder, lambda_max,
};
use sparsemble::{Matrix, Run, Scalar};

use crate::npy::{self, converted};
use crate::problems::code;

const LAMBDA: f64 = 0.2;
const SPARSITY: usize = 5;
const ERROR: f64 = 0.05;
const RELATIVE: f64 = 0.1;

fn golden(name: &str) -> Matrix<f64> {
    npy::golden(&format!("coding_{name}"))
}

/// The committed dictionary and samples, and the coder's answer to them.
fn encode<T: Scalar>(coder: &dyn SparseCoder<T>) -> Coding<T> {
    let (atoms, samples) = (converted::<T>(&golden("atoms")), converted::<T>(&golden("samples")));
    let basis = CodingBasis::new(atoms.view()).unwrap();
    coder.encode(&basis, &Samples::new(samples.view()), Run::threads(1)).unwrap()
}

/// Compares with a reference; prints the worst entry and its place.
fn assert_matches<T: Scalar>(coding: &Coding<T>, name: &str, tolerance: f64) {
    let reference = golden(name);
    assert!(coding.report.converged, "{name} {}: {:?}", T::NAME, coding.report);
    assert_eq!((coding.codes.n_atoms(), coding.codes.n_samples()), (reference.rows(), reference.columns()));
    for i in 0..reference.columns() {
        let found = code(coding, i);
        for (j, (found, expected)) in found.iter().zip(reference.column(i)).enumerate() {
            let apart = (found - expected).abs();
            assert!(apart <= tolerance, "{name} {}: sample {i}, atom {j}: {found} for {expected}", T::NAME);
        }
    }
}

/// A lasso solved as far as the type goes, and how close its coefficients then are to the reference.
fn lasso<T: Scalar>(penalty: Penalty) -> (Lasso, f64) {
    let single = T::EPSILON.to_f64() > 1e-10;
    let (tolerance, closeness) = if single { (1e-6, 2e-2) } else { (1e-13, 1e-5) };
    (Lasso { tolerance, ..Lasso::new(penalty) }, closeness)
}

fn lasso_matches<T: Scalar>() {
    let (coder, closeness) = lasso::<T>(Penalty::Lambda(LAMBDA));
    assert_matches(&encode::<T>(&coder), "lasso", closeness);
    assert_matches(&encode::<T>(&Lasso { nonnegative: true, ..coder.clone() }), "lasso_nonnegative", closeness);
    let weights = golden("weights").into_vec();
    assert_matches(&encode::<T>(&Lasso { atom_weights: Some(weights), ..coder }), "lasso_weighted", closeness);
    let (coder, closeness) = lasso::<T>(Penalty::Lambda(LAMBDA / 10.0));
    assert_matches(&encode::<T>(&coder), "lasso_weak", 10.0 * closeness);
    let (coder, closeness) = lasso::<T>(Penalty::Relative(RELATIVE));
    assert_matches(&encode::<T>(&coder), "lasso_relative", closeness);
}

#[test]
fn lasso_codes_are_those_of_scikit_learn() {
    lasso_matches::<f32>();
    lasso_matches::<f64>();
}

#[test]
fn fista_codes_are_those_of_scikit_learn() {
    let coder = Fista { tolerance: 1e-12, ..Fista::lambda(LAMBDA) };
    assert_matches(&encode::<f64>(&coder), "lasso", 1e-5);
    assert_matches(&encode::<f64>(&Fista { nonnegative: true, ..coder }), "lasso_nonnegative", 1e-5);
    assert_matches(&encode::<f32>(&Fista::lambda(LAMBDA)), "lasso", 2e-2);
}

#[test]
fn masked_codes_are_those_of_scikit_learn_on_the_observed_rows() {
    let (atoms, samples, observed) = (golden("atoms"), golden("samples"), golden("observed"));
    let mask = Matrix::from_fn(observed.rows(), observed.columns(), |r, c| observed.column(c)[r] > 0.5);
    let basis = CodingBasis::new(atoms.view()).unwrap();
    let masked = Samples::new(samples.view()).observed(mask.view());
    let coders: [Box<dyn SparseCoder<f64>>; 2] = [
        Box::new(lasso::<f64>(Penalty::Lambda(LAMBDA)).0),
        Box::new(Fista { tolerance: 1e-12, ..Fista::lambda(LAMBDA) }),
    ];
    for coder in coders {
        assert_matches(&coder.encode(&basis, &masked, Run::threads(1)).unwrap(), "lasso_masked", 1e-5);
    }
}

#[test]
fn codes_of_samples_by_the_others_are_those_of_scikit_learn() {
    let samples = golden("samples");
    let own: Vec<Option<usize>> = (0..samples.columns()).map(Some).collect();
    let basis = CodingBasis::new(samples.view()).unwrap();
    let others = Samples::new(samples.view()).excluding(&own);
    let (coder, closeness) = lasso::<f64>(Penalty::Lambda(LAMBDA));
    assert_matches(&coder.encode(&basis, &others, Run::threads(1)).unwrap(), "lasso_self", closeness);
}

fn pursuits_match<T: Scalar>(closeness: f64) {
    let by_error = Pursuit { sparsity: None, error: Some(ERROR), ..Pursuit::omp(1) };
    assert_matches(&encode::<T>(&Pursuit::omp(SPARSITY)), "omp_count", closeness);
    assert_matches(&encode::<T>(&by_error), "omp_error", closeness);
    assert_matches(&encode::<T>(&Pursuit::omp(1)), "omp_one", closeness);
    assert_matches(&encode::<T>(&OneSparse::default()), "omp_one", closeness);
}

#[test]
fn orthogonal_matching_pursuit_is_that_of_scikit_learn() {
    pursuits_match::<f32>(1e-4);
    pursuits_match::<f64>(1e-11);
}

#[test]
fn the_largest_useful_penalty_is_that_of_numpy() {
    let (atoms, samples, reference) = (golden("atoms"), golden("samples"), golden("lambda_max"));
    let basis = CodingBasis::new(atoms.view()).unwrap();
    let found = lambda_max(&basis, &Samples::new(samples.view()), Run::threads(1)).unwrap();
    for (found, expected) in found.iter().zip(reference.as_slice()) {
        assert!((found - expected).abs() < 1e-13, "{found} for {expected}");
    }
}
