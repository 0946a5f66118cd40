//! Laws of K-hyperline clustering, of multilevel dictionaries and of Ex-MLD.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::ops::ControlFlow;

use proptest::prelude::*;
use sparsemble::coding::{CodingBasis, OneSparse, Samples, SparseCoder};
use sparsemble::degradation::{Degradation, Dense, Identity};
use sparsemble::dictionary::{Dictionary, Draw, Examples, Hyperlines, WeakLearner};
use sparsemble::ensemble::{Averaging, Coefficients, Ensemble, Multilevel, MultilevelDictionary};
use sparsemble::{Error, Matrix, MatrixView, Result, Run, Scalar};

use crate::problems::{Values, cases, columns, dot, norm, to_f64};

/// Samples near the planes of a few directions.
fn samples<T: Scalar>(seed: u64, n_features: usize, n_samples: usize) -> Matrix<T> {
    let mut values = Values::new(seed);
    let kinds: Matrix<f64> = values.matrix(n_features, 5);
    let mut samples = Matrix::zeros(n_features, n_samples);
    for i in 0..n_samples {
        let (kind, other, size) = (values.below(5), values.below(5), 2.0 * values.normal());
        for (r, x) in samples.column_mut(i).iter_mut().enumerate() {
            *x = T::from_f64(size * kinds.column(kind)[r] + 0.5 * kinds.column(other)[r] + 0.2 * values.normal());
        }
    }
    samples
}

fn projection<T: Scalar>(n_measurements: usize, n_features: usize) -> Dense<T> {
    Dense::new(Values::new(77).matrix::<T>(n_measurements, n_features).view()).unwrap()
}

fn degraded<T: Scalar>(phi: &dyn Degradation<T>, samples: &Matrix<T>) -> Matrix<T> {
    let mut out = Matrix::zeros(phi.n_measurements(), samples.columns());
    (0..samples.columns()).for_each(|i| phi.apply(samples.column(i), out.column_mut(i)));
    out
}

fn ex_mld<T: Scalar>(examples: &Examples, n_models: usize, n_levels: usize, seed: u64) -> Multilevel<'_, T> {
    Multilevel { n_levels, ..Multilevel::new(Averaging { n_models, seed, ..Averaging::new(examples) }) }
}

fn mld<T: Scalar>(lines: &Hyperlines, n_levels: usize, seed: u64) -> Multilevel<'_, T> {
    Multilevel { n_levels, ..Multilevel::new(Averaging { n_models: 1, seed, ..Averaging::new(lines) }) }
}

fn energy<T: Scalar>(column: &[T]) -> f64 {
    norm(&to_f64(column)).powi(2)
}

fn difference<T: Scalar>(a: &Matrix<T>, b: &Matrix<T>) -> f64 {
    let apart = to_f64(a.as_slice()).iter().zip(to_f64(b.as_slice())).map(|(a, b)| a - b).collect::<Vec<_>>();
    norm(&apart)
}

fn bits<T: Scalar>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// All atoms, the recorded errors and the codes of these samples, as bits.
fn everything<T: Scalar>(dictionary: &MultilevelDictionary<T>, samples: &Matrix<T>, run: Run<'_>) -> Vec<u64> {
    let models = dictionary.levels().iter().flat_map(Ensemble::models);
    let mut all: Vec<u64> = models.flat_map(|model| bits(model.synthesis().as_slice())).collect();
    all.extend(dictionary.errors().iter().map(|error| error.to_bits()));
    let coding = dictionary.transform(samples.view(), run).unwrap();
    all.extend(coding.codes.atoms().iter().map(|&atom| u64::from(atom)));
    all.extend(bits(coding.codes.coefficients()));
    let found = dictionary.approximate(samples.view(), run).unwrap();
    all.extend(bits(found.values.as_slice()));
    all.extend(found.spread.iter().flatten().map(|spread| spread.to_bits()));
    all
}

fn never_rises(errors: &[f64], precision: f64) -> bool {
    errors.windows(2).all(|pair| pair[1] <= pair[0] + precision * errors[0])
}

fn the_laws_of_levels<T: Scalar>(seed: u64, training: &Multilevel<'_, T>) {
    let samples = samples::<T>(seed, 9, 500);
    let dictionary = training.fit(samples.view(), Run::default()).unwrap();
    let precision = 100.0 * T::EPSILON.to_f64();
    assert_eq!(dictionary.n_levels(), training.n_levels);
    assert_eq!(dictionary.errors().len(), training.n_levels + 1);
    assert!(never_rises(dictionary.errors(), precision), "{:?}", dictionary.errors());
    assert!(dictionary.errors().last().unwrap() < &(0.8 * dictionary.errors()[0]), "{:?}", dictionary.errors());

    // What training recorded is what coding finds, and what is left of the samples.
    let energies = dictionary.residual_energies(samples.view(), training.level.masses, Run::default()).unwrap();
    for (coded, trained) in energies.iter().zip(dictionary.errors()) {
        assert!((coded - trained).abs() <= precision * energies[0], "{coded} {trained}");
    }
    let approximations = dictionary.approximate(samples.view(), Run::default()).unwrap().values;
    let left = difference(&samples, &approximations).powi(2) / 500.0;
    assert!((left - energies.last().unwrap()).abs() <= precision * energies[0]);

    // So it is for other samples, through a degradation too, for each of them.
    let phi = projection::<T>(4, 9);
    let other = degraded(&phi, &crate::multilevel::samples::<T>(seed + 1, 9, 60));
    let measured = dictionary.degraded_by(&phi).unwrap();
    for i in 0..other.columns() {
        let one = columns(&other, &[i]);
        let energies = measured.residual_energies(one.view(), None, Run::threads(1)).unwrap();
        assert!(never_rises(&energies, precision), "sample {i}: {energies:?}");
    }

    // Codes make the approximations.
    let coding = measured.transform(other.view(), Run::default()).unwrap();
    assert!(coding.report.converged && coding.report.status.len() == 60);
    assert!((0..60).all(|i| coding.codes.column(i).count() <= training.n_levels * training.level.n_models));
    let reconstructed = measured.reconstruct(&coding.codes, Run::default()).unwrap();
    assert_eq!(reconstructed, measured.approximate(other.view(), Run::default()).unwrap().values);
}

#[test]
fn the_energy_of_residuals_never_rises_from_level_to_level() {
    let (examples, lines) = (Examples { n_atoms: 4 }, Hyperlines::new(4));
    for seed in 0..3 {
        the_laws_of_levels::<f64>(10 * seed, &ex_mld(&examples, 5, 6, seed));
        the_laws_of_levels::<f64>(10 * seed, &mld(&lines, 4, seed));
        the_laws_of_levels::<f32>(10 * seed, &ex_mld(&examples, 5, 6, seed));
        the_laws_of_levels::<f32>(10 * seed, &mld(&lines, 4, seed));
    }
}

/// Coding by its definition, in plain loops: the approximation of one sample, and its residual after each level.
fn by_definition(
    dictionary: &MultilevelDictionary<f64>,
    phi: &dyn Degradation<f64>,
    z: &[f64],
    rule: Coefficients,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut approximation = vec![0.0; phi.n_features()];
    let mut residuals = vec![z.to_vec()];
    for level in dictionary.levels() {
        let before = residuals.last().unwrap().clone();
        let mut after = before.clone();
        for (model, beta) in level.models().iter().zip(level.beta()) {
            let atoms = model.synthesis();
            let seen = degraded(phi, atoms);
            let score = |j: usize| (dot(seen.column(j), &before) / norm(seen.column(j))).abs();
            let best = (0..seen.columns()).max_by(|&i, &j| score(i).total_cmp(&score(j))).unwrap();
            let mut a = dot(seen.column(best), &before);
            if rule == Coefficients::LeastSquares {
                a /= norm(seen.column(best)).powi(2);
            }
            after.iter_mut().zip(seen.column(best)).for_each(|(r, d)| *r -= beta * a * d);
            approximation.iter_mut().zip(atoms.column(best)).for_each(|(x, d)| *x += beta * a * d);
        }
        residuals.push(after);
    }
    (approximation, residuals)
}

#[test]
fn the_squared_spread_is_the_sum_of_those_of_the_levels() {
    let samples = samples::<f64>(8, 9, 300);
    let dictionary = ex_mld(&Examples { n_atoms: 4 }, 5, 3, 1).fit(samples.view(), Run::default()).unwrap();
    let found = dictionary.approximate(samples.view(), Run::default()).unwrap().spread.unwrap();
    let mut residuals = samples.clone();
    let mut squares = vec![0.0; 300];
    for level in dictionary.levels() {
        let own = level.approximate(residuals.view(), &OneSparse::default(), Run::default()).unwrap();
        for (i, spread) in own.spread.unwrap().into_iter().enumerate() {
            squares[i] += spread * spread;
            residuals.column_mut(i).iter_mut().zip(own.values.column(i)).for_each(|(left, part)| *left -= part);
        }
    }
    let apart = found.iter().zip(&squares).map(|(spread, square)| (spread - square.sqrt()).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart}");
    assert!(found.iter().all(|spread| *spread > 0.0));
    // One model at each level has nothing to differ from.
    let alone = ex_mld(&Examples { n_atoms: 4 }, 1, 3, 1).fit(samples.view(), Run::default()).unwrap();
    assert_eq!(alone.approximate(samples.view(), Run::default()).unwrap().spread, None);
}

#[test]
fn coding_is_that_of_the_definition_through_any_degradation_and_by_both_rules() {
    let samples = samples::<f64>(3, 9, 400);
    let dictionary = ex_mld(&Examples { n_atoms: 4 }, 5, 6, 1).fit(samples.view(), Run::default()).unwrap();
    let identity = Identity::new(9);
    let some = projection::<f64>(4, 9);
    let degradations: [&dyn Degradation<f64>; 2] = [&identity, &some];
    for (phi, rule) in degradations
        .into_iter()
        .flat_map(|phi| [Coefficients::LeastSquares, Coefficients::Correlation].map(|rule| (phi, rule)))
    {
        let inputs = degraded(phi, &samples);
        let measured = dictionary.degraded_by(phi).unwrap().with_coefficients(rule);
        let found = measured.approximate(inputs.view(), Run::default()).unwrap().values;
        for i in 0..samples.columns() {
            let (expected, residuals) = by_definition(&dictionary, phi, inputs.column(i), rule);
            let apart: Vec<f64> = expected.iter().zip(found.column(i)).map(|(a, b)| a - b).collect();
            // The rule of correlations may let residuals grow, and rounding with them.
            let size = residuals.iter().map(|residual| norm(residual)).fold(0.0, f64::max).max(norm(&expected));
            assert!(norm(&apart) <= 1e-9 * size, "{rule:?}, sample {i}: {:e} of {size:e}", norm(&apart));
        }
    }
}

#[test]
fn atoms_of_a_level_are_residuals_of_training_samples() {
    let samples = samples::<f64>(4, 7, 300);
    let dictionary = ex_mld(&Examples { n_atoms: 3 }, 4, 4, 2).fit(samples.view(), Run::default()).unwrap();
    let mut drawn = Vec::new();
    for (number, level) in dictionary.levels().iter().enumerate() {
        for model in level.models() {
            let sources = model.sources().unwrap();
            for (j, &source) in sources.iter().enumerate() {
                let phi = Identity::new(7);
                let (_, residuals) =
                    by_definition(&dictionary, &phi, samples.column(source), Coefficients::LeastSquares);
                let residual = &residuals[number];
                let apart = residual.iter().zip(model.synthesis().column(j)).map(|(r, d)| r / norm(residual) - d);
                assert!(norm(&apart.collect::<Vec<_>>()) < 1e-9);
            }
            drawn.push(sources.to_vec());
        }
    }
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), 16, "every dictionary of every level has examples of its own");
}

#[test]
fn one_level_of_one_model_is_one_sparse_coding() {
    let samples = samples::<f32>(5, 8, 450);
    let dictionary = mld(&Hyperlines::new(6), 1, 3).fit(samples.view(), Run::default()).unwrap();
    let basis = CodingBasis::new(dictionary.levels()[0].models()[0].synthesis().view()).unwrap();
    let expected = OneSparse::default().encode(&basis, &Samples::new(samples.view()), Run::default()).unwrap();
    assert_eq!(dictionary.transform(samples.view(), Run::default()).unwrap().codes, expected.codes);
}

#[test]
fn the_identity_as_degradation_changes_no_bit() {
    let samples = samples::<f64>(6, 8, 400);
    let dictionary = ex_mld(&Examples { n_atoms: 4 }, 3, 5, 1).fit(samples.view(), Run::default()).unwrap();
    let same = dictionary.degraded_by(&Identity::new(8)).unwrap();
    assert_eq!(everything(&dictionary, &samples, Run::default()), everything(&same, &samples, Run::default()));
}

#[test]
fn threads_change_no_bit_and_the_seed_all() {
    let samples = samples::<f32>(7, 8, 1700);
    let (examples, lines) = (Examples { n_atoms: 4 }, Hyperlines::new(4));
    for training in [&ex_mld(&examples, 3, 4, 5), &mld(&lines, 3, 5)] {
        let on = |threads: usize| {
            let run = Run::threads(threads);
            everything(&training.fit(samples.view(), run).unwrap(), &samples, run)
        };
        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(7));
        let other = Multilevel { level: Averaging { seed: 6, ..training.level.clone() }, ..training.clone() };
        assert_ne!(on(1), everything(&other.fit(samples.view(), Run::default()).unwrap(), &samples, Run::default()));
    }
}

#[test]
fn a_resumed_training_is_the_uninterrupted_one_bit_for_bit() {
    let samples = samples::<f64>(8, 8, 500);
    let examples = Examples { n_atoms: 4 };
    let training = ex_mld(&examples, 3, 6, 5);
    let whole = training.fit(samples.view(), Run::default()).unwrap();
    let mut left = training.start(samples.view(), Run::default()).unwrap();
    (0..2).for_each(|_| assert!(left.step(Run::default()).unwrap().is_some()));
    let (part, residuals) = (left.dictionary().unwrap(), left.residuals().clone());
    let resume = |samples: &Matrix<f64>, residuals: Matrix<f64>| {
        training.resume(samples.view(), &part, residuals, Run::default()).map(drop)
    };
    let mut resumed = training.resume(samples.view(), &part, residuals.clone(), Run::default()).unwrap();
    while resumed.step(Run::default()).unwrap().is_some() {}
    let expected = everything(&whole, &samples, Run::default());
    assert_eq!(expected, everything(&resumed.dictionary().unwrap(), &samples, Run::default()));
    let shorter = Multilevel { n_levels: 5, ..training.clone() };
    assert!(shorter.resume(samples.view(), &whole, residuals.clone(), Run::default()).is_err());
    // Residuals of another size, of other levels or that are none are noticed.
    let few = self::samples::<f64>(8, 8, 499);
    assert!(resume(&few, residuals.clone()).is_err() && resume(&few, few.clone()).is_err());
    assert!(resume(&samples, samples.clone()).is_err());
    let mut bad = residuals;
    bad.column_mut(3)[2] = f64::NAN;
    assert!(matches!(resume(&samples, bad), Err(Error::NotFinite { what: "residuals", row: 2, column: 3 })));
    let shorter = whole.truncated(2).unwrap();
    let part = Multilevel { n_levels: 2, ..training.clone() }.fit(samples.view(), Run::default()).unwrap();
    assert_eq!(everything(&shorter, &samples, Run::default()), everything(&part, &samples, Run::default()));

    let stop = |_: usize, _: usize| ControlFlow::Break(());
    let stopped = training.fit(samples.view(), Run::threads(1).on_progress(&stop));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
}

#[test]
fn learning_ends_when_no_residual_is_left() {
    // All samples lie on three lines: three hyperlines leave rounding, and rounding is not learned from.
    let mut values = Values::new(2);
    let directions: Matrix<f64> = values.matrix(6, 3);
    let samples = Matrix::from_fn(6, 90, |r, c| directions.column(c % 3)[r] * (1.0 + (c / 3) as f64));
    let start = Dictionary::new(columns(&samples, &[0, 1, 2])).unwrap();
    let learner = FromStart { start, lines: Hyperlines::new(3) };
    let level = Averaging { n_models: 1, ..Averaging::new(&learner) };
    let dictionary = Multilevel::new(level).fit(samples.view(), Run::default()).unwrap();
    assert_eq!(dictionary.n_levels(), 1);
    assert!(dictionary.errors()[1] <= 0.0);
}

/// Hyperlines from a given start, whatever the draw; it needs as many samples as [`Examples`] would.
#[derive(Debug)]
struct FromStart<T> {
    start: Dictionary<T>,
    lines: Hyperlines,
}

impl<T> std::fmt::Display for FromStart<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("from-start")
    }
}

impl<T: Scalar> WeakLearner<T> for FromStart<T> {
    fn name(&self) -> &'static str {
        "start"
    }

    fn fit(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Dictionary<T>> {
        Examples { n_atoms: 1 }.fit(samples, masses, draw, run)?;
        Ok(self.lines.refine(samples, masses, self.start.clone(), run)?.dictionary)
    }
}

fn start<T: Scalar>(seed: u64, n_features: usize, n_atoms: usize) -> Dictionary<T> {
    Dictionary::new(Values::new(seed ^ 0xABCD).matrix(n_features, n_atoms)).unwrap()
}

#[test]
fn whole_masses_are_repeated_samples_and_only_their_ratios_matter() {
    let few = samples::<f64>(9, 7, 120);
    let times: Vec<usize> = (0..120).map(|i| i % 4).collect();
    let names: Vec<usize> = (0..120).flat_map(|i| std::iter::repeat_n(i, times[i])).collect();
    let repeated = columns(&few, &names);
    let masses: Vec<f64> = times.iter().map(|&count| count as f64).collect();
    let learner = FromStart { start: start(9, 7, 3), lines: Hyperlines { max_passes: 8, ..Hyperlines::new(3) } };
    let train = |samples: &Matrix<f64>, masses: Option<&[f64]>| {
        let level = Averaging { n_models: 1, masses, ..Averaging::new(&learner) };
        Multilevel { n_levels: 3, level }.fit(samples.view(), Run::default()).unwrap()
    };
    let weighted = train(&few, Some(&masses));
    let twelfth: Vec<f64> = masses.iter().map(|mass| mass / 12.0).collect();
    for other in [train(&repeated, None), train(&few, Some(&twelfth))] {
        for (level, expected) in other.levels().iter().zip(weighted.levels()) {
            assert!(difference(level.models()[0].synthesis(), expected.models()[0].synthesis()) < 1e-9);
        }
        assert!(other.errors().iter().zip(weighted.errors()).all(|(a, b)| (a - b).abs() < 1e-10 * b));
    }

    // A sample of mass zero changes nothing.
    let mut changed = few.clone();
    (0..120).step_by(4).for_each(|i| changed.column_mut(i).fill(9.0));
    assert_eq!(
        bits(train(&changed, Some(&masses)).levels()[2].models()[0].synthesis().as_slice()),
        bits(weighted.levels()[2].models()[0].synthesis().as_slice())
    );
}

/// The mean squared distance to the nearest line, by mass, in plain loops.
fn distance_to_lines<T: Scalar>(samples: &Matrix<T>, masses: &[f64], lines: &Dictionary<T>) -> f64 {
    let directions: Vec<Vec<f64>> = (0..lines.n_atoms()).map(|j| to_f64(lines.atoms().column(j))).collect();
    let distance = |i: usize| {
        let x = to_f64(samples.column(i));
        let explained = directions.iter().map(|d| dot(d, &x).powi(2) / dot(d, d)).fold(0.0, f64::max);
        masses[i] * (dot(&x, &x) - explained)
    };
    (0..samples.columns()).map(distance).sum::<f64>() / masses.iter().sum::<f64>()
}

fn the_laws_of_lines<T: Scalar>(seed: u64, n_atoms: usize) {
    let samples = samples::<T>(seed, 6, 700);
    let mut values = Values::new(seed);
    let masses: Vec<f64> = (0..700).map(|_| (values.unit() - 0.2).max(0.0)).collect();
    let lines = Hyperlines { max_passes: 12, tolerance: 0.0, ..Hyperlines::new(n_atoms) };
    let begin = start::<T>(seed, 6, n_atoms);
    let found = lines.refine(samples.view(), &masses, begin.clone(), Run::default()).unwrap();
    assert!(never_rises(&found.errors, 0.0), "{:?}", found.errors);
    assert!(found.errors.len() <= 13);
    let precision = 100.0 * T::EPSILON.to_f64();
    for (reported, dictionary) in [(found.errors[0], &begin), (*found.errors.last().unwrap(), &found.dictionary)] {
        let expected = distance_to_lines(&samples, &masses, dictionary);
        assert!((reported - expected).abs() <= precision * found.errors[0], "{reported} {expected}");
    }
    let norms = (0..n_atoms).map(|j| energy(found.dictionary.atoms().column(j)));
    assert!(norms.into_iter().all(|energy| (energy - 1.0).abs() < precision));
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn the_error_of_hyperlines_never_rises_and_is_that_of_the_definition(seed: u64, n_atoms in 1_usize..9) {
        the_laws_of_lines::<f64>(seed >> 1, n_atoms);
        the_laws_of_lines::<f32>(seed >> 1, n_atoms);
    }
}

/// The leading eigenvector of Σ p·x·xᵀ over some samples, by the power method on the whole matrix.
fn leading_direction(samples: &Matrix<f64>, masses: &[f64], members: &[usize]) -> Vec<f64> {
    let n = samples.rows();
    let scatter = Matrix::from_fn(n, n, |r, c| {
        members.iter().map(|&i| masses[i] * samples.column(i)[r] * samples.column(i)[c]).sum::<f64>()
    });
    let mut direction = vec![1.0; n];
    for _ in 0..20_000 {
        let next: Vec<f64> = (0..n).map(|r| dot(scatter.column(r), &direction)).collect();
        direction = next.iter().map(|value| value / norm(&next)).collect();
    }
    direction
}

#[test]
fn each_line_is_the_leading_singular_vector_of_its_samples() {
    for (seed, n_atoms) in [(1, 1), (2, 1), (3, 3), (4, 4)] {
        let samples = samples::<f64>(seed, 6, 300);
        let masses: Vec<f64> = (0..300).map(|i| 1.0 + f64::from(i % 3)).collect();
        let lines = Hyperlines { max_passes: 5000, tolerance: 0.0, ..Hyperlines::new(n_atoms) };
        let found = lines.refine(samples.view(), &masses, start(seed, 6, n_atoms), Run::default()).unwrap();
        assert!(found.converged);
        let basis = CodingBasis::new(found.dictionary.view()).unwrap();
        let codes = OneSparse::default().encode(&basis, &Samples::new(samples.view()), Run::default()).unwrap().codes;
        for j in 0..n_atoms {
            let members: Vec<usize> = (0..300).filter(|&i| codes.column(i).next().unwrap().0 == j).collect();
            let cosine = dot(&leading_direction(&samples, &masses, &members), found.dictionary.atoms().column(j));
            assert!(1.0 - cosine.abs() < 1e-9, "line {j} of {n_atoms}: {cosine}");
        }
    }
}

#[test]
fn bad_settings_and_samples_are_refused() {
    let good = samples::<f64>(1, 5, 60);
    let examples = Examples { n_atoms: 3 };
    let train = |training: &Multilevel<'_, f64>, samples: &Matrix<f64>| training.fit(samples.view(), Run::default());
    let training = ex_mld(&examples, 2, 2, 1);
    assert!(train(&training, &good).is_ok());
    assert!(matches!(
        train(&Multilevel { n_levels: 0, ..training.clone() }, &good),
        Err(Error::InvalidParameter { name: "n_levels", .. })
    ));
    assert!(train(&ex_mld(&examples, 0, 2, 1), &good).is_err());
    assert!(train(&ex_mld(&Examples { n_atoms: 0 }, 2, 2, 1), &good).is_err());
    assert!(matches!(train(&ex_mld(&Examples { n_atoms: 61 }, 2, 2, 1), &good), Err(Error::TooFewSamples { .. })));
    assert!(train(&training, &Matrix::zeros(5, 0)).is_err() && train(&training, &Matrix::zeros(0, 5)).is_err());
    let mut not_finite = good.clone();
    not_finite.column_mut(41)[2] = f64::NAN;
    assert_eq!(train(&training, &not_finite).err(), Some(Error::NotFinite { what: "samples", row: 2, column: 41 }));
    let huge = Matrix::from_fn(5, 60, |r, c| 1e200 * good.column(c)[r]);
    assert!(train(&training, &huge).is_err());
    for masses in [vec![1.0; 59], vec![0.0; 60], vec![-1.0; 60], vec![f64::NAN; 60]] {
        let level = Averaging { masses: Some(&masses), ..training.level.clone() };
        assert!(train(&Multilevel { level, ..training.clone() }, &good).is_err());
    }

    let dictionary = train(&training, &good).unwrap();
    let wrong = samples::<f64>(1, 4, 60);
    assert!(dictionary.approximate(wrong.view(), Run::default()).is_err());
    assert!(dictionary.transform(not_finite.view(), Run::default()).is_err());
    assert!(dictionary.residual_energies(good.view(), Some(&[1.0]), Run::default()).is_err());
    assert!(dictionary.degraded_by(&Identity::new(4)).is_err());
    let shorter = train(&ex_mld(&examples, 1, 1, 1), &good).unwrap();
    let codes = shorter.transform(good.view(), Run::default()).unwrap().codes;
    assert!(dictionary.reconstruct(&codes, Run::default()).is_err());
    assert!(training.resume(wrong.view(), &dictionary, wrong.clone(), Run::default()).is_err());
    assert!(shorter.truncated(2).is_err());
    assert!(MultilevelDictionary::<f64>::new(Vec::new()).is_err());
}

#[test]
fn bad_lines_are_refused() {
    let good = samples::<f64>(1, 5, 60);
    let refine = |lines: Hyperlines, begin: Dictionary<f64>, masses: &[f64]| {
        lines.refine(good.view(), masses, begin, Run::default()).map(drop)
    };
    let (lines, masses) = (Hyperlines::new(2), vec![1.0; 60]);
    assert!(refine(lines, start(1, 5, 2), &masses).is_ok());
    assert!(refine(lines, start(1, 5, 3), &masses).is_err());
    assert!(refine(lines, start(1, 4, 2), &masses).is_err());
    assert!(refine(lines, start(1, 5, 2), &masses[1..]).is_err());
    assert!(refine(Hyperlines { tolerance: f64::NAN, ..lines }, start(1, 5, 2), &masses).is_err());
    let learn = |lines: Hyperlines| lines.fit(good.view(), &masses, Draw { seed: 1, round: 0 }, Run::default());
    assert!(learn(Hyperlines::new(0)).is_err() && learn(Hyperlines::new(61)).is_err());
    assert!(learn(Hyperlines { tolerance: -1.0, ..lines }).is_err());
}

/// Mean-free patches of photographs, 8 × 8.
#[cfg(feature = "io")]
fn patches(names: &[&str], count: usize) -> Matrix<f32> {
    let read = |name: &&str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0").join(name);
        sparsemble::image::read(&path).unwrap()
    };
    let images: Vec<_> = names.iter().map(read).collect();
    let draw = sparsemble::patch::TrainingPatches { count, seed: 1, ..Default::default() };
    draw.draw(&images).unwrap()
}

#[test]
#[cfg(feature = "io")]
fn more_members_lower_the_error_on_patches_of_photographs() {
    let training = patches(&["chelsea.png", "coffee.png"], 3000);
    let others = patches(&["camera.png"], 1000);
    let examples = Examples { n_atoms: 16 };
    let errors = |n_models: usize| {
        let dictionary = ex_mld(&examples, n_models, 8, 1).fit(training.view(), Run::default()).unwrap();
        let held_out = dictionary.residual_energies(others.view(), None, Run::default()).unwrap();
        (*dictionary.errors().last().unwrap(), *held_out.last().unwrap())
    };
    let [one, four, sixteen] = [1, 4, 16].map(errors);
    for [one, four, sixteen] in [[one.0, four.0, sixteen.0], [one.1, four.1, sixteen.1]] {
        assert!(one > 1.5 * four && four > 1.05 * sixteen, "{one} {four} {sixteen}");
    }
}
