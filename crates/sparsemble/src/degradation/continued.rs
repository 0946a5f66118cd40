//! The Φ of a patch on every block of a picture of any size.

use crate::error::{Error, Result};
use crate::image::Size;
use crate::scalar::Scalar;

use super::{Degradation, PerBlock};

/// [`PerBlock`] for pictures that may end within a block: they are continued by their last row and column.
///
/// # Shapes
/// As many features as the picture has pixels, and N measurements for each block that has any of them.
///
/// # Example
/// ```
/// use sparsemble::degradation::{ContinuedBlocks, Degradation, Projection};
/// use sparsemble::image::Size;
///
/// let projection: Projection = "orthonormal:measurements=16,seed=5".parse()?;
/// let phi = ContinuedBlocks::new(Size { width: 20, height: 9 }, 8, &projection.matrix::<f64>(64)?)?;
/// assert_eq!((phi.n_measurements(), phi.n_features()), (6 * 16, 20 * 9));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A, Eq. (14).
#[derive(Debug)]
pub struct ContinuedBlocks<T> {
    size: Size,
    blocks: PerBlock<T>,
}

impl<T: Scalar> ContinuedBlocks<T> {
    /// For pictures of this size and blocks of `side` × `side` pixels, which are the features of `patch`.
    ///
    /// # Errors
    /// If there is no pixel, the side is zero, or the number of features of `patch` is not its square.
    pub fn new(size: Size, side: usize, patch: &dyn Degradation<T>) -> Result<Self> {
        if side == 0 {
            return Err(Error::parameter("block side", side, "must be at least 1"));
        }
        let whole = Size { width: size.width.next_multiple_of(side), height: size.height.next_multiple_of(side) };
        Ok(Self { size, blocks: PerBlock::new(whole, side, patch)? })
    }

    /// The number of the pixel that each one of the picture with whole blocks is taken from.
    fn sources(&self) -> impl Iterator<Item = usize> {
        let (size, whole) = (self.size, self.blocks.image_size());
        let pixel = move |row: usize, column: usize| row.min(size.height - 1) * size.width + column.min(size.width - 1);
        (0..whole.height).flat_map(move |row| (0..whole.width).map(move |column| pixel(row, column)))
    }
}

impl<T: Scalar> Degradation<T> for ContinuedBlocks<T> {
    fn n_features(&self) -> usize {
        self.size.width * self.size.height
    }

    fn n_measurements(&self) -> usize {
        self.blocks.n_measurements()
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        let whole: Vec<T> = self.sources().map(|pixel| features[pixel]).collect();
        self.blocks.apply(&whole, measurements);
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        let mut whole = vec![T::ZERO; self.blocks.n_features()];
        self.blocks.adjoint(measurements, &mut whole);
        features.fill(T::ZERO);
        self.sources().zip(whole).for_each(|(pixel, value)| features[pixel] += value);
    }
}
