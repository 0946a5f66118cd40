//! The Φ of a patch on every block of a picture: block compressive sensing.

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::image::Size;
use crate::kernels::{Panels, Store, Tiles, best_level, correlate};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::{Degradation, Dense, conjugate};

/// Rows of blocks that one thread reconciles at a time.
const ROWS: usize = 8;

/// One degradation of patches, on each block of a picture.
///
/// The picture is cut into blocks side by side, row by row, as by
/// [`Stride::NonOverlapping`](crate::patch::Stride::NonOverlapping). Its measurements are those of the first block,
/// then those of the second, and so on.
///
/// # Shapes
/// With B blocks of M pixels, and N measurements of each: M·B features, N·B measurements.
///
/// # Cost
/// Whatever the patch's Φ is, it is used as a matrix, on a row of blocks at a time: N·M multiply-adds a block at the
/// speed of a matrix product, and twice that to [`reconcile`](Degradation::reconcile), if the shorter side of the matrix
/// is at most 256. Three N × M matrices of memory.
///
/// # Example
/// ```
/// use sparsemble::degradation::{Degradation, PerBlock, Projection};
/// use sparsemble::image::Size;
///
/// let projection: Projection = "orthonormal:measurements=16,seed=5".parse()?;
/// let phi = PerBlock::new(Size { width: 24, height: 16 }, 8, &projection.matrix::<f64>(64)?)?;
/// assert_eq!((phi.n_measurements(), phi.n_features()), (6 * 16, 6 * 64));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A, Eq. (14).
#[derive(Debug)]
pub struct PerBlock<T> {
    size: Size,
    side: usize,
    patch: Dense<T>,
    forwards: Panels<T>,
    backwards: Panels<T>,
}

impl<T: Scalar> PerBlock<T> {
    /// For pictures of this size and blocks of `side` × `side` pixels, which are the features of `patch`.
    ///
    /// # Errors
    /// If the sides of the picture are not multiples of `side`, or the number of features of `patch` is not its square.
    pub fn new(size: Size, side: usize, patch: &dyn Degradation<T>) -> Result<Self> {
        if side == 0 {
            return Err(Error::parameter("block side", side, "must be at least 1"));
        }
        if size.width == 0 || size.height == 0 {
            return Err(Error::Empty { what: "image", unit: "pixel" });
        }
        if !size.width.is_multiple_of(side) || !size.height.is_multiple_of(side) {
            let reason = format!("must have sides that are multiples of the block side, {side}; crop or pad the image");
            return Err(Error::parameter("image size", size, reason));
        }
        expect_size("phi: number of features (pixels of a block)", side.saturating_mul(side), patch.n_features())?;
        let patch = Dense::of(patch)?;
        let (rows, columns) = (patch.matrix().to_matrix(), patch.matrix().transposed().to_matrix());
        let (forwards, backwards) = (packed(&columns), packed(&rows));
        Ok(Self { size, side, patch, forwards, backwards })
    }

    /// The size of the pictures it is for.
    pub fn image_size(&self) -> Size {
        self.size
    }

    /// The side of a block.
    pub fn block_side(&self) -> usize {
        self.side
    }

    /// Blocks in a row.
    fn across(&self) -> usize {
        self.size.width / self.side
    }

    /// The lengths of a row of blocks: as pixels and as measurements.
    fn row_lengths(&self) -> (usize, usize) {
        (self.side * self.size.width, self.across() * self.patch.n_measurements())
    }

    fn expect_lengths(&self, features: &[T], measurements: &[T]) {
        assert_eq!(features.len(), self.n_features(), "number of features");
        assert_eq!(measurements.len(), self.n_measurements(), "number of measurements");
    }

    /// The rows of a block in a row of blocks, top to bottom.
    fn block_rows<'a>(&self, pixels: &'a [T], block: usize) -> impl Iterator<Item = &'a [T]> {
        let (start, side) = (block * self.side, self.side);
        pixels.chunks_exact(self.size.width).map(move |row| &row[start..start + side])
    }

    fn block_rows_mut<'a>(&self, pixels: &'a mut [T], block: usize) -> impl Iterator<Item = &'a mut [T]> {
        let (start, side) = (block * self.side, self.side);
        pixels.chunks_exact_mut(self.size.width).map(move |row| &mut row[start..start + side])
    }

    /// A row of blocks measured: the products in `out`, a slot a block.
    fn measure(&self, pixels: &[T], tiles: &mut Tiles<T>, out: &mut Store<T>) {
        tiles.clear();
        let mut column = Vec::with_capacity(self.patch.n_features());
        for block in 0..self.across() {
            column.clear();
            self.block_rows(pixels, block).for_each(|row| column.extend_from_slice(row));
            tiles.push(&column);
        }
        correlate(&self.forwards, tiles, out);
    }
}

/// The columns of a matrix as atoms.
fn packed<T: Scalar>(matrix: &Matrix<T>) -> Panels<T> {
    Panels::pack(best_level(), (matrix.rows(), matrix.columns()), |j| matrix.column(j), |_| T::ONE)
}

impl<T: Scalar> Degradation<T> for PerBlock<T> {
    fn n_features(&self) -> usize {
        self.size.width * self.size.height
    }

    fn n_measurements(&self) -> usize {
        self.across() * (self.size.height / self.side) * self.patch.n_measurements()
    }

    fn apply(&self, features: &[T], measurements: &mut [T]) {
        self.expect_lengths(features, measurements);
        let (pixels, values) = self.row_lengths();
        let mut tiles = Tiles::new(self.patch.n_features(), self.across());
        let mut measured = Store::new(&self.forwards, self.across());
        for (pixels, values) in features.chunks_exact(pixels).zip(measurements.chunks_exact_mut(values)) {
            self.measure(pixels, &mut tiles, &mut measured);
            for (block, values) in values.chunks_exact_mut(self.patch.n_measurements()).enumerate() {
                values.copy_from_slice(&measured.of(block)[..values.len()]);
            }
        }
    }

    fn adjoint(&self, measurements: &[T], features: &mut [T]) {
        self.expect_lengths(features, measurements);
        let (pixels, values) = self.row_lengths();
        let mut tiles = Tiles::new(self.patch.n_measurements(), self.across());
        let mut back = Store::new(&self.backwards, self.across());
        for (pixels, values) in features.chunks_exact_mut(pixels).zip(measurements.chunks_exact(values)) {
            tiles.clear();
            values.chunks_exact(self.patch.n_measurements()).for_each(|values| tiles.push(values));
            correlate(&self.backwards, &tiles, &mut back);
            for block in 0..self.across() {
                let rows = back.of(block).chunks_exact(self.side);
                self.block_rows_mut(pixels, block).zip(rows).for_each(|(row, back)| row.copy_from_slice(back));
            }
        }
    }

    fn reconcile(&self, measurements: &[T], mu: f64, features: &mut [T]) {
        self.expect_lengths(features, measurements);
        let Some(gains) = self.gains(mu) else {
            return conjugate::reconcile(self, measurements, mu, features);
        };
        self.reconcile_rows(&gains, measurements, features);
    }

    fn reconcile_on(&self, measurements: &[T], mu: f64, features: &mut [T], run: Run<'_>) -> Result<()> {
        self.expect_lengths(features, measurements);
        let Some(gains) = self.gains(mu) else {
            conjugate::reconcile(self, measurements, mu, features);
            return Ok(());
        };
        let (pixels, values) = self.row_lengths();
        let pieces = features.chunks_mut(ROWS * pixels).zip(measurements.chunks(ROWS * values));
        run.each(pieces, |(features, measurements)| {
            self.reconcile_rows(&gains, measurements, features);
            Ok(())
        })
    }
}

impl<T: Scalar> PerBlock<T> {
    /// What is added to a block for a unit of each residual, if the matrix is decomposed.
    fn gains(&self, mu: f64) -> Option<Panels<T>> {
        let (n, m) = (self.patch.n_measurements(), self.patch.n_features());
        Some(packed(&self.patch.singular()?.gains(n, m, mu)))
    }

    /// Reconciles some rows of blocks.
    fn reconcile_rows(&self, gains: &Panels<T>, measurements: &[T], features: &mut [T]) {
        let (n, m) = (self.patch.n_measurements(), self.patch.n_features());
        let (pixels, values) = self.row_lengths();
        let (mut tiles, mut residuals) = (Tiles::new(m, self.across()), Tiles::new(n, self.across()));
        let mut measured = Store::new(&self.forwards, self.across());
        let mut corrections = Store::new(gains, self.across());
        let mut residual = vec![T::ZERO; n];
        for (pixels, values) in features.chunks_exact_mut(pixels).zip(measurements.chunks_exact(values)) {
            self.measure(pixels, &mut tiles, &mut measured);
            residuals.clear();
            for (block, values) in values.chunks_exact(n).enumerate() {
                let measured = measured.of(block);
                residual.iter_mut().zip(values).zip(measured).for_each(|((r, &z), &measured)| *r = z - measured);
                residuals.push(&residual);
            }
            correlate(gains, &residuals, &mut corrections);
            for block in 0..self.across() {
                let corrections = corrections.of(block).chunks_exact(self.side);
                for (row, correction) in self.block_rows_mut(pixels, block).zip(corrections) {
                    row.iter_mut().zip(correction).for_each(|(pixel, &correction)| *pixel += correction);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::degradation::{Dense, Projection};
    use crate::image::GrayImage;
    use crate::patch::{PatchGrid, Stride};

    #[test]
    fn blocks_are_measured_in_the_order_of_patches() {
        let size = Size { width: 24, height: 16 };
        let image = GrayImage::from_fn(size, |row, column| (row * 31 + column * 17 % 23) as f64).unwrap();
        let projection: Projection = "gaussian:measurements=5".parse().unwrap();
        let patch: Dense<f64> = projection.matrix(64).unwrap();
        let phi = PerBlock::new(size, 8, &patch).unwrap();
        let mut measurements = vec![0.0; phi.n_measurements()];
        phi.apply(image.samples(), &mut measurements);
        let patches = PatchGrid::new(size, 8, Stride::NonOverlapping).unwrap().extract::<f64>(&image).unwrap();
        for (i, measured) in measurements.chunks_exact(5).enumerate() {
            let mut expected = [0.0; 5];
            patch.apply(patches.column(i), &mut expected);
            measured.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "block {i}"));
        }
    }

    #[test]
    fn threads_reconcile_to_the_same_bits() {
        let size = Size { width: 16, height: 8 * (2 * ROWS + 3) };
        let projection: Projection = "orthonormal:measurements=9,seed=2".parse().unwrap();
        let phi = PerBlock::new(size, 8, &projection.matrix::<f64>(64).unwrap()).unwrap();
        let image: Vec<f64> = (0..size.pixels()).map(|i| (i * 37 % 101) as f64).collect();
        let measurements: Vec<f64> = (0..phi.n_measurements()).map(|i| (i * 17 % 61) as f64).collect();
        let mut alone = image.clone();
        phi.reconcile(&measurements, 0.1, &mut alone);
        assert_ne!(alone, image);
        for threads in [1, 2, 3] {
            let mut found = image.clone();
            phi.reconcile_on(&measurements, 0.1, &mut found, Run::threads(threads)).unwrap();
            assert_eq!(found, alone);
        }
    }

    #[test]
    fn blocks_must_fill_the_picture_and_fit_phi() {
        let phi = Dense::new(Matrix::from_columns(vec![1.0; 16], 1, 16).unwrap().view()).unwrap();
        let message = |width, height, side| PerBlock::new(Size { width, height }, side, &phi).unwrap_err().to_string();
        assert!(message(9, 8, 4).contains("multiples of the block side, 4"));
        assert!(message(8, 8, 8).contains("phi: number of features (pixels of a block)"));
        assert!(message(8, 8, 0).contains("block side"));
        assert!(message(0, 8, 4).contains("image"));
    }
}
