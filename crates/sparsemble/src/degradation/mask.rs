//! Φ that forgets: some features are seen, the others are missing.

use std::ops::Range;

use rand::Rng;

use crate::error::{Error, Result};
use crate::image::{GrayImage, WHITE};
use crate::rng::stream;
use crate::scalar::Scalar;

use super::{Degradation, MOST_NUMBERS, mean};

/// Keeps some features and drops the others: inpainting, of a patch or of a picture.
///
/// # Cost
/// One read and one write for each feature seen; eight bytes of memory for each.
///
/// # Example
/// ```
/// use sparsemble::degradation::{Degradation, Mask};
///
/// let mask = Mask::new(&[true, false, true])?;
/// let mut measured = [0.0; 2];
/// mask.apply(&[3.0, 4.0, 5.0], &mut measured);
/// assert_eq!(measured, [3.0, 5.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV, Eq. (14).
#[doc(alias = "inpainting")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    n_features: usize,
    /// The features that are seen, in their order.
    seen: Vec<usize>,
}

impl Mask {
    /// Keeps the features where `seen` is true; the measurements are in their order.
    ///
    /// # Errors
    /// If none is seen.
    pub fn new(seen: &[bool]) -> Result<Self> {
        let n_features = seen.len();
        let seen: Vec<usize> = (0..n_features).filter(|&feature| seen[feature]).collect();
        if seen.is_empty() {
            return Err(Error::Empty { what: "mask", unit: "feature that is seen" });
        }
        Ok(Self { n_features, seen })
    }

    /// Drops the pixels at which a picture of the same size is white, or nearer to white than to black.
    ///
    /// # Errors
    /// If it is white everywhere.
    pub fn where_white(picture: &GrayImage) -> Result<Self> {
        Self::new(&picture.samples().iter().map(|&value| value < WHITE / 2.0).collect::<Vec<_>>())
    }

    /// Drops a share `missing` of the features, rounded down to a whole number of them; which ones is random, the same
    /// for the same seed and number of features.
    ///
    /// # Errors
    /// If there is no feature, there are more than 2²⁸ of them, or the share is not at least 0 and less than 1.
    pub fn random(n_features: usize, missing: f64, seed: u64) -> Result<Self> {
        if !(0.0..1.0).contains(&missing) {
            return Err(Error::parameter(
                "missing",
                missing,
                "must be at least 0 and less than 1, a share of the whole",
            ));
        }
        if n_features > MOST_NUMBERS {
            return Err(Error::parameter("n_features", n_features, format!("must be at most {MOST_NUMBERS}")));
        }
        let mut stream = stream(seed, "mask", 0);
        let mut order: Vec<(u64, usize)> = (0..n_features).map(|feature| (stream.next_u64(), feature)).collect();
        order.sort_unstable();
        let mut seen = vec![true; n_features];
        let n_missing = (missing * n_features as f64) as usize;
        order[..n_missing].iter().for_each(|&(_, feature)| seen[feature] = false);
        Self::new(&seen)
    }

    /// What it is for a part of a picture with rows of this width; of the part it may see nothing.
    pub(crate) fn of_part(&self, width: usize, rows: Range<usize>, columns: &Range<usize>) -> Self {
        let mut seen = Vec::new();
        for (at, row) in rows.clone().enumerate() {
            let first = self.seen.partition_point(|&feature| feature < row * width + columns.start);
            let of_row = self.seen[first..].iter().take_while(|&&feature| feature < row * width + columns.end);
            seen.extend(of_row.map(|feature| feature - row * width - columns.start + at * columns.len()));
        }
        Self { n_features: rows.len() * columns.len(), seen }
    }

    /// The features that are seen, in their order.
    pub fn seen(&self) -> &[usize] {
        &self.seen
    }
}

impl<T: Scalar> Degradation<T> for Mask {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_measurements(&self) -> usize {
        self.seen.len()
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        assert_eq!(features.len(), self.n_features, "number of features");
        assert_eq!(measurements.len(), self.seen.len(), "number of measurements");
        for (measurement, &feature) in measurements.iter_mut().zip(&self.seen) {
            *measurement = features[feature];
        }
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        features.fill(T::ZERO);
        self.reconcile(measurements, 0.0, features);
    }

    fn reconcile(&self, measurements: &[T], mu: f64, features: &mut [T]) {
        assert_eq!(features.len(), self.n_features, "number of features");
        assert_eq!(measurements.len(), self.seen.len(), "number of measurements");
        for (&measurement, &feature) in measurements.iter().zip(&self.seen) {
            features[feature] = mean(measurement, mu, features[feature]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_mask_drops_the_share_it_should_and_depends_on_the_seed() {
        for (n_features, missing, n_seen) in [(64, 0.5, 32), (10, 0.0, 10), (3, 0.99, 1), (1, 0.9, 1)] {
            let mask = Mask::random(n_features, missing, 3).unwrap();
            assert_eq!(mask.seen().len(), n_seen);
            assert_eq!(mask, Mask::random(n_features, missing, 3).unwrap());
        }
        assert_ne!(Mask::random(64, 0.5, 3).unwrap(), Mask::random(64, 0.5, 4).unwrap());
        // The two halves of the features are hit alike: five standard deviations of the count.
        let first = Mask::random(4000, 0.5, 1).unwrap().seen().iter().filter(|&&feature| feature < 2000).count();
        assert!(first.abs_diff(1000) < 5 * 16, "{first}");
    }

    #[test]
    fn a_mask_without_anything_seen_is_refused() {
        assert!(Mask::new(&[]).is_err() && Mask::new(&[false; 4]).is_err() && Mask::random(0, 0.5, 0).is_err());
        for many in [(1 << 28) + 1, usize::MAX] {
            assert!(Mask::random(many, 0.5, 0).unwrap_err().to_string().contains("at most 268435456"));
        }
        for missing in [1.0, -0.1, f64::NAN] {
            assert!(Mask::random(10, missing, 0).unwrap_err().to_string().contains("less than 1"));
        }
    }
}
