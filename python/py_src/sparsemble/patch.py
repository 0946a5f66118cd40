"""Pictures in patches, and back."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from sparsemble import _native
from sparsemble._pictures import check_count, check_picture_shape, from_planes, to_planes
from sparsemble._validation import FLOATS, native


def extract_patches(image: ArrayLike, patch_size: int, *, stride: int = 1) -> NDArray[Any]:
    """Cut a picture into square patches, one a row.

    The first is in the upper left corner, the others follow at the stride, row by row. Where the stride does
    not end at the border, one more row or column of patches is set back to end there: every pixel is in a
    patch, and `assemble_patches` undoes this function exactly.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The picture: uint8, uint16 or floats from 0 to 255.
    patch_size : int
        The side of a patch, at most the shorter side of the picture.
    stride : int, default=1
        The pixels from one patch to the next, across and down, at most `patch_size`, which is side by side.

    Returns
    -------
    patches : ndarray of shape (n_patches, patch_size²), or (n_patches, 3·patch_size²) for colours
        The pixels of each patch row by row, as NumPy flattens an array. float32 for a picture in float32,
        else float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import assemble_patches, extract_patches
    >>> picture = np.arange(210.0).reshape(10, 21)
    >>> patches = extract_patches(picture, 8, stride=5)
    >>> patches.shape
    (8, 64)
    >>> bool((assemble_patches(patches, (10, 21), stride=5) == picture).all())
    True
    """
    planes = to_planes(image, any_unit=True)
    grid = _check_grid(planes.shape[1:], check_count("patch_size", patch_size), stride)
    single = np.asarray(image).dtype == np.float32
    channels = _native.extract_patches(planes, grid[2:], single)
    return channels[0] if len(channels) == 1 else np.stack(channels, axis=-1).reshape(len(channels[0]), -1)


def assemble_patches(patches: ArrayLike, shape: tuple[int, ...], *, stride: int = 1) -> NDArray[np.float64]:
    """Put patches together to a picture, with their mean where they overlap.

    Parameters
    ----------
    patches : array-like of shape (n_patches, n_pixels)
        Patches in the order and the form of `extract_patches`.
    shape : tuple of ints
        That of the picture: (height, width), or (height, width, 3) for colours.
    stride : int, default=1
        The pixels from one patch to the next.

    Returns
    -------
    image : ndarray of float64 of this shape
        The picture; where all patches agree, their very values.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import assemble_patches
    >>> left, right = np.zeros(4), np.full(4, 8.0)
    >>> assemble_patches([left, right], (2, 3))
    array([[0., 4., 8.],
           [0., 4., 8.]])
    """
    rows = check_array(native(patches), dtype=FLOATS, input_name="patches")
    check_picture_shape(f"shape={shape}", shape)
    n_channels = 3 if len(shape) == 3 else 1
    side = round((rows.shape[1] / n_channels) ** 0.5)
    if n_channels * side**2 != rows.shape[1]:
        raise ValueError(f"patches has {rows.shape[1]} columns, which is no square patch for shape={shape}")
    grid = _check_grid(shape[:2], side, stride)
    channels = rows.reshape(len(rows), side**2, n_channels)
    planes = [_native.assemble_patches(channels[:, :, channel], grid)[0] for channel in range(n_channels)]
    return from_planes(np.stack(planes), shape)


def _check_grid(shape: tuple[int, ...], side: int, stride: int) -> tuple[int, int, int, int]:
    """Return height, width, side and stride, or say which of them does not fit."""
    height, width = shape
    if side > min(height, width):
        raise ValueError(f"patches of {side} pixels do not fit into a picture of shape {(height, width)}")
    if check_count("stride", stride) > side:
        raise ValueError(f"stride={stride}: must be at most {side}, the side of a patch, to leave no gaps")
    return height, width, side, int(stride)
