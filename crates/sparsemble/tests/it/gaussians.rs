//! Laws of local Gaussians: estimates are the best linear ones, weights are probabilities, learning makes samples likelier.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use sparsemble::degradation::Dense;
use sparsemble::ensemble::{GaussianLearner, LocalGaussians, MeanPrior, SampleMean, Seen};
use sparsemble::{Error, Matrix, Run, Scalar};

use crate::problems::Values;

const MEAN: MeanPrior = MeanPrior { mean: 10.0, deviation: 3.0 };

/// A covariance of any size, different for each number.
fn covariance<T: Scalar>(size: usize, number: u64) -> Matrix<T> {
    let factor: Matrix<f64> = Values::new(number).matrix(size, size);
    Matrix::from_fn(size, size, |r, c| {
        let product: f64 = (0..size).map(|k| factor.column(k)[r] * factor.column(k)[c]).sum();
        T::from_f64(product + if r == c { 0.5 } else { 0.0 })
    })
}

/// Solves a small system by elimination: an oracle that shares nothing with the library.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for r in i + 1..n {
            let factor = a[r][i] / a[i][i];
            let row = a[i].clone();
            a[r].iter_mut().zip(row).skip(i).for_each(|(entry, above)| *entry -= factor * above);
            b[r] -= factor * b[i];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|c| a[i][c] * b[c]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
}

/// m + C Φᵀ (ΦCΦᵀ + σ²I)⁻¹ (z − Φm), with the mean's own variance in C.
fn linear_estimate(covariance: &Matrix<f64>, phi: &Matrix<f64>, noise: f64, z: &[f64], mean: MeanPrior) -> Vec<f64> {
    let size = covariance.rows();
    let c = |i: usize, j: usize| covariance.column(j)[i] + mean.deviation * mean.deviation;
    let seen = |p: usize, q: usize| -> f64 {
        let of_noise = if p == q { noise * noise } else { 0.0 };
        let pairs = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
        of_noise + pairs.map(|(i, j)| phi.column(i)[p] * c(i, j) * phi.column(j)[q]).sum::<f64>()
    };
    let n = phi.rows();
    let rest = (0..n).map(|p| z[p] - (0..size).map(|i| phi.column(i)[p] * mean.mean).sum::<f64>()).collect();
    let weights = solve((0..n).map(|p| (0..n).map(|q| seen(p, q)).collect()).collect(), rest);
    let cross = |i: usize, p: usize| -> f64 { (0..size).map(|j| c(i, j) * phi.column(j)[p]).sum() };
    (0..size).map(|i| mean.mean + (0..n).map(|p| cross(i, p) * weights[p]).sum::<f64>()).collect()
}

#[test]
fn one_gaussian_gives_the_best_linear_estimate() {
    for (size, n, seed) in [(2, 1, 1), (5, 3, 2), (16, 7, 3)] {
        let c = covariance::<f64>(size, seed);
        let phi: Matrix<f64> = Values::new(seed + 50).matrix(n, size);
        let z: Matrix<f64> = Values::new(seed + 90).matrix(n, 4);
        let gaussians = LocalGaussians::new(vec![1.0], std::slice::from_ref(&c), MEAN).unwrap();
        let dense = Dense::new(phi.view()).unwrap();
        let seen = Seen { phi: Some(&dense), noise: 0.3, mean: SampleMean::Unknown };
        let found = gaussians.estimator(&seen, Run::default()).unwrap().estimate(z.view(), Run::default()).unwrap();
        for i in 0..4 {
            let expected = linear_estimate(&c, &phi, 0.3, z.column(i), MEAN);
            for (a, b) in found.values.column(i).iter().zip(expected) {
                assert!((a - b).abs() < 1e-8, "size {size}: {a} for {b}");
            }
        }
    }
}

#[test]
fn members_are_weighed_by_how_likely_they_are() {
    // In one dimension all is explicit.
    let variances = [0.1, 4.0];
    let member = |variance: f64| Matrix::from_columns(vec![variance], 1, 1).unwrap();
    let gaussians = LocalGaussians::new(vec![3.0, 1.0], &variances.map(member), MEAN).unwrap();
    assert_eq!(gaussians.weights(), [0.75, 0.25]);
    let noise = 0.5_f64;
    let seen = Seen { phi: None, noise, mean: SampleMean::Removed };
    let z = Matrix::from_columns(vec![0.0, 0.7, -1.3, 3.0], 1, 4).unwrap();
    let found = gaussians.estimator(&seen, Run::default()).unwrap().estimate(z.view(), Run::default()).unwrap();
    for i in 0..4 {
        let z = z.column(i)[0];
        let total = variances.map(|variance| variance + noise * noise);
        let likely = [0, 1].map(|k| [0.75, 0.25][k] * (-0.5 * z * z / total[k]).exp() / total[k].sqrt());
        let weight = likely.map(|value| value / (likely[0] + likely[1]));
        let estimate = [0, 1].map(|k| variances[k] / total[k] * z);
        let expected = weight[0] * estimate[0] + weight[1] * estimate[1];
        // Members less likely than one in a thousand have no say.
        assert!((found.values.column(i)[0] - expected).abs() < 2e-3 * (1.0 + z.abs()), "{z}");
        let open = [0, 1].map(|k| variances[k] * noise * noise / total[k]);
        let square: f64 = (0..2).map(|k| weight[k] * (open[k] + (estimate[k] - expected).powi(2))).sum();
        assert!((found.spread[i] - square.sqrt()).abs() < 5e-3, "{z}: {} for {}", found.spread[i], square.sqrt());
    }
}

#[test]
fn any_number_of_members_is_weighed_in_any_order() {
    estimates_are_weighted_means_of_all_members::<f64>();
    estimates_are_weighted_means_of_all_members::<f32>();
}

fn estimates_are_weighted_means_of_all_members<T: Scalar>() {
    // Fewer, as many and more than vectors have lanes; the later ones tell more directions apart.
    for count in [1, 2, 3, 5, 7, 11, 16, 20, 24, 33, 70] {
        let member = |k: usize| Matrix::from_fn(9, 9, |r, c| if r == c { 0.1 + (k % 10 * r) as f64 } else { 0.0 });
        let members: Vec<Matrix<f64>> = (0..count).map(member).collect();
        let same: Vec<Matrix<T>> =
            members.iter().map(|member| Matrix::from_fn(9, 9, |r, c| T::from_f64(member.column(c)[r]))).collect();
        let gaussians = LocalGaussians::new(vec![1.0; count], &same, MEAN).unwrap();
        let noise = 0.6_f64;
        let seen = Seen { phi: None, noise, mean: SampleMean::Removed };
        let z: Matrix<f64> = Values::new(count as u64).matrix(9, 5);
        let samples = Matrix::from_fn(9, 5, |r, i| T::from_f64(z.column(i)[r]));
        let estimator = gaussians.estimator(&seen, Run::default()).unwrap();
        let found = estimator.estimate(samples.view(), Run::default()).unwrap();
        for i in 0..5 {
            let z = z.column(i);
            let total = |k: usize, r: usize| members[k].column(r)[r] + noise * noise;
            let score = |k: usize| -> f64 {
                (0..9).map(|r| -0.5 * (z[r] * z[r] / total(k, r) + total(k, r).ln())).sum::<f64>().exp()
            };
            let all: f64 = (0..count).map(score).sum();
            for (r, z) in z.iter().enumerate() {
                let estimate = |k: usize| score(k) / all * members[k].column(r)[r] / total(k, r) * z;
                let (expected, found) = ((0..count).map(estimate).sum::<f64>(), found.values.column(i)[r].to_f64());
                // Members less likely than one in a thousand have no say.
                assert!((found - expected).abs() < 0.02 * (1.0 + z.abs()), "{count} members: {found} for {expected}");
            }
        }
    }
}

/// Samples of two kinds: steps and waves, with means of their own.
fn samples<T: Scalar>(count: usize) -> Matrix<T> {
    let mut values = Values::new(7);
    let mut columns = Vec::with_capacity(9 * count);
    for i in 0..count {
        let (size, mean) = (5.0 * values.normal(), 100.0 + 20.0 * values.normal());
        for r in 0..9 {
            let shape = if i % 3 == 0 { f64::from(r % 2) - 0.5 } else { f64::from(u8::from(r > 4)) - 0.5 };
            columns.push(T::from_f64(mean + size * shape + 0.3 * values.normal()));
        }
    }
    Matrix::from_columns(columns, 9, count).unwrap()
}

#[test]
fn learning_makes_the_samples_likelier_round_by_round() {
    let samples = samples::<f64>(600);
    let learner = GaussianLearner { n_gaussians: 4, iterations: 10, shared_samples: 0.0, floor: 1e-3, seed: 1 };
    let gaussians = learner.fit(samples.view(), None, Run::default()).unwrap();
    let costs = &gaussians.training().objective;
    assert_eq!(costs.len(), 10);
    assert!(costs.windows(2).all(|pair| pair[1] < pair[0]), "{costs:?}");
    let one = GaussianLearner { n_gaussians: 1, ..learner }.fit(samples.view(), None, Run::default()).unwrap();
    assert!(costs[9] < one.training().objective[9] - 0.5, "{costs:?}, {:?}", one.training().objective);
    assert!((gaussians.mean().mean - 100.0).abs() < 5.0 && (gaussians.mean().deviation - 20.0).abs() < 3.0);
    assert!((gaussians.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn learning_is_the_same_for_any_threads_and_any_scale_of_the_masses() {
    let samples = samples::<f32>(700);
    let learner = GaussianLearner { n_gaussians: 3, iterations: 4, ..GaussianLearner::default() };
    let fit = |masses: Option<&[f64]>, threads: usize| {
        let gaussians = learner.fit(samples.view(), masses, Run::threads(threads)).unwrap();
        (gaussians.weights().to_vec(), gaussians.covariances().to_vec())
    };
    assert_eq!(fit(None, 1), fit(None, 3));
    let fours = vec![4.0; 700];
    assert_eq!(fit(None, 1), fit(Some(&fours), 2));
}

#[test]
fn samples_of_mass_zero_teach_nothing() {
    let samples = samples::<f64>(300);
    let first: Matrix<f64> = Matrix::from_columns(samples.as_slice()[..9 * 200].to_vec(), 9, 200).unwrap();
    let masses: Vec<f64> = (0..300).map(|i| if i < 200 { 1.0 } else { 0.0 }).collect();
    let learner = GaussianLearner { n_gaussians: 1, iterations: 2, ..GaussianLearner::default() };
    let part = learner.fit(first.view(), None, Run::default()).unwrap();
    let whole = learner.fit(samples.view(), Some(&masses), Run::default()).unwrap();
    for (a, b) in part.covariances()[0].as_slice().iter().zip(whole.covariances()[0].as_slice()) {
        // The shared samples are a little fewer of more.
        assert!((a - b).abs() < 0.02 * a.abs().max(1.0), "{a} and {b}");
    }
}

#[test]
fn what_makes_no_gaussians_is_refused() {
    let identity = Matrix::from_fn(2, 2, |r, c| if r == c { 1.0 } else { 0.0 });
    let refused = |weights: Vec<f64>, covariances: &[Matrix<f64>]| {
        LocalGaussians::new(weights, covariances, MEAN).unwrap_err().to_string()
    };
    assert!(refused(vec![], &[]).contains("at least one covariance"));
    assert!(refused(vec![0.0], std::slice::from_ref(&identity)).contains("weights"));
    assert!(refused(vec![1.0], &[Matrix::from_columns(vec![1.0, 0.5, 0.0, 1.0], 2, 2).unwrap()]).contains("symmetric"));
    assert!(refused(vec![1.0], &[Matrix::from_columns(vec![1.0, 0.0, 0.0, -1.0], 2, 2).unwrap()]).contains("positive"));
    assert!(refused(vec![1.0], &[Matrix::from_columns(vec![f64::NAN; 4], 2, 2).unwrap()]).contains("NaN"));

    let gaussians = LocalGaussians::new(vec![1.0], &[identity], MEAN).unwrap();
    let seen = Seen { phi: None, noise: -1.0, mean: SampleMean::Removed };
    assert!(gaussians.estimator(&seen, Run::default()).unwrap_err().to_string().contains("noise"));

    let few = samples::<f64>(3);
    let learner = GaussianLearner { n_gaussians: 5, ..GaussianLearner::default() };
    assert!(matches!(learner.fit(few.view(), None, Run::default()), Err(Error::TooFewSamples { .. })));
    let constant = Matrix::from_fn(4, 10, |_, c| c as f64);
    assert!(GaussianLearner { n_gaussians: 1, ..learner }.fit(constant.view(), None, Run::default()).is_err());
}
