//! Centres that scikit-learn found for the same samples (`golden/kmeans.txt` says how, and with which version).

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use sparsemble::kmeans::{KMeansInit, WeightedKMeans, assign};
use sparsemble::{Draw, Run, Scalar};

use crate::npy::{converted, golden};

const DRAW: Draw = Draw { seed: 1, round: 0 };

fn centers_match<T: Scalar>(closeness: f64) {
    let samples = converted::<T>(&golden("kmeans_samples"));
    let first = converted::<T>(&golden("kmeans_first"));
    let masses = golden("kmeans_masses").into_vec();
    let kmeans = WeightedKMeans {
        init: KMeansInit::Given(first.clone()),
        tolerance: 0.0,
        ..WeightedKMeans::new(first.columns())
    };
    let found = kmeans.fit(samples.view(), &masses, DRAW, Run::threads(1)).unwrap();
    assert!(found.converged && found.reseeded == 0);
    let expected = golden("kmeans_centers");
    for (k, (found, expected)) in found.centers.as_slice().iter().zip(expected.as_slice()).enumerate() {
        assert!((found.to_f64() - expected).abs() < closeness, "{} value {k}: {found} for {expected}", T::NAME);
    }
    let labels: Vec<u32> = golden("kmeans_labels").as_slice().iter().map(|label| *label as u32).collect();
    assert_eq!(found.assignments, labels);
    assert_eq!(assign(found.centers.view(), samples.view(), Run::threads(2)).unwrap(), labels);
    let inertia = golden("kmeans_inertia").as_slice()[0];
    let total: f64 = masses.iter().sum();
    assert!((found.inertia * total - inertia).abs() < closeness * inertia, "{} for {inertia}", found.inertia * total);
}

#[test]
fn weighted_centres_are_those_of_scikit_learn() {
    centers_match::<f64>(1e-12);
    centers_match::<f32>(2e-6);
}

#[test]
fn weighted_seeding_is_no_worse_than_that_of_scikit_learn() {
    // Both draw at random: the mean inertia over seeds is compared, with three standard errors of the difference.
    let (samples, masses) = (golden("kmeans_samples"), golden("kmeans_masses").into_vec());
    let reference = golden("kmeans_seeding").into_vec();
    for init in [KMeansInit::PlusPlus, KMeansInit::parallel()] {
        let kmeans =
            WeightedKMeans { init, max_iterations: 0, ..WeightedKMeans::new(golden("kmeans_first").columns()) };
        let inertia = |seed| {
            kmeans.fit(samples.view(), &masses, Draw { seed, round: 0 }, Run::threads(1)).unwrap().inertia
                * masses.iter().sum::<f64>()
        };
        let found: Vec<f64> = (0..reference.len() as u64).map(inertia).collect();
        let ((found, deviation), (expected, other)) = (statistics(&found), statistics(&reference));
        let error = ((deviation.powi(2) + other.powi(2)) / reference.len() as f64).sqrt();
        assert!(found < expected + 3.0 * error, "{:?}: {found} for {expected} ± {error}", kmeans.init);
    }
}

/// Mean and standard deviation.
fn statistics(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    (mean, variance.sqrt())
}
