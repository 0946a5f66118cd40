//! The greedy coders and 1-sparse coding, against searches that try every atom.

use proptest::prelude::*;
use sparsemble::Scalar;
use sparsemble::coding::{OneSparse, Pursuit, PursuitKind, SampleStatus, Samples, SparseCoder};
use sparsemble::{Matrix, Run};

use crate::problems::{Problem, cases, code, dot, norm, support, to_f64};

const KINDS: [PursuitKind; 3] = [PursuitKind::Matching, PursuitKind::Orthogonal, PursuitKind::OrderRecursive];

fn by_count(kind: PursuitKind, sparsity: usize) -> Pursuit {
    Pursuit { kind, sparsity: Some(sparsity), error: None, gain: None }
}

fn by_error(kind: PursuitKind, error: f64) -> Pursuit {
    Pursuit { kind, sparsity: None, error: Some(error), gain: None }
}

fn by_gain(kind: PursuitKind, gain: f64) -> Pursuit {
    Pursuit { kind, sparsity: None, error: None, gain: Some(gain) }
}

/// A plain greedy coder: every step tries every atom.
struct Search {
    atoms: Vec<Vec<f64>>,
    x: Vec<f64>,
    code: Vec<f64>,
    residual: Vec<f64>,
    chosen: Vec<usize>,
    /// The least ratio so far of what the second-best atom would have gained to what the best one did.
    clearest: f64,
}

impl Search {
    fn new<T: Scalar>(atoms: &Matrix<T>, sample: &[T]) -> Self {
        let atoms: Vec<Vec<f64>> = (0..atoms.columns()).map(|j| to_f64(atoms.column(j))).collect();
        let (code, x) = (vec![0.0; atoms.len()], to_f64(sample));
        Self { atoms, residual: x.clone(), x, code, chosen: Vec::new(), clearest: 0.0 }
    }

    fn step(&mut self, kind: PursuitKind) {
        let gains: Vec<f64> = (0..self.atoms.len()).map(|j| self.gain(kind, j)).collect();
        let best = (0..gains.len()).fold(0, |best, j| if gains[j] > gains[best] { j } else { best });
        let second = (0..gains.len()).filter(|j| *j != best).map(|j| gains[j]).fold(0.0, f64::max);
        self.clearest = f64::max(self.clearest, second / gains[best]);
        if kind == PursuitKind::Matching {
            let atom = &self.atoms[best];
            let share = dot(atom, &self.residual) / dot(atom, atom);
            self.code[best] += share;
            self.residual.iter_mut().zip(atom).for_each(|(r, d)| *r -= share * d);
        } else {
            self.chosen.push(best);
            (self.code, self.residual) = self.fit(&self.chosen);
        }
    }

    /// By how much the error falls if this atom is chosen, or, for OMP, would fall if it were fitted alone.
    fn gain(&self, kind: PursuitKind, atom: usize) -> f64 {
        if kind != PursuitKind::Matching && self.chosen.contains(&atom) {
            return 0.0;
        }
        if kind == PursuitKind::OrderRecursive {
            let with: Vec<usize> = self.chosen.iter().copied().chain([atom]).collect();
            return dot(&self.residual, &self.residual) - norm(&self.fit(&with).1).powi(2);
        }
        (dot(&self.atoms[atom], &self.residual) / norm(&self.atoms[atom])).powi(2)
    }

    /// Least squares on some atoms by modified Gram-Schmidt: the code and the residual.
    fn fit(&self, chosen: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let mut residual = self.x.clone();
        let mut directions: Vec<Vec<f64>> = Vec::new();
        let mut triangle: Vec<Vec<f64>> = Vec::new();
        let mut shares = Vec::new();
        for &j in chosen {
            let mut direction = self.atoms[j].clone();
            let mut column = Vec::new();
            for earlier in &directions {
                let share = dot(earlier, &direction);
                direction.iter_mut().zip(earlier).for_each(|(d, e)| *d -= share * e);
                column.push(share);
            }
            let length = norm(&direction);
            for d in &mut direction {
                *d /= length;
            }
            column.push(length);
            let share = dot(&direction, &residual);
            residual.iter_mut().zip(&direction).for_each(|(r, d)| *r -= share * d);
            shares.push(share);
            directions.push(direction);
            triangle.push(column);
        }
        let mut code = vec![0.0; self.atoms.len()];
        for last in (0..chosen.len()).rev() {
            let a = shares[last] / triangle[last][last];
            code[chosen[last]] = a;
            (0..last).for_each(|i| shares[i] -= a * triangle[last][i]);
        }
        (code, residual)
    }
}

/// A choice this close to a tie may go either way.
fn is_clear<T: Scalar>(search: &Search) -> bool {
    search.clearest < 1.0 - 1e3 * T::EPSILON.to_f64()
}

fn choices_are_those_of_the_search<T: Scalar>(seed: u64, n_features: usize, n_atoms: usize) {
    let problem = Problem::<T>::random(seed, n_features, n_atoms, 3);
    let most = n_features.min(n_atoms).min(5);
    for kind in KINDS {
        for sparsity in 1..=most {
            let coding = problem.encode(&by_count(kind, sparsity));
            for i in 0..3 {
                let mut search = Search::new(&problem.atoms, problem.samples.column(i));
                (0..sparsity).for_each(|_| search.step(kind));
                if !is_clear::<T>(&search) || norm(&search.residual) < 1e3 * T::EPSILON.to_f64() * norm(&search.x) {
                    continue;
                }
                let found = code(&coding, i);
                assert_eq!(support(&found), support(&search.code), "{kind:?} {} {sparsity}", T::NAME);
                let judged = problem.judge(i, &found);
                let apart: Vec<f64> = judged.residual.iter().zip(&search.residual).map(|(a, b)| a - b).collect();
                let limit = 1e3 * T::EPSILON.to_f64() * norm(&search.x);
                assert!(norm(&apart) <= limit, "{kind:?} {} {sparsity}: off by {:e}", T::NAME, norm(&apart));
            }
        }
    }
}

fn residuals_are_orthogonal_to_the_chosen_atoms<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 12, 30, 4);
    for kind in [PursuitKind::Orthogonal, PursuitKind::OrderRecursive] {
        for sparsity in [1, 4, 9] {
            let coding = problem.encode(&by_count(kind, sparsity));
            for i in 0..4 {
                let judged = problem.judge(i, &code(&coding, i));
                assert_eq!(support(&judged.code).len(), sparsity, "{kind:?} {}", T::NAME);
                for j in support(&judged.code) {
                    let cosine = judged.correlations[j].abs() / judged.lengths[j] / judged.energy.sqrt();
                    assert!(cosine <= 1e3 * T::EPSILON.to_f64(), "{kind:?} {} {sparsity}: {cosine:e}", T::NAME);
                }
            }
        }
    }
}

fn errors_are_respected_with_no_choice_too_many<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 9, 15, 4);
    for kind in KINDS {
        for fraction in [0.5, 0.1, 0.01] {
            for i in 0..4 {
                let energy = problem.judge(i, &[0.0; 15]).energy;
                let one = Problem { samples: crate::problems::columns(&problem.samples, &[i]), ..problem.clone() };
                let coding = one.encode(&by_error(kind, fraction * energy));
                assert_eq!(coding.report.status, [SampleStatus::Converged], "{kind:?} {}", T::NAME);
                let error = one.judge(0, &code(&coding, 0)).error();
                let slack = 1e3 * T::EPSILON.to_f64();
                assert!(error <= fraction * energy * (1.0 + slack) + slack * energy, "{kind:?} {}: {error}", T::NAME);
                // One choice fewer does not reach it.
                let choices = coding.report.iterations;
                if choices > 1 {
                    let fewer = one.encode(&by_count(kind, choices - 1));
                    let error = one.judge(0, &code(&fewer, 0)).error();
                    assert!(error >= fraction * energy * (1.0 - slack), "{kind:?} {}: one choice too many", T::NAME);
                }
            }
        }
    }
}

/// The atoms of a code by their price are those of the first choices; each of these was worth it, and the next would not be.
fn every_choice_is_worth_its_price<T: Scalar>(seed: u64, masked: bool) {
    let problem = Problem::<T>::random(seed, 9, 15, 1);
    let observed = Matrix::from_fn(9, 1, |r, _| !masked || r != 2);
    let samples = Samples::new(problem.samples.view()).observed(observed.view());
    let plain = Samples::new(problem.samples.view());
    let samples = if masked { samples } else { plain };
    let encode = |coder: Pursuit| coder.encode(&problem.basis(), &samples, Run::threads(1)).unwrap();
    let error = |found: &[f64]| -> f64 {
        let residual = problem.judge(0, found).residual;
        residual.iter().enumerate().filter(|(r, _)| observed.column(0)[*r]).map(|(_, value)| value * value).sum()
    };
    for kind in KINDS {
        let energy = error(&[0.0; 15]);
        for price in [0.2, 0.02, 0.002] {
            let coding = encode(by_gain(kind, price * energy));
            assert_eq!(coding.report.status, [SampleStatus::Converged], "{kind:?} {}", T::NAME);
            let choices = coding.report.iterations;
            let slack = 1e3 * T::EPSILON.to_f64() * energy;
            let mut before = energy;
            for choice in 1..=(choices + 1).min(9) {
                let found = encode(by_count(kind, choice));
                let (after, is_chosen) = (error(&code(&found, 0)), choice <= choices);
                let gain = before - after;
                assert!(!is_chosen || gain > price * energy - slack, "{kind:?} {}: {gain} was paid for", T::NAME);
                assert!(is_chosen || gain <= price * energy + slack, "{kind:?} {}: {gain} was not", T::NAME);
                assert!(choice != choices || found.codes == coding.codes, "{kind:?} {}", T::NAME);
                before = after;
            }
        }
    }
}

/// ‖r‖² falls by exactly the largest (dᵀr / ‖d‖)² at every choice of MP, and never rises for the others.
fn errors_fall_as_they_must<T: Scalar>(seed: u64) {
    let problem = Problem::<T>::random(seed, 8, 12, 3);
    let slack = 1e3 * T::EPSILON.to_f64();
    for kind in KINDS {
        for i in 0..3 {
            let mut before = problem.judge(i, &[0.0; 12]);
            for sparsity in 1..=8 {
                let after = problem.judge(i, &code(&problem.encode(&by_count(kind, sparsity)), i));
                let shares = before.correlations.iter().zip(&before.lengths).map(|(c, length)| (c / length).powi(2));
                let largest = shares.fold(0.0, f64::max);
                let fall = before.error() - after.error();
                // Fitting all chosen atoms anew can only gain more than subtracting the share of the best one.
                assert!(fall >= largest - slack * before.energy, "{kind:?} {} {sparsity}: {fall} {largest}", T::NAME);
                if kind == PursuitKind::Matching {
                    assert!(fall <= largest + slack * before.energy, "{} {sparsity}: {fall} {largest}", T::NAME);
                }
                before = after;
            }
        }
    }
}

fn one_sparse_coding_is_every_pursuit_of_one_atom<T: Scalar>(seed: u64, n_features: usize, n_atoms: usize) {
    let problem = Problem::<T>::random(seed, n_features, n_atoms, 7);
    let coding = problem.encode(&OneSparse::default());
    let pursuits = KINDS.map(|kind| problem.encode(&by_count(kind, 1)));
    for i in 0..7 {
        let mut search = Search::new(&problem.atoms, problem.samples.column(i));
        search.step(PursuitKind::Matching);
        if !is_clear::<T>(&search) {
            continue;
        }
        for found in pursuits.iter().chain([&coding]).map(|coding| code(coding, i)) {
            let apart = found.iter().zip(&search.code).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(
                apart <= 1e2 * T::EPSILON.to_f64() * norm(&search.code),
                "{}: {found:?} {:?}",
                T::NAME,
                search.code
            );
        }
    }
}

fn the_best_single_atoms_are_those_of_least_error<T: Scalar>(seed: u64, nonnegative: bool) {
    let problem = Problem::<T>::random(seed, 6, 11, 3);
    let coding = problem.encode(&OneSparse { atoms: 4, nonnegative });
    for i in 0..3 {
        let zero = problem.judge(i, &[0.0; 11]);
        let found = code(&coding, i);
        let share = |j: usize| zero.correlations[j] / zero.lengths[j];
        let value = |j: usize| if nonnegative { share(j) } else { share(j).abs() };
        let worst_chosen = support(&found).into_iter().map(value).fold(f64::INFINITY, f64::min);
        let best_left = (0..11).filter(|j| found[*j].abs() <= 0.0).map(value).fold(0.0, f64::max);
        let slack = 1e2 * T::EPSILON.to_f64() * zero.energy.sqrt();
        assert!(worst_chosen >= best_left - slack, "{}: {worst_chosen} is chosen, {best_left} is not", T::NAME);
        assert!(support(&found).len() == 4 || best_left <= slack);
        for j in support(&found) {
            let wanted = share(j) / zero.lengths[j];
            assert!((found[j] - wanted).abs() <= 1e2 * T::EPSILON.to_f64() * zero.energy.sqrt() / zero.lengths[j]);
            assert!(wanted > 0.0 || !nonnegative);
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn greedy_choices_are_those_of_a_search_over_all_atoms(seed in any::<u64>(), m in 1_usize..13, k in 1_usize..21) {
        choices_are_those_of_the_search::<f32>(seed, m, k);
        choices_are_those_of_the_search::<f64>(seed, m, k);
    }

    #[test]
    fn residuals_of_orthogonal_pursuits_are_orthogonal_to_the_chosen_atoms(seed in any::<u64>()) {
        residuals_are_orthogonal_to_the_chosen_atoms::<f32>(seed);
        residuals_are_orthogonal_to_the_chosen_atoms::<f64>(seed);
    }

    #[test]
    fn a_pursuit_by_error_reaches_it_with_the_fewest_choices(seed in any::<u64>()) {
        errors_are_respected_with_no_choice_too_many::<f32>(seed);
        errors_are_respected_with_no_choice_too_many::<f64>(seed);
    }

    #[test]
    fn a_pursuit_by_gain_makes_the_choices_that_are_worth_it(seed in any::<u64>(), masked in any::<bool>()) {
        every_choice_is_worth_its_price::<f32>(seed, masked);
        every_choice_is_worth_its_price::<f64>(seed, masked);
    }

    #[test]
    fn the_error_of_a_pursuit_falls_with_every_choice(seed in any::<u64>()) {
        errors_fall_as_they_must::<f32>(seed);
        errors_fall_as_they_must::<f64>(seed);
    }

    #[test]
    fn one_sparse_coding_is_any_pursuit_of_one_atom(seed in any::<u64>(), m in 1_usize..40, k in 1_usize..70) {
        one_sparse_coding_is_every_pursuit_of_one_atom::<f32>(seed, m, k);
        one_sparse_coding_is_every_pursuit_of_one_atom::<f64>(seed, m, k);
    }

    #[test]
    fn the_best_single_atoms_leave_the_least_error_each(seed in any::<u64>(), nonnegative in any::<bool>()) {
        the_best_single_atoms_are_those_of_least_error::<f32>(seed, nonnegative);
        the_best_single_atoms_are_those_of_least_error::<f64>(seed, nonnegative);
    }
}

/// The eighth choice here is an atom nearly within the span of the seven before it.
#[test]
fn the_error_falls_even_if_an_atom_is_nearly_dependent() {
    errors_fall_as_they_must::<f32>(6_587_136_226_104_729_577);
}

#[test]
fn an_error_out_of_reach_is_reported() {
    let problem = Problem::<f64>::random(2, 12, 3, 5);
    for kind in KINDS {
        let coding = problem.encode(&by_error(kind, 1e-9));
        assert_eq!(coding.report.unconverged(), 5, "{kind:?}");
    }
}

#[test]
fn more_atoms_than_the_space_has_dimensions_are_not_needed() {
    fn law<T: Scalar>() {
        let problem = Problem::<T>::random(3, 5, 20, 4);
        for kind in [PursuitKind::Orthogonal, PursuitKind::OrderRecursive] {
            let coding = problem.encode(&by_count(kind, 15));
            for i in 0..4 {
                let judged = problem.judge(i, &code(&coding, i));
                assert!(support(&judged.code).len() <= 5, "{kind:?} {}", T::NAME);
                assert!(judged.error() <= 1e3 * T::EPSILON.to_f64() * judged.energy, "{kind:?} {}", T::NAME);
            }
        }
    }
    law::<f32>();
    law::<f64>();
}

#[test]
fn a_repeated_atom_is_chosen_once() {
    let problem = Problem::<f64>::random(4, 8, 6, 3);
    let twice = Problem {
        atoms: crate::problems::columns(&problem.atoms, &[0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]),
        ..problem.clone()
    };
    for kind in [PursuitKind::Orthogonal, PursuitKind::OrderRecursive] {
        let (once, twice) = (problem.encode(&by_count(kind, 6)), twice.encode(&by_count(kind, 6)));
        for i in 0..3 {
            let (once, twice) = (code(&once, i), code(&twice, i));
            for j in 0..6 {
                assert!(twice[j].abs() <= 0.0 || twice[j + 6].abs() <= 0.0, "{kind:?}: both copies of {j} are used");
                assert!((twice[j] + twice[j + 6] - once[j]).abs() < 1e-9, "{kind:?}");
            }
        }
    }
}

#[test]
fn greedy_parameters_out_of_range_are_refused_by_name() {
    let problem = Problem::<f64>::random(1, 4, 6, 2);
    let message = |coder: &dyn SparseCoder<f64>| {
        let result = coder.encode(&problem.basis(), &Samples::new(problem.samples.view()), Run::threads(1));
        result.unwrap_err().to_string()
    };
    for kind in KINDS {
        assert!(message(&Pursuit { kind, sparsity: None, error: None, gain: None }).contains("sparsity"));
        assert!(message(&by_count(kind, 0)).starts_with("sparsity = 0"));
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(message(&by_error(kind, bad)).starts_with("error = "));
            assert!(message(&by_gain(kind, bad)).starts_with("gain = "));
        }
    }
    assert!(message(&OneSparse { atoms: 0, nonnegative: false }).starts_with("atoms = 0"));
}

#[test]
fn more_single_atoms_than_there_are_means_all_of_them() {
    let problem = Problem::<f64>::random(1, 4, 6, 2);
    let codes = |atoms: usize| problem.encode(&OneSparse { atoms, nonnegative: false }).codes;
    assert_eq!(codes(7), codes(6));
    assert_eq!(codes(6).n_nonzero(), 12);
}
