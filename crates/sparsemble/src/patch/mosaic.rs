//! A dictionary to look at.

use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, Size, WHITE};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Pixels between two patches.
const GAP: usize = 1;

/// Lays patches or atoms of `side` × `side` pixels out in a square, row by row, with black lines between them.
///
/// Zero is mid-grey and each patch is stretched on its own until its largest magnitude is black or white, so the
/// picture shows shapes, not scales.
///
/// # Errors
/// If there is no patch or `patches` does not have `side²` rows.
pub fn mosaic<T: Scalar>(patches: MatrixView<'_, T>, side: usize) -> Result<GrayImage> {
    expect_size("patches: number of features (pixels of a patch)", side.saturating_mul(side), patches.rows())?;
    if patches.columns() == 0 || side == 0 {
        return Err(Error::Empty { what: "mosaic", unit: "patch" });
    }
    let across = (patches.columns() as f64).sqrt().ceil() as usize;
    let down = patches.columns().div_ceil(across);
    let pitch = side + GAP;
    let size = Size { width: across * pitch + GAP, height: down * pitch + GAP };
    let mut samples = vec![0.0; size.width * size.height];
    let mut patch = vec![T::ZERO; patches.rows()];
    for index in 0..patches.columns() {
        patches.copy_column(index, &mut patch);
        let largest = patch.iter().fold(0.0_f64, |largest, value| largest.max(value.to_f64().abs()));
        let scale = if largest > 0.0 { 0.5 * WHITE / largest } else { 0.0 };
        let corner = (GAP + index / across * pitch) * size.width + GAP + index % across * pitch;
        for (r, values) in patch.chunks_exact(side).enumerate() {
            for (sample, value) in samples[corner + r * size.width..].iter_mut().zip(values) {
                *sample = 0.5 * WHITE + scale * value.to_f64();
            }
        }
    }
    GrayImage::new(size, samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn patches_are_stretched_and_laid_out_row_by_row() {
        // Three patches of one pixel: positive, zero and negative.
        let patches = Matrix::from_columns(vec![0.1_f32, 0.0, -9.0], 1, 3).unwrap();
        let picture = mosaic(patches.view(), 1).unwrap();
        assert_eq!(picture.size(), Size { width: 5, height: 5 });
        assert_eq!(picture.row(0), [0.0; 5]);
        assert_eq!(picture.row(1), [0.0, 255.0, 0.0, 127.5, 0.0]);
        assert_eq!(picture.row(3), [0.0; 5]);
    }

    #[test]
    fn patches_that_are_not_square_are_refused() {
        let patches = Matrix::from_columns(vec![0.0; 6], 6, 1).unwrap();
        assert!(mosaic(patches.view(), 2).is_err());
        assert!(mosaic(Matrix::<f64>::zeros(4, 0).view(), 2).is_err());
    }
}
