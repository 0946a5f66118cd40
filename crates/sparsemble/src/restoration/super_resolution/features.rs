//! What a patch of a blurred picture is known by: its gradients (§IV-B).

use crate::error::{Error, Result};
use crate::image::GrayImage;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// First and second differences, across and down.
pub(super) const FILTERS: usize = 4;

/// How far the filters reach to each side.
const REACH: usize = 2;

/// The features of the patches of `side` × `side` pixels whose upper left pixels are at `origins`.
///
/// They are those of Yang et al. ("Image super-resolution via sparse representation", 2010): at each pixel of the patch
/// what the filters [−1 0 1], its transpose, [1 0 −2 0 1] and its transpose make of the picture, in this order, one filter
/// after the other. The filters see the pixels around the patch; beyond the border of the picture there are zeros, as
/// `conv2` of MATLAB has it.
///
/// # Shapes
/// 4·side² × the number of origins; within a filter rows from top to bottom, each from left to right.
///
/// # Errors
/// If the side is zero, or a patch is not inside the picture.
///
/// # Example
/// ```
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::restoration::super_resolution::gradient_features;
///
/// let ramp = GrayImage::from_fn(Size { width: 9, height: 9 }, |_, column| 3.0 * column as f64)?;
/// let features = gradient_features::<f64>(&ramp, 1, &[(4, 4)])?;
/// assert_eq!(features.column(0), [-6.0, 0.0, 0.0, 0.0]); // a convolution turns its kernel round
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-B.
pub fn gradient_features<T: Scalar>(image: &GrayImage, side: usize, origins: &[(usize, usize)]) -> Result<Matrix<T>> {
    if side == 0 {
        return Err(Error::parameter("patch side", side, "must be at least 1"));
    }
    let inside = |origin: usize, length: usize| origin.checked_add(side).is_some_and(|end| end <= length);
    let mut features = Matrix::zeros(FILTERS * side * side, origins.len());
    let mut window = Window::new(side);
    for (index, &(row, column)) in origins.iter().enumerate() {
        if !inside(row, image.size().height) || !inside(column, image.size().width) {
            return Err(Error::parameter(
                "origin",
                format!("({row}, {column})"),
                "the patch is not inside the picture",
            ));
        }
        window.move_to(image, (row, column));
        window.differences(features.column_mut(index));
    }
    Ok(features)
}

/// A patch and what the filters see around it.
struct Window {
    side: usize,
    values: Vec<f64>,
}

impl Window {
    fn new(side: usize) -> Self {
        let longer = side + 2 * REACH;
        Self { side, values: vec![0.0; longer * longer] }
    }

    fn longer(&self) -> usize {
        self.side + 2 * REACH
    }

    fn move_to(&mut self, image: &GrayImage, (row, column): (usize, usize)) {
        let (longer, size) = (self.longer(), image.size());
        // The columns that are in the picture; what is left of them and right of them stays zero.
        let skipped = REACH.saturating_sub(column);
        let first = column.saturating_sub(REACH);
        let end = (column + self.side + REACH).min(size.width);
        self.values.fill(0.0);
        for (r, values) in self.values.chunks_exact_mut(longer).enumerate() {
            let Some(row) = (row + r).checked_sub(REACH).filter(|row| *row < size.height) else { continue };
            values[skipped..][..end - first].copy_from_slice(&image.row(row)[first..end]);
        }
    }

    fn differences<T: Scalar>(&self, out: &mut [T]) {
        let longer = self.longer();
        for (filter, out) in out.chunks_exact_mut(self.side * self.side).enumerate() {
            let step = if filter % 2 == 0 { 1 } else { longer };
            for (r, out) in out.chunks_exact_mut(self.side).enumerate() {
                for (c, out) in out.iter_mut().enumerate() {
                    let pixel = (r + REACH) * longer + c + REACH;
                    let at = |place: usize| self.values[place];
                    *out = T::from_f64(match filter {
                        0 | 1 => at(pixel - step) - at(pixel + step),
                        _ => at(pixel - 2 * step) - 2.0 * at(pixel) + at(pixel + 2 * step),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    #[test]
    fn beyond_the_border_there_are_zeros() {
        let picture = GrayImage::new(Size { width: 2, height: 1 }, vec![5.0, 7.0]).unwrap();
        let features = gradient_features::<f64>(&picture, 1, &[(0, 0), (0, 1)]).unwrap();
        assert_eq!(features.column(0), [-7.0, 0.0, -10.0, -10.0]);
        assert_eq!(features.column(1), [5.0, 0.0, -14.0, -14.0]);
    }

    #[test]
    fn patches_outside_the_picture_are_refused() {
        let picture = GrayImage::from_fn(Size { width: 6, height: 5 }, |_, _| 0.0).unwrap();
        assert!(gradient_features::<f32>(&picture, 5, &[(0, 1)]).is_ok());
        for (side, origin) in [(5, (0, 2)), (5, (1, 0)), (0, (0, 0)), (6, (0, 0)), (5, (usize::MAX, 0))] {
            assert!(gradient_features::<f32>(&picture, side, &[origin]).is_err(), "{side} {origin:?}");
        }
    }
}
