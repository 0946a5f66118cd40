//! Cutting a picture into patches and putting it together again.

use crate::error::{Error, Result, expect_size};
use crate::image::{GrayImage, Size};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// The distance from one patch to the next, across and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stride {
    /// Side by side: the side of the patch.
    NonOverlapping,
    /// This many pixels, from 1 (every position) to the side of the patch.
    Every(usize),
}

/// Where the patches of a picture lie.
///
/// The first patch is in the upper left corner, the others follow at the stride, row by row. Where the stride does not
/// end at the border, one more row or column of patches is set back to end there; so every pixel is covered, and
/// [`Self::assemble`] undoes [`Self::extract`] exactly.
///
/// ```
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::patch::{PatchGrid, Stride};
///
/// let image = GrayImage::from_fn(Size { width: 21, height: 10 }, |row, column| (row * column) as f64)?;
/// let grid = PatchGrid::new(image.size(), 8, Stride::NonOverlapping)?;
/// let patches = grid.extract::<f32>(&image)?; // Y: 64 features × 6 patches
/// assert_eq!((patches.rows(), patches.columns()), (64, 6));
/// assert_eq!(grid.assemble(patches.view())?, image);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchGrid {
    image: Size,
    side: usize,
    across: Axis,
    down: Axis,
}

impl PatchGrid {
    /// The grid of patches of `side` × `side` pixels over pictures of this size.
    ///
    /// # Errors
    /// If the side is zero or beyond the picture, or the stride is zero or leaves gaps.
    pub fn new(image: Size, side: usize, stride: Stride) -> Result<Self> {
        if side == 0 || side > image.width.min(image.height) {
            return Err(Error::parameter("patch side", side, "must be between 1 and the shorter side of the image"));
        }
        let step = match stride {
            Stride::NonOverlapping => side,
            Stride::Every(step) => step,
        };
        if step == 0 || step > side {
            return Err(Error::parameter("stride", step, "must be between 1 and the side of the patch"));
        }
        let (across, down) = (Axis::new(image.width, side, step), Axis::new(image.height, side, step));
        let entries = across.count.checked_mul(down.count).and_then(|count| count.checked_mul(side)?.checked_mul(side));
        if entries.is_none() {
            return Err(Error::parameter("image size", image, "has more patches than can be counted"));
        }
        Ok(Self { image, side, across, down })
    }

    /// The size of the pictures it is for.
    pub fn image_size(&self) -> Size {
        self.image
    }

    /// The number of pixels of a patch: M.
    pub fn n_features(&self) -> usize {
        self.side * self.side
    }

    /// The number of patches.
    pub fn n_patches(&self) -> usize {
        self.across.count * self.down.count
    }

    /// The row and column of the upper left pixel of each patch, in the order of the columns of [`Self::extract`].
    pub fn origins(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Self { across, down, .. } = *self;
        (0..down.count).flat_map(move |i| (0..across.count).map(move |j| (down.origin(i), across.origin(j))))
    }

    /// The patches of a picture in columns: `n_features × n_patches`.
    ///
    /// # Errors
    /// If the picture is not of the grid's size.
    pub fn extract<T: Scalar>(&self, image: &GrayImage) -> Result<Matrix<T>> {
        let mut patches = Matrix::zeros(self.n_features(), self.n_patches());
        self.extract_into(image, patches.as_mut_slice())?;
        Ok(patches)
    }

    /// [`Self::extract`] into memory of the caller, column after column.
    ///
    /// # Errors
    /// If the picture is not of the grid's size, or `patches` does not hold `n_features × n_patches` values.
    pub fn extract_into<T: Scalar>(&self, image: &GrayImage, patches: &mut [T]) -> Result<()> {
        image.expect_size(self.image)?;
        expect_size("patches: length", self.n_features() * self.n_patches(), patches.len())?;
        for (patch, origin) in patches.chunks_exact_mut(self.n_features()).zip(self.origins()) {
            copy_patch(image, origin, self.side, patch);
        }
        Ok(())
    }

    /// The picture of these patches, the mean where they overlap.
    ///
    /// # Errors
    /// If `patches` is not `n_features × n_patches`.
    pub fn assemble<T: Scalar>(&self, patches: MatrixView<'_, T>) -> Result<GrayImage> {
        expect_size("patches: number of features (pixels of a patch)", self.n_features(), patches.rows())?;
        expect_size("patches: number of patches (that of the grid)", self.n_patches(), patches.columns())?;
        // The mean is first + Σ (value − first) / n, not Σ value / n: where all patches agree nothing is rounded, so
        // assembling extracted patches gives back the very same bits.
        let mut first = vec![0.0; self.image.width * self.image.height];
        let mut excess = first.clone();
        let mut patch = vec![T::ZERO; self.n_features()];
        let (above, left) = (self.down.first_cover(), self.across.first_cover());
        for (index, (row, column)) in self.origins().enumerate() {
            patches.copy_column(index, &mut patch);
            for (r, values) in patch.chunks_exact(self.side).enumerate() {
                let start = (row + r) * self.image.width + column;
                for (c, value) in values.iter().enumerate() {
                    if above[row + r] == row && left[column + c] == column {
                        first[start + c] = value.to_f64();
                    } else {
                        excess[start + c] += value.to_f64() - first[start + c];
                    }
                }
            }
        }
        let (rows, columns) = (self.down.covers(), self.across.covers());
        GrayImage::from_fn(self.image, |row, column| {
            let pixel = row * self.image.width + column;
            first[pixel] + excess[pixel] / (rows[row] * columns[column]) as f64
        })
    }
}

/// Copies a patch of a picture into a column, row by row.
pub(crate) fn copy_patch<T: Scalar>(image: &GrayImage, (row, column): (usize, usize), side: usize, out: &mut [T]) {
    for (r, values) in out.chunks_exact_mut(side).enumerate() {
        for (value, &sample) in values.iter_mut().zip(&image.row(row + r)[column..column + side]) {
            *value = T::from_f64(sample);
        }
    }
}

/// The origins along one side of the picture: every `step` pixels, the last one where the patch ends at the border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    length: usize,
    side: usize,
    step: usize,
    count: usize,
}

impl Axis {
    fn new(length: usize, side: usize, step: usize) -> Self {
        Self { length, side, step, count: (length - side).div_ceil(step) + 1 }
    }

    fn origin(&self, index: usize) -> usize {
        (index * self.step).min(self.length - self.side)
    }

    /// How many patches lie over each pixel.
    fn covers(&self) -> Vec<usize> {
        let mut covers = vec![0; self.length];
        for index in 0..self.count {
            covers[self.origin(index)..][..self.side].iter_mut().for_each(|cover| *cover += 1);
        }
        covers
    }

    /// The origin of the first patch over each pixel.
    fn first_cover(&self) -> Vec<usize> {
        let mut origins = vec![0; self.length];
        for index in (0..self.count).rev() {
            origins[self.origin(index)..][..self.side].fill(self.origin(index));
        }
        origins
    }
}
