"""Restoration of pictures: noise, holes and blur taken out, and whatever else an operator does to them.

Pictures are arrays of shape `(height, width)`, or `(height, width, 3)` for colours, each of which is
restored by itself. Intensities are grey levels with black 0 and white 255: those of uint8 are taken as they
are, those of uint16 are divided by 257, and **floats are grey levels too**, not numbers from 0 to 1. What
comes back is float64, neither rounded nor clipped; ``result.clip(0, 255).round().astype(np.uint8)`` can be
stored.
"""

import numbers
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from sparsemble import _native
from sparsemble._pictures import (
    check_count,
    check_finite,
    check_large_enough,
    check_noise,
    from_planes,
    to_missing,
    to_planes,
)
from sparsemble._run import Progress, RunOptions, running
from sparsemble.degradation import Operator

Restored = tuple[NDArray[np.float64], NDArray[np.float64]]


def denoise(
    image: ArrayLike,
    sigma: float,
    *,
    return_std: bool = False,
    n_threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Take white noise out of a picture.

    Like patches of the picture are grouped, and each group is estimated as a Gaussian of its own.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The noisy picture: uint8, uint16 (divided by 257), or floats with black 0 and white 255. Both sides
        are at least 8 pixels.
    sigma : float
        The standard deviation of the noise, in grey levels of 0 to 255.
    return_std : bool, default=False
        Also return how far from the truth each pixel may be.
    n_threads : int, optional
        Exactly this many threads; -1 is all cores, -2 all but one. None is all cores, or as many as
        ``OMP_NUM_THREADS`` says. The result is the same bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar. A function is called with ``(done, total)``, in pixels, several times a
        second and once at the end; an exception it raises stops the call.

    Returns
    -------
    restored : ndarray of float64 of the shape of `image`
        The picture, black 0 and white 255, neither rounded nor clipped.
    std : ndarray of float64 of the shape of `image`
        Only if `return_std`: an estimate of the standard deviation of the error of each pixel, from what the
        Gaussians of the groups it is in leave unknown of it. It is no bound.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import denoise
    >>> rows, columns = np.indices((48, 64))
    >>> clean = np.where((rows + 2 * columns) % 24 < 12, 60.0, 180.0)
    >>> noisy = clean + np.random.default_rng(0).normal(0, 25, clean.shape)
    >>> restored = denoise(noisy, 25)
    >>> def error(picture):
    ...     return np.sqrt(np.mean((picture - clean) ** 2))
    >>> bool(error(restored) < error(noisy) / 2)
    True
    """
    noise = check_noise("sigma", sigma)
    planes = to_planes(image)
    return _restored(
        np.shape(image),
        lambda run: _native.denoise(planes, noise, run),
        return_std=return_std,
        n_threads=n_threads,
        progress=progress,
    )


def inpaint(
    image: ArrayLike,
    mask: ArrayLike,
    noise: float = 0.0,
    *,
    return_std: bool = False,
    n_threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Fill in the missing pixels of a picture.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The picture, in the scales of `denoise`. Missing pixels may have any value, also NaN.
    mask : bool array of shape (height, width) or that of `image`
        True where pixels are missing, as in scikit-image; for all colours, or for each.
    noise : float, default=0
        The standard deviation of the noise in the known pixels, in grey levels of 0 to 255. Without noise
        they stay as they are; with noise they are restored too.
    return_std, n_threads, progress
        As for `denoise`.

    Returns
    -------
    restored : ndarray of float64 of the shape of `image`
        The picture, black 0 and white 255, neither rounded nor clipped.
    std : ndarray of float64 of the shape of `image`
        Only if `return_std`: an estimate of the standard deviation of the error around each pixel. It is
        no bound: from the surest pixels to the least sure it is about right, within a factor of two.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import inpaint
    >>> rows, columns = np.indices((32, 32))
    >>> clean = 128 + 60 * np.sin(0.3 * rows + 0.2 * columns)
    >>> missing = np.random.default_rng(0).random(clean.shape) < 0.5
    >>> restored = inpaint(np.where(missing, np.nan, clean), missing)
    >>> bool((restored[~missing] == clean[~missing]).all())
    True
    >>> bool(np.abs(restored - clean).max() < 10)
    True
    """
    deviation = check_noise("noise", noise)
    missing = to_missing(mask, np.shape(image))
    planes = to_planes(image, missing)
    seen = (~missing).view(np.uint8)
    return _restored(
        np.shape(image),
        lambda run: _native.inpaint(planes, seen, deviation, run),
        return_std=return_std,
        n_threads=n_threads,
        progress=progress,
    )


def deblur(
    image: ArrayLike,
    kernel: ArrayLike,
    noise: float = 1.0,
    *,
    return_std: bool = False,
    n_threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Undo a known blur.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The blurred picture, in the scales of `denoise`.
    kernel : float or array-like of shape (odd, odd)
        The standard deviation of a Gaussian, in pixels; or any kernel, with the pixel itself in its middle,
        which is scaled to sum to 1, with a warning if it did not.
        The picture was convolved with it and mirrored at its border, as by ``scipy.ndimage.convolve``.
    noise : float, default=1
        The standard deviation of the noise that came after the blur, in grey levels of 0 to 255. At least
        that of rounding to whole grey levels is assumed, 0.3.
    return_std, n_threads, progress
        As for `denoise`.

    Returns
    -------
    restored : ndarray of float64 of the shape of `image`
        The picture, black 0 and white 255, neither rounded nor clipped.
    std : ndarray of float64 of the shape of `image`
        Only if `return_std`: an estimate of the standard deviation of the error around each pixel. It is
        no bound: from the surest pixels to the least sure it is about right, within a factor of two.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.ndimage import gaussian_filter
    >>> from sparsemble import deblur
    >>> rows, columns = np.indices((32, 48))
    >>> clean = np.where((rows + columns) % 16 < 8, 60.0, 180.0)
    >>> blurred = gaussian_filter(clean, 1.2)
    >>> restored = deblur(blurred, 1.2)
    >>> bool(np.abs(restored - clean).mean() < 0.7 * np.abs(blurred - clean).mean())
    True
    """
    deviation = check_noise("noise", noise)
    blur = _check_kernel(kernel)
    planes = to_planes(image)
    return _restored(
        np.shape(image),
        lambda run: _native.deblur(planes, blur, deviation, run),
        return_std=return_std,
        n_threads=n_threads,
        progress=progress,
    )


def restore(
    measurements: ArrayLike,
    operator: LinearOperator,
    noise: float = 0.0,
    *,
    shape: tuple[int, int] | None = None,
    return_std: bool = False,
    n_threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Restore a picture from what an operator has left of it.

    ======================= =========================================================================
    operator                what is done
    ======================= =========================================================================
    identity                `denoise`
    mask                    `inpaint`
    blur                    `deblur`
    projections             the recovery of `CompressiveRecovery`
    anything else           turns of a prior and of the measurements, starting from an even picture
    ======================= =========================================================================

    Parameters
    ----------
    measurements : array-like of shape ``operator.output_shape``, or ``(*operator.output_shape, 3)``
        z = Φy + noise: what ``operator.apply`` makes of a picture with black 0 and white 255, or in colours
        of each of them. Integers are taken as they are, whatever their dtype.
    operator : Operator, or any LinearOperator of SciPy
        Φ, for pictures of this height and width. One of SciPy measures a picture as a vector, row by row, and
        needs `shape`; what it measures is a vector too. It is asked from the thread of the caller.
    noise : float, default=0
        The standard deviation of the noise in the measurements, in grey levels of 0 to 255.
    shape : (int, int), optional
        Height and width of the picture, for an operator of SciPy; an `Operator` knows them.
    return_std, n_threads, progress
        As for `denoise`.

    Returns
    -------
    restored : ndarray of float64 of shape (height, width), or (height, width, 3)
        The picture, black 0 and white 255, neither rounded nor clipped.
    std : ndarray of float64 of the same shape
        Only if `return_std`: an estimate of the standard deviation of the error around each pixel.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import Operator, restore
    >>> rows, columns = np.indices((32, 48))
    >>> image = 128 + 60 * np.sin(0.2 * rows + 0.1 * columns)
    >>> operator = Operator("blur:sigma=1,decimate=2", image.shape)
    >>> small = operator.apply(image)
    >>> restored = restore(small, operator, noise=0.5)
    >>> small.shape, restored.shape
    ((16, 24), (32, 48))
    >>> bool(np.abs(restored - image).mean() < 1)
    True
    """
    deviation = check_noise("noise", noise)
    size, measured = _shapes(operator, shape)
    values = np.asarray(measurements, dtype=np.float64)
    if values.shape not in (measured, (*measured, 3)) or values.size == 0:
        raise ValueError(f"measurements has shape {values.shape}; what {operator!r} measures has {measured}")
    check_finite("measurements", values)
    colours = values.shape[len(measured) :]
    planes = np.ascontiguousarray(values.reshape(operator.shape[0], -1).T)

    def work(run: RunOptions) -> Restored:
        if isinstance(operator, Operator):
            return _native.restore(planes, operator._phi, size, deviation, run)
        ways = (operator.matvec, operator.rmatvec)
        ways[1](ways[0](np.zeros(operator.shape[1])))  # what does not work at all is seen before the work
        return _native.restore_linear(planes, ways, size, deviation, run)

    return _restored((*size, *colours), work, return_std=return_std, n_threads=n_threads, progress=progress)


def _shapes(
    operator: LinearOperator, shape: tuple[int, int] | None
) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Return the shape of the picture and that of what is measured of it."""
    if isinstance(operator, Operator):
        if len(operator.input_shape) != 2:
            raise ValueError(
                f"{operator!r} is for samples; make one for a picture, with shape (height, width)"
            )
        if shape not in (None, operator.input_shape):
            raise ValueError(f"shape={shape}: {operator!r} is for another; leave it out")
        return operator.input_shape, operator.output_shape
    if not isinstance(operator, LinearOperator):
        raise TypeError(
            f"operator is of type {type(operator).__name__}; it must be a sparsemble.Operator, which "
            "Operator.from_matrix makes of a matrix, or a LinearOperator of SciPy"
        )
    if shape is None:
        raise ValueError(f"shape: give the height and width of the picture that {operator!r} measures")
    size = (check_count("shape", shape[0]), check_count("shape", shape[1]))
    if size[0] * size[1] != operator.shape[1]:
        raise ValueError(f"shape={shape}: {operator!r} measures {operator.shape[1]} pixels")
    return size, (operator.shape[0],)


def _restored(
    shape: tuple[int, ...],
    work: Callable[[RunOptions], Restored],
    *,
    return_std: bool,
    n_threads: int | None,
    progress: Progress,
) -> Any:
    """Run a restoration of a picture of this shape, and give back what was asked for."""
    check_large_enough(shape)
    with running(n_threads, progress, int(np.prod(shape))) as run:
        images, deviations = work(run)
    restored = from_planes(images, shape)
    return (restored, from_planes(deviations, shape)) if return_std else restored


def _check_kernel(kernel: ArrayLike) -> float | NDArray[np.float64]:
    if isinstance(kernel, numbers.Real):
        return float(kernel)
    taps = np.asarray(kernel, dtype=np.float64)
    if taps.ndim != 2:
        raise ValueError(
            f"kernel has shape {taps.shape}; it must have two dimensions, or be the width of a Gaussian"
        )
    check_finite("kernel", taps)
    total = float(taps.sum())
    if not total > 1e-9 * float(np.abs(taps).sum()):
        raise ValueError(f"kernel sums to {total:g}; a blur keeps the brightness, so it must be positive")
    if abs(total - 1.0) > 1e-3:
        warnings.warn(
            f"kernel sums to {total:g}, which would change the brightness of a picture; it is scaled to 1",
            UserWarning,
            stacklevel=3,
        )
    return taps / total if abs(total - 1.0) > 1e-12 else taps
