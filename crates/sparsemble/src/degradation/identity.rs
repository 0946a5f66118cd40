//! Φ = I: nothing happened.

use crate::scalar::Scalar;

use super::{Degradation, mean};

/// The identity on `n_features` values.
///
/// ```
/// use sparsemble::degradation::{Degradation, Identity};
///
/// let mut measured = [0.0; 2];
/// Identity::new(2).apply(&[3.0, 4.0], &mut measured);
/// assert_eq!(measured, [3.0, 4.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    n_features: usize,
}

impl Identity {
    /// The identity on this many values.
    pub fn new(n_features: usize) -> Self {
        Self { n_features }
    }
}

impl<T: Scalar> Degradation<T> for Identity {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_measurements(&self) -> usize {
        self.n_features
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        measurements.copy_from_slice(features);
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        features.copy_from_slice(measurements);
    }

    fn reconcile(&self, measurements: &[T], mu: f64, features: &mut [T]) {
        assert_eq!(measurements.len(), features.len(), "number of measurements");
        for (feature, &measurement) in features.iter_mut().zip(measurements) {
            *feature = mean(measurement, mu, *feature);
        }
    }
}
