//! The laws of weighted K-Means, Eq. (13).

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::prelude::*;
use sparsemble::kmeans::{Clustering, KMeansInit, WeightedKMeans};
use sparsemble::{Draw, Error, Matrix, Run, Scalar};

use crate::problems::{Values, cases, columns, to_f64};

const DRAW: Draw = Draw { seed: 7, round: 2 };

/// Samples around a few places, far from the origin of the coordinates.
fn samples<T: Scalar>(seed: u64, n_features: usize, n_samples: usize, offset: f64) -> Matrix<T> {
    let mut values = Values::new(seed);
    let middles: Matrix<f64> = values.matrix(n_features, 7);
    let mut columns = Vec::new();
    for _ in 0..n_samples {
        let middle = middles.column(values.below(7));
        columns.extend(middle.iter().map(|middle| T::from_f64(offset + 4.0 * middle + values.normal())));
    }
    Matrix::from_columns(columns, n_features, n_samples).unwrap()
}

fn inits<T: Scalar>() -> [KMeansInit<T>; 2] {
    [KMeansInit::PlusPlus, KMeansInit::parallel()]
}

fn fit<T: Scalar>(kmeans: &WeightedKMeans<T>, samples: &Matrix<T>, masses: &[f64], threads: usize) -> Clustering<T> {
    kmeans.fit(samples.view(), masses, DRAW, Run::threads(threads)).unwrap()
}

/// Eq. (13) for these assignments, by a plain sum, and the same with the nearest centres.
fn inertias<T: Scalar>(clustering: &Clustering<T>, samples: &Matrix<T>, masses: &[f64]) -> (f64, f64) {
    let (mut assigned, mut least) = (0.0, 0.0);
    for (i, mass) in masses.iter().enumerate() {
        let x = to_f64(samples.column(i));
        let apart =
            |k: usize| x.iter().zip(clustering.centers.column(k)).map(|(x, c)| (x - c.to_f64()).powi(2)).sum::<f64>();
        assigned += mass * apart(clustering.assignments[i] as usize);
        least += mass * (0..clustering.centers.columns()).map(apart).fold(f64::MAX, f64::min);
    }
    let total: f64 = masses.iter().sum();
    (assigned / total, least / total)
}

fn inertia_is_reported_and_assignments_are_the_nearest<T: Scalar>(seed: u64, clusters: usize, offset: f64) {
    let samples = samples::<T>(seed, 9, 500, offset);
    let mut values = Values::new(seed);
    let masses: Vec<f64> = (0..500).map(|_| (values.unit() - 0.2).max(0.0)).collect();
    for init in inits() {
        let kmeans = WeightedKMeans { init, ..WeightedKMeans::new(clusters) };
        let found = fit(&kmeans, &samples, &masses, 1);
        let (assigned, least) = inertias(&found, &samples, &masses);
        // The search works in T, counted from a centre; what it may miss is a part of the squared spread, some 200.
        let missed = 200.0 * 100.0 * T::EPSILON.to_f64();
        assert!((found.inertia - assigned).abs() <= 1e-12 * assigned, "{} for {assigned}", found.inertia);
        assert!(assigned <= least + missed, "{assigned} for {least}");
        let again = found.assign(samples.view(), Run::threads(2)).unwrap();
        let differing = again.iter().zip(&found.assignments).filter(|(a, b)| a != b).count();
        assert!(differing <= 1, "{differing} samples are assigned elsewhere");
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn the_inertia_is_that_of_the_equation_and_assignments_are_the_nearest(
        seed in any::<u64>(), clusters in 1_usize..30, offset in prop::sample::select(vec![0.0, -30.0, 1000.0]),
    ) {
        inertia_is_reported_and_assignments_are_the_nearest::<f64>(seed, clusters, offset);
        inertia_is_reported_and_assignments_are_the_nearest::<f32>(seed, clusters, offset);
    }

    #[test]
    fn integer_masses_are_repeated_samples(seed in any::<u64>(), clusters in 1_usize..15, far in 0_usize..4) {
        let samples = samples::<f64>(seed, 5, 200, 0.0);
        let mut values = Values::new(seed);
        let counts: Vec<usize> = (0..200).map(|_| values.below(4)).collect();
        let names: Vec<usize> = (0..200).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
        let masses: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        let mut first = columns(&samples, &values.order(200)[..clusters]);
        // Centres that are the nearest of no sample, whose clusters are empty.
        let far = far.min(clusters - 1);
        (0..far).for_each(|j| first.column_mut(j).fill(1e3 * (j + 1) as f64));
        let kmeans = WeightedKMeans {
            init: KMeansInit::Given(first), tolerance: 0.0, ..WeightedKMeans::new(clusters)
        };
        let weighted = fit(&kmeans, &samples, &masses, 1);
        let repeated = fit(&kmeans, &columns(&samples, &names), &vec![1.0; names.len()], 1);
        prop_assert_eq!((weighted.iterations, weighted.reseeded), (repeated.iterations, repeated.reseeded));
        prop_assert!(weighted.reseeded >= far, "{} of {} were moved", weighted.reseeded, far);
        prop_assert!((weighted.inertia - repeated.inertia).abs() <= 1e-12 * repeated.inertia);
        for (a, b) in weighted.centers.as_slice().iter().zip(repeated.centers.as_slice()) {
            prop_assert!((a - b).abs() < 1e-11, "{} for {}", a, b);
        }
        for (place, &name) in names.iter().enumerate() {
            prop_assert_eq!(weighted.assignments[name], repeated.assignments[place]);
        }
    }

    #[test]
    fn the_inertia_never_rises_and_the_centres_become_means(seed in any::<u64>(), clusters in 2_usize..40) {
        let samples = samples::<f32>(seed, 6, 300, 5.0);
        let masses: Vec<f64> = (0..300).map(|i| f64::from(i % 5)).collect();
        // Two of the first centres are far off, so that clusters become empty.
        let first = Matrix::from_fn(6, clusters, |r, c| if c < 2 { 1e3 } else { samples.column(c)[r] });
        let of = |max_iterations| {
            let init = KMeansInit::Given(first.clone());
            fit(&WeightedKMeans { init, max_iterations, tolerance: 0.0, n_clusters: clusters }, &samples, &masses, 1)
        };
        let mut last = of(0);
        for iterations in 1..30 {
            let next = of(iterations);
            prop_assert!(next.inertia <= last.inertia, "{}: {} after {}", iterations, next.inertia, last.inertia);
            last = next;
        }
        let end = of(1000);
        prop_assert!(end.converged && end.reseeded > 0 && end.inertia <= last.inertia);
        for k in 0..clusters {
            let members: Vec<usize> =
                (0..300).filter(|&i| end.assignments[i] as usize == k && masses[i] > 0.0).collect();
            prop_assert!(!members.is_empty(), "cluster {} of {} is empty", k, clusters);
            let total: f64 = members.iter().map(|&i| masses[i]).sum();
            for r in 0..6 {
                let mean = members.iter().map(|&i| masses[i] * f64::from(samples.column(i)[r])).sum::<f64>() / total;
                prop_assert!((mean - f64::from(end.centers.column(k)[r])).abs() < 1e-5 * (1.0 + mean.abs()));
            }
        }
    }

    #[test]
    fn results_are_the_same_bits_for_any_threads_and_any_power_of_two_of_the_masses(
        seed in any::<u64>(), clusters in 1_usize..50,
    ) {
        let samples = samples::<f32>(seed, 12, 4000, 0.0);
        let masses: Vec<f64> = (0..4000).map(|i| f64::from(i % 3) + 0.1).collect();
        let scaled: Vec<f64> = masses.iter().map(|mass| mass / 4096.0).collect();
        for init in inits() {
            let kmeans = WeightedKMeans { init, max_iterations: 3, ..WeightedKMeans::new(clusters) };
            let one = fit(&kmeans, &samples, &masses, 1);
            prop_assert_eq!(&fit(&kmeans, &samples, &masses, 2), &one);
            prop_assert_eq!(&fit(&kmeans, &samples, &masses, 5), &one);
            prop_assert_eq!(&fit(&kmeans, &samples, &scaled, 1), &one);
        }
    }
}

#[test]
fn samples_of_extreme_size_are_clustered_alike() {
    let plain = samples::<f32>(3, 4, 200, 0.0);
    let masses = vec![1.0; 200];
    for init in inits() {
        let kmeans = WeightedKMeans { init, ..WeightedKMeans::new(7) };
        let expected = fit(&kmeans, &plain, &masses, 1);
        for power in [-100, 100] {
            let factor = 2.0_f32.powi(power);
            let scaled = Matrix::from_fn(4, 200, |r, c| plain.column(c)[r] * factor);
            let found = fit(&kmeans, &scaled, &masses, 1);
            assert_eq!(found.assignments, expected.assignments, "2^{power}");
            let expected: Vec<f32> = expected.centers.as_slice().iter().map(|c| c * factor).collect();
            assert_eq!(found.centers.as_slice(), expected);
        }
        let huge = Matrix::from_fn(4, 200, |r, c| f64::from(plain.column(c)[r]) * 1e300);
        let kmeans = WeightedKMeans { max_iterations: 5, ..WeightedKMeans::new(7) };
        let found = fit(&kmeans, &huge, &masses, 1);
        assert!(found.inertia.is_finite() && found.centers.as_slice().iter().all(|c| c.is_finite()));
    }
}

#[test]
fn as_many_clusters_as_samples_leave_no_error() {
    let samples = samples::<f64>(5, 3, 60, 0.0);
    for init in inits() {
        let found = fit(&WeightedKMeans { init, ..WeightedKMeans::new(60) }, &samples, &[1.0; 60], 1);
        assert_eq!(found.inertia.to_bits(), 0);
        let mut clusters = found.assignments;
        clusters.sort_unstable();
        assert!(clusters.into_iter().eq(0..60));
    }
}

#[test]
fn as_many_clusters_as_different_samples_leave_no_error() {
    // Ten different samples, fifty times each, and some of mass zero that are none of the ten.
    let samples = Matrix::from_fn(2, 520, |r, c| if c < 500 { (c % 10 * (r + 1)) as f32 } else { -5.0 });
    let masses: Vec<f64> = (0..520).map(|c| if c < 500 { 1.0 } else { 0.0 }).collect();
    for init in inits() {
        for clusters in [10, 14] {
            let kmeans = WeightedKMeans { init: init.clone(), max_iterations: 0, ..WeightedKMeans::new(clusters) };
            let found = fit(&kmeans, &samples, &masses, 1);
            assert_eq!(found.inertia.to_bits(), 0, "{init:?}, {clusters} clusters");
            assert!(found.centers.as_slice().iter().all(|c| *c >= 0.0));
        }
    }
}

#[test]
fn constant_samples_have_one_centre_many_times() {
    let samples = Matrix::from_fn(3, 40, |r, _| r as f32);
    for init in inits() {
        let found = fit(&WeightedKMeans { init, ..WeightedKMeans::new(4) }, &samples, &[0.5; 40], 1);
        assert!((0..4).all(|k| found.centers.column(k) == [0.0, 1.0, 2.0]));
        assert!(found.converged && found.assignments.iter().all(|k| *k == 0));
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let samples = samples::<f64>(1, 3, 30, 0.0);
    let refused = |kmeans: WeightedKMeans<f64>, samples: &Matrix<f64>, masses: &[f64]| {
        kmeans.fit(samples.view(), masses, DRAW, Run::threads(1)).unwrap_err()
    };
    let masses = vec![1.0; 30];
    let some = |init| WeightedKMeans { init, ..WeightedKMeans::new(5) };
    let too_many = refused(WeightedKMeans::new(31), &samples, &masses);
    assert!(matches!(too_many, Error::TooFewSamples { needed: 31, found: 30, .. }), "{too_many}");
    let too_light = refused(WeightedKMeans::new(2), &samples, &[&[1.0], vec![0.0; 29].as_slice()].concat());
    assert!(matches!(too_light, Error::TooFewSamples { needed: 2, found: 1, .. }), "{too_light}");
    for (kmeans, word) in [
        (WeightedKMeans::new(0), "clusters"),
        (WeightedKMeans { tolerance: f64::NAN, ..WeightedKMeans::new(2) }, "tolerance"),
        (some(KMeansInit::Parallel { oversampling: 0.0, rounds: 5 }), "oversampling"),
        (some(KMeansInit::Parallel { oversampling: 0.5, rounds: 1 }), "rounds"),
        (some(KMeansInit::Given(Matrix::zeros(2, 5))), "features"),
        (some(KMeansInit::Given(Matrix::zeros(3, 4))), "clusters"),
        (some(KMeansInit::Given(Matrix::from_fn(3, 5, |_, _| f64::INFINITY))), "centres"),
    ] {
        let error = refused(kmeans, &samples, &masses).to_string();
        assert!(error.contains(word), "{word}: {error}");
    }
    let mut spoilt = samples.clone();
    spoilt.column_mut(20)[2] = f64::NAN;
    let expected = Error::NotFinite { what: "samples", row: 2, column: 20 };
    assert_eq!(refused(WeightedKMeans::new(2), &spoilt, &masses), expected);
    assert!(matches!(refused(WeightedKMeans::new(1), &Matrix::zeros(3, 0), &[]), Error::Empty { .. }));
}
