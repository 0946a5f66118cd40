//! The probability masses p(x_i) of the samples.

use crate::error::{Error, Result, expect_size};

/// Checked masses: none is negative and their sum is positive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Masses<'a> {
    /// `None` for all ones.
    values: Option<&'a [f64]>,
    count: usize,
    total: f64,
}

impl<'a> Masses<'a> {
    /// The masses of `count` samples; `None` gives each the mass one.
    pub(super) fn new(values: Option<&'a [f64]>, count: usize) -> Result<Self> {
        let Some(masses) = values else {
            return Ok(Self { values, count, total: count as f64 });
        };
        expect_size("masses: number of samples", count, masses.len())?;
        if let Some(mass) = masses.iter().find(|mass| !(mass.is_finite() && **mass >= 0.0)) {
            return Err(Error::parameter("mass", mass, "must be finite and not negative"));
        }
        let total: f64 = masses.iter().sum();
        if !(total >= f64::MIN_POSITIVE && total.is_finite()) {
            return Err(Error::parameter("sum of masses", total, "must be positive and finite; scale the masses"));
        }
        Ok(Self { values, count, total })
    }

    pub(super) fn total(&self) -> f64 {
        self.total
    }

    pub(super) fn of(&self, sample: usize) -> f64 {
        self.values.map_or(1.0, |masses| masses[sample])
    }

    /// The samples that count, in order.
    pub(super) fn positive(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(|&i| self.of(i) > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_samples_of_positive_mass_count() {
        let masses = Masses::new(Some(&[0.0, 2.0, 0.0, 1.0]), 4).unwrap();
        assert_eq!(masses.positive().collect::<Vec<_>>(), [1, 3]);
        assert!((masses.total() - 3.0).abs() < 1e-15);
        assert_eq!(Masses::new(None, 3).unwrap().positive().count(), 3);
    }

    #[test]
    fn masses_that_are_no_masses_are_refused() {
        for bad in [[0.0, 0.0], [1.0, -1e-9], [f64::NAN, 1.0], [f64::INFINITY, 1.0], [f64::MAX, f64::MAX]] {
            assert!(Masses::new(Some(&bad), 2).is_err(), "{bad:?}");
        }
        assert!(Masses::new(Some(&[1.0]), 2).is_err());
    }
}
