//! Laws that hold for every coder of the registry.

use proptest::prelude::*;
use sparsemble::coding::{Coding, CodingBasis, SampleStatus, Samples, SparseCodes};
use sparsemble::{Matrix, MatrixView, Run, Scalar};

use super::registry::{Entry, Scales, UNSCALED, registry};
use crate::problems::{Problem, Values, cases, code, columns, norm, rows, support};

/// Asserts that two codes of one sample give the same approximation, to the coder's closeness.
fn assert_agree<T: Scalar>(entry: &Entry<T>, atoms: &Matrix<T>, sample: &[T], a: &[f64], b: &[f64]) {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let apart = (0..atoms.rows())
        .map(|r| (0..atoms.columns()).map(|j| atoms.column(j)[r].to_f64() * difference[j]).sum())
        .collect::<Vec<f64>>();
    let length = norm(&sample.iter().map(|x| x.to_f64()).collect::<Vec<_>>());
    assert!(
        norm(&apart) <= entry.closeness * length,
        "{} {}: approximations differ by {:e} of the sample, more than {:e};\n{a:?}\n{b:?}",
        entry.name,
        T::NAME,
        norm(&apart) / length,
        entry.closeness
    );
}

/// Enough samples for several blocks of every coder.
const MANY: usize = 401;

/// Features and atoms: an ordinary dictionary, and one of few features.
const SIZES: [(usize, usize); 2] = [(9, 17), (3, 40)];

fn same_bits_for_any_number_of_threads<T: Scalar>(seed: u64, (m, k): (usize, usize)) {
    let problem = Problem::<T>::random(seed, m, k, MANY);
    let (basis, samples) = (problem.basis(), Samples::new(problem.samples.view()));
    for entry in registry::<T>(k, UNSCALED) {
        let [one, two, five] = [1, 2, 5].map(|n| entry.coder.encode(&basis, &samples, Run::threads(n)).unwrap());
        assert!(one == two && one == five, "{} {} depends on the number of threads", entry.name, T::NAME);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for size in SIZES {
        same_bits_for_any_number_of_threads::<f32>(1, size);
        same_bits_for_any_number_of_threads::<f64>(2, size);
    }
}

fn permuted_samples_have_permuted_codes<T: Scalar>(seed: u64, (m, k): (usize, usize)) {
    let problem = Problem::<T>::random(seed, m, k, MANY);
    let order = Values::new(seed).order(MANY);
    let permuted = Problem { samples: columns(&problem.samples, &order), ..problem.clone() };
    for entry in registry::<T>(k, UNSCALED) {
        let (before, after) = (problem.encode(&*entry.coder), permuted.encode(&*entry.coder));
        for (i, &origin) in order.iter().enumerate() {
            let same = before.codes.column(origin).eq(after.codes.column(i));
            assert!(same, "{} {}: sample {origin} has another code in place {i}", entry.name, T::NAME);
            assert_eq!(before.report.status[origin], after.report.status[i], "{} {}", entry.name, T::NAME);
        }
    }
}

#[test]
fn permuting_the_samples_permutes_the_codes_bit_for_bit() {
    for size in SIZES {
        permuted_samples_have_permuted_codes::<f32>(3, size);
        permuted_samples_have_permuted_codes::<f64>(4, size);
    }
}

/// The weighted coder's prices belong to places, so it is left out.
fn permuted_atoms_have_permuted_codes<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 8, 19, 4);
    let order = Values::new(seed).order(19);
    let permuted = Problem { atoms: columns(&problem.atoms, &order), ..problem.clone() };
    for entry in registry::<T>(19, UNSCALED).iter().filter(|entry| entry.name != "lasso, weighted") {
        let (before, after) = (problem.encode(&*entry.coder), permuted.encode(&*entry.coder));
        for i in 0..4 {
            let after = code(&after, i);
            let mut restored = vec![0.0; 19];
            order.iter().zip(after).for_each(|(&origin, a)| restored[origin] = a);
            assert_agree(entry, &problem.atoms, problem.samples.column(i), &code(&before, i), &restored);
        }
    }
}

fn a_mask_leaves_rows_out<T: Scalar>(seed: u64) {
    let (m, n) = (9, 5);
    let mut values = Values::new(seed);
    let problem = Problem::<T>::random(seed, m, 14, n);
    let observed = Matrix::from_fn(m, n, |r, c| c == 0 || r == 0 || values.unit() < 0.7);
    let holes =
        Matrix::from_fn(
            m,
            n,
            |r, c| {
                if observed.column(c)[r] { problem.samples.column(c)[r] } else { T::from_f64(f64::NAN) }
            },
        );
    for entry in registry::<T>(14, UNSCALED) {
        let masked = problem.encode_as(&*entry.coder, Samples::new(holes.view()).observed(observed.view()));
        for i in 0..n {
            let kept: Vec<usize> = (0..m).filter(|&r| observed.column(i)[r]).collect();
            let sample = columns(&problem.samples, &[i]);
            let seen = Problem { atoms: rows(&problem.atoms, &kept), samples: rows(&sample, &kept) };
            let alone = seen.encode(&*entry.coder);
            assert_agree(&entry, &seen.atoms, seen.samples.column(0), &code(&masked, i), &code(&alone, 0));
            assert_eq!(masked.report.status[i], alone.report.status[0], "{} {}", entry.name, T::NAME);
        }
    }
}

fn an_excluded_atom_is_as_good_as_none<T: Scalar>(seed: u64) {
    let mut values = Values::new(seed);
    let problem = Problem::<T>::random(seed, 7, 12, 5);
    for entry in registry::<T>(12, UNSCALED) {
        // Excluding an atom the code would use is the case that matters.
        let free = problem.encode(&*entry.coder);
        let excluded: Vec<Option<usize>> = (0..5)
            .map(|i| {
                let used = support(&code(&free, i));
                if used.is_empty() || i == 4 { None } else { Some(used[values.below(used.len())]) }
            })
            .collect();
        let samples = Samples::new(problem.samples.view()).excluding(&excluded);
        let coding = problem.encode_as(&*entry.coder, samples);
        for (i, atom) in excluded.iter().enumerate() {
            let mut without = problem.clone();
            if let Some(j) = *atom {
                let used = coding.codes.column(i).any(|(used, _)| used == j);
                assert!(!used, "{} {}: excluded atom {j} is used", entry.name, T::NAME);
                without.atoms.column_mut(j).fill(T::ZERO);
            }
            let alone = code(&without.encode(&*entry.coder), i);
            assert_agree(&entry, &problem.atoms, problem.samples.column(i), &code(&coding, i), &alone);
        }
    }
}

fn scaled_data_has_scaled_codes<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 8, 13, 3);
    let extreme = 2.0_f64.powi(100); // about 1e30; a power of two, so that nothing is rounded
    for (atoms, samples) in [(extreme, 1.0), (1.0 / extreme, 1.0), (1.0, extreme), (1.0, 1.0 / extreme)] {
        let large = problem.scaled(atoms, samples);
        let scaled_coders = registry::<T>(13, Scales { atoms, samples });
        for (entry, scaled_entry) in registry::<T>(13, UNSCALED).iter().zip(&scaled_coders) {
            let (reference, coding) = (problem.encode(&*entry.coder), large.encode(&*scaled_entry.coder));
            assert_eq!(
                reference.report.status,
                coding.report.status,
                "{} {} {atoms:e} {samples:e}",
                entry.name,
                T::NAME
            );
            for i in 0..3 {
                let restored: Vec<f64> = code(&coding, i).iter().map(|a| a / samples * atoms).collect();
                assert_agree(entry, &problem.atoms, problem.samples.column(i), &code(&reference, i), &restored);
            }
        }
    }
}

fn zero_samples_and_zero_atoms_are_not_used<T: Scalar>(seed: u64) {
    let mut problem = Problem::<T>::random(seed, 6, 9, 4);
    for j in [1, 4, 8] {
        problem.atoms.column_mut(j).fill(T::ZERO);
    }
    problem.samples.column_mut(2).fill(T::ZERO);
    for entry in registry::<T>(9, UNSCALED) {
        let coding = problem.encode(&*entry.coder);
        assert!(coding.codes.atoms().iter().all(|j| ![1, 4, 8].contains(j)), "{} {}", entry.name, T::NAME);
        assert_eq!(coding.codes.column(2).count(), 0, "{} {}", entry.name, T::NAME);
        assert_eq!(coding.report.status[2], SampleStatus::Converged, "{} {}", entry.name, T::NAME);
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn permuting_the_atoms_permutes_the_codes(seed in any::<u64>()) {
        permuted_atoms_have_permuted_codes::<f32>(seed);
        permuted_atoms_have_permuted_codes::<f64>(seed);
    }

    #[test]
    fn a_mask_is_the_same_as_leaving_the_rows_out(seed in any::<u64>()) {
        a_mask_leaves_rows_out::<f32>(seed);
        a_mask_leaves_rows_out::<f64>(seed);
    }

    #[test]
    fn an_excluded_atom_is_never_used_and_costs_nothing_else(seed in any::<u64>()) {
        an_excluded_atom_is_as_good_as_none::<f32>(seed);
        an_excluded_atom_is_as_good_as_none::<f64>(seed);
    }

    #[test]
    fn scaling_samples_or_atoms_scales_the_codes(seed in any::<u64>()) {
        scaled_data_has_scaled_codes::<f32>(seed);
        scaled_data_has_scaled_codes::<f64>(seed);
    }

    #[test]
    fn zero_atoms_are_never_used_and_zero_samples_have_no_code(seed in any::<u64>()) {
        zero_samples_and_zero_atoms_are_not_used::<f32>(seed);
        zero_samples_and_zero_atoms_are_not_used::<f64>(seed);
    }
}

#[test]
fn an_empty_batch_has_empty_codes() {
    fn law<T: Scalar>() {
        let problem = Problem::<T>::random(1, 4, 6, 0);
        for entry in registry::<T>(6, UNSCALED) {
            let coding = problem.encode(&*entry.coder);
            assert_eq!((coding.codes.n_samples(), coding.codes.n_atoms(), coding.codes.n_nonzero()), (0, 6, 0));
            assert!(coding.report.converged && coding.report.status.is_empty(), "{}", entry.name);
        }
    }
    law::<f32>();
    law::<f64>();
}

#[test]
fn a_sample_without_observed_entries_has_no_code() {
    let problem = Problem::<f64>::random(1, 4, 6, 2);
    let observed = Matrix::from_fn(4, 2, |_, c| c == 1);
    for entry in registry::<f64>(6, UNSCALED) {
        let coding = problem.encode_as(&*entry.coder, Samples::new(problem.samples.view()).observed(observed.view()));
        assert_eq!(coding.codes.column(0).count(), 0, "{}", entry.name);
        assert_eq!(coding.report.status[0], SampleStatus::Converged, "{}", entry.name);
    }
}

#[test]
fn input_that_does_not_fit_is_refused_by_name() {
    let problem = Problem::<f64>::random(1, 4, 6, 2);
    let basis = problem.basis();
    let fits = Samples::new(problem.samples.view());
    let (tall, poisoned) =
        (Matrix::zeros(5, 2), Matrix::from_fn(4, 2, |r, c| if (r, c) == (3, 1) { f64::NAN } else { 1.0 }));
    let (short_mask, narrow_mask) = (Matrix::from_fn(3, 2, |_, _| true), Matrix::from_fn(4, 1, |_, _| true));
    let (few, beyond) = ([None], [None, Some(6)]);
    let cases = [
        (Samples::new(tall.view()), "samples: number of features"),
        (Samples::new(poisoned.view()), "samples holds a NaN or infinite value at row 3, column 1"),
        (fits.observed(short_mask.view()), "mask: number of features"),
        (fits.observed(narrow_mask.view()), "mask: number of samples"),
        (fits.excluding(&few), "excluded atoms: number of samples"),
        (fits.excluding(&beyond), "excluded atom = 6"),
    ];
    for entry in registry::<f64>(6, UNSCALED) {
        for (samples, start) in &cases {
            let message = entry.coder.encode(&basis, samples, Run::threads(1)).unwrap_err().to_string();
            assert!(message.starts_with(start), "{}: {message:?} should start with {start:?}", entry.name);
        }
    }
}

#[test]
fn a_dictionary_that_cannot_be_coded_against_is_refused_by_name() {
    let message = |view: MatrixView<'_, f64>| CodingBasis::new(view).unwrap_err().to_string();
    assert!(message(Matrix::zeros(3, 0).view()).starts_with("dictionary is empty"));
    assert!(message(Matrix::zeros(0, 3).view()).starts_with("dictionary is empty"));
    let infinite = Matrix::from_fn(2, 2, |r, _| if r == 1 { f64::INFINITY } else { 0.0 });
    assert!(message(infinite.view()).starts_with("dictionary holds a NaN or infinite value at row 1, column 0"));
}

/// The two views of a code are one code.
#[test]
fn dense_codes_times_the_atoms_are_the_approximations() {
    let problem = Problem::<f64>::random(8, 5, 7, 3);
    for entry in registry::<f64>(7, UNSCALED) {
        let codes: SparseCodes<f64> = problem.encode(&*entry.coder).codes;
        let approximations = codes.approximate(problem.atoms.view()).unwrap();
        let dense = codes.to_dense();
        for i in 0..3 {
            for r in 0..5 {
                let sum: f64 = (0..7).map(|j| problem.atoms.column(j)[r] * dense.column(i)[j]).sum();
                assert!((sum - approximations.column(i)[r]).abs() < 1e-12, "{}", entry.name);
            }
        }
    }
}

/// Both memory orders of the samples are the same input.
#[test]
fn a_row_major_batch_has_the_same_codes() {
    let problem = Problem::<f32>::random(9, 5, 7, 11);
    let transposed: Vec<f32> =
        (0..5).flat_map(|r| (0..11).map(move |c| (r, c))).map(|(r, c)| problem.samples.column(c)[r]).collect();
    let view = MatrixView::from_strided(&transposed, (5, 11), (11, 1)).unwrap();
    for entry in registry::<f32>(7, UNSCALED) {
        let coding: Coding<f32> = problem.encode_as(&*entry.coder, Samples::new(view));
        assert_eq!(coding, problem.encode(&*entry.coder), "{}", entry.name);
    }
}
