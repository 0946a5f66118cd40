//! The laws of drawing examples by mass, and of every weak learner.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use proptest::prelude::*;
use sparsemble::dictionary::{Centers, Dictionary, Examples, WeakLearner};
use sparsemble::{Draw, Error, Matrix, MatrixView, Run};

use crate::problems::{Values, cases, norm, to_f64};

const DRAW: Draw = Draw { seed: 7, round: 2 };

/// Samples, and masses of which about one in four is zero.
fn problem(seed: u64, n_features: usize, n_samples: usize) -> (Matrix<f32>, Vec<f64>) {
    let mut values = Values::new(seed);
    let samples = values.matrix(n_features, n_samples);
    let masses = (0..n_samples).map(|_| (values.unit() - 0.25).max(0.0)).collect();
    (samples, masses)
}

fn learners(atoms: usize) -> [(&'static str, Box<dyn WeakLearner<f32>>); 3] {
    [
        ("examples", Box::new(Examples { n_atoms: atoms })),
        ("centres", Box::new(Centers::new(atoms))),
        ("improved centres", Box::new(Centers { iterations: 5, ..Centers::new(atoms) })),
    ]
}

fn learn(learner: &dyn WeakLearner<f32>, samples: &Matrix<f32>, masses: &[f64], threads: usize) -> Dictionary<f32> {
    learner.fit(samples.view(), masses, DRAW, Run::threads(threads)).unwrap()
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn weak_learners_make_unit_atoms_and_depend_on_masses_up_to_scale_alone(
        seed in any::<u64>(), n_features in 1_usize..20, n_samples in 60_usize..600, atoms in 1_usize..25,
    ) {
        let (samples, masses) = problem(seed, n_features, n_samples);
        for (name, learner) in learners(atoms) {
            let dictionary = learn(&*learner, &samples, &masses, 1);
            prop_assert_eq!((dictionary.n_features(), dictionary.n_atoms()), (n_features, atoms));
            for j in 0..atoms {
                prop_assert!((norm(&to_f64(dictionary.atoms().column(j))) - 1.0).abs() < 1e-6, "{}", name);
            }
            for factor in [0.25, 1024.0] {
                let scaled: Vec<f64> = masses.iter().map(|mass| mass * factor).collect();
                prop_assert_eq!(&learn(&*learner, &samples, &scaled, 1), &dictionary, "{}", name);
            }
            prop_assert_eq!(&learn(&*learner, &samples, &masses, 3), &dictionary, "{} on threads", name);
        }
    }

    #[test]
    fn samples_of_mass_zero_are_never_used(seed in any::<u64>(), atoms in 1_usize..25) {
        let (samples, masses) = problem(seed, 6, 300);
        let others = Matrix::from_fn(6, 300, |r, c| {
            if masses[c] > 0.0 { samples.column(c)[r] } else { 50.0 + (r * c) as f32 }
        });
        for (name, learner) in learners(atoms) {
            prop_assert_eq!(
                learn(&*learner, &samples, &masses, 1), learn(&*learner, &others, &masses, 1), "{}", name
            );
        }
    }

    #[test]
    fn any_parts_of_the_samples_draw_the_same_examples(
        seed in any::<u64>(), atoms in 1_usize..60, mut cuts in prop::collection::vec(0_usize..=5000, 0..6),
    ) {
        let (samples, masses) = problem(seed, 3, 5000);
        let examples = Examples { n_atoms: atoms };
        let whole = examples.select(samples.view(), &masses, 0, DRAW, Run::threads(2)).unwrap().rows().unwrap();
        cuts.extend([0, 5000]);
        cuts.sort_unstable();
        let part = |cut: &[usize]| {
            let values = &samples.as_slice()[3 * cut[0]..3 * cut[1]];
            let part = MatrixView::from_columns(values, 3, cut[1] - cut[0]).unwrap();
            examples.select(part, &masses[cut[0]..cut[1]], cut[0], DRAW, Run::threads(1)).unwrap()
        };
        let merged = cuts.windows(2).rev().map(part).reduce(|a, b| a.merge(&b).unwrap()).unwrap();
        prop_assert_eq!(merged.rows().unwrap(), whole);
    }
}

#[test]
fn examples_are_the_samples_they_say_they_are_and_none_comes_twice() {
    let (samples, masses) = problem(3, 5, 400);
    let dictionary = learn(&Examples { n_atoms: 100 }, &samples, &masses, 1);
    let mut sources = dictionary.sources().unwrap().to_vec();
    for (j, &source) in sources.iter().enumerate() {
        let length = norm(&to_f64(samples.column(source)));
        for (atom, sample) in dictionary.atoms().column(j).iter().zip(samples.column(source)) {
            assert!((f64::from(*atom) * length - f64::from(*sample)).abs() < 1e-6);
        }
    }
    sources.sort_unstable();
    sources.dedup();
    assert_eq!(sources.len(), 100);
}

#[test]
fn examples_are_drawn_as_often_as_their_masses_say() {
    // The first of the draws has the probability p itself; a chi-square of 9 degrees of freedom stays below 27.9 with
    // probability 0.999.
    let samples = Matrix::from_fn(1, 10, |_, c| (c + 1) as f32);
    let masses: Vec<f64> = (0..10).map(|i| f64::from(i + 1)).collect();
    let rounds = 5000;
    let mut counts = [0.0_f64; 10];
    for round in 0..rounds {
        let draw = Draw { seed: 1, round };
        let first = Examples { n_atoms: 3 }.fit(samples.view(), &masses, draw, Run::threads(1)).unwrap();
        counts[first.sources().unwrap()[0]] += 1.0;
    }
    let expected = masses.iter().map(|mass| mass / 55.0 * rounds as f64);
    let chi_square: f64 = counts.iter().zip(expected).map(|(n, expected)| (n - expected).powi(2) / expected).sum();
    assert!(chi_square < 27.9, "{chi_square}: {counts:?}");
}

#[test]
fn seed_and_round_each_give_other_atoms() {
    let (samples, masses) = problem(5, 4, 500);
    for (name, learner) in learners(20) {
        let of = |seed, round| learner.fit(samples.view(), &masses, Draw { seed, round }, Run::threads(1)).unwrap();
        assert_eq!(of(1, 0), of(1, 0), "{name}");
        assert_ne!(of(1, 0), of(1, 1), "{name}");
        assert_ne!(of(1, 0), of(2, 0), "{name}");
    }
}

#[test]
fn all_usable_samples_can_be_drawn_and_no_more() {
    let mut samples = Values::new(1).matrix::<f32>(3, 10);
    samples.column_mut(4).fill(0.0); // no norm
    let mut masses = vec![1.0; 10];
    masses[7] = 0.0; // no mass
    let all = learn(&Examples { n_atoms: 8 }, &samples, &masses, 1);
    let mut sources = all.sources().unwrap().to_vec();
    sources.sort_unstable();
    assert_eq!(sources, [0, 1, 2, 3, 5, 6, 8, 9]);
    let error = Examples { n_atoms: 9 }.fit(samples.view(), &masses, DRAW, Run::threads(1)).unwrap_err();
    assert!(matches!(error, Error::TooFewSamples { needed: 9, found: 8, .. }), "{error}");
}

#[test]
fn a_centre_without_direction_is_replaced_by_an_example() {
    // Five equal zeros and five others: two clusters, one of them around zero.
    let samples = Matrix::from_fn(2, 10, |r, c| if c < 5 { 0.0 } else { (10 + r) as f32 });
    let dictionary = learn(&Centers::new(2), &samples, &[1.0; 10], 1);
    for j in 0..2 {
        assert!((norm(&to_f64(dictionary.atoms().column(j))) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let mut samples = Values::new(1).matrix::<f32>(3, 50);
    let masses = vec![1.0; 50];
    for (name, learner) in learners(5) {
        let refused = |samples: &Matrix<f32>, masses: &[f64]| {
            learner.fit(samples.view(), masses, DRAW, Run::threads(1)).unwrap_err().to_string()
        };
        assert!(refused(&samples, &masses[1..]).contains("masses"), "{name}");
        assert!(refused(&samples, &[0.0; 50]).contains("masses"), "{name}");
        assert!(refused(&samples, &[&masses[1..], &[-1.0]].concat()).contains("masses = -1"), "{name}");
        assert!(refused(&samples, &[&masses[1..], &[f64::NAN]].concat()).contains("masses = NaN"), "{name}");
    }
    for (name, learner) in learners(0) {
        let error = learner.fit(samples.view(), &masses, DRAW, Run::threads(1)).unwrap_err();
        assert!(error.to_string().contains("atoms = 0"), "{name}: {error}");
    }
    samples.column_mut(33)[1] = f32::NAN;
    for (name, learner) in learners(5) {
        let error = learner.fit(samples.view(), &masses, DRAW, Run::threads(1)).unwrap_err();
        assert_eq!(error, Error::NotFinite { what: "samples", row: 1, column: 33 }, "{name}");
    }
}
