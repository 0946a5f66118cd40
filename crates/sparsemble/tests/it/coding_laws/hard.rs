//! Inputs that break coders: whatever goes in, what comes out is finite, well formed and reported.

use sparsemble::coding::{Coding, SampleStatus};
use sparsemble::{Matrix, Scalar};

use super::registry::{Entry, UNSCALED, registry};
use crate::problems::{Problem, Values, columns};

fn assert_well_formed<T: Scalar>(entry: &Entry<T>, what: &str, problem: &Problem<T>, coding: &Coding<T>) {
    let context = format!("{} {} on {what}", entry.name, T::NAME);
    let (n_atoms, n_samples) = (problem.atoms.columns(), problem.samples.columns());
    assert_eq!((coding.codes.n_atoms(), coding.codes.n_samples()), (n_atoms, n_samples), "{context}");
    assert_eq!(coding.report.status.len(), n_samples, "{context}");
    let all = coding.report.status.iter().all(|status| *status == SampleStatus::Converged);
    assert_eq!(coding.report.converged, all, "{context}");
    assert!(coding.report.worst_gap.is_none_or(|gap| gap.is_finite() && gap >= 0.0), "{context}: {:?}", coding.report);
    for i in 0..n_samples {
        let entries: Vec<(usize, T)> = coding.codes.column(i).collect();
        assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "{context}: atoms out of order");
        assert!(entries.iter().all(|(j, _)| *j < n_atoms), "{context}: no such atom");
        let fine = |a: &T| a.is_finite() && a.abs() > T::ZERO && (*a > T::ZERO || !entry.nonnegative);
        assert!(entries.iter().all(|(_, a)| fine(a)), "{context}: sample {i} has the code {entries:?}");
    }
}

fn fill<T: Scalar>(rows: usize, columns: usize, value: f64) -> Matrix<T> {
    Matrix::from_fn(rows, columns, |_, _| T::from_f64(value))
}

/// Problems with something wrong with each, and what it is.
fn hard_problems<T: Scalar>() -> Vec<(&'static str, Problem<T>)> {
    let random = |m, k, t| Problem::<T>::random(77, m, k, t);
    let normal = random(6, 10, 4);
    let with_atoms = |atoms: Matrix<T>| Problem { atoms, samples: normal.samples.clone() };
    let with_samples = |samples: Matrix<T>| Problem { atoms: normal.atoms.clone(), samples };
    let repeated = columns(&normal.atoms, &[0, 0, 0, 1, 1, 2, 0]);
    let opposite = Matrix::from_fn(6, 8, |r, c| {
        let value = normal.atoms.column(c / 2)[r];
        if c % 2 == 0 { value } else { -value }
    });
    let ladder = Matrix::from_fn(6, 10, |r, c| {
        T::from_f64(normal.atoms.column(c)[r].to_f64() * 10.0_f64.powi(5 * c as i32 - 25))
    });
    let nearly_one = Matrix::from_fn(6, 8, |r, c| {
        T::from_f64(normal.atoms.column(0)[r].to_f64() + 1e-7 * normal.atoms.column(c + 1)[r].to_f64())
    });
    let subnormal = if T::EPSILON.to_f64() > 1e-10 { 1e-41 } else { 1e-312 };
    let huge = if T::EPSILON.to_f64() > 1e-10 { 1e36 } else { 1e306 };
    let axes = Matrix::from_fn(6, 3, |r, c| if r == c { T::ONE } else { T::ZERO });
    let other_axes = Matrix::from_fn(6, 3, |r, c| if r == c + 3 { T::ONE } else { T::ZERO });
    vec![
        ("more atoms than samples", random(6, 40, 1)),
        ("fewer atoms than features", random(20, 3, 5)),
        ("one feature", random(1, 5, 6)),
        ("one atom", random(6, 1, 6)),
        ("one of everything", random(1, 1, 1)),
        ("zero atoms only", with_atoms(Matrix::zeros(6, 10))),
        ("zero samples only", with_samples(Matrix::zeros(6, 4))),
        ("repeated atoms", with_atoms(repeated)),
        ("opposite atoms", with_atoms(opposite)),
        ("one atom many times", with_atoms(columns(&normal.atoms, &[0; 40]))),
        ("atoms that are nearly one", with_atoms(nearly_one)),
        ("atoms of fifty orders of magnitude", with_atoms(ladder)),
        ("samples that are atoms", with_samples(columns(&normal.atoms, &[3, 4, 3, 9]))),
        ("samples orthogonal to all atoms", Problem { atoms: axes, samples: other_axes }),
        ("constant everything", Problem { atoms: fill(6, 10, 1.0), samples: fill(6, 4, 1.0) }),
        ("samples of 1e30", normal.scaled(1.0, 1e30)),
        ("samples of 1e-30", normal.scaled(1.0, 1e-30)),
        ("atoms of 1e30", normal.scaled(1e30, 1.0)),
        ("atoms of 1e-30", normal.scaled(1e-30, 1.0)),
        ("subnormal samples", normal.scaled(1.0, subnormal)),
        ("subnormal atoms and samples", normal.scaled(subnormal, subnormal)),
        ("huge samples", Problem { samples: fill(6, 4, huge), ..normal.clone() }),
        ("huge atoms and samples", Problem { atoms: fill(6, 10, huge), samples: fill(6, 4, huge) }),
        ("a wide dictionary", Problem { atoms: Values::new(3).matrix(3, 300), samples: Values::new(4).matrix(3, 3) }),
    ]
}

fn every_coder_survives<T: Scalar>() {
    for (what, problem) in hard_problems::<T>() {
        for entry in registry::<T>(problem.atoms.columns(), UNSCALED) {
            assert_well_formed(&entry, what, &problem, &problem.encode(&*entry.coder));
        }
    }
}

#[test]
fn no_single_precision_input_makes_a_coder_fail() {
    every_coder_survives::<f32>();
}

#[test]
fn no_double_precision_input_makes_a_coder_fail() {
    every_coder_survives::<f64>();
}

/// A few samples of each kind in one batch: none may spoil its neighbours.
#[test]
fn a_bad_sample_does_not_change_its_neighbours() {
    fn law<T: Scalar>() {
        let clean = Problem::<T>::random(5, 6, 10, 6);
        let mut mixed = clean.clone();
        mixed.samples.column_mut(1).fill(T::ZERO);
        mixed.samples.column_mut(3).fill(T::from_f64(1e30));
        mixed.samples.column_mut(4).fill(T::from_f64(1e-30));
        for entry in registry::<T>(10, UNSCALED) {
            let (clean, mixed) = (clean.encode(&*entry.coder), mixed.encode(&*entry.coder));
            for i in [0, 2, 5] {
                assert!(clean.codes.column(i).eq(mixed.codes.column(i)), "{} {}: sample {i}", entry.name, T::NAME);
            }
        }
    }
    law::<f32>();
    law::<f64>();
}
