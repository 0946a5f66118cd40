//! K-Means++ with masses: one centre after the other, far from those before.
//!
//! Each step draws a few samples with probabilities proportional to p(x_i)δ_i², where δ_i is the distance to the centres
//! so far, and keeps the one that lowers Σ p(x_i)δ_i² most. The fused pass tells which samples a draw may come nearer
//! to; for these few the distance is computed from x − c itself, so that a δ is exact and zero where it should be.

use std::ops::Range;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::{Columns, Panels, Store, Tiles, correlate};
use crate::matrix::Matrix;
use crate::points::Points;
use crate::scalar::Scalar;
use crate::sums::{add_multiple, squared_distance};

use super::nearest::{BLOCK, pack, subtract};

/// Samples in a part of a step.
const CHUNK: usize = 16 * BLOCK;
/// Samples of at most this many bytes are packed once and kept.
const KEPT: usize = 16 << 20;

/// Chooses `clusters` samples; some twice only if fewer have positive mass.
pub(super) fn choose<T: Scalar>(
    points: &Points<'_, T>,
    clusters: usize,
    mut rng: ChaCha8Rng,
    run: Run<'_>,
) -> Result<Matrix<T>> {
    let trials = 2 + (clusters as f64).ln() as usize;
    let pass = |pass: Range<usize>| run.passes(pass, clusters, points.count());
    let mut state = Distances::new(points, pass(0..0))?;
    let mut chosen = Vec::with_capacity(clusters);
    let mut is_chosen = vec![false; points.count()];
    while chosen.len() < clusters {
        let weights = |i: usize| points.masses()[i] * if chosen.is_empty() { 1.0 } else { state.squared[i] };
        let mut cumulative = sums(points.count(), weights);
        let total = cumulative[cumulative.len() - 1];
        let all_represented = total <= 0.0;
        if all_represented {
            cumulative = sums(points.count(), |i| if is_chosen[i] { 0.0 } else { points.masses()[i] });
        }
        let trials = if chosen.is_empty() || all_represented { 1 } else { trials };
        let drawn: Vec<usize> = (0..trials).map(|_| place(&cumulative, rng.random())).collect();
        let best = state.best(points, &drawn, pass(chosen.len()..chosen.len() + 1))?;
        is_chosen[best] = true;
        chosen.push(best);
    }
    Ok(points.gather(&chosen))
}

/// The running sums of the weights.
fn sums(count: usize, weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = 0.0;
    let running = (0..count).map(|i| {
        sum += weight(i);
        sum
    });
    running.collect()
}

/// Where the fraction `u` of the whole weight falls: never on a weight of zero.
fn place(cumulative: &[f64], u: f64) -> usize {
    let total = cumulative[cumulative.len() - 1];
    // Rounding may bring u·total up to the total; the last place of positive weight is meant then.
    let target = (u * total).min(total.next_down());
    cumulative.partition_point(|sum| *sum <= target)
}

/// δ² of every sample, and what finding the next takes.
struct Distances<T> {
    squared: Vec<f64>,
    /// ‖x‖² counted from the mean.
    energies: Vec<f64>,
    mean: Vec<T>,
    kept: Vec<Tiles<T>>,
}

impl<T: Scalar> Distances<T> {
    fn new(points: &Points<'_, T>, run: Run<'_>) -> Result<Self> {
        let keep = points.rows().saturating_mul(points.count()).saturating_mul(size_of::<T>()) <= KEPT;
        let (mut energies, mut kept) = (Vec::with_capacity(points.count()), Vec::new());
        let (mean, mut space) = (mean(points, run)?, Space::new(points.rows()));
        for start in (0..points.count()).step_by(BLOCK) {
            space.load(points, start..(start + BLOCK).min(points.count()), &mean, Some(&mut energies));
            if keep {
                kept.push(std::mem::replace(&mut space.tiles, Tiles::new(points.rows() + 1, BLOCK)));
            }
        }
        Ok(Self { squared: vec![f64::MAX; points.count()], energies, mean, kept })
    }

    /// The one of the drawn samples that lowers Σ p(x_i)δ_i² most; it becomes a centre.
    fn best(&mut self, points: &Points<'_, T>, drawn: &[usize], run: Run<'_>) -> Result<usize> {
        let trials = Trials::new(points, drawn, &self.mean);
        let space = || (Space::new(points.rows()), Store::new(&trials.panels, BLOCK));
        let parts = run.map_blocks(points.count(), CHUNK, space, |(space, store), range| {
            let mut part = Gains { gains: vec![0.0; drawn.len()], nearer: Vec::with_capacity(range.len()) };
            for start in range.clone().step_by(BLOCK) {
                let block = start..(start + BLOCK).min(range.end);
                if self.kept.is_empty() {
                    space.load(points, block.clone(), &self.mean, None);
                }
                correlate(&trials.panels, self.kept.get(start / BLOCK).unwrap_or(&space.tiles), store);
                for (slot, i) in block.enumerate() {
                    let near = trials.near(store.of(slot), self.energies[i], self.squared[i]);
                    let near = near.map(|trial| (trial, trials.squared_distance(trial, points, i, &mut space.x)));
                    part.take(points.masses()[i], self.squared[i], near);
                }
            }
            Ok(part)
        })?;
        let gain = |trial: usize| parts.iter().map(|part| part.gains[trial]).sum::<f64>();
        let best = (0..drawn.len()).rev().max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
        let mut x = Space::new(points.rows()).x;
        for (i, nearer) in parts.iter().flat_map(|part| &part.nearer).enumerate() {
            if nearer >> best & 1 == 1 {
                self.squared[i] = trials.squared_distance(best, points, i, &mut x);
            }
        }
        Ok(drawn[best])
    }
}

/// The samples drawn in a step, made ready for the pass.
struct Trials<T> {
    centers: Columns<T>,
    panels: Panels<T>,
    /// ‖c‖² counted from the mean.
    energies: Vec<f64>,
}

impl<T: Scalar> Trials<T> {
    fn new(points: &Points<'_, T>, drawn: &[usize], mean: &[T]) -> Self {
        let centers = Columns::copy_of(points.gather(drawn).view());
        let energies = (0..drawn.len()).map(|j| energy(centers.column(j), mean)).collect();
        Self { panels: pack(&centers, mean), centers, energies }
    }

    /// The trials that may be nearer to a sample than `squared`, by their scores cᵀx − ½‖c‖² with it.
    fn near(&self, scores: &[T], energy: f64, squared: f64) -> impl Iterator<Item = usize> {
        // More than rounding can do to ‖x‖² − 2·(cᵀx − ½‖c‖²).
        let rounding = (4 * self.centers.rows() + 16) as f64 * T::EPSILON.to_f64();
        let trials = scores.iter().zip(&self.energies).enumerate();
        let near = trials.filter(move |(_, (score, trial_energy))| {
            energy - 2.0 * score.to_f64() <= squared + rounding * (energy + **trial_energy)
        });
        near.map(|(trial, _)| trial)
    }

    fn squared_distance(&self, trial: usize, points: &Points<'_, T>, sample: usize, x: &mut [T]) -> f64 {
        points.copy(sample, x);
        squared_distance(x, self.centers.padded(trial))
    }
}

/// What the trials of a step would do to a part of the samples.
struct Gains {
    /// How much each would lower Σ p(x_i)δ_i².
    gains: Vec<f64>,
    /// For each sample one bit for each trial that is nearer than the centres so far.
    nearer: Vec<u32>,
}

impl Gains {
    /// Adds a sample, given its mass, its δ² and its squared distances to some of the trials.
    fn take(&mut self, mass: f64, squared: f64, trials: impl Iterator<Item = (usize, f64)>) {
        let mut nearer = 0;
        for (trial, distance) in trials.filter(|(_, distance)| *distance < squared) {
            nearer |= 1 << trial;
            self.gains[trial] += mass * (squared - distance);
        }
        self.nearer.push(nearer);
    }
}

/// One thread's working space.
struct Space<T> {
    /// A sample, padded.
    x: Vec<T>,
    from_mean: Vec<T>,
    tiles: Tiles<T>,
}

impl<T: Scalar> Space<T> {
    fn new(rows: usize) -> Self {
        let x = Columns::zeros(rows, 1).padded(0).to_vec();
        Self { x, from_mean: vec![T::ONE; rows + 1], tiles: Tiles::new(rows + 1, BLOCK) }
    }

    /// Packs a block of samples, counted from the mean, and appends their energies if wanted.
    fn load(&mut self, points: &Points<'_, T>, block: Range<usize>, mean: &[T], mut energies: Option<&mut Vec<f64>>) {
        self.tiles.clear();
        for i in block {
            points.copy(i, &mut self.x);
            subtract(&self.x, mean, &mut self.from_mean);
            self.tiles.push(&self.from_mean);
            if let Some(energies) = &mut energies {
                energies.push(energy(&self.x, mean));
            }
        }
    }
}

fn energy<T: Scalar>(x: &[T], mean: &[T]) -> f64 {
    x.iter().zip(mean).map(|(x, m)| (x.to_f64() - m.to_f64()).powi(2)).sum()
}

/// Σ p(x_i) x_i / Σ p(x_i).
fn mean<T: Scalar>(points: &Points<'_, T>, run: Run<'_>) -> Result<Vec<T>> {
    let column = || vec![T::ZERO; points.rows()];
    let parts = run.map_blocks(points.count(), CHUNK, column, |x, range| {
        let mut sums = vec![0.0; points.rows()];
        for i in range {
            points.copy(i, x);
            add_multiple(points.masses()[i], x, &mut sums);
        }
        Ok(sums)
    })?;
    let sum = |r: usize| parts.iter().map(|part| part[r]).sum::<f64>();
    Ok((0..points.rows()).map(|r| T::from_f64(sum(r) / points.total_mass())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn a_place_is_never_one_of_weight_zero() {
        let weights = [0.0, 2.0, 0.0, 1.0, 0.0];
        let cumulative = sums(5, |i| weights[i]);
        for (u, expected) in [(0.0, 1), (0.5, 1), (0.7, 3), (1.0, 3)] {
            assert_eq!(place(&cumulative, u), expected, "u = {u}");
        }
    }

    #[test]
    fn distances_are_those_to_the_nearest_choice() {
        let samples = Matrix::from_fn(5, 7000, |r, c| (((r + 5 * c) * 7919) % 1009) as f32 - 300.0);
        let masses = vec![1.0; 7000];
        let points = Points::tame(samples.view(), &masses);
        let mut kept = Distances::new(&points, Run::threads(1)).unwrap();
        let mut streamed = Distances { kept: Vec::new(), ..Distances::new(&points, Run::threads(1)).unwrap() };
        let mut chosen = Vec::new();
        for drawn in [vec![17], vec![1, 2, 3], vec![6999, 1, 400]] {
            chosen.push(kept.best(&points, &drawn, Run::threads(1)).unwrap());
            assert_eq!(streamed.best(&points, &drawn, Run::threads(2)).unwrap(), chosen[chosen.len() - 1]);
        }
        assert_eq!(kept.squared, streamed.squared);
        for (i, &squared) in kept.squared.iter().enumerate() {
            let apart = |&j: &usize| {
                let pairs = samples.column(i).iter().zip(samples.column(j));
                pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
            };
            let least = chosen.iter().map(apart).fold(f64::MAX, f64::min);
            assert!((squared - least).abs() <= 1e-9 * least, "sample {i}: {squared} for {least}");
        }
    }

    #[test]
    fn the_best_of_the_draws_is_kept() {
        let samples = Matrix::from_columns(vec![0.0, 0.1, 0.2, 10.0, 10.1, 10.2, 50.0], 1, 7).unwrap();
        let points = Points::tame(samples.view(), &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.001]);
        let mut distances = Distances::new(&points, Run::threads(1)).unwrap();
        assert_eq!(distances.best(&points, &[1], Run::threads(1)).unwrap(), 1);
        assert_eq!(distances.best(&points, &[0, 6, 4, 2], Run::threads(1)).unwrap(), 4);
    }

    #[test]
    fn every_sample_is_chosen_if_as_many_are_wanted_even_among_equal_ones() {
        for value in [|c: usize| c as f64, |c: usize| (c % 3) as f64, |_| 1.0] {
            let samples = Matrix::from_fn(1, 9, |_, c| value(c));
            let points = Points::tame(samples.view(), &[1.0; 9]);
            let centers = choose(&points, 9, stream(1, "test", 0), Run::threads(1)).unwrap();
            let (mut found, mut expected) = (centers.into_vec(), samples.as_slice().to_vec());
            found.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            assert_eq!(found, expected);
        }
    }
}
