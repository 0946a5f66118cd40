//! Compressive sensing of whole pictures, block by block, and their recovery at the level of the image (§IV-A).

use std::borrow::Cow;

use crate::blocks::Run;
use crate::degradation::{Degradation, Dense, PerBlock};
use crate::ensemble::{LocalGaussians, SampleMean, Seen};
use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, Size};
use crate::matrix::{Matrix, MatrixView};
use crate::patch::{PatchGrid, Stride, remove_means};

use super::blockwise::measure;
use super::image_level::{ImageLevel, Observation, Restored, expect_noise};
use super::prior::PicturePrior;
use super::tiles::{Tile, Tiling};

/// What a camera that measures blocks keeps of a picture: z = Φy for each block y, and nothing else.
///
/// A picture whose sides are no multiples of the block's is continued by its last row and column.
///
/// # Example
/// ```
/// use sparsemble::degradation::Projection;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::restoration::BlockMeasurements;
///
/// let image = GrayImage::from_fn(Size { width: 20, height: 9 }, |row, column| (row * column) as f64)?;
/// let phi = "orthonormal:measurements=16,seed=5".parse::<Projection>()?.matrix(64)?;
/// let sensed = BlockMeasurements::sense(&image, phi)?;
/// assert_eq!((sensed.values().rows(), sensed.values().columns()), (16, 6));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A, Eq. (14).
#[derive(Debug, Clone, PartialEq)]
pub struct BlockMeasurements {
    size: Size,
    side: usize,
    phi: Dense<f64>,
    values: Matrix<f64>,
}

impl BlockMeasurements {
    /// Measures a picture by Φ, whose features are the pixels of a square block.
    ///
    /// # Errors
    /// If the number of features is no square, or a sample is not finite.
    pub fn sense(image: &GrayImage, phi: Dense<f64>) -> Result<Self> {
        let side = side_of(&phi)?;
        let padded = padded(image.size(), side);
        let blocks = PatchGrid::new(padded, side, Stride::NonOverlapping)?.extract(&grown(image, padded)?)?;
        Ok(Self { size: image.size(), side, values: measure(&phi, blocks.view())?, phi })
    }

    /// How many blocks a picture of this size has that is measured by Φ.
    ///
    /// # Errors
    /// If the number of features is no square.
    pub fn n_blocks(size: Size, phi: &Dense<f64>) -> Result<usize> {
        let side = side_of(phi)?;
        Ok(size.width.div_ceil(side).saturating_mul(size.height.div_ceil(side)))
    }

    /// Measurements that were made elsewhere: one column for each block, the blocks row by row.
    ///
    /// # Errors
    /// If there are not as many blocks as the picture has, or rows as Φ has; if a value is not finite.
    pub fn new(size: Size, phi: Dense<f64>, values: MatrixView<'_, f64>) -> Result<Self> {
        let side = side_of(&phi)?;
        if size.width == 0 || size.height == 0 {
            return Err(Error::Empty { what: "image", unit: "pixel" });
        }
        let blocks = Self::n_blocks(size, &phi)?;
        expect_size("measurements: number of values of a block (that of phi)", phi.n_measurements(), values.rows())?;
        expect_size("measurements: number of blocks (that of the image)", blocks, values.columns())?;
        values.expect_finite("measurements")?;
        Ok(Self { size, side, phi, values: values.to_matrix() })
    }

    /// The size of the picture.
    pub fn image_size(&self) -> Size {
        self.size
    }

    /// The side of a block.
    pub fn block_side(&self) -> usize {
        self.side
    }

    /// Φ of a block, N × M.
    pub fn phi(&self) -> &Dense<f64> {
        &self.phi
    }

    /// z of each block, N × blocks.
    pub fn values(&self) -> MatrixView<'_, f64> {
        self.values.view()
    }

    /// The mean of every block of the picture that was measured, in their order: what side information would be.
    ///
    /// # Errors
    /// If the picture is of another size.
    pub fn block_means(&self, image: &GrayImage) -> Result<Vec<f64>> {
        image.expect_size(self.size)?;
        let padded = padded(self.size, self.side);
        let grid = PatchGrid::new(padded, self.side, Stride::NonOverlapping)?;
        Ok(remove_means(&mut grid.extract::<f64>(&grown(image, padded)?)?))
    }

    /// The same with the mean of every block as one more measurement of it.
    ///
    /// # Errors
    /// If there are not as many means as blocks, or one is not finite.
    pub fn with_means(&self, means: &[f64]) -> Result<Self> {
        expect_size("means: number of blocks (that of the measurements)", self.values.columns(), means.len())?;
        // A row of unit norm, like those of an orthonormal Φ, has the mean `side` times.
        let side = self.side as f64;
        let (rows, phi) = (self.phi.n_measurements(), self.phi.matrix().to_matrix());
        let entry = |r: usize, c: usize| if r < rows { phi.column(c)[r] } else { side.recip() };
        let phi = Matrix::from_fn(rows + 1, phi.columns(), entry);
        let value = |r: usize, i: usize| if r < rows { self.values.column(i)[r] } else { side * means[i] };
        let values = Matrix::from_fn(rows + 1, means.len(), value);
        Self::new(self.size, Dense::new(phi.view())?, values.view())
    }

    /// The picture that `restore` makes of what was seen of the one with whole blocks, tile by tile, cut to its size.
    pub(super) fn restore(
        &self,
        noise: f64,
        tiling: &Tiling,
        run: Run<'_>,
        mut restore: impl FnMut(&Tile, &Observation<'_>, Run<'_>) -> Result<Restored>,
    ) -> Result<Restored> {
        let size = padded(self.size, self.side);
        let Restored { mut image, deviation } = tiling.restore(size, self.side, run, |tile, run| {
            let phi = PerBlock::new(tile.size(), self.side, &self.phi)?;
            let measurements = self.values_of(tile, size);
            let seen = Observation { size: tile.size(), phi: &phi, measurements: &measurements, noise };
            restore(tile, &seen, run)
        })?;
        if tiling.cuts(size) && noise <= 0.0 {
            // Where one tile fades into another, each fits the data, but the two together need not.
            let mut samples = image.into_samples();
            let phi = PerBlock::new(size, self.side, &self.phi)?;
            phi.reconcile_on(self.values.as_slice(), 0.0, &mut samples, run)?;
            image = GrayImage::new(size, samples)?;
        }
        Ok(Restored { image: image.cropped((0, 0), self.size)?, deviation: deviation.cropped((0, 0), self.size)? })
    }

    /// What was measured of the blocks of a tile.
    fn values_of(&self, tile: &Tile, padded: Size) -> Cow<'_, [f64]> {
        if tile.size() == padded {
            return Cow::Borrowed(self.values.as_slice());
        }
        let (across, columns) = (padded.width / self.side, tile.columns());
        let rows = tile.rows().step_by(self.side).map(|row| row / self.side * across);
        let length = self.values.rows();
        let blocks = |row: usize| (row + columns.start / self.side) * length..(row + columns.end / self.side) * length;
        Cow::Owned(rows.flat_map(|row| &self.values.as_slice()[blocks(row)]).copied().collect())
    }

    /// Blocks as a picture, cut to its size.
    ///
    /// # Errors
    /// If they are not as many and as long as the blocks of the picture.
    pub fn assemble(&self, blocks: MatrixView<'_, f32>) -> Result<GrayImage> {
        let grid = PatchGrid::new(padded(self.size, self.side), self.side, Stride::NonOverlapping)?;
        grid.assemble(blocks)?.cropped((0, 0), self.size)
    }
}

/// Recovers pictures from block measurements without any side information.
///
/// Each block is estimated by local Gaussians first; then prior and data take their turns on the whole picture.
///
/// | field | symbol | default | purpose |
/// | --- | --- | --- | --- |
/// | `noise` | σ_z | 0 | the standard deviation of the noise in the measurements |
/// | `level` | | σ from 2 to 0.2 | the turns; their noise is in units of the error that is expected of the first estimate |
///
/// # Example
/// ```
/// # #[cfg(feature = "io")] {
/// use sparsemble::Run;
/// use sparsemble::degradation::Projection;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::{BlockMeasurements, BothPriors, CompressiveRecovery, natural_gaussians};
///
/// let size = Size { width: 40, height: 32 };
/// let image = GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.3 * row as f64 + 0.1 * column as f64).sin())?;
/// let phi = "orthonormal:measurements=16,seed=5".parse::<Projection>()?.matrix(64)?;
/// let sensed = BlockMeasurements::sense(&image, phi)?;
///
/// let (recovery, gaussians) = (CompressiveRecovery::default(), natural_gaussians()?);
/// let blocks = recovery.first_estimate(&sensed, &gaussians, Run::default())?;
/// let prior = &mut BothPriors::new(gaussians.clone());
/// let recovered = recovery.recover(&sensed, &gaussians, prior, Run::default())?;
/// assert!(psnr(&image, &recovered.image)? > psnr(&image, &blocks.image)?);
/// # }
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompressiveRecovery {
    /// The standard deviation of the noise in the measurements.
    pub noise: f64,
    /// The turns of prior and data, with noise in units of the error expected of the first estimate.
    pub level: ImageLevel,
}

impl Default for CompressiveRecovery {
    fn default() -> Self {
        Self { noise: 0.0, level: ImageLevel { first_noise: 2.0, last_noise: 0.2, ..ImageLevel::default() } }
    }
}

/// A first estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstEstimate {
    /// The picture.
    pub image: GrayImage,
    /// How far from the truth a pixel is expected to be: the root of the mean square.
    pub expected_error: f64,
}

impl CompressiveRecovery {
    /// Every block by itself.
    ///
    /// # Errors
    /// If the Gaussians are of another size of block, the noise is not zero or more, or the run was interrupted.
    pub fn first_estimate(
        &self,
        measurements: &BlockMeasurements,
        gaussians: &LocalGaussians<f32>,
        run: Run<'_>,
    ) -> Result<FirstEstimate> {
        expect_noise("noise", self.noise)?;
        let phi = Dense::new(measurements.phi.matrix().converted().view())?;
        let noise = self.noise.max(LEAST_ERROR * measured_level(&measurements.phi));
        let seen = Seen { phi: Some(&phi), noise, mean: SampleMean::Unknown };
        let estimate = gaussians.estimator(&seen, run)?.estimate(measurements.values().converted().view(), run)?;
        let squares: f64 = estimate.spread.iter().map(|spread| spread * spread).sum();
        let entries = estimate.values.rows() * estimate.values.columns();
        let image = measurements.assemble(estimate.values.view())?;
        Ok(FirstEstimate { image, expected_error: (squares / entries as f64).sqrt() })
    }

    /// The picture.
    ///
    /// # Errors
    /// As [`first_estimate`](Self::first_estimate), and those of [`ImageLevel::restore`].
    pub fn recover(
        &self,
        measurements: &BlockMeasurements,
        gaussians: &LocalGaussians<f32>,
        prior: &mut dyn PicturePrior,
        run: Run<'_>,
    ) -> Result<Restored> {
        self.recover_by_tiles(measurements, gaussians, prior, &Tiling::default(), run)
    }

    fn recover_by_tiles(
        &self,
        measurements: &BlockMeasurements,
        gaussians: &LocalGaussians<f32>,
        prior: &mut dyn PicturePrior,
        tiling: &Tiling,
        run: Run<'_>,
    ) -> Result<Restored> {
        let first = self.first_estimate(measurements, gaussians, run.silent())?;
        let error = first.expected_error.max(LEAST_ERROR);
        let level = ImageLevel {
            first_noise: self.level.first_noise * error,
            last_noise: self.level.last_noise * error,
            ..self.level
        };
        let start = grown(&first.image, padded(measurements.size, measurements.side))?;
        drop(first);
        measurements
            .restore(self.noise, tiling, run, |tile, seen, run| level.restore(seen, tile.of(&start)?, prior, run))
    }
}

/// What is never known better than this, in grey levels: pictures are rounded, and models of them are no more exact.
const LEAST_ERROR: f64 = 1.0;

/// What white noise of one grey level in the picture is in a measurement: the root mean square of the norms of Φ's rows.
fn measured_level(phi: &Dense<f64>) -> f64 {
    let squares: f64 = phi.matrix().to_matrix().as_slice().iter().map(|entry| entry * entry).sum();
    (squares / phi.n_measurements() as f64).sqrt()
}

fn side_of(phi: &Dense<f64>) -> Result<usize> {
    let side = phi.n_features().isqrt();
    if side * side == phi.n_features() {
        return Ok(side);
    }
    Err(Error::parameter("phi: number of features", phi.n_features(), "must be that of a square block, such as 64"))
}

/// The size with whole blocks.
fn padded(size: Size, side: usize) -> Size {
    Size { width: size.width.next_multiple_of(side), height: size.height.next_multiple_of(side) }
}

/// The picture continued by its last row and column.
fn grown(image: &GrayImage, size: Size) -> Result<GrayImage> {
    let last = image.size();
    GrayImage::from_fn(size, |row, column| image.row(row.min(last.height - 1))[column.min(last.width - 1)])
}

#[cfg(all(test, feature = "io"))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::degradation::Projection;
    use crate::image::read;
    use crate::metrics::psnr;
    use crate::restoration::{BothPriors, natural_gaussians};

    #[test]
    fn tiles_fit_the_data_and_are_as_good_as_the_whole() {
        let photo = read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0/camera.png")).unwrap();
        let photo = photo.cropped((90, 170), Size { width: 203, height: 140 }).unwrap();
        let phi = "orthonormal:measurements=16,seed=3".parse::<Projection>().unwrap().matrix(64).unwrap();
        let measurements = BlockMeasurements::sense(&photo, phi).unwrap();
        let (recovery, gaussians) = (CompressiveRecovery::default(), natural_gaussians().unwrap());
        let recover = |tiling: Tiling, threads: usize| {
            let prior = &mut BothPriors::new(gaussians.clone());
            recovery.recover_by_tiles(&measurements, &gaussians, prior, &tiling, Run::threads(threads)).unwrap()
        };
        let whole = recover(Tiling::default(), 2);
        let small = Tiling { whole: 1000, longest: 80, margin: 32 };
        let tiled = recover(small, 1);
        assert_eq!(recover(small, 3), tiled);
        assert!(tiled != whole && tiled.image.size() == photo.size() && tiled.deviation.size() == photo.size());

        let [one, many] = [&whole, &tiled].map(|found| psnr(&photo, &found.image).unwrap());
        assert!(many > one - 0.1, "{many} dB in tiles, {one} dB without");
        let again = BlockMeasurements::sense(&tiled.image, measurements.phi.clone()).unwrap();
        let blocks = again.values.as_slice().iter().zip(measurements.values.as_slice());
        // The last row and column of blocks are cut, and continued otherwise than they were recovered.
        let inner = |i: usize| i % 26 < 25 && i / 26 < 17;
        for (i, (a, b)) in blocks.enumerate().filter(|(i, _)| inner(i / 16)) {
            assert!((a - b).abs() < 1e-6, "measurement {i}: {a} for {b}");
        }
    }
}
