//! Probability masses p(x_i) of samples: checked and normalised here and nowhere else.
//!
//! Only their ratios matter, so they may have any sum; [`Masses::share`] and [`normalise`] make it one.

use std::borrow::Cow;

use crate::error::{Error, Result, expect_size};

/// Far enough inside the range of doubles that masses times energies stay there too.
const SUMS: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// Masses summed at a time by [`normalise`].
const BLOCK: usize = 1024;

/// One mass for each sample: none is negative, and their sum is positive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Masses<'a> {
    /// `None` for all ones.
    values: Option<&'a [f64]>,
    count: usize,
    total: f64,
}

impl<'a> Masses<'a> {
    /// The masses of `count` samples, of which there must be one; `None` gives each the mass one.
    pub(crate) fn new(values: Option<&'a [f64]>, count: usize) -> Result<Self> {
        if count == 0 {
            return Err(Error::Empty { what: "samples", unit: "sample" });
        }
        let Some(masses) = values else { return Ok(Self { values, count, total: count as f64 }) };
        check_part(masses, count)?;
        let total: f64 = masses.iter().sum();
        if !SUMS.contains(&total) {
            let reason = "must be between 1e-200 and 1e200; give some sample a positive mass, or scale all";
            return Err(Error::parameter("masses: sum", total, reason));
        }
        Ok(Self { values, count, total })
    }

    /// Their sum.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// The mass of one sample.
    pub(crate) fn of(&self, sample: usize) -> f64 {
        self.values.map_or(1.0, |masses| masses[sample])
    }

    /// The mass of one sample out of one.
    pub(crate) fn share(&self, sample: usize) -> f64 {
        self.of(sample) / self.total
    }

    /// The samples that count, in order.
    pub(crate) fn positive(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|&i| self.of(i) > 0.0)
    }

    /// All of them.
    pub(crate) fn values(&self) -> Cow<'a, [f64]> {
        self.values.map_or_else(|| Cow::Owned(vec![1.0; self.count]), Cow::Borrowed)
    }
}

/// Checks the masses of a part of the samples, which may all be zero.
pub(crate) fn check_part(masses: &[f64], n_samples: usize) -> Result<()> {
    expect_size("masses: number of samples", n_samples, masses.len())?;
    masses.iter().try_for_each(|&mass| check_mass("masses", mass))
}

/// Checks a single mass, of the argument of this name.
pub(crate) fn check_mass(name: &'static str, mass: f64) -> Result<()> {
    if mass >= 0.0 && mass.is_finite() {
        Ok(())
    } else {
        Err(Error::parameter(name, mass, "every mass must be finite and not negative"))
    }
}

/// Divides masses by their sum, unless that is zero, and returns it.
pub(crate) fn normalise(masses: &mut [f64]) -> f64 {
    let total: f64 = masses.chunks(BLOCK).map(|block| block.iter().sum::<f64>()).sum();
    if total > 0.0 {
        for mass in masses {
            *mass /= total;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_samples_of_positive_mass_count() {
        let masses = Masses::new(Some(&[0.0, 2.0, 0.0, 1.0]), 4).unwrap();
        assert_eq!(masses.positive().collect::<Vec<_>>(), [1, 3]);
        assert!((masses.total() - 3.0).abs() < 1e-15 && (masses.share(1) - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(Masses::new(None, 3).unwrap().positive().count(), 3);
        assert_eq!(Masses::new(None, 3).unwrap().values(), vec![1.0; 3]);
    }

    #[test]
    fn only_masses_that_make_a_distribution_are_accepted() {
        for bad in [[0.0, 0.0], [1.0, -1e-9], [1.0, f64::NAN], [1.0, f64::INFINITY], [f64::MAX; 2], [1e-300, 0.0]] {
            assert!(Masses::new(Some(&bad), 2).is_err(), "{bad:?}");
        }
        assert!(Masses::new(Some(&[1.0]), 2).is_err());
        assert_eq!(Masses::new(None, 0).unwrap_err(), Error::Empty { what: "samples", unit: "sample" });
    }

    #[test]
    fn a_refusal_names_the_argument_the_value_and_the_fix() {
        let refusal = |masses: [f64; 2]| Masses::new(Some(&masses), 2).unwrap_err().to_string();
        assert_eq!(refusal([1.0, -2.0]), "masses = -2: every mass must be finite and not negative");
        assert!(refusal([0.0, 0.0]).starts_with("masses: sum = 0: must be between"));
    }

    #[test]
    fn normalised_masses_sum_to_one_or_stay_zero() {
        let mut masses: Vec<f64> = (0..3000).map(|i| f64::from(i % 7)).collect();
        let total = normalise(&mut masses);
        assert!((total - masses.len() as f64 * 3.0).abs() < 10.0);
        assert!((masses.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(normalise(&mut [0.0, 0.0]) <= 0.0);
    }
}
