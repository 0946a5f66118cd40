//! Laws of blockwise recovery: what each way of treating the means of blocks promises.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::prelude::*;
use sparsemble::coding::{CodingBasis, Lasso, OneSparse, Samples, SparseCoder};
use sparsemble::degradation::{Degradation, Dense, Projection};
use sparsemble::dictionary::{Dictionary, Examples};
use sparsemble::ensemble::{
    Averaging, Boost, Coefficients, Ensemble, GaussianLearner, Multilevel, SparseModel, Training,
};
use sparsemble::restoration::{Blockwise, Dc, measure};
use sparsemble::{Error, Matrix, Model, Run, Scalar};

use crate::problems::{Values, cases, code, dot, norm, to_f64};

const LAMBDA: f64 = 0.3;

fn lasso() -> Lasso {
    Lasso { tolerance: 1e-10, ..Lasso::lambda(LAMBDA) }
}

/// K atoms without means in M dimensions, K < M, so that an approximation tells its code.
fn dictionary<T: Scalar>(seed: u64, n_features: usize, n_atoms: usize) -> Dictionary<T> {
    let mut atoms: Matrix<T> = Values::new(seed).matrix(n_features, n_atoms);
    sparsemble::patch::remove_means(&mut atoms);
    Dictionary::new(atoms).unwrap()
}

fn alone<T: Scalar>(dictionary: Dictionary<T>) -> Model<T> {
    Model::Dictionary(dictionary, Training::default())
}

fn projection<T: Scalar>(seed: u64, n_measurements: usize, n_features: usize) -> Dense<T> {
    let projection = format!("gaussian:measurements={n_measurements},seed={seed}");
    projection.parse::<Projection>().unwrap().matrix(n_features).unwrap()
}

/// Blocks with means far from zero.
fn blocks<T: Scalar>(seed: u64, n_features: usize, count: usize) -> Matrix<T> {
    let mut values = Values::new(seed + 1000);
    let means: Vec<f64> = (0..count).map(|_| 3.0 + 2.0 * values.normal()).collect();
    Matrix::from_fn(n_features, count, |_, i| T::from_f64(means[i] + values.normal()))
}

/// One model of each kind.
fn models<T: Scalar>(n_features: usize) -> Vec<Model<T>> {
    let training: Matrix<T> = {
        let mut training = blocks(77, n_features, 120);
        sparsemble::patch::remove_means(&mut training);
        training
    };
    let (examples, coder) = (Examples { n_atoms: 6 }, lasso());
    let averaging = Averaging { n_models: 4, seed: 3, ..Averaging::new(&examples) };
    let boost = Boost { n_models: 4, ..Boost::new(&examples, &coder) };
    let levels = Multilevel { n_levels: 3, ..Multilevel::new(averaging.clone()) };
    let multilevel = || levels.fit(training.view(), Run::default()).unwrap();
    vec![
        alone(dictionary(5, n_features, 9)),
        Model::Ensemble(averaging.fit(training.view(), Run::default()).unwrap()),
        Model::Ensemble(boost.fit(training.view(), Run::default()).unwrap()),
        Model::Multilevel(multilevel()),
        Model::Multilevel(multilevel().with_coefficients(Coefficients::Correlation)),
    ]
}

fn recover<T: Scalar>(model: &Model<T>, phi: &Dense<T>, z: &Matrix<T>, dc: Dc<'_>) -> Matrix<T> {
    let blockwise = Blockwise { coder: &lasso(), dc, noise: 0.0 };
    blockwise.recover(model, phi, z.view(), Run::threads(1)).unwrap().values
}

/// The a and c with y = Da + c1, by the normal equations.
fn code_and_constant(dictionary: &Dictionary<f64>, y: &[f64]) -> (Vec<f64>, f64) {
    let mut columns: Vec<Vec<f64>> = (0..dictionary.n_atoms()).map(|j| dictionary.atoms().column(j).to_vec()).collect();
    columns.push(vec![1.0; y.len()]);
    let n = columns.len();
    let mut system: Vec<Vec<f64>> = columns
        .iter()
        .map(|row| columns.iter().map(|column| dot(row, column)).chain([dot(row, y)]).collect())
        .collect();
    for i in 0..n {
        let pivot = system[i].clone();
        for (k, row) in system.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = row[i] / pivot[i];
            assert!(factor.is_finite(), "row {k}");
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut solution: Vec<f64> = (0..n).map(|i| system[i][n] / system[i][i]).collect();
    let constant = solution.pop().unwrap();
    (solution, constant)
}

/// ‖z − Φ(Da + c1)‖² + λ‖a‖₁.
fn objective(phi: &Dense<f64>, dictionary: &Dictionary<f64>, z: &[f64], (a, c): &(Vec<f64>, f64)) -> f64 {
    let mut y = vec![*c; phi.n_features()];
    for (j, a) in a.iter().enumerate() {
        y.iter_mut().zip(dictionary.atoms().column(j)).for_each(|(y, d)| *y += a * d);
    }
    let mut measured = vec![0.0; z.len()];
    phi.apply(&y, &mut measured);
    let residual: Vec<f64> = z.iter().zip(&measured).map(|(z, m)| z - m).collect();
    dot(&residual, &residual) + LAMBDA * a.iter().map(|a| a.abs()).sum::<f64>()
}

/// The code and the constant if the constant is one atom more, this many times as long as the others need it and of
/// this price.
fn with_constant_atom(
    phi: &Dense<f64>,
    dictionary: &Dictionary<f64>,
    z: &Matrix<f64>,
    (scale, price): (f64, f64),
) -> (Vec<f64>, f64) {
    let n_atoms = dictionary.n_atoms();
    let atom =
        |j: usize| if j < n_atoms { dictionary.atoms().column(j).to_vec() } else { vec![scale; phi.n_features()] };
    let whole = Matrix::from_fn(phi.n_features(), n_atoms + 1, |r, j| atom(j)[r]);
    let basis = CodingBasis::new(measure(phi, whole.view()).unwrap().view()).unwrap();
    let mut weights = vec![1.0; n_atoms];
    weights.push(price);
    let coder = Lasso { atom_weights: Some(weights), tolerance: 1e-13, ..lasso() };
    let coding = coder.encode(&basis, &Samples::new(z.view()), Run::threads(1)).unwrap();
    let mut code = code(&coding, 0);
    let constant = code.pop().unwrap() * scale;
    (code, constant)
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn eliminating_the_mean_is_coding_it_with_an_atom_that_costs_nothing(seed in 0_u64..10_000, n_measurements in 4_usize..11) {
        let (dictionary, phi) = (dictionary::<f64>(seed, 12, 9), projection(seed, n_measurements, 12));
        let z = measure(&phi, blocks(seed, 12, 1).view()).unwrap();
        let y = recover(&alone(dictionary.clone()), &phi, &z, Dc::Free);
        let eliminated = code_and_constant(&dictionary, y.column(0));
        let least = objective(&phi, &dictionary, z.column(0), &eliminated);
        // A free atom, and one so long that its penalty is next to nothing.
        for (scale, price) in [(1.0, 0.0), (1000.0, 1.0)] {
            let rival = with_constant_atom(&phi, &dictionary, &z, (scale, price));
            let other = objective(&phi, &dictionary, z.column(0), &rival);
            prop_assert!((least - other).abs() <= 1e-4 * other, "{least} {other}");
        }
        // The constant is the best for its code.
        let (a, c) = eliminated;
        for step in [-1e-3, 1e-3] {
            prop_assert!(objective(&phi, &dictionary, z.column(0), &(a.clone(), c + step)) > least);
        }
    }
}

fn shifts<T: Scalar>(precision: f64) {
    let phi = projection::<T>(4, 7, 12);
    let blocks = blocks::<T>(1, 12, 20);
    let shifted = Matrix::from_fn(12, 20, |r, i| T::from_f64(blocks.column(i)[r].to_f64() + 0.5 * i as f64));
    let [z, z_shifted] = [&blocks, &shifted].map(|blocks| measure(&phi, blocks.view()).unwrap());
    for model in models::<T>(12) {
        let [y, y_shifted] = [&z, &z_shifted].map(|z| recover(&model, &phi, z, Dc::Free));
        for i in 0..20 {
            for (a, b) in to_f64(y.column(i)).iter().zip(to_f64(y_shifted.column(i))) {
                assert!((a + 0.5 * i as f64 - b).abs() <= precision, "{a} {b}");
            }
        }
    }
}

#[test]
fn brighter_measurements_make_brighter_blocks_and_nothing_else() {
    shifts::<f64>(1e-6);
    shifts::<f32>(2e-3);
}

#[test]
fn known_means_are_taken_out_before_coding_and_put_back_after() {
    let phi = projection::<f64>(4, 7, 12);
    let mut blocks = blocks::<f64>(2, 12, 30);
    let z = measure(&phi, blocks.view()).unwrap();
    let means = sparsemble::patch::remove_means(&mut blocks);
    let centred = measure(&phi, blocks.view()).unwrap();
    for model in models::<f64>(12) {
        let known = recover(&model, &phi, &z, Dc::Known(&means));
        let mut by_hand = recover(&model, &phi, &centred, Dc::InAtoms);
        assert_eq!(
            by_hand,
            model.degraded_by(&phi).unwrap().approximate(centred.view(), &lasso(), Run::default()).unwrap().values
        );
        sparsemble::patch::add_means(&mut by_hand, &means).unwrap();
        for (a, b) in known.as_slice().iter().zip(by_hand.as_slice()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        // The models know no means, so those of the blocks are the transmitted ones.
        for (i, mean) in means.iter().enumerate() {
            assert!((known.column(i).iter().sum::<f64>() / 12.0 - mean).abs() < 1e-9);
        }
    }
}

#[test]
fn one_gaussian_is_the_linear_estimator() {
    // More training samples than features, so that the covariance has no empty direction.
    let mut training = blocks::<f64>(9, 6, 400);
    let learner = GaussianLearner { n_gaussians: 1, shared_samples: 0.0, floor: 1e-3, ..GaussianLearner::default() };
    let gaussian = learner.fit(training.view(), None, Run::default()).unwrap();
    sparsemble::patch::remove_means(&mut training);
    let row = |matrix: &Matrix<f64>, r: usize| (0..matrix.columns()).map(|c| matrix.column(c)[r]).collect::<Vec<_>>();
    let rows: Vec<Vec<f64>> = (0..6).map(|r| row(&training, r)).collect();
    let covariance = |r: usize, c: usize| dot(&rows[r], &rows[c]) / 400.0 + if r == c { 1e-3 } else { 0.0 };
    // With one measurement the estimate is Cφ (φᵀCφ)⁻¹ z.
    let phi = projection::<f64>(1, 1, 6);
    let seen = row(&phi.matrix().to_matrix(), 0);
    let weighted: Vec<f64> = (0..6).map(|r| (0..6).map(|c| covariance(r, c) * seen[c]).sum()).collect();
    let mut blocks = blocks::<f64>(4, 6, 10);
    let z = measure(&phi, blocks.view()).unwrap();
    let means = sparsemble::patch::remove_means(&mut blocks);
    let found = recover(&Model::Gaussians(gaussian), &phi, &z, Dc::Known(&means));
    for (i, mean) in means.iter().enumerate() {
        let rest = dot(&seen, blocks.column(i));
        for (value, weight) in found.column(i).iter().zip(&weighted) {
            let expected = mean + weight * rest / dot(&seen, &weighted);
            assert!((value - expected).abs() < 1e-6, "{value} {expected}");
        }
    }
}

#[test]
fn the_spread_counts_how_far_the_means_of_the_members_are_apart() {
    // Two members of one atom each; Φ sees the first two of four features.
    let model = |atom: [f64; 4]| {
        SparseModel::plain(&Dictionary::new(Matrix::from_columns(atom.to_vec(), 4, 1).unwrap()).unwrap()).unwrap()
    };
    let members = || vec![model([1.0, -1.0, 0.0, 0.0]), model([1.0, 0.0, -1.0, 0.0])];
    let ensemble = Model::Ensemble(Ensemble::new(members(), vec![0.5, 0.5]).unwrap());
    let phi = Dense::new(Matrix::from_fn(2, 4, |r, c| f64::from(u8::from(r == c))).view()).unwrap();
    let z = Matrix::from_columns(vec![5.0, 1.0], 2, 1).unwrap();
    let blockwise = Blockwise { coder: &OneSparse::default(), dc: Dc::Free, noise: 0.0 };
    let found = blockwise.recover(&ensemble, &phi, z.view(), Run::default()).unwrap();
    // The first member says 3 + 2·(1, −1, 0, 0), the second 1 + 4·(1, 0, −1, 0): both fit z.
    let expected = [5.0, 1.0, 0.0, 2.0];
    assert!(found.values.column(0).iter().zip(expected).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-12));
    assert!((found.spread.unwrap()[0] - norm(&[0.0, 0.0, 3.0, 1.0])).abs() < 1e-12);
}

#[test]
fn threads_change_no_bit() {
    let phi = projection::<f32>(4, 7, 12);
    let z = measure(&phi, blocks::<f32>(3, 12, 1000).view()).unwrap();
    for model in models::<f32>(12) {
        let blockwise = Blockwise { coder: &lasso(), dc: Dc::Free, noise: 0.0 };
        let [one, three] = [1, 3].map(|n| blockwise.recover(&model, &phi, z.view(), Run::threads(n)).unwrap());
        assert_eq!(one, three);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (phi, model) = (projection::<f64>(4, 7, 12), alone(dictionary::<f64>(1, 12, 3)));
    let z = measure(&phi, blocks(3, 12, 2).view()).unwrap();
    let message = |model: &Model<f64>, phi: &Dense<f64>, z: &Matrix<f64>, dc: Dc<'_>| {
        let blockwise = Blockwise { coder: &lasso(), dc, noise: 0.0 };
        blockwise.recover(model, phi, z.view(), Run::default()).unwrap_err().to_string()
    };
    assert!(message(&model, &phi, &z, Dc::Known(&[1.0])).starts_with("means: number of blocks"));
    assert!(message(&model, &phi, &z, Dc::Known(&[1.0, f64::NAN])).contains("finite"));
    assert!(message(&model, &phi, &Matrix::zeros(6, 2), Dc::Free).starts_with("measurements: number of rows"));
    assert!(message(&alone(dictionary(1, 11, 3)), &phi, &z, Dc::Free).starts_with("model: number of features"));
    assert!(measure(&phi, Matrix::zeros(11, 1).view()).is_err());
    let mut bad = z.clone();
    bad.column_mut(1)[2] = f64::INFINITY;
    for dc in [Dc::Free, Dc::Known(&[1.0, 2.0]), Dc::InAtoms] {
        assert!(message(&model, &phi, &bad, dc).contains("infinite value"));
    }
    // Differences of neighbours do not see the mean.
    let differences = Matrix::from_fn(7, 12, |r, c| f64::from(u8::from(c == r)) - f64::from(u8::from(c == r + 1)));
    let blind = Dense::new(differences.view()).unwrap();
    assert!(message(&model, &blind, &z, Dc::Free).contains("Dc::Known"));
    let stopped = Blockwise { coder: &lasso(), dc: Dc::Free, noise: 0.0 };
    let stop = |_, _| std::ops::ControlFlow::Break(());
    let many = measure(&phi, blocks(3, 12, 2000).view()).unwrap();
    let stopped = stopped.recover(&model, &phi, many.view(), Run::threads(1).on_progress(&stop));
    assert!(matches!(stopped.unwrap_err(), Error::Interrupted { .. }));
}

#[test]
fn a_projection_that_no_memory_holds_is_refused() {
    let projection: Projection = "gaussian:measurements=1048576,seed=1".parse().unwrap();
    for n_features in [1 << 20, usize::MAX] {
        let refused = projection.matrix::<f32>(n_features).unwrap_err();
        assert!(refused.to_string().starts_with("measurements = 1048576: is too many"), "{refused}");
    }
}
