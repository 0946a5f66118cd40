"""Pictures in another size."""

import math
import numbers
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemble import _native
from sparsemble._pictures import check_count, from_planes, to_planes
from sparsemble._run import running


def imresize(
    image: ArrayLike,
    size: float | tuple[int, int],
    *,
    method: Literal["bicubic", "lanczos3"] = "bicubic",
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Return a picture in another size, by the definition of MATLAB's `imresize`.

    To shrink, the kernel is widened, so that nothing is aliased. All figures of super-resolution begin with
    this function; other bicubics (of Pillow, OpenCV, SciPy, PyTorch) move them by up to a decibel.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The picture: uint8, uint16 or floats from 0 to 255.
    size : float, or tuple of two ints
        By which factor, the sides rounded up; or the new height and width.
    method : {"bicubic", "lanczos3"}, default="bicubic"
        The curve through the pixels.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`.

    Returns
    -------
    resized : ndarray of float64
        The picture in grey levels, neither rounded nor cut off at 0 and 255.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import imresize
    >>> ramp = np.tile(10.0 * np.arange(12.0), (8, 1))
    >>> imresize(ramp, 0.5).shape, imresize(ramp, (4, 6))[1, 3].round(6)
    ((4, 6), np.float64(65.0))
    """
    if method not in ("bicubic", "lanczos3"):
        raise ValueError(f"method={method!r} is not known; use 'bicubic' or 'lanczos3'")
    target = _target(size)
    planes = to_planes(image, any_unit=True)
    with running(n_threads, None, planes.size) as run:
        resized = _native.imresize(planes, target, method == "lanczos3", run)
    return from_planes(resized, np.shape(image))


def _target(size: Any) -> float | tuple[int, int]:
    if isinstance(size, numbers.Real):
        factor = float(size)
        if not (factor > 0 and math.isfinite(factor)):
            raise ValueError(f"size={size}: a factor must be positive and finite")
        return factor
    try:
        height, width = size
    except (TypeError, ValueError):
        raise TypeError(f"size={size!r}: must be a factor, or a height and a width") from None
    return check_count("size", height), check_count("size", width)
