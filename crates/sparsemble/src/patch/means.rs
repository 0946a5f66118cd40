//! The mean of each patch, taken out before coding and put back after.

use fearless_simd::{Simd, dispatch};

use crate::error::{Result, expect_size};
use crate::kernels::best_level;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::sums::total;

/// Subtracts from each column its mean and returns the means, summed in `f64`.
///
/// Paper: §II-B ("processed to remove the mean").
pub fn remove_means<T: Scalar>(patches: &mut Matrix<T>) -> Vec<f64> {
    (0..patches.columns()).map(|index| remove_mean(patches.column_mut(index))).collect()
}

/// Adds to each column its mean: undoes [`remove_means`] up to rounding.
///
/// # Errors
/// If there is not one mean for each column.
pub fn add_means<T: Scalar>(patches: &mut Matrix<T>, means: &[f64]) -> Result<()> {
    expect_size("means: number of patches", patches.columns(), means.len())?;
    for (index, &mean) in means.iter().enumerate() {
        shift(patches.column_mut(index), mean);
    }
    Ok(())
}

/// Subtracts from a column its mean, which is returned.
pub(crate) fn remove_mean<T: Scalar>(patch: &mut [T]) -> f64 {
    let mean = total(patch) / patch.len().max(1) as f64;
    shift(patch, -mean);
    mean
}

fn shift<T: Scalar>(patch: &mut [T], by: f64) {
    dispatch!(best_level(), simd => shift_by(simd, patch, by));
}

#[inline(always)]
fn shift_by<S: Simd, T: Scalar>(_: S, patch: &mut [T], by: f64) {
    for value in patch {
        *value = T::from_f64(value.to_f64() + by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_removed_and_restored() {
        let original = Matrix::from_columns(vec![1.0_f32, 3.0, 10.0, 10.0], 2, 2).unwrap();
        let mut patches = original.clone();
        let means = remove_means(&mut patches);
        assert_eq!(means, [2.0, 10.0]);
        assert_eq!(patches.as_slice(), [-1.0, 1.0, 0.0, 0.0]);
        add_means(&mut patches, &means).unwrap();
        assert_eq!(patches, original);
        assert!(add_means(&mut patches, &means[1..]).is_err());
    }
}
