//! Laws of the ensemble weights: the bound of §II-A, the order of the four cases, and optimality.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::prelude::*;
use sparsemble::ensemble::{MemberGram, WeightConstraint, Weights, simplex_weights};
use sparsemble::{Matrix, Run};

use crate::problems::{Values, cases, dot, norm};

/// A sample, and the approximations of some members.
struct Trial {
    sample: Vec<f64>,
    members: Matrix<f64>,
}

/// What makes the members special.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Better or worse guesses at the sample.
    Guesses,
    /// Anything.
    Arbitrary,
    /// Some members are copies of others, some are zero, one may be perfect.
    Degenerate,
}

impl Trial {
    fn new(seed: u64, kind: Kind, n_features: usize, n_members: usize) -> Self {
        let mut values = Values::new(seed);
        let sample: Vec<f64> = (0..n_features).map(|_| values.normal()).collect();
        let mut members: Matrix<f64> = values.matrix(n_features, n_members);
        for l in 0..n_members {
            let (choice, size) = (values.below(4), values.unit());
            let copy = members.column(values.below(n_members)).to_vec();
            for (r, value) in members.column_mut(l).iter_mut().enumerate() {
                *value = match (kind, choice) {
                    (Kind::Guesses, _) => sample[r] + size * *value,
                    (Kind::Arbitrary, _) | (Kind::Degenerate, 0) => *value,
                    (Kind::Degenerate, 1) => copy[r],
                    (Kind::Degenerate, 2) => 0.0,
                    (Kind::Degenerate, _) => {
                        if seed.is_multiple_of(5) {
                            sample[r]
                        } else {
                            0.5 * sample[r]
                        }
                    }
                };
            }
        }
        Self { sample, members }
    }

    fn gram(&self) -> MemberGram {
        let mut gram = MemberGram::new(self.members.columns()).unwrap();
        gram.add(1.0, &self.sample, &self.members).unwrap();
        gram
    }

    /// x − Cβ.
    fn residual(&self, beta: &[f64]) -> Vec<f64> {
        let mut residual = self.sample.clone();
        for (l, weight) in beta.iter().enumerate() {
            residual.iter_mut().zip(self.members.column(l)).for_each(|(r, c)| *r -= weight * c);
        }
        residual
    }

    fn member_residual(&self, l: usize) -> Vec<f64> {
        self.sample.iter().zip(self.members.column(l)).map(|(x, c)| x - c).collect()
    }

    /// The largest norm a residual can have, the unit of tolerances.
    fn size(&self) -> f64 {
        (0..self.members.columns()).map(|l| norm(&self.member_residual(l))).fold(norm(&self.sample), f64::max)
    }
}

fn trials() -> impl Strategy<Value = Trial> {
    let kind = prop_oneof![Just(Kind::Guesses), Just(Kind::Arbitrary), Just(Kind::Degenerate)];
    (any::<u64>(), kind, 1_usize..12, 1_usize..9)
        .prop_map(|(seed, kind, n_features, n_members)| Trial::new(seed, kind, n_features, n_members))
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sample {:?}, members {:?}", self.sample, self.members)
    }
}

fn all_weights(trial: &Trial) -> [Weights; 4] {
    WeightConstraint::ALL.map(|constraint| trial.gram().weights(constraint))
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_combination_is_never_worse_than_the_best_member(trial in trials()) {
        let best = (0..trial.members.columns()).map(|l| norm(&trial.member_residual(l))).fold(f64::INFINITY, f64::min);
        for weights in all_weights(&trial) {
            let residual = norm(&trial.residual(&weights.beta));
            prop_assert!(weights.certificate.holds());
            prop_assert!((weights.certificate.best_member - best).abs() <= 1e-12 * trial.size());
            // The Gram matrix holds squares, so a residual near zero is known to the root of the precision.
            prop_assert!(residual <= best + 1e-7 * trial.size(), "{residual} > {best}: {:?}", weights.beta);
            let weight = 1.0 + weights.beta.iter().map(|weight| weight.abs()).sum::<f64>();
            prop_assert!((weights.certificate.residual - residual).abs() <= 1e-7 * weight * trial.size());
        }
    }

    #[test]
    fn every_constraint_is_met(trial in trials()) {
        let [_, nonnegative, affine, simplex] = all_weights(&trial);
        for weights in [&nonnegative, &simplex] {
            prop_assert!(weights.beta.iter().all(|weight| *weight >= 0.0), "{:?}", weights.beta);
        }
        for weights in [&affine, &simplex] {
            let largest = weights.beta.iter().fold(1.0_f64, |largest, weight| largest.max(weight.abs()));
            prop_assert!((weights.beta.iter().sum::<f64>() - 1.0).abs() <= 1e-14 * largest * 10.0);
        }
    }

    #[test]
    fn fewer_constraints_never_do_worse(trial in trials()) {
        let [r1, r2, r3, r4] = all_weights(&trial).map(|weights| norm(&trial.residual(&weights.beta)));
        let slack = 1e-7 * trial.size();
        prop_assert!(r1 <= r2 + slack && r1 <= r3 + slack && r2 <= r4 + slack && r3 <= r4 + slack, "{r1} {r2} {r3} {r4}");
    }

    #[test]
    fn the_conditions_of_optimality_hold(trial in trials()) {
        for (constraint, weights) in WeightConstraint::ALL.into_iter().zip(all_weights(&trial)) {
            let residual = trial.residual(&weights.beta);
            // In the direction of each member alone, or towards it and away from the others if the sum is fixed.
            let signed = matches!(constraint, WeightConstraint::Unconstrained | WeightConstraint::Affine);
            let fixed_sum = matches!(constraint, WeightConstraint::Affine | WeightConstraint::Simplex);
            for l in 0..trial.members.columns() {
                let member = trial.member_residual(l);
                let gain = if fixed_sum {
                    dot(&residual, &residual) - dot(&residual, &member)
                } else {
                    dot(&residual, trial.members.column(l))
                };
                let miss = if signed || weights.beta[l] > 0.0 { gain.abs() } else { gain };
                let allowed = (1e-9 + 2.0 * weights.certificate.optimality) * trial.size().powi(2);
                prop_assert!(miss <= allowed, "{constraint:?}, member {l}: {miss:e} {:?}", weights.beta);
            }
            // Members nearer than 10⁻⁵ to the span of others get no weight and may be missed by as much.
            prop_assert!(weights.certificate.optimality <= 2e-5);
        }
    }

    #[test]
    fn no_choice_of_members_does_better(seed: u64, n_features in 1_usize..6, n_members in 1_usize..5) {
        let trial = Trial::new(seed, Kind::Guesses, n_features, n_members);
        for (constraint, weights) in WeightConstraint::ALL.into_iter().zip(all_weights(&trial)) {
            let found = norm(&trial.residual(&weights.beta));
            let least = least_over_supports(&trial, constraint);
            // Members that nearly depend on others may be left out; the certificate says what that costs.
            let slack = (1e-7 + 4.0 * weights.certificate.optimality) * trial.size();
            prop_assert!(found <= least + slack, "{constraint:?}: {found} > {least}");
        }
    }

    #[test]
    fn scaling_the_data_changes_no_weight(trial in trials(), power in -60..60_i32) {
        let factor = f64::from(power).exp2();
        let sample: Vec<f64> = trial.sample.iter().map(|x| x * factor).collect();
        let members = Matrix::from_fn(trial.members.rows(), trial.members.columns(), |r, c| factor * trial.members.column(c)[r]);
        let scaled = Trial { sample, members };
        for (a, b) in all_weights(&trial).iter().zip(all_weights(&scaled)) {
            prop_assert!(a.beta.iter().zip(&b.beta).all(|(a, b)| (a - b).abs() <= 1e-6 * (1.0 + a.abs())));
        }
    }
}

/// The least residual over all sets of members, by elimination on each: slow, and written differently.
fn least_over_supports(trial: &Trial, constraint: WeightConstraint) -> f64 {
    let n = trial.members.columns();
    let fixed_sum = matches!(constraint, WeightConstraint::Affine | WeightConstraint::Simplex);
    let nonnegative = matches!(constraint, WeightConstraint::NonNegative | WeightConstraint::Simplex);
    let mut least = if fixed_sum { f64::INFINITY } else { norm(&trial.sample) };
    for set in 1_usize..1 << n {
        let names: Vec<usize> = (0..n).filter(|l| set >> l & 1 == 1).collect();
        // Normal equations, with a Lagrange multiplier in the last row and column if the sum is fixed.
        let size = names.len() + usize::from(fixed_sum);
        let mut system = vec![vec![0.0; size + 1]; size];
        for (i, &a) in names.iter().enumerate() {
            for (j, &b) in names.iter().enumerate() {
                system[i][j] = dot(trial.members.column(a), trial.members.column(b));
            }
            system[i][size] = dot(trial.members.column(a), &trial.sample);
            if fixed_sum {
                system[i][size - 1] = 1.0;
                system[size - 1][i] = 1.0;
                system[size - 1][size] = 1.0;
            }
        }
        let Some(solution) = eliminate(system) else { continue };
        let mut beta = vec![0.0; n];
        names.iter().zip(solution).for_each(|(&l, weight)| beta[l] = weight);
        if !nonnegative || beta.iter().all(|weight| *weight >= -1e-12) {
            least = least.min(norm(&trial.residual(&beta)));
        }
    }
    least
}

/// Gaussian elimination with pivots; `None` if the system is nearly singular.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))?;
        if rows[pivot][k].abs() < 1e-9 {
            return None;
        }
        rows.swap(k, pivot);
        for i in (0..n).filter(|i| *i != k) {
            let factor = rows[i][k] / rows[k][k];
            let pivot_row = rows[k].clone();
            rows[i].iter_mut().zip(pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    Some((0..n).map(|k| rows[k][n] / rows[k][k]).collect())
}

#[test]
fn weights_of_members_far_apart_are_optimal_to_rounding() {
    for seed in 0..100 {
        for weights in all_weights(&Trial::new(seed, Kind::Arbitrary, 30, 8)) {
            assert!(weights.certificate.optimality <= 1e-13, "{:e}", weights.certificate.optimality);
        }
    }
}

#[test]
fn many_members_of_one_line_end_in_time() {
    // Forty points on a line through the sample's neighbourhood: every pair is dependent on every other.
    let members = Matrix::from_fn(3, 40, |r, l| (r as f64) + (l as f64 - 19.5) * [1.0, 2.0, -1.0][r] * 0.1);
    let mut gram = MemberGram::new(40).unwrap();
    gram.add(1.0, &[0.3, 1.0, 2.5], &members).unwrap();
    let residuals = WeightConstraint::ALL.map(|constraint| gram.weights(constraint).certificate.residual);
    assert!((residuals[2] - residuals[3]).abs() < 1e-9, "the nearest point of the line is between two members");
}

#[test]
fn shared_weights_are_those_of_all_samples_in_one_column() {
    let mut values = Values::new(5);
    let (samples, members): (Matrix<f64>, Vec<Matrix<f64>>) =
        (values.matrix(4, 3), (0..3).map(|_| values.matrix(4, 2)).collect());
    let masses = [1.0, 4.0, 0.0];
    let mut shared = MemberGram::new(2).unwrap();
    let mut parts = MemberGram::new(2).unwrap();
    for i in 0..3 {
        shared.add(masses[i], samples.column(i), &members[i]).unwrap();
        let mut part = MemberGram::new(2).unwrap();
        part.add(masses[i], samples.column(i), &members[i]).unwrap();
        parts.merge(&part).unwrap();
    }
    // One long sample: the first once, the second doubled, the third not at all.
    let stack = |columns: [&[f64]; 3]| -> Vec<f64> {
        columns.iter().zip(masses).flat_map(|(column, mass)| column.iter().map(move |x| x * mass.sqrt())).collect()
    };
    let long = stack([samples.column(0), samples.column(1), samples.column(2)]);
    let stacked: Vec<f64> =
        (0..2).flat_map(|l| stack([members[0].column(l), members[1].column(l), members[2].column(l)])).collect();
    let trial = Trial { sample: long, members: Matrix::from_columns(stacked, 12, 2).unwrap() };
    for constraint in WeightConstraint::ALL {
        let (a, b, c) = (shared.weights(constraint), parts.weights(constraint), trial.gram().weights(constraint));
        for (a, (b, c)) in a.beta.iter().zip(b.beta.iter().zip(&c.beta)) {
            assert!((a - b).abs() < 1e-12 && (a - c).abs() < 1e-9);
        }
        // The norm is a mean by mass.
        assert!((a.certificate.residual - c.certificate.residual / 5.0_f64.sqrt()).abs() < 1e-9);
        assert!((shared.residual(&a.beta).unwrap() - a.certificate.residual).abs() < 1e-9);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(MemberGram::new(0).is_err());
    let mut gram = MemberGram::new(2).unwrap();
    assert!(gram.add(1.0, &[1.0, 2.0], &Matrix::zeros(2, 3)).is_err());
    assert!(gram.add(1.0, &[1.0], &Matrix::zeros(2, 2)).is_err());
    assert!(gram.add(-1.0, &[1.0, 2.0], &Matrix::zeros(2, 2)).is_err());
    assert!(gram.add(1.0, &[1.0, f64::NAN], &Matrix::zeros(2, 2)).is_err());
    assert!(gram.add(1.0, &[1e200, 1.0], &Matrix::zeros(2, 2)).is_err());
    assert_eq!(gram, MemberGram::new(2).unwrap(), "nothing was added");
    assert!(gram.residual(&[1.0]).is_err());
    // No sample at all: any weights do.
    assert!(WeightConstraint::ALL.iter().all(|&constraint| gram.weights(constraint).certificate.holds()));
}

#[test]
fn the_nearest_points_of_a_hull_are_those_of_members_that_are_constant() {
    for (seed, kind) in (0..30).zip([Kind::Guesses, Kind::Arbitrary, Kind::Degenerate].into_iter().cycle()) {
        let trial = Trial::new(seed, kind, 6, 2 + seed as usize % 12);
        // Far from the origin, where products alone would have no digits left.
        let far = |value: f64| value + 1e4;
        let points = Matrix::from_fn(6, trial.members.columns(), |r, l| far(trial.members.column(l)[r]));
        let samples = Matrix::from_fn(6, 70, |r, i| far(trial.sample[r] + (i as f64) * 0.01));
        let weights = simplex_weights(samples.view(), points.view(), Run::threads(1)).unwrap();
        assert_eq!(weights, simplex_weights(samples.view(), points.view(), Run::threads(3)).unwrap());
        for i in 0..70 {
            let mut gram = MemberGram::new(points.columns()).unwrap();
            gram.add(1.0, samples.column(i), &points).unwrap();
            let best = gram.weights(WeightConstraint::Simplex).certificate.residual;
            let beta: Vec<f64> = (0..points.columns())
                .map(|l| weights.column(i).find(|(point, _)| *point == l).map_or(0.0, |(_, weight)| weight))
                .collect();
            assert!((beta.iter().sum::<f64>() - 1.0).abs() < 1e-12 && beta.iter().all(|weight| *weight >= 0.0));
            let residual = gram.residual(&beta).unwrap();
            assert!(residual <= best + 1e-6 * (1.0 + best), "{kind:?} {seed}, sample {i}: {residual} for {best}");
        }
    }
}

#[test]
fn a_hull_of_nothing_and_samples_that_are_no_numbers_are_refused() {
    let (points, none) = (Matrix::from_fn(3, 2, |r, l| (r * l) as f64), Matrix::<f64>::zeros(3, 0));
    let weigh = |samples: &Matrix<f64>, points: &Matrix<f64>| {
        simplex_weights(samples.view(), points.view(), Run::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    let samples = Matrix::from_fn(3, 4, |r, i| (r + i) as f64);
    assert!(weigh(&samples, &points).is_ok());
    assert!(weigh(&samples, &none).unwrap_err().contains("at least one point"));
    assert!(weigh(&Matrix::from_fn(2, 4, |_, _| 1.0), &points).unwrap_err().contains("number of features"));
    assert!(weigh(&Matrix::from_fn(3, 4, |_, _| f64::NAN), &points).is_err());
    assert!(weigh(&Matrix::from_fn(3, 4, |_, _| 1e200), &points).unwrap_err().contains("scale the data"));
}
