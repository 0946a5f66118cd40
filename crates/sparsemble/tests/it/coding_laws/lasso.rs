//! The lasso: optimality, its certificate, and the constrained forms against a search for their λ.

use proptest::prelude::*;
use sparsemble::coding::{Coding, Fista, Lasso, Penalty, Pursuit, SampleStatus, Samples, SparseCoder, lambda_max};
use sparsemble::{Matrix, Run, Scalar};

use super::registry::tolerance;
use crate::problems::{Judged, Problem, cases, code, columns, support};

fn lasso<T: Scalar>(penalty: Penalty) -> Lasso {
    Lasso { tolerance: tolerance::<T>(), ..Lasso::new(penalty) }
}

/// The penalised coders by λ and sign constraint: both must satisfy the same laws.
fn penalised<T: Scalar>(lambda: f64, nonnegative: bool) -> [(&'static str, Box<dyn SparseCoder<T>>); 2] {
    let fista = Fista { nonnegative, tolerance: tolerance::<T>(), max_iterations: 20_000, ..Fista::lambda(lambda) };
    [("lasso", Box::new(Lasso { nonnegative, ..lasso::<T>(Penalty::Lambda(lambda)) })), ("fista", Box::new(fista))]
}

/// |dᵀr| ≤ λw/2 for every atom, with equality and the right sign on the support, as far as a gap of `gap` implies.
///
/// With s the scale that makes s·r dual feasible, (1 − s)²‖r‖² and every λw|a| − 2s·a·dᵀr are at most the gap.
fn assert_optimal(judged: &Judged, lambda: f64, weights: &[f64], nonnegative: bool, gap: f64) {
    let gap = gap * judged.energy;
    let scale = (1.0 - (gap / judged.error().max(1e-300)).sqrt()).max(0.0);
    for (j, (&c, &w)) in judged.correlations.iter().zip(weights).enumerate() {
        let value = if nonnegative { c } else { c.abs() };
        let limit = 0.5 * lambda * w;
        assert!(value * scale <= limit * (1.0 + 1e-12), "atom {j} is left out with {value} > {limit}");
        let a = judged.code[j];
        if a.abs() > 0.0 {
            let missing = lambda * w * a.abs() - 2.0 * a * c;
            let most = gap + 2.0 * (1.0 - scale) * (a * c).abs();
            assert!(missing <= most, "atom {j} is used with {c} for {limit}, its sign is {a}");
        }
    }
}

fn codes_are_optimal<T: Scalar>(seed: u64, (m, k): (usize, usize), strength: f64) {
    let problem = Problem::<T>::random(seed, m, k, 4);
    let weights = vec![1.0; k];
    for nonnegative in [false, true] {
        for (name, coder) in penalised::<T>(strength, nonnegative) {
            let coding = problem.encode(&*coder);
            let (mut worst, mut rounding) = (0.0, 0.0);
            for i in 0..4 {
                let judged = problem.judge(i, &code(&coding, i));
                assert!(!nonnegative || judged.code.iter().all(|a| *a >= 0.0));
                let gap = judged.gap(strength, &weights, nonnegative);
                let limit = tolerance::<T>() + judged.rounding::<T>();
                assert!(gap <= limit, "{name} {}: gap {gap:e} of sample {i} beyond {limit:e}", T::NAME);
                assert_optimal(&judged, strength, &weights, nonnegative, limit);
                (worst, rounding) = (f64::max(worst, gap), f64::max(rounding, judged.rounding::<T>()));
            }
            let reported = coding.report.worst_gap.unwrap();
            assert_eq!(
                coding.report.converged,
                reported <= tolerance::<T>(),
                "{name} {}: {:?}",
                T::NAME,
                coding.report
            );
            let apart = (reported - worst).abs();
            assert!(apart <= rounding, "{name} {}: reported {reported:e}, found {worst:e}", T::NAME);
        }
    }
}

/// With more atoms than the space has directions an atom that violates the conditions may lie in the span of the support.
#[test]
fn codes_in_wide_dictionaries_are_optimal() {
    for seed in 0..60 {
        codes_are_optimal::<f64>(seed, (2 + seed as usize % 3, 28), 0.33);
        codes_are_optimal::<f32>(seed, (2 + seed as usize % 3, 28), 0.33);
    }
}

/// Dictionaries too large to be seen whole through a Gram matrix are coded in rounds.
#[test]
fn codes_in_large_dictionaries_are_optimal() {
    for (seed, strength) in [(1, 0.1), (2, 0.5), (3, 2.0)] {
        codes_are_optimal::<f64>(seed, (16, 800), strength);
        codes_are_optimal::<f32>(seed, (16, 800), strength);
    }
}

#[test]
fn the_gap_of_samples_cut_short_is_that_of_their_codes() {
    for max_rounds in [1, 2] {
        let problem = Problem::<f64>::random(4, 60, 800, 4);
        let coding = problem.encode(&Lasso { max_rounds, tolerance: 1e-13, ..Lasso::lambda(0.01) });
        assert!(coding.report.status.contains(&SampleStatus::IterationLimit));
        assert_eq!(coding.report.iterations, max_rounds);
        let gap = |i: usize| problem.judge(i, &code(&coding, i)).gap(0.01, &[1.0; 800], false);
        let worst = (0..4).map(gap).fold(0.0, f64::max);
        assert!(
            (coding.report.worst_gap.unwrap() - worst).abs() <= 1e-12,
            "{:?} for {worst:e}",
            coding.report.worst_gap
        );
    }
}

/// Correlations that are all rounding errors must not let an atom in with the wrong sign.
#[test]
fn nonnegative_codes_stay_so_when_next_to_nothing_is_left_over() {
    fn law<T: Scalar>() {
        for seed in 0..40 {
            let problem = Problem::<T>::random(seed, 12, 40, 3);
            let inside = Matrix::from_fn(12, 3, |r, c| {
                T::from_f64((0..6).map(|j| (1 + j) as f64 * problem.atoms.column(3 * j + c)[r].to_f64()).sum())
            });
            let problem = Problem { samples: inside, ..problem };
            for penalty in [Penalty::Error(1e-9), Penalty::Error(1e-3), Penalty::L1Norm(1e3), Penalty::Lambda(1e-7)] {
                let coding = problem.encode(&Lasso { nonnegative: true, ..lasso::<T>(penalty) });
                for i in 0..3 {
                    assert!(coding.codes.column(i).all(|(_, a)| a > T::ZERO), "{penalty:?} {} seed {seed}", T::NAME);
                }
            }
        }
    }
    law::<f32>();
    law::<f64>();
}

fn large_penalties_give_the_zero_code<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 6, 9, 1);
    let largest = lambda_max(&problem.basis(), &Samples::new(problem.samples.view()), Run::threads(1)).unwrap()[0];
    let zero = problem.judge(0, &[0.0; 9]);
    let expected = 2.0 * zero.correlations.iter().fold(0.0_f64, |largest, c| largest.max(c.abs()));
    assert!((largest - expected).abs() <= 1e2 * T::EPSILON.to_f64() * expected);
    for factor in [1.0 + 1e3 * T::EPSILON.to_f64(), 2.0, 1e10] {
        for (name, coder) in penalised::<T>(factor * largest, false) {
            let coding = problem.encode(&*coder);
            assert!(coding.codes.n_nonzero() == 0 && coding.report.converged, "{name} {} at {factor}", T::NAME);
        }
        assert_eq!(problem.encode(&lasso::<T>(Penalty::Relative(factor))).codes.n_nonzero(), 0);
    }
    for (name, coder) in penalised::<T>(0.9 * largest, false) {
        assert!(problem.encode(&*coder).codes.n_nonzero() > 0, "{name} {}", T::NAME);
    }
}

fn weights_are_prices<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 7, 12, 4);
    let mut weights: Vec<f64> = (0..12).map(|j| [0.25, 1.0, 3.0][j % 3]).collect();
    (weights[4], weights[7]) = (0.0, f64::INFINITY);
    for nonnegative in [false, true] {
        let plain = Lasso { nonnegative, ..lasso::<T>(Penalty::Lambda(1.0)) };
        let coding = problem.encode(&Lasso { atom_weights: Some(weights.clone()), ..plain });
        for i in 0..4 {
            let judged = problem.judge(i, &code(&coding, i));
            let limit = tolerance::<T>() + judged.rounding::<T>();
            assert!(judged.code[7].abs() <= 0.0, "an atom of infinite price is used");
            // A free atom costs nothing, so the residual must not correlate with it (nor, if a ≥ 0, agree with it).
            let free = if nonnegative && judged.code[4] <= 0.0 {
                judged.correlations[4].max(0.0)
            } else {
                judged.correlations[4]
            };
            assert!(free.abs() <= limit.sqrt() * judged.lengths[4] * judged.energy.sqrt(), "{}: {free:e}", T::NAME);
            let mut affordable = judged;
            (affordable.correlations[4], affordable.correlations[7]) = (0.0, 0.0);
            let finite: Vec<f64> = weights.iter().map(|w| w.min(1e9)).collect();
            assert_optimal(&affordable, 1.0, &finite, nonnegative, limit);
        }
    }
}

fn weights_are_the_same_as_scaled_atoms<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 7, 12, 4);
    let weights: Vec<f64> = (0..12).map(|j| [0.5, 1.0, 4.0][j % 3]).collect(); // powers of two: exact quotients
    let scaled = Matrix::from_fn(7, 12, |r, c| T::from_f64(problem.atoms.column(c)[r].to_f64() / weights[c]));
    let other = Problem { atoms: scaled, samples: problem.samples.clone() };
    for penalty in [Penalty::Lambda(1.0), Penalty::Relative(0.2), Penalty::Error(2.0), Penalty::L1Norm(1.0)] {
        let coder = lasso::<T>(penalty);
        let plain = other.encode(&coder);
        let weighted = problem.encode(&Lasso { atom_weights: Some(weights.clone()), ..coder });
        for i in 0..4 {
            let (a, b) = (problem.judge(i, &code(&weighted, i)), other.judge(i, &code(&plain, i)));
            let apart: f64 = a.residual.iter().zip(&b.residual).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(
                apart <= 9.0 * (tolerance::<T>() + a.rounding::<T>()) * a.energy,
                "{penalty:?} {}: {apart:e}",
                T::NAME
            );
        }
    }
}

fn a_relative_penalty_is_a_fraction_of_the_largest<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 7, 12, 4);
    let largest = lambda_max(&problem.basis(), &Samples::new(problem.samples.view()), Run::threads(1)).unwrap();
    let coding = problem.encode(&lasso::<T>(Penalty::Relative(0.2)));
    for (i, largest) in largest.iter().enumerate() {
        let judged = problem.judge(i, &code(&coding, i));
        let gap = judged.gap(0.2 * largest, &[1.0; 12], false);
        assert!(gap <= tolerance::<T>() + judged.rounding::<T>(), "{}: {gap:e}", T::NAME);
    }
}

/// The signed problem is the non-negative one on the atoms and their negatives.
fn signs_are_opposite_atoms<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 6, 10, 3);
    let both = Matrix::from_fn(6, 20, |r, c| {
        let value = problem.atoms.column(c % 10)[r];
        if c < 10 { value } else { -value }
    });
    let doubled = Problem { atoms: both, samples: problem.samples.clone() };
    let signed = problem.encode(&lasso::<T>(Penalty::Lambda(1.0)));
    let positive = doubled.encode(&Lasso { nonnegative: true, ..lasso::<T>(Penalty::Lambda(1.0)) });
    for i in 0..3 {
        let (a, b) = (problem.judge(i, &code(&signed, i)), doubled.judge(i, &code(&positive, i)));
        let difference = a.objective(1.0, &[1.0; 10]) - b.objective(1.0, &[1.0; 20]);
        let limit = (tolerance::<T>() + a.rounding::<T>()) * a.energy;
        assert!(difference.abs() <= limit, "{}: objectives differ by {difference:e}", T::NAME);
    }
}

/// The λ at which `measure` of the penalised code crosses zero from above, found by halving (double precision).
fn search(problem: &Problem<f64>, nonnegative: bool, measure: impl Fn(&Judged) -> f64) -> Judged {
    let (mut low, mut high) = (-14.0_f64, 6.0_f64);
    let judged = |exponent: f64| {
        let coder = Lasso { nonnegative, tolerance: 1e-13, ..Lasso::lambda(10.0_f64.powf(exponent)) };
        problem.judge(0, &code(&problem.encode(&coder), 0))
    };
    for _ in 0..45 {
        let middle = f64::midpoint(low, high);
        if measure(&judged(middle)) > 0.0 { high = middle } else { low = middle }
    }
    judged(low)
}

fn the_error_is_kept_at_the_least_norm(seed: u64, fraction: f64) {
    for nonnegative in [false, true] {
        let problem = Problem::<f64>::random(seed, 6, 14, 1);
        let energy = problem.judge(0, &[0.0; 14]).energy;
        // Non-negative codes may not reach every error: ask for one between the least and the whole.
        let least = problem.judge(0, &code(&problem.encode(&Lasso { nonnegative, ..Lasso::lambda(1e-6) }), 0)).error();
        let target = least + fraction * (energy - least);
        if target > energy * 0.999 {
            continue;
        }
        let coder = Lasso { nonnegative, ..lasso::<f64>(Penalty::Error(target)) };
        let coding = problem.encode(&coder);
        assert_eq!(coding.report.status, [SampleStatus::Converged], "{:?}", coding.report);
        let found = problem.judge(0, &code(&coding, 0));
        assert!(found.error() <= target + 1e-9 * energy, "error {} for {target}", found.error());
        let reference = search(&problem, nonnegative, |judged| judged.error() - target);
        let (norm, least) = (found.price(&[1.0; 14]), reference.price(&[1.0; 14]));
        assert!(norm <= least * (1.0 + 1e-4) + 1e-9, "norm {norm}, but {least} suffices");
    }
}

fn the_norm_is_kept_at_the_least_error(seed: u64, fraction: f64) {
    for nonnegative in [false, true] {
        let problem = Problem::<f64>::random(seed, 6, 14, 1);
        let free = problem.judge(0, &code(&problem.encode(&Lasso { nonnegative, ..Lasso::lambda(1e-6) }), 0));
        let target = fraction * free.price(&[1.0; 14]);
        if target <= 0.0 {
            continue;
        }
        let coding = problem.encode(&Lasso { nonnegative, ..lasso::<f64>(Penalty::L1Norm(target)) });
        assert_eq!(coding.report.status, [SampleStatus::Converged], "{:?}", coding.report);
        let found = problem.judge(0, &code(&coding, 0));
        assert!(found.price(&[1.0; 14]) <= target * (1.0 + 1e-9), "norm {} for {target}", found.price(&[1.0; 14]));
        let reference = search(&problem, nonnegative, |judged| target - judged.price(&[1.0; 14]));
        let (error, least) = (found.error(), reference.error());
        assert!(error <= least + 1e-6 * found.energy, "error {error}, but {least} is possible");
    }
}

/// In single precision there is no search to compare with, but the constraint and the certificate stand.
fn constraints_hold_in_single_precision(seed: u64) {
    let problem = Problem::<f32>::random(seed, 8, 16, 4);
    let by_error: Coding<f32> = problem.encode(&lasso::<f32>(Penalty::Error(2.0)));
    let by_norm: Coding<f32> = problem.encode(&lasso::<f32>(Penalty::L1Norm(1.0)));
    for i in 0..4 {
        let judged = problem.judge(i, &code(&by_error, i));
        assert!(judged.error() <= 2.0 + 1e-4 * judged.energy, "error {}", judged.error());
        let judged = problem.judge(i, &code(&by_norm, i));
        assert!(judged.price(&[1.0; 16]) <= 1.0 + 1e-4, "norm {}", judged.price(&[1.0; 16]));
    }
    assert!(by_error.report.converged && by_norm.report.converged, "{:?} {:?}", by_error.report, by_norm.report);
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn lasso_codes_are_optimal_and_their_gap_is_the_reported_one(
        seed in any::<u64>(), m in 1_usize..20, k in 1_usize..40, strength in 0.01_f64..8.0
    ) {
        codes_are_optimal::<f32>(seed, (m, k), strength);
        codes_are_optimal::<f64>(seed, (m, k), strength);
    }

    #[test]
    fn a_penalty_of_lambda_max_or_more_gives_the_zero_code(seed in any::<u64>()) {
        large_penalties_give_the_zero_code::<f32>(seed);
        large_penalties_give_the_zero_code::<f64>(seed);
    }

    #[test]
    fn atom_weights_are_the_prices_of_atoms(seed in any::<u64>()) {
        weights_are_prices::<f32>(seed);
        weights_are_prices::<f64>(seed);
    }

    #[test]
    fn a_weight_is_the_same_as_a_shorter_atom(seed in any::<u64>()) {
        weights_are_the_same_as_scaled_atoms::<f32>(seed);
        weights_are_the_same_as_scaled_atoms::<f64>(seed);
    }

    #[test]
    fn a_relative_penalty_is_a_fraction_of_lambda_max(seed in any::<u64>()) {
        a_relative_penalty_is_a_fraction_of_the_largest::<f32>(seed);
        a_relative_penalty_is_a_fraction_of_the_largest::<f64>(seed);
    }

    #[test]
    fn signed_codes_are_nonnegative_codes_of_opposite_atoms(seed in any::<u64>()) {
        signs_are_opposite_atoms::<f32>(seed);
        signs_are_opposite_atoms::<f64>(seed);
    }

    #[test]
    fn the_error_constrained_lasso_has_the_least_norm(seed in any::<u64>(), fraction in 0.02_f64..0.95) {
        the_error_is_kept_at_the_least_norm(seed, fraction);
    }

    #[test]
    fn the_norm_constrained_lasso_has_the_least_error(seed in any::<u64>(), fraction in 0.02_f64..0.95) {
        the_norm_is_kept_at_the_least_error(seed, fraction);
    }

    #[test]
    fn the_constrained_forms_hold_in_single_precision(seed in any::<u64>()) {
        constraints_hold_in_single_precision(seed);
    }
}

#[test]
fn single_precision_reaches_a_tolerance_that_its_own_rounding_does_not() {
    let weights = [1.0; 71];
    for nonnegative in [false, true] {
        let coder = Lasso { nonnegative, ..Lasso::lambda(0.1) };
        let problem = Problem::<f32>::random(8, 35, 71, 60);
        let coding = problem.encode(&coder);
        assert!(coding.report.converged && coding.report.worst_gap <= Some(1e-6), "{:?}", coding.report);
        let to_doubles = |matrix: &Matrix<f32>| {
            Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| f64::from(matrix.column(c)[r]))
        };
        let exact = Problem { atoms: to_doubles(&problem.atoms), samples: to_doubles(&problem.samples) };
        let best = exact.encode(&Lasso { tolerance: 1e-12, ..coder });
        for i in 0..60 {
            let [found, least] = [code(&coding, i), code(&best, i)].map(|code| exact.judge(i, &code));
            let excess = found.objective(0.1, &weights) - least.objective(0.1, &weights);
            assert!(excess <= 1e-6 * found.energy, "sample {i}: {excess}");
        }
    }
}

#[test]
fn constraints_that_do_not_bind_and_errors_out_of_reach_are_recognised() {
    let problem = Problem::<f64>::random(3, 6, 4, 1);
    let energy = problem.judge(0, &[0.0; 4]).energy;
    let coding = problem.encode(&Lasso::new(Penalty::Error(1.01 * energy)));
    assert!(coding.codes.n_nonzero() == 0 && coding.report.converged);
    // Four atoms do not span six dimensions.
    let coding = problem.encode(&Lasso::new(Penalty::Error(1e-6 * energy)));
    assert_eq!(coding.report.status, [SampleStatus::Unreachable]);
    let reached = problem.judge(0, &code(&coding, 0));
    assert!(
        reached.correlations.iter().all(|c| c.abs() < 1e-3),
        "not the best that can be done: {:?}",
        reached.correlations
    );
    // More norm than least squares need.
    let coding = problem.encode(&Lasso::new(Penalty::L1Norm(1e3)));
    let loose = problem.judge(0, &code(&coding, 0));
    assert!((loose.error() - reached.error()).abs() <= 1e-5 * energy && coding.report.converged);
}

#[test]
fn lambda_max_respects_masks_and_excluded_atoms() {
    let problem = Problem::<f64>::random(5, 6, 9, 2);
    let observed = Matrix::from_fn(6, 2, |r, _| r != 2);
    let excluded = [Some(3), None];
    let samples = Samples::new(problem.samples.view()).observed(observed.view()).excluding(&excluded);
    let found = lambda_max(&problem.basis(), &samples, Run::threads(1)).unwrap();
    for i in 0..2 {
        let product = |j: usize| {
            (0..6).filter(|r| *r != 2).map(|r| problem.atoms.column(j)[r] * problem.samples.column(i)[r]).sum::<f64>()
        };
        let expected = (0..9).filter(|j| excluded[i] != Some(*j)).map(|j| 2.0 * product(j).abs()).fold(0.0, f64::max);
        assert!((found[i] - expected).abs() < 1e-12 * expected, "{} {expected}", found[i]);
    }
}

#[test]
fn repeated_atoms_share_and_do_not_spoil_the_optimum() {
    fn law<T: Scalar>() {
        let problem = Problem::<T>::random(6, 6, 5, 4);
        let doubled = Problem { atoms: columns(&problem.atoms, &[0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 0]), ..problem.clone() };
        for (name, coder) in penalised::<T>(1.0, false) {
            let (once, twice) = (problem.encode(&*coder), doubled.encode(&*coder));
            assert!(twice.report.converged, "{name} {}: {:?}", T::NAME, twice.report);
            for i in 0..4 {
                let (a, b) = (problem.judge(i, &code(&once, i)), doubled.judge(i, &code(&twice, i)));
                let difference = a.objective(1.0, &[1.0; 5]) - b.objective(1.0, &[1.0; 11]);
                assert!(difference.abs() <= (tolerance::<T>() + a.rounding::<T>()) * a.energy, "{name} {}", T::NAME);
                assert!(!support(&b.code).is_empty());
            }
        }
    }
    law::<f32>();
    law::<f64>();
}

#[test]
fn the_lasso_of_orthonormal_atoms_is_soft_thresholding() {
    let axes = Matrix::from_fn(5, 5, |r, c| if r == c { 1.0 } else { 0.0 });
    let samples = Matrix::from_columns(vec![3.0, -2.0, 0.5, -0.4, 0.0], 5, 1).unwrap();
    let problem = Problem { atoms: axes, samples };
    for (nonnegative, expected) in [(false, [2.0, -1.0, 0.0, 0.0, 0.0]), (true, [2.0, 0.0, 0.0, 0.0, 0.0])] {
        for (name, coder) in penalised::<f64>(2.0, nonnegative) {
            let found = code(&problem.encode(&*coder), 0);
            let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-4, "{name}: {found:?}");
        }
    }
}

#[test]
fn lasso_parameters_out_of_range_are_refused_by_name() {
    let problem = Problem::<f64>::random(1, 4, 6, 2);
    let message = |coder: &Lasso| {
        let result = coder.encode(&problem.basis(), &Samples::new(problem.samples.view()), Run::threads(1));
        result.unwrap_err().to_string()
    };
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(message(&Lasso::lambda(bad)).starts_with("lambda = "));
        assert!(message(&Lasso::new(Penalty::Relative(bad))).starts_with("relative lambda = "));
        assert!(message(&Lasso::new(Penalty::Error(bad))).starts_with("error = "));
        assert!(message(&Lasso::new(Penalty::L1Norm(bad))).starts_with("l1 norm = "));
        assert!(message(&Lasso { tolerance: bad, ..Lasso::lambda(1.0) }).starts_with("tolerance = "));
    }
    assert!(message(&Lasso { max_rounds: 0, ..Lasso::lambda(1.0) }).starts_with("max_rounds = 0"));
    let weighted = |weights| Lasso { atom_weights: Some(weights), ..Lasso::lambda(1.0) };
    assert!(message(&weighted(vec![1.0; 5])).starts_with("atom weights: number of atoms"));
    assert!(message(&weighted(vec![1.0, 1.0, -1.0, 1.0, 1.0, 1.0])).starts_with("atom weight = -1"));
    assert!(message(&weighted(vec![f64::NAN; 6])).starts_with("atom weight = NaN"));
}

#[test]
fn weights_by_sample_are_atom_weights_one_sample_at_a_time() {
    let problem = Problem::<f64>::random(21, 12, 40, 50);
    let (basis, samples) = (problem.basis(), Samples::new(problem.samples.view()));
    let weights = Matrix::from_fn(40, 50, |j, i| 0.2 + ((7 * j + 3 * i) % 11) as f64 * 0.3);
    let observed = Matrix::from_fn(12, 50, |r, i| (r + i) % 5 != 0);
    for (penalty, samples) in
        [(Penalty::Lambda(1.0), samples), (Penalty::Error(2.0), samples.observed(observed.view()))]
    {
        let coder = Lasso { nonnegative: true, ..lasso::<f64>(penalty) };
        let weighed = samples.weighing(weights.view());
        let coding = coder.encode(&basis, &weighed, Run::threads(1)).unwrap();
        assert_eq!(coding, coder.encode(&basis, &weighed, Run::threads(3)).unwrap());
        for i in [0, 7, 49] {
            let alike = Lasso { atom_weights: Some(weights.column(i).to_vec()), ..coder.clone() };
            let expected = code(&alike.encode(&basis, &samples, Run::threads(1)).unwrap(), i);
            let pairs = code(&coding, i).into_iter().zip(expected);
            pairs.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-8, "{found} for {expected}"));
        }
    }
    let refused = |coder: &dyn SparseCoder<f64>, weights: Matrix<f64>| {
        coder.encode(&basis, &samples.weighing(weights.view()), Run::threads(1)).unwrap_err().to_string()
    };
    let coder = lasso::<f64>(Penalty::Lambda(1.0));
    assert!(refused(&coder, Matrix::from_fn(40, 49, |_, _| 1.0)).contains("number of samples"));
    assert!(refused(&coder, Matrix::from_fn(39, 50, |_, _| 1.0)).contains("number of atoms"));
    assert!(refused(&coder, Matrix::from_fn(40, 50, |_, i| 5.0 - i as f64)).starts_with("atom weight = -"));
    let pursuit = Pursuit::omp(3);
    assert!(refused(&pursuit, weights).starts_with("atom weight = one for each sample: only the lasso"));
}
