//! The laws of every degradation, run over one list of them.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Degradation, Dense, Identity};
use crate::error::Error;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// One line for each operator; `n_features` and `n_measurements` are what the operator may follow if it can.
fn registry<T: Scalar>(n_features: usize, n_measurements: usize, values: Values) -> Vec<Box<dyn Degradation<T>>> {
    vec![
        Box::new(Identity::new(n_features)),
        Box::new(Dense::new(values.matrix::<T>(n_measurements, n_features).view()).unwrap()),
    ]
}

/// Arbitrary values between -1 and 1 from a seed; each call of a method starts again at the first of them.
#[derive(Debug, Clone, Copy)]
struct Values {
    seed: u64,
}

impl Values {
    fn at(self, index: usize) -> f64 {
        let mixed = (self.seed ^ (index as u64 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector<T: Scalar>(self, length: usize) -> Vec<T> {
        (0..length).map(|i| T::from_f64(self.at(i))).collect()
    }

    fn matrix<T: Scalar>(self, rows: usize, columns: usize) -> Matrix<T> {
        Matrix::from_columns(self.vector(rows * columns), rows, columns).unwrap()
    }
}

fn inner<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}

fn norm<T: Scalar>(a: &[T]) -> f64 {
    inner(a, a).sqrt()
}

/// ⟨Φy, z⟩ = ⟨y, Φᵀz⟩, and both maps overwrite what was in their output.
fn adjoint_law<T: Scalar>(phi: &dyn Degradation<T>, seed: u64) {
    let y = Values { seed: seed ^ 1 }.vector::<T>(phi.n_features());
    let z = Values { seed: seed ^ 2 }.vector::<T>(phi.n_measurements());
    let mut measured = vec![T::ONE; phi.n_measurements()];
    let mut back = vec![T::ONE; phi.n_features()];
    phi.apply(&y, &mut measured);
    phi.adjoint(&z, &mut back);
    let tolerance = 16.0 * T::EPSILON.to_f64() * (norm(&measured) * norm(&z) + norm(&y) * norm(&back) + 1.0);
    let difference = (inner(&measured, &z) - inner(&y, &back)).abs();
    assert!(difference <= tolerance, "{phi:?}: ⟨Φy, z⟩ and ⟨y, Φᵀz⟩ differ by {difference:e} > {tolerance:e}");
}

/// Φ(2y + y') = 2Φy + Φy'.
fn linearity_law<T: Scalar>(phi: &dyn Degradation<T>, seed: u64) {
    let [first, second] = [3, 4].map(|salt| Values { seed: seed ^ salt }.vector::<T>(phi.n_features()));
    let sum: Vec<T> = first.iter().zip(&second).map(|(&a, &b)| a + a + b).collect();
    let [first, second, sum] = [first, second, sum].map(|y| {
        let mut measured = vec![T::ONE; phi.n_measurements()];
        phi.apply(&y, &mut measured);
        measured
    });
    let scale = norm(&first) + norm(&second) + 1.0;
    for ((a, b), c) in first.iter().zip(&second).zip(&sum) {
        let difference = (2.0 * a.to_f64() + b.to_f64() - c.to_f64()).abs();
        assert!(difference <= 64.0 * T::EPSILON.to_f64() * scale, "{phi:?} is not linear: off by {difference:e}");
    }
}

proptest! {
    // The same cases in every run.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(14), failure_persistence: None, ..ProptestConfig::with_cases(48)
    })]

    #[test]
    fn every_degradation_has_its_adjoint_and_is_linear(m in 1_usize..70, n in 1_usize..70, seed in any::<u64>()) {
        for phi in registry::<f32>(m, n, Values { seed }) {
            adjoint_law(phi.as_ref(), seed);
            linearity_law(phi.as_ref(), seed);
        }
        for phi in registry::<f64>(m, n, Values { seed }) {
            adjoint_law(phi.as_ref(), seed);
            linearity_law(phi.as_ref(), seed);
        }
    }
}

#[test]
fn a_dense_degradation_multiplies() {
    let phi = Dense::new(Matrix::from_columns(vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0], 2, 3).unwrap().view()).unwrap();
    let (mut measured, mut back) = ([0.0; 2], [0.0; 3]);
    phi.apply(&[1.0, 0.0, -1.0], &mut measured);
    phi.adjoint(&[1.0, 1.0], &mut back);
    assert_eq!((measured, back), ([-2.0, -2.0], [5.0, 7.0, 9.0]));
}

#[test]
fn a_dense_degradation_must_have_entries_and_be_finite() {
    let of = |data: Vec<f64>, rows, columns| Dense::new(Matrix::from_columns(data, rows, columns).unwrap().view());
    assert_eq!(of(vec![], 0, 2), Err(Error::Empty { what: "degradation matrix", unit: "measurement" }));
    assert_eq!(of(vec![], 2, 0), Err(Error::Empty { what: "degradation matrix", unit: "feature" }));
    let bad = of(vec![1.0, f64::NAN], 1, 2);
    assert_eq!(bad, Err(Error::NotFinite { what: "degradation matrix", row: 0, column: 1 }));
}
