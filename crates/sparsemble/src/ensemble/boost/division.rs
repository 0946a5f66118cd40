//! Which samples boosting learns from, which it holds out, and how much each counts.

use std::ops::Range;

use rand::RngExt;

use crate::ensemble::strips::STRIP;
use crate::error::{Error, Result};
use crate::masses::{Masses, normalise};
use crate::rng::stream;

use super::Boost;

/// The masses of all samples, and the samples held out.
pub(super) struct Division<'a> {
    masses: Masses<'a>,
    n_samples: usize,
    /// Empty if none are.
    held_out: Vec<bool>,
    totals: Sums,
}

/// Sums over the training samples and over those held out.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) training: f64,
    pub(super) held_out: f64,
}

impl std::ops::AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.training += other.training;
        self.held_out += other.held_out;
    }
}

impl<'a> Division<'a> {
    pub(super) fn new<T>(settings: &Boost<'a, T>, n_samples: usize) -> Result<Self> {
        let held_out = settings.validation.map(|validation| hold_out(validation.fraction, n_samples, settings.seed));
        let held_out = held_out.transpose()?.unwrap_or_default();
        let masses = Masses::new(settings.masses, n_samples)?;
        let mut division = Self { masses, n_samples, held_out, totals: Sums::default() };
        division.totals = division.sums(0..n_samples, |_| 1.0);
        if division.totals.training <= 0.0 || (division.holds_out() && division.totals.held_out <= 0.0) {
            return Err(Error::parameter("masses", 0, "all of it fell on one side of the validation split"));
        }
        Ok(division)
    }

    pub(super) fn holds_out(&self) -> bool {
        !self.held_out.is_empty()
    }

    /// What a sample counts in training.
    pub(super) fn training_mass(&self, sample: usize) -> f64 {
        if self.is_held_out(sample) { 0.0 } else { self.masses.of(sample) }
    }

    fn is_held_out(&self, sample: usize) -> bool {
        self.held_out.get(sample).copied().unwrap_or(false)
    }

    /// Sums a value by mass, strip by strip.
    pub(super) fn sums(&self, range: Range<usize>, value: impl Fn(usize) -> f64) -> Sums {
        let mut whole = Sums::default();
        for start in range.clone().step_by(STRIP) {
            let mut part = Sums::default();
            for i in start..(start + STRIP).min(range.end) {
                let sum = if self.is_held_out(i) { &mut part.held_out } else { &mut part.training };
                *sum += self.masses.of(i) * value(i);
            }
            whole += part;
        }
        whole
    }

    /// Means from sums.
    pub(super) fn means(&self, sums: Sums) -> (f64, Option<f64>) {
        let held_out = self.holds_out().then(|| sums.held_out / self.totals.held_out);
        (sums.training / self.totals.training, held_out)
    }

    /// p_1: the masses of the training samples, normalised.
    pub(super) fn first_masses(&self) -> Vec<f64> {
        let mut masses = (0..self.n_samples).map(|i| self.training_mass(i)).collect::<Vec<_>>();
        normalise(&mut masses);
        masses
    }
}

/// Chooses exactly this fraction of the samples, each as likely as any other.
fn hold_out(fraction: f64, n_samples: usize, seed: u64) -> Result<Vec<bool>> {
    let wanted = (fraction * n_samples as f64).round() as usize;
    if wanted == 0 || wanted >= n_samples {
        return Err(Error::TooFewSamples { what: "samples to train on and to hold out", needed: 2, found: n_samples });
    }
    let mut rng = stream(seed, "validation", 0);
    let mut missing = wanted;
    let chosen = (0..n_samples).map(|i| {
        let take = rng.random_range(0..n_samples - i) < missing;
        missing -= usize::from(take);
        take
    });
    Ok(chosen.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_fraction_is_held_out_and_each_sample_is_as_likely() {
        let mut times = [0; 10];
        for seed in 0..2000 {
            let chosen = hold_out(0.3, 10, seed).unwrap();
            assert_eq!(chosen.iter().filter(|held| **held).count(), 3);
            times.iter_mut().zip(chosen).for_each(|(times, held)| *times += usize::from(held));
        }
        // 600 expected, with a deviation of √(2000 · 0.3 · 0.7) ≈ 20.
        assert!(times.iter().all(|times| (500..700).contains(times)), "{times:?}");
        assert!(hold_out(0.01, 10, 0).is_err() && hold_out(0.99, 10, 0).is_err());
    }
}
