//! K-Means‖ with masses: the steps (a) to (g) of §III-B1.
//!
//! δ_i is the distance of sample i to the centres chosen so far. Each pass draws q samples with probabilities
//! p(x_i)δ_i² / Σ p(x_j)δ_j², none twice, and only looks for the nearest among the new ones. The draws are a race
//! ([`crate::sampling`]) keyed by the row, so they do not depend on the order in which the samples are seen.

use std::collections::BTreeSet;
use std::ops::Range;

use rand::rngs::ChaCha8Rng;

use crate::blocks::Run;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::points::Points;
use crate::rng::{Draw, RowNumbers};
use crate::sampling::Race;
use crate::scalar::Scalar;

use super::nearest::Nearest;
use super::{lloyd, plus_plus};

/// When the clustering of the candidates, step (g), is good enough: iterations and tolerance.
const RECLUSTERING: (usize, f64) = (20, 1e-3);

/// Chooses `clusters` centres from `rounds` draws of `drawn` samples.
pub(super) fn parallel<T: Scalar>(
    points: &Points<'_, T>,
    clusters: usize,
    (drawn, rounds): (usize, usize),
    draw: Draw,
    run: Run<'_>,
) -> Result<Matrix<T>> {
    // The clustering of the candidates counts two of as many passes.
    let passes = rounds.saturating_add(3);
    let [drawing, clustering] =
        [0..passes - 2, passes - 2..passes].map(|part| run.passes(part, passes, points.count()));
    let mut candidates = Candidates::draw(points, clusters, (drawn, rounds), draw, drawing)?;
    candidates.fill(points, clusters, clustering.part(0..0, 1))?;
    let values = points.gather(&candidates.rows);
    if candidates.rows.len() == clusters {
        return Ok(values);
    }
    let masses = candidates.masses(points); // step (f)
    let candidates = Points::tame(values.view(), &masses);
    let [choosing, improving] = [0..1, 1..2].map(|half| clustering.part(half, 2));
    let first = plus_plus::choose(&candidates, clusters, draw.stream("reclustering"), choosing)?;
    Ok(lloyd::improve(&candidates, first, RECLUSTERING, improving)?.centers) // step (g)
}

/// M̄, the samples drawn so far.
struct Candidates {
    rng: ChaCha8Rng,
    rows: Vec<usize>,
    /// For each sample its nearest candidate and δ².
    nearest: Vec<(u32, f64)>,
}

impl Candidates {
    /// Steps (a) to (e): 1 + q·s candidates, fewer if no others have any distance to them.
    fn draw<T: Scalar>(
        points: &Points<'_, T>,
        clusters: usize,
        (drawn, rounds): (usize, usize),
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Self> {
        let rng = draw.stream("k-means||");
        let nearest = vec![(0, f64::INFINITY); points.count()];
        let mut candidates = Self { rng, rows: Vec::new(), nearest }; // step (a)
        let masses = points.masses();
        let numbers = candidates.next_numbers();
        let pass = |pass: Range<usize>| run.passes(pass, rounds.saturating_add(1), points.count());
        let first = candidates.race(1, numbers, |i| masses[i], pass(0..0))?; // step (b)
        candidates.append(points, first, pass(0..1))?;
        let mut round = 0;
        // Step (e). Equal samples drawn together count as one candidate: enough of them may take more than s rounds.
        while round < rounds || candidates.different(points) < clusters {
            let numbers = candidates.next_numbers();
            round += 1;
            let weight = |i: usize| masses[i] * candidates.nearest[i].1;
            let rows = candidates.race(drawn, numbers, weight, pass(round..round))?; // step (c)
            if rows.is_empty() {
                break;
            }
            candidates.append(points, rows, pass(round..round + 1))?; // step (d)
        }
        Ok(candidates)
    }

    fn next_numbers(&mut self) -> RowNumbers {
        RowNumbers::from_stream(&mut self.rng)
    }

    /// Draws up to `wanted` samples by weight.
    fn race(
        &self,
        wanted: usize,
        numbers: RowNumbers,
        weight: impl Fn(usize) -> f64 + Sync,
        run: Run<'_>,
    ) -> Result<Vec<usize>> {
        let race = Race::run((0, self.nearest.len(), wanted), numbers, || (), |(), i| Ok(weight(i)), run)?;
        Ok(race.winners())
    }

    /// How many candidates represent any sample; of equal ones only the first does.
    fn different<T: Scalar>(&self, points: &Points<'_, T>) -> usize {
        self.masses(points).iter().filter(|mass| **mass > 0.0).count()
    }

    /// Adds samples to M̄, with the new δ.
    fn append<T: Scalar>(&mut self, points: &Points<'_, T>, rows: Vec<usize>, run: Run<'_>) -> Result<()> {
        let first = self.rows.len() as u32;
        let found = Nearest::new(&points.gather(&rows)).find(points, |i| self.nearest[i].1, run)?;
        for (nearest, found) in self.nearest.iter_mut().zip(found) {
            if let Some((candidate, distance)) = found {
                *nearest = (first + candidate as u32, distance);
            }
        }
        self.rows.extend(rows);
        Ok(())
    }

    /// Brings too few candidates, which happens only if too few samples differ, up to `clusters` by mass alone.
    fn fill<T: Scalar>(&mut self, points: &Points<'_, T>, clusters: usize, run: Run<'_>) -> Result<()> {
        if self.rows.len() < clusters {
            let taken: BTreeSet<usize> = self.rows.iter().copied().collect();
            let weight = |i: usize| if taken.contains(&i) { 0.0 } else { points.masses()[i] };
            let numbers = self.next_numbers();
            let rows = self.race(clusters - self.rows.len(), numbers, weight, run)?;
            self.rows.extend(rows);
        }
        Ok(())
    }

    /// Step (f): the mass of the samples that are nearest to each candidate.
    fn masses<T: Scalar>(&self, points: &Points<'_, T>) -> Vec<f64> {
        let mut masses = vec![0.0; self.rows.len()];
        for ((candidate, _), mass) in self.nearest.iter().zip(points.masses()) {
            masses[*candidate as usize] += mass;
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: usize) -> Matrix<f64> {
        Matrix::from_fn(3, count, |r, c| (((r + 3 * c) * 7919) % 10_007) as f64)
    }

    #[test]
    fn each_pass_draws_as_many_as_asked_for_and_the_masses_add_up() {
        let samples = samples(1000);
        let masses: Vec<f64> = (0..1000).map(|i| f64::from(i % 4)).collect();
        let points = Points::tame(samples.view(), &masses);
        let candidates = Candidates::draw(&points, 20, (20, 5), Draw { seed: 1, round: 0 }, Run::threads(1)).unwrap();
        assert_eq!(candidates.rows.len(), 101);
        let different: BTreeSet<_> = candidates.rows.iter().collect();
        assert_eq!(different.len(), 101);
        assert!(candidates.rows.iter().all(|i| i % 4 != 0), "a sample of mass zero was drawn");
        assert!((candidates.masses(&points).iter().sum::<f64>() - 1500.0).abs() < 1e-9);
        for (i, &row) in candidates.rows.iter().enumerate() {
            assert_eq!(candidates.nearest[row], (i as u32, 0.0));
        }
    }

    #[test]
    fn draws_have_the_probabilities_of_masses_times_squared_distances() {
        let (places, masses) = ([0.0, 1.0, 3.0, 6.0_f64], [4.0, 1.0, 2.0, 1.0]);
        let samples = Matrix::from_columns(places.to_vec(), 1, 4).unwrap();
        let points = Points::tame(samples.view(), &masses);
        let rounds = 20_000;
        let mut counts = [[0.0_f64; 4]; 4];
        for round in 0..rounds {
            let candidates = Candidates::draw(&points, 2, (1, 1), Draw { seed: 5, round }, Run::threads(1)).unwrap();
            counts[candidates.rows[0]][candidates.rows[1]] += 1.0;
        }
        for (i, row) in counts.iter().enumerate() {
            let weight = |j: usize| masses[j] * (places[j] - places[i]).powi(2);
            let total: f64 = (0..4).map(weight).sum();
            for (j, &count) in row.iter().enumerate() {
                let probability = masses[i] / 8.0 * weight(j) / total;
                let expected = rounds as f64 * probability;
                assert!(
                    (count - expected).abs() <= 4.5 * (expected * (1.0 - probability)).sqrt(),
                    "({i}, {j}): {count} for {expected}"
                );
            }
        }
    }

    #[test]
    fn far_samples_are_drawn_more_often() {
        // One sample in ten is far away and holds nearly all of Σ pδ² as long as no candidate is near it.
        let samples = Matrix::from_fn(1, 100, |_, c| if c % 10 == 0 { 1e3 + c as f64 } else { c as f64 / 100.0 });
        let points = Points::tame(samples.view(), &[1.0; 100]);
        let first_draw_is_far = (0..200).filter(|&round| {
            let candidates = Candidates::draw(&points, 2, (1, 1), Draw { seed: 3, round }, Run::threads(1)).unwrap();
            candidates.rows[0].is_multiple_of(10) != candidates.rows[1].is_multiple_of(10)
        });
        assert!(first_draw_is_far.count() >= 198);
    }
}
