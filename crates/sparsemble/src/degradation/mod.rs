//! Degradations: what happened to the samples before we saw them, z = Φy (Eq. (14)).
//!
//! A degradation is a linear map that is only ever *applied*, forwards or backwards. Whoever needs ΦD as a matrix
//! applies Φ to each atom; whoever does not, such as [`Fista`](crate::coding::Fista), never forms it. The features are
//! those of a patch or those of a whole picture, pixel after pixel and row after row: the same trait serves both.
//!
//! | what | of a patch | of a picture |
//! | --- | --- | --- |
//! | nothing happened | [`Identity`] | [`Identity`] |
//! | few combinations of all features | [`Dense`], drawn by a [`Projection`] (§IV-A) | [`PerBlock`], [`ContinuedBlocks`] |
//! | some features are missing | [`Mask`] | [`Mask`] |
//! | all is blurred, and some pixels are lost | [`Blur`] | [`Blur`] |
//!
//! What is measured has noise in it: [`with_white_noise`].
//!
//! An [`Operator`] is any of them as text, `blur:sigma=1.6`, before it is known what it acts on.
//!
//! To add one: write its file, make it an operator if it has a text, and add one line to the registry in `tests.rs`, which puts it under the common laws.

mod blur;
mod conjugate;
mod continued;
mod convolution;
mod cosines;
mod dense;
mod identity;
mod mask;
mod noise;
mod operator;
mod per_block;
mod projection;
mod singular;
#[cfg(test)]
mod tests;

pub use blur::Blur;
pub use continued::ContinuedBlocks;
pub use dense::Dense;
pub use identity::Identity;
pub use mask::Mask;
pub use noise::with_white_noise;
pub use operator::Operator;
pub use per_block::PerBlock;
pub use projection::{Projection, ProjectionKind};

use std::fmt::Debug;

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::image::Size;
use crate::kernels::best_level;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// The numbers that fit into the memory of any machine: 2 GiB of them.
const MOST_NUMBERS: usize = 1 << 28;

/// Refuses pictures whose pixels cannot be counted.
fn expect_countable(size: Size) -> Result<()> {
    match size.width.checked_mul(size.height) {
        Some(_) => Ok(()),
        None => Err(Error::parameter("image size", size, "is larger than any picture")),
    }
}

/// A linear map Φ from M features to N measurements, with its adjoint.
///
/// # Laws
/// Linear, and ⟨Φy, z⟩ = ⟨y, Φᵀz⟩ for all y and z up to rounding. Finite values go to finite values unless they
/// overflow. The same input gives the same bits on every call and every thread.
///
/// # Example
/// ```
/// use sparsemble::degradation::Degradation;
///
/// /// The sums of neighbours.
/// #[derive(Debug)]
/// struct Pairs;
///
/// impl Degradation<f64> for Pairs {
///     fn n_features(&self) -> usize {
///         4
///     }
///     fn n_measurements(&self) -> usize {
///         2
///     }
///     fn apply(&self, y: &[f64], z: &mut [f64]) {
///         z.copy_from_slice(&[y[0] + y[1], y[2] + y[3]]);
///     }
///     fn adjoint(&self, z: &[f64], y: &mut [f64]) {
///         y.copy_from_slice(&[z[0], z[0], z[1], z[1]]);
///     }
/// }
///
/// // The features nearest to (1, 2, 3, 4) whose sums are 5 and 7.
/// let mut features = [1.0, 2.0, 3.0, 4.0];
/// Pairs.reconcile(&[5.0, 7.0], 0.0, &mut features);
/// assert!(features.iter().zip([2.0, 3.0, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-9));
/// ```
///
/// Paper: §IV, Eq. (14).
pub trait Degradation<T: Scalar>: Debug + Send + Sync {
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

    /// Moves `features` no further than needed to fit the measurements z: y₀ becomes the y that minimises
    /// ‖z − Φy‖² + μ‖y − y₀‖².
    ///
    /// The smaller `mu` (finite, not negative), the better the fit. With 0 it is the y nearest to y₀ of all that fit
    /// best, y₀ + Φ⁺(z − Φy₀); where z can be fitted at all, Φy = z.
    ///
    /// By default it is computed by conjugate gradients, which stop when the gradient is small in terms of the data,
    /// or after 200 steps, each an [`apply`](Self::apply) and an [`adjoint`](Self::adjoint). Those that have
    /// a closed form use it.
    ///
    /// ```
    /// use sparsemble::degradation::{Degradation, Mask};
    ///
    /// let mask = Mask::new(&[true, false, true])?;
    /// let mut features = [1.0, 2.0, 3.0];
    /// mask.reconcile(&[10.0, 30.0], 0.0, &mut features);
    /// assert_eq!(features, [10.0, 2.0, 30.0]);
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    ///
    /// # Panics
    /// May panic if the lengths are not [`n_measurements`](Self::n_measurements) and
    /// [`n_features`](Self::n_features).
    fn reconcile(&self, measurements: &[T], mu: f64, features: &mut [T]) {
        conjugate::reconcile(self, measurements, mu, features);
    }

    /// [`reconcile`](Self::reconcile) on the threads of a run, to the same bits and at the same cost. By default on the caller's
    /// alone; [`PerBlock`] shares its blocks out.
    ///
    /// # Errors
    /// Those of its parts; ours have none, and are not interrupted between them.
    ///
    /// # Panics
    /// As [`reconcile`](Self::reconcile).
    fn reconcile_on(&self, measurements: &[T], mu: f64, features: &mut [T], run: Run<'_>) -> Result<()> {
        let _ = run;
        self.reconcile(measurements, mu, features);
        Ok(())
    }
}

/// ΦX: every column of a matrix degraded.
///
/// # Errors
/// If the columns are not as long as Φ has features.
pub fn apply_to_columns<T: Scalar>(phi: &dyn Degradation<T>, samples: MatrixView<'_, T>) -> Result<Matrix<T>> {
    expect_size("degradation: number of features (that of what it degrades)", samples.rows(), phi.n_features())?;
    Ok(columns(samples, phi.n_measurements(), |sample, out| phi.apply(sample, out)))
}

/// ΦᵀZ: the adjoint of every column of a matrix.
///
/// # Errors
/// If the columns are not as long as Φ has measurements.
pub fn adjoint_of_columns<T: Scalar>(phi: &dyn Degradation<T>, measurements: MatrixView<'_, T>) -> Result<Matrix<T>> {
    expect_size("degradation: number of measurements (of those given)", measurements.rows(), phi.n_measurements())?;
    Ok(columns(measurements, phi.n_features(), |measured, out| phi.adjoint(measured, out)))
}

fn columns<T: Scalar>(matrix: MatrixView<'_, T>, rows: usize, map: impl Fn(&[T], &mut [T])) -> Matrix<T> {
    let mut column = vec![T::ZERO; matrix.rows()];
    let mut mapped = Matrix::zeros(rows, matrix.columns());
    for c in 0..matrix.columns() {
        matrix.copy_column(c, &mut column);
        map(&column, mapped.column_mut(c));
    }
    mapped
}

/// What [`Degradation::reconcile`] makes of a feature that is measured alone: the mean of both, weighted 1 and μ.
fn mean<T: Scalar>(measurement: T, mu: f64, feature: T) -> T {
    // Written so that μ = 0 gives back the very measurement.
    let weight = 1.0 / (1.0 + mu);
    measurement * T::from_f64(weight) + feature * T::from_f64(mu * weight)
}

/// Adds `factor · x` to y.
#[inline]
fn add_multiple<T: Scalar>(factor: T, x: &[T], y: &mut [T]) {
    dispatch!(best_level(), simd => add_multiple_by(simd, factor, x, y));
}

#[inline(always)]
fn add_multiple_by<S: Simd, T: Scalar>(_: S, factor: T, x: &[T], y: &mut [T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y += factor * x);
}
