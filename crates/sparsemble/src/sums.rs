//! Sums over columns in double precision: the distances, products and energies that decide something.
//!
//! Eight sums run side by side and are added at the end, so that additions do not wait for each other. The order is the
//! same in every instruction set, and so are the bits.

use fearless_simd::{Simd, dispatch};

use crate::kernels::best_level;
use crate::scalar::Scalar;

const SIDE_BY_SIDE: usize = 8;

/// ‖a − b‖².
#[inline]
pub(crate) fn squared_distance<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    dispatch!(best_level(), simd => squared_distance_by(simd, a, b))
}

/// aᵀb.
#[inline]
pub(crate) fn product<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    dispatch!(best_level(), simd => product_by(simd, a, b))
}

/// ‖a − b‖², inlined into the instruction set of the caller.
#[inline(always)]
pub(crate) fn squared_distance_by<S: Simd, T: Scalar>(_: S, a: &[T], b: &[T]) -> f64 {
    sum(a, b, |a, b| (a - b) * (a - b))
}

/// aᵀb, inlined into the instruction set of the caller.
#[inline(always)]
pub(crate) fn product_by<S: Simd, T: Scalar>(_: S, a: &[T], b: &[T]) -> f64 {
    sum(a, b, |a, b| a * b)
}

/// Σ x.
#[inline]
pub(crate) fn total<T: Scalar>(x: &[T]) -> f64 {
    dispatch!(best_level(), simd => total_by(simd, x))
}

#[inline(always)]
fn total_by<S: Simd, T: Scalar>(_: S, x: &[T]) -> f64 {
    sum(x, x, |x, _| x)
}

/// Adds `factor · x` to sums.
#[inline]
pub(crate) fn add_multiple<T: Scalar>(factor: f64, x: &[T], sums: &mut [f64]) {
    dispatch!(best_level(), simd => add_multiple_by(simd, factor, x, sums));
}

#[inline(always)]
fn add_multiple_by<S: Simd, T: Scalar>(_: S, factor: f64, x: &[T], sums: &mut [f64]) {
    sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * x.to_f64());
}

#[inline(always)]
fn sum<T: Scalar>(a: &[T], b: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0_f64; SIDE_BY_SIDE];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SIDE_BY_SIDE>(), b.as_chunks::<SIDE_BY_SIDE>());
    for (a, b) in a.iter().zip(b) {
        for i in 0..SIDE_BY_SIDE {
            sums[i] += term(a[i].to_f64(), b[i].to_f64());
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += term(a.to_f64(), b.to_f64());
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_any_length_are_summed_whole() {
        for length in [0, 1, 7, 8, 9, 64, 67] {
            let a: Vec<f32> = (0..length).map(|i| i as f32).collect();
            let b: Vec<f32> = (0..length).map(|i| 2.0 * i as f32 - 1.0).collect();
            let plain = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
                a.iter().zip(&b).map(|(a, b)| term(f64::from(*a), f64::from(*b))).sum()
            };
            assert!((squared_distance(&a, &b) - plain(&|a, b| (a - b).powi(2))).abs() < 1e-9, "{length}");
            assert!((product(&a, &b) - plain(&|a, b| a * b)).abs() < 1e-9, "{length}");
            assert!((total(&b) - plain(&|_, b| b)).abs() < 1e-9, "{length}");
        }
    }
}
