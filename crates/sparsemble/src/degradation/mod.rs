//! Degradations: what happened to the samples before we saw them, z = Φy (Eq. (14)).
//!
//! A degradation is a linear map that is only ever *applied*, forwards or backwards. Whoever needs ΦD as a matrix
//! applies Φ to each atom; whoever does not, such as [`Fista`](crate::coding::Fista), never forms it.
//!
//! Those of compressive sensing (§IV-A) are random [projections](Projection).
//!
//! To add one: write its file, and add one line to the registry in `tests.rs`, which puts it under the common laws.

mod dense;
mod identity;
mod projection;
#[cfg(test)]
mod tests;

pub use dense::Dense;
pub use identity::Identity;
pub use projection::{Projection, ProjectionKind};

use std::fmt::Debug;

use crate::scalar::Scalar;

/// A linear map Φ from M features to N measurements, with its adjoint.
///
/// # Laws
/// Linear, and ⟨Φy, z⟩ = ⟨y, Φᵀz⟩ for all y and z up to rounding. Finite values go to finite values unless they
/// overflow. The same input gives the same bits on every call and every thread.
///
/// Paper: §IV, Eq. (14).
pub trait Degradation<T: Scalar>: Debug + Sync {
    /// M, the length of what is degraded.
    fn n_features(&self) -> usize;

    /// N, the length of what is measured.
    fn n_measurements(&self) -> usize;

    /// Writes Φ·`features` to `measurements`, whatever was there before.
    ///
    /// # Panics
    /// May panic if the lengths are not [`n_features`](Self::n_features) and
    /// [`n_measurements`](Self::n_measurements).
    fn apply(&self, features: &[T], measurements: &mut [T]);

    /// Writes Φᵀ·`measurements` to `features`, whatever was there before.
    ///
    /// # Panics
    /// May panic if the lengths are not [`n_measurements`](Self::n_measurements) and
    /// [`n_features`](Self::n_features).
    fn adjoint(&self, measurements: &[T], features: &mut [T]);
}
