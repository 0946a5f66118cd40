//! Laws of the lasso on dictionaries of a few atoms, whose samples are coded side by side.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use sparsemble::coding::{Coding, CodingBasis, Lasso, Penalty, SampleStatus, Samples, SparseCoder};
use sparsemble::{Matrix, Run, Scalar};

use crate::problems::Values;

fn encode<T: Scalar>(coder: &Lasso, atoms: &Matrix<T>, samples: &Matrix<T>, threads: usize) -> Coding<T> {
    let basis = CodingBasis::new(atoms.view()).unwrap();
    coder.encode(&basis, &Samples::new(samples.view()), Run::threads(threads)).unwrap()
}

/// The same atoms and so many zeros that they are many.
fn among_zeros<T: Scalar>(atoms: &Matrix<T>) -> Matrix<T> {
    let value = |row, atom| if atom < atoms.columns() { atoms.column(atom)[row] } else { T::from_f64(0.0) };
    Matrix::from_fn(atoms.rows(), 20, value)
}

fn few_atoms_are_coded_as_many<T: Scalar>(tolerance: f64) {
    let mut seed = 0;
    for n_atoms in 1..=8 {
        for (penalty, nonnegative) in [
            (Penalty::Lambda(0.3), false),
            (Penalty::Lambda(0.3), true),
            (Penalty::Relative(0.1), false),
            (Penalty::Relative(0.9), true),
            (Penalty::Error(0.5), false),
            (Penalty::L1Norm(0.5), true),
        ] {
            seed += 1;
            let mut values = Values::new(seed);
            let (atoms, samples) = (values.matrix(9, n_atoms), values.matrix(9, 150));
            let [atoms, samples] = [atoms, samples].map(|all: Matrix<f64>| all.view().converted::<T>());
            let coder = Lasso { nonnegative, tolerance, ..Lasso::new(penalty) };
            let (few, many) = (encode(&coder, &atoms, &samples, 1), encode(&coder, &among_zeros(&atoms), &samples, 1));
            assert_eq!(few.report.status, many.report.status, "{n_atoms} atoms, {penalty:?}");
            // No μ can bring the error of some samples down to the bound with one or two atoms.
            let may_fail = matches!(penalty, Penalty::Error(_));
            assert!(may_fail || (few.report.converged && few.report.worst_gap <= Some(tolerance)), "{penalty:?}");
            let apart = |i: usize| {
                let mut apart = vec![0.0; 20];
                few.codes.column(i).for_each(|(j, a)| apart[j] += a.to_f64());
                many.codes.column(i).for_each(|(j, a)| apart[j] -= a.to_f64());
                apart.into_iter().fold(0.0, |largest: f64, by| largest.max(by.abs()))
            };
            let finished = (0..150).filter(|&i| few.report.status[i] == SampleStatus::Converged);
            let furthest = finished.map(apart).fold(0.0, f64::max);
            // The gap bounds the square of the distance.
            assert!(furthest < 10.0 * tolerance.sqrt(), "{n_atoms} atoms, {penalty:?}: {furthest} apart");
            assert_eq!(few, encode(&coder, &atoms, &samples, 3));
        }
    }
}

#[test]
fn few_atoms_are_coded_as_among_many_that_are_zero() {
    few_atoms_are_coded_as_many::<f64>(1e-10);
    few_atoms_are_coded_as_many::<f32>(1e-6);
}

#[test]
fn a_code_of_few_atoms_or_features_does_not_depend_on_its_neighbours() {
    for n_atoms in [2, 40] {
        let mut values = Values::new(5);
        let (atoms, samples): (Matrix<f64>, Matrix<f64>) = (values.matrix(3, n_atoms), values.matrix(3, 101));
        let coder = Lasso { nonnegative: true, tolerance: 1e-4, ..Lasso::lambda(0.05) };
        let all = encode(&coder, &atoms, &samples, 1);
        for i in [0, 1, 50, 100] {
            let alone = Matrix::from_fn(3, 1, |row, _| samples.column(i)[row]);
            let own = encode(&coder, &atoms, &alone, 1);
            assert!(all.codes.column(i).eq(own.codes.column(0)), "sample {i} in {n_atoms} atoms");
        }
    }
}

#[test]
fn nearly_equal_and_zero_atoms_and_samples_of_any_size_converge() {
    let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0, 1e-7, 0.0, 0.0, 0.0, 0.0], 3, 3).unwrap();
    for scale in [1e-150, 1e-5, 1.0, 1e5, 1e150] {
        let samples = Matrix::from_fn(3, 9, |row, i| scale * ((2 * row + 3 * i) as f64).cos());
        let coder = Lasso::new(Penalty::Relative(0.01));
        let coding = encode(&coder, &atoms, &samples, 1);
        assert!(coding.report.converged && coding.report.worst_gap <= Some(1e-6), "{scale}: {:?}", coding.report);
        assert!(coding.codes.coefficients().iter().all(|a| a.is_finite()));
    }
}
