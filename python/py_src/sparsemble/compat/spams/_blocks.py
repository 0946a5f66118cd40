"""Blocks of pictures by SPAMS's name."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemble import _native
from sparsemble.compat.spams._arguments import count, rows_of


def im2col_sliding(A: ArrayLike, m: int, n: int, RGB: bool = False) -> NDArray[Any]:
    """Cut all blocks of m × n pixels out of a picture, one a column.

    Blocks follow each other down the columns of the picture, and so do the pixels of a block, as in MATLAB.

    Parameters
    ----------
    A : array-like of shape (height, width)
        The picture.
    m, n : int
        Height and width of a block.
    RGB : bool, default=False
        Whether the columns of `A` are red, green, blue, red, and so on; as in SPAMS, the blocks are then cut
        out of the three planes side by side.

    Returns
    -------
    blocks : ndarray of shape (m * n, n_blocks)
        The blocks, in Fortran order.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> spams.im2col_sliding(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 2, 2)
    array([[1., 2.],
           [4., 5.],
           [2., 3.],
           [5., 6.]])
    """
    picture = rows_of("A", A).T
    if RGB:
        picture = np.concatenate([picture[:, channel::3] for channel in range(3)], axis=1)
    m, n = count("m", m), count("n", n)
    if not (m <= picture.shape[0] and n <= picture.shape[1]):
        raise ValueError(f"m={m}, n={n}: blocks must fit into a picture of shape {picture.shape}")
    blocks = _native.sliding_blocks(np.asfortranarray(picture).T, (m, n))
    return blocks.T
