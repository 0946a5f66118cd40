//! Weighted sampling without replacement, exact, in one pass.
//!
//! Drawing one sample after the other, each with a probability proportional to its weight among those that are left, is
//! the same as a race: give row i the time −ln(u_i)/w_i, exponential with rate w_i, and the order of arrival is the order
//! of the draws. The times need nothing but the row's own number and weight, so the first K can be found in any order
//! and in any parts.

use std::sync::{Mutex, PoisonError};

use crate::blocks::Run;
use crate::error::Result;
use crate::rng::RowNumbers;

/// Rows looked at before the leaders found so far are consulted.
const BLOCK: usize = 2048;

/// Who arrived first among the rows seen so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Race {
    wanted: usize,
    /// Time and row; at most twice as many as wanted.
    arrivals: Vec<(f64, usize)>,
    /// Nobody later than this is wanted.
    limit: f64,
}

impl Race {
    /// The first `wanted` rows of `first_row..first_row + count`; `weight(space, i)` is that of row `first_row + i`.
    ///
    /// Rows of weight zero do not take part, so there may be fewer.
    pub(crate) fn run<S>(
        (first_row, count, wanted): (usize, usize, usize),
        numbers: RowNumbers,
        space: impl Fn() -> S + Sync,
        weight: impl Fn(&mut S, usize) -> Result<f64> + Sync,
        run: Run<'_>,
    ) -> Result<Self> {
        // The first rows of all are the same set whoever merges first, so the order of the threads does not matter.
        let leaders = Mutex::new(Self::new(wanted, f64::INFINITY));
        run.map_blocks(count, BLOCK, space, |space, range| {
            let limit = leaders.lock().unwrap_or_else(PoisonError::into_inner).limit;
            let mut block = Self::new(wanted, limit);
            for i in range {
                let weight = weight(space, i)?;
                if weight > 0.0 {
                    let row = first_row + i;
                    block.run_in(numbers.uniform(row as u64), weight, row);
                }
            }
            leaders.lock().unwrap_or_else(PoisonError::into_inner).merge(&block);
            Ok(())
        })?;
        Ok(leaders.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn new(wanted: usize, limit: f64) -> Self {
        Self { wanted, arrivals: Vec::new(), limit }
    }

    /// Enters a row with its number and weight.
    #[inline]
    fn run_in(&mut self, number: f64, weight: f64, row: usize) {
        // −ln u ≥ 1 − u, so most rows are seen to be late without a logarithm; the factor is for rounding.
        if 1.0 - number <= self.limit * weight * (1.0 + 1e-9) {
            self.enter(-number.ln() / weight, row);
        }
    }

    fn enter(&mut self, time: f64, row: usize) {
        if time <= self.limit {
            self.arrivals.push((time, row));
            if self.arrivals.len() >= self.wanted.saturating_mul(2) {
                self.shorten();
            }
        }
    }

    /// Drops all that are not among the first.
    fn shorten(&mut self) {
        if self.arrivals.len() > self.wanted {
            self.arrivals.select_nth_unstable_by(self.wanted, earlier);
            self.arrivals.truncate(self.wanted);
            self.limit = self.arrivals.iter().fold(0.0_f64, |latest, (time, _)| latest.max(*time));
        }
    }

    /// Takes in the rows another part of the data has seen.
    pub(crate) fn merge(&mut self, other: &Self) {
        other.arrivals.iter().for_each(|&(time, row)| self.enter(time, row));
    }

    /// How many were to be found.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// The first rows, in the order of their arrival; fewer than wanted if there were not as many of positive weight.
    pub(crate) fn winners(mut self) -> Vec<usize> {
        self.arrivals.sort_unstable_by(earlier);
        self.arrivals.truncate(self.wanted);
        self.arrivals.into_iter().map(|(_, row)| row).collect()
    }
}

/// By time, then by row.
fn earlier(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    fn race(weights: &[f64], wanted: usize, first_row: usize, number: u64) -> Race {
        let numbers = RowNumbers::from_stream(&mut stream(1, "test", number));
        Race::run((first_row, weights.len(), wanted), numbers, || (), |(), i| Ok(weights[i]), Run::threads(1)).unwrap()
    }

    #[test]
    fn the_order_of_arrival_has_the_probabilities_of_successive_draws() {
        let weights = [1.0, 0.0, 2.0, 5.0];
        let rounds = 20_000;
        let mut counts = [[0.0_f64; 4]; 4];
        for number in 0..rounds {
            let winners = race(&weights, 2, 0, number).winners();
            counts[winners[0]][winners[1]] += 1.0;
        }
        for (i, row) in counts.iter().enumerate() {
            for (j, &count) in row.iter().enumerate() {
                let left = 8.0 - weights[i];
                let probability = if i == j { 0.0 } else { weights[i] / 8.0 * weights[j] / left };
                let expected = rounds as f64 * probability;
                assert!(
                    (count - expected).abs() <= 4.5 * (expected * (1.0 - probability)).sqrt(),
                    "({i}, {j}): {count}"
                );
            }
        }
    }

    #[test]
    fn parts_in_any_order_find_the_first_of_all() {
        let weights: Vec<f64> = (0..5000).map(|i| f64::from(i % 7)).collect();
        let whole = race(&weights, 40, 0, 3).winners();
        for cuts in [vec![0, 5000], vec![0, 1, 4999, 5000], vec![0, 1000, 1000, 2500, 5000]] {
            let mut parts = Race::new(40, f64::INFINITY);
            for cut in cuts.windows(2).rev() {
                parts.merge(&race(&weights[cut[0]..cut[1]], 40, cut[0], 3));
            }
            assert_eq!(parts.winners(), whole);
        }
        assert!(whole.iter().all(|row| row % 7 != 0));
    }
}
