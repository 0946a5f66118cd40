//! How many atoms the members of an ensemble have.

use crate::error::{Error, Result};

/// K of the members of an ensemble.
///
/// ```
/// use sparsemble::graph::AtomCount;
///
/// assert_eq!(AtomCount::default().of(800)?, 100);
/// assert_eq!(AtomCount::default().of(1_000_000)?, 2048);
/// assert_eq!(AtomCount::Exactly(50).of(800)?, 50);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AtomCount {
    /// One atom for so many samples, but at least two and at most so many: with the default, 8 and 2048, the cost is
    /// linear in T from 16 384 samples on.
    OneFor {
        /// T/K, at least 1.
        samples: f64,
        /// The most atoms, at least 2.
        most: usize,
    },
    /// This many, at least 2 and at most T.
    Exactly(usize),
}

impl Default for AtomCount {
    fn default() -> Self {
        Self::one_for(Self::SAMPLES)
    }
}

impl AtomCount {
    pub(super) const SAMPLES: f64 = 8.0;
    pub(super) const MOST: usize = 2048;

    /// One atom for so many samples, but at most 2048.
    pub fn one_for(samples: f64) -> Self {
        Self::OneFor { samples, most: Self::MOST }
    }

    /// K for this many samples.
    ///
    /// # Errors
    /// If a number is out of its range, or there are fewer samples than atoms.
    pub fn of(&self, n_samples: usize) -> Result<usize> {
        match *self {
            Self::OneFor { samples, .. } if !(samples >= 1.0 && samples.is_finite()) => {
                Err(Error::parameter("samples for an atom", samples, "must be at least 1 and finite"))
            }
            Self::OneFor { most: number, .. } | Self::Exactly(number) if number < 2 => {
                Err(Error::parameter("atoms", number, "must be at least 2"))
            }
            Self::OneFor { samples, most } => Ok(((n_samples as f64 / samples) as usize).clamp(2, most).min(n_samples)),
            Self::Exactly(needed) if needed > n_samples => {
                Err(Error::TooFewSamples { what: "atoms (different samples)", needed, found: n_samples })
            }
            Self::Exactly(number) => Ok(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_two_atoms_at_least_and_one_for_each_sample_at_most() {
        assert_eq!(AtomCount::default().of(9298), Ok(1162));
        assert_eq!(AtomCount::default().of(9), Ok(2));
        assert_eq!(AtomCount::one_for(1.0).of(3), Ok(3));
        assert_eq!(AtomCount::Exactly(3).of(3), Ok(3));
        assert!(AtomCount::Exactly(4).of(3).is_err() && AtomCount::Exactly(1).of(3).is_err());
        assert!(AtomCount::one_for(0.5).of(9).is_err() && AtomCount::one_for(f64::NAN).of(9).is_err());
        assert!(AtomCount::OneFor { samples: 8.0, most: 1 }.of(9).is_err());
    }
}
