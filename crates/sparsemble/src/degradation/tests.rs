//! The laws of every degradation, run over one list of them.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Blur, ContinuedBlocks, Degradation, Dense, Identity, Mask, PerBlock};
use crate::error::Error;
use crate::image::Size;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// One line for each operator; `n_features` and `n_measurements` are what the operator may follow if it can.
fn registry<T: Scalar>(n_features: usize, n_measurements: usize, values: Values) -> Vec<Box<dyn Degradation<T>>> {
    let dense = |n: usize, m: usize| Dense::new(values.matrix::<T>(n, m).view()).unwrap();
    // A small picture whose sides are not each other's, in blocks of 1 to 4 pixels a side.
    let side = 1 + n_features % 4;
    let picture = Size { width: side * (1 + n_measurements % 8), height: side * (1 + n_features % 3) };
    vec![
        Box::new(Identity::new(n_features)),
        Box::new(dense(n_measurements, n_features)),
        Box::new(Dense::new(values.dependent_rows::<T>(n_measurements, n_features).view()).unwrap()),
        Box::new(ByDefault(dense(n_measurements.min(12), n_features))),
        Box::new(Mask::random(n_features, values.at(0).abs(), values.seed).unwrap()),
        Box::new(PerBlock::new(picture, side, &dense(1 + n_measurements % 20, side * side)).unwrap()),
        Box::new(ContinuedBlocks::new(picture, side + 1, &dense(1 + n_measurements % 20, (side + 1).pow(2))).unwrap()),
        Box::new(PerBlock::new(picture, side, &Mask::random(side * side, 0.5, values.seed).unwrap()).unwrap()),
        Box::new(Blur::new(picture, values.kernel().view()).unwrap()),
        Box::new(Blur::gaussian(picture, 0.3 + 0.3 * values.at(1).abs()).unwrap()),
        Box::new(ByDefault(Blur::gaussian(picture, 0.5).unwrap())),
        Box::new(Blur::gaussian(picture, 0.8).unwrap().decimated(1 + n_features % 3).unwrap()),
    ]
}

/// A degradation without any closed form.
#[derive(Debug)]
struct ByDefault<P>(P);

impl<T: Scalar, P: Degradation<T>> Degradation<T> for ByDefault<P> {
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    fn n_measurements(&self) -> usize {
        self.0.n_measurements()
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        self.0.apply(features, measurements);
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        self.0.adjoint(measurements, features);
    }
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

    /// A kernel without any symmetry, but not so far from the identity that nothing is left of some pictures: those
    /// could not be told apart by their measurements, and no law with μ = 0 would hold but in exact arithmetic.
    fn kernel(self) -> Matrix<f64> {
        Matrix::from_fn(3, 5, |r, c| self.at(5 * r + c) / 20.0 + f64::from(u8::from((r, c) == (1, 2))))
    }

    /// The first row, some multiples of it, and rows of zeros.
    fn dependent_rows<T: Scalar>(self, rows: usize, columns: usize) -> Matrix<T> {
        Matrix::from_fn(rows, columns, |r, c| T::from_f64([1.0, -2.0, 0.0][r % 3] * self.at(c)))
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

/// Φ·`features`.
fn measure<T: Scalar>(phi: &dyn Degradation<T>, features: &[T]) -> Vec<T> {
    let mut measured = vec![T::ONE; phi.n_measurements()];
    phi.apply(features, &mut measured);
    measured
}

/// Φᵀ(z − Φy).
fn gradient<T: Scalar>(phi: &dyn Degradation<T>, z: &[T], y: &[T]) -> Vec<T> {
    let residual: Vec<T> = z.iter().zip(measure(phi, y)).map(|(&z, measured)| z - measured).collect();
    let mut gradient = vec![T::ONE; y.len()];
    phi.adjoint(&residual, &mut gradient);
    gradient
}

/// Φᵀ(z − Φy) = μ(y − y₀).
fn optimality_law<T: Scalar>(phi: &dyn Degradation<T>, seed: u64) {
    let start = Values { seed: seed ^ 5 }.vector::<T>(phi.n_features());
    let z = Values { seed: seed ^ 6 }.vector::<T>(phi.n_measurements());
    let scale = 1.0 + norm(&start) + norm(&z);
    for mu in [0.0, 0.01, 1.0, 50.0] {
        let mut y = start.clone();
        phi.reconcile(&z, mu, &mut y);
        let gradient = gradient(phi, &z, &y);
        for ((g, y), start) in gradient.iter().zip(&y).zip(&start) {
            let difference = (g.to_f64() - mu * (y.to_f64() - start.to_f64())).abs();
            assert!(difference <= tolerance::<T>() * (1.0 + mu) * scale, "{phi:?}, μ = {mu}: off by {difference:e}");
        }
    }
}

/// With μ = 0: measurements that can be had are had, and the way there is the shortest, which is that in the range of Φᵀ.
fn consistency_law<T: Scalar>(phi: &dyn Degradation<T>, seed: u64) {
    let start = Values { seed: seed ^ 7 }.vector::<T>(phi.n_features());
    let mut shortest = vec![T::ONE; phi.n_features()];
    phi.adjoint(&Values { seed: seed ^ 8 }.vector::<T>(phi.n_measurements()), &mut shortest);
    let truth: Vec<T> = start.iter().zip(&shortest).map(|(&start, &way)| start + way).collect();
    let z = measure(phi, &truth);
    let mut y = start.clone();
    phi.reconcile(&z, 0.0, &mut y);
    let scale = 1.0 + norm(&start) + norm(&truth) + norm(&z);
    let difference: Vec<T> = z.iter().zip(measure(phi, &y)).map(|(&z, measured)| z - measured).collect();
    let off = norm(&difference);
    assert!(off <= tolerance::<T>() * scale, "{phi:?} is not consistent: off by {off:e}");
    let way: Vec<T> = y.iter().zip(&start).map(|(&y, &start)| y - start).collect();
    let excess = norm(&way) - norm(&shortest);
    assert!(excess <= tolerance::<T>() * scale, "{phi:?} goes further than it needs to, by {excess:e}");
}

/// What conjugate gradients leave, and rounding.
fn tolerance<T: Scalar>() -> f64 {
    (1e4 * T::EPSILON.to_f64()).max(1e-6)
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

    #[test]
    fn every_degradation_reconciles_features_with_measurements(m in 1_usize..70, n in 1_usize..70, seed in any::<u64>()) {
        for phi in registry::<f32>(m, n, Values { seed }) {
            optimality_law(phi.as_ref(), seed);
            consistency_law(phi.as_ref(), seed);
        }
        for phi in registry::<f64>(m, n, Values { seed }) {
            optimality_law(phi.as_ref(), seed);
            consistency_law(phi.as_ref(), seed);
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
