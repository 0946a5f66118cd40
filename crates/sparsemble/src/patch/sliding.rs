//! All rectangular blocks of a matrix, one a column, in MATLAB's order.

use std::borrow::Cow;

use fearless_simd::dispatch;

use crate::error::{Error, Result, expect_size};
use crate::kernels::best_level;
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

/// Copies all blocks of this height and width into `blocks`, one after the other.
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
pub fn sliding_blocks<T: Scalar>(matrix: MatrixView<'_, T>, block: (usize, usize), blocks: &mut [T]) -> Result<()> {
    (T::instances().sliding_blocks)(matrix, block, blocks)
}

/// [`sliding_blocks`]; see [`crate::instances`].
pub(crate) fn sliding_blocks_here<T: Scalar>(
    matrix: MatrixView<'_, T>,
    (height, width): (usize, usize),
    blocks: &mut [T],
) -> Result<()> {
    let count = n_sliding_blocks((matrix.rows(), matrix.columns()), (height, width))?;
    expect_size("blocks: length", count * height * width, blocks.len())?;
    // Read in place where they can be: a copy takes a while beside blocks that are only copied too.
    let values = matrix.as_columns().map_or_else(|| Cow::Owned(matrix.to_matrix().into_vec()), Cow::Borrowed);
    dispatch!(best_level(), _simd => copy_blocks(&values, matrix.rows(), (height, width), blocks));
    Ok(())
}

/// The usual heights are known when this is compiled: a column of a block is then a few moves, not a call of `memcpy`,
/// which takes longer than what it copies here.
#[inline(always)]
fn copy_blocks<T: Scalar>(values: &[T], rows: usize, (height, width): (usize, usize), blocks: &mut [T]) {
    match height {
        4 => copy_blocks_of::<T, 4>(values, rows, width, blocks),
        5 => copy_blocks_of::<T, 5>(values, rows, width, blocks),
        6 => copy_blocks_of::<T, 6>(values, rows, width, blocks),
        7 => copy_blocks_of::<T, 7>(values, rows, width, blocks),
        8 => copy_blocks_of::<T, 8>(values, rows, width, blocks),
        9 => copy_blocks_of::<T, 9>(values, rows, width, blocks),
        10 => copy_blocks_of::<T, 10>(values, rows, width, blocks),
        12 => copy_blocks_of::<T, 12>(values, rows, width, blocks),
        16 => copy_blocks_of::<T, 16>(values, rows, width, blocks),
        _ => each_block(values, (rows, height, width), blocks, |block, columns| {
            for (part, column) in block.chunks_exact_mut(height).zip(columns.chunks(rows)) {
                part.copy_from_slice(&column[..height]);
            }
        }),
    }
}

#[inline(always)]
fn copy_blocks_of<T: Scalar, const HEIGHT: usize>(values: &[T], rows: usize, width: usize, blocks: &mut [T]) {
    each_block(values, (rows, HEIGHT, width), blocks, |block, columns| {
        for (part, column) in block.as_chunks_mut::<HEIGHT>().0.iter_mut().zip(columns.chunks(rows)) {
            if let Some(column) = column.first_chunk() {
                *part = *column;
            }
        }
    });
}

/// Hands each block to `copy`, with the columns it is cut from, beginning at its first entry.
#[inline(always)]
fn each_block<T>(
    values: &[T],
    (rows, height, width): (usize, usize, usize),
    blocks: &mut [T],
    copy: impl Fn(&mut [T], &[T]),
) {
    for (left, blocks) in blocks.chunks_exact_mut((rows - height + 1) * height * width).enumerate() {
        let columns = &values[left * rows..][..width * rows];
        for (top, block) in blocks.chunks_exact_mut(height * width).enumerate() {
            copy(block, &columns[top..]);
        }
    }
}
