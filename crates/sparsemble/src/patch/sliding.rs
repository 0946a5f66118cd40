//! All rectangular blocks of a matrix, one a column, in MATLAB's order.

use std::borrow::Cow;

use crate::error::{Error, Result, expect_size};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// How many blocks of `height` × `width` entries a matrix of these rows and columns has.
///
/// # Errors
/// If a block has no entry or does not fit.
pub fn n_sliding_blocks((rows, columns): (usize, usize), (height, width): (usize, usize)) -> Result<usize> {
    if height == 0 || height > rows {
        return Err(Error::parameter("block height", height, "must be between 1 and the rows of the matrix"));
    }
    if width == 0 || width > columns {
        return Err(Error::parameter("block width", width, "must be between 1 and the columns of the matrix"));
    }
    Ok((rows - height + 1) * (columns - width + 1))
}

/// Copies all blocks of `height` × `width` entries into `blocks`, one after the other.
///
/// Blocks follow each other down the columns of the matrix, and so do the entries of a block: `im2col` of MATLAB with
/// `'sliding'`. Squares of a picture in the order of its rows are those of a [`PatchGrid`](super::PatchGrid).
///
/// ```
/// use sparsemble::MatrixView;
/// use sparsemble::patch::sliding_blocks;
///
/// let picture = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]; // two rows: 1 2 3 and 4 5 6
/// let mut blocks = [0.0; 8];
/// sliding_blocks(MatrixView::from_columns(&picture, 2, 3)?, (2, 2), &mut blocks)?;
/// assert_eq!(blocks, [1.0, 4.0, 2.0, 5.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// # Errors
/// If a block has no entry or does not fit, or `blocks` has not the length of all of them.
pub fn sliding_blocks<T: Scalar>(
    matrix: MatrixView<'_, T>,
    (height, width): (usize, usize),
    blocks: &mut [T],
) -> Result<()> {
    let count = n_sliding_blocks((matrix.rows(), matrix.columns()), (height, width))?;
    expect_size("blocks: length", count * height * width, blocks.len())?;
    let down = matrix.rows() - height + 1;
    // Read in place where they can be: a copy takes a while beside blocks that are only copied too.
    let values = matrix.as_columns().map_or_else(|| Cow::Owned(matrix.to_matrix().into_vec()), Cow::Borrowed);
    let mut blocks = blocks.chunks_exact_mut(height * width);
    for left in 0..=matrix.columns() - width {
        for (top, block) in (0..down).zip(&mut blocks) {
            for (part, column) in block.chunks_exact_mut(height).zip(left..) {
                part.copy_from_slice(&values[column * matrix.rows() + top..][..height]);
            }
        }
    }
    Ok(())
}
