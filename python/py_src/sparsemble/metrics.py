"""How good a result is."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemble import _native
from sparsemble._pictures import (
    check_count,
    check_finite,
    check_picture_shape,
    to_planes,
    warn_of_small_unit,
)
from sparsemble._run import running


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the share of samples whose cluster is matched with their class.

    Each class is matched with another cluster, so that the most samples are right. With more clusters than
    classes, or fewer, the samples of those that are left over are wrong.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers or texts.
    labels_pred : array-like of shape (n_samples,)
        Its cluster. What clusters are called does not matter.

    Returns
    -------
    accuracy : float
        From 0 to 1.

    Examples
    --------
    >>> from sparsemble import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [7, 7, 3, 7])
    0.75
    """
    return _native.agreement(*_numbered(labels_true, labels_pred))[0]


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the normalised mutual information I / ((H₁ + H₂) / 2) of classes and clusters.

    The normaliser is the mean of the two entropies, as in scikit-learn; papers that take their geometric
    mean or the larger one have other figures.

    Parameters
    ----------
    labels_true, labels_pred
        As for `clustering_accuracy`; the order of the two does not matter.

    Returns
    -------
    information : float
        From 0 to 1; 1 if both are the same partition.

    Examples
    --------
    >>> from sparsemble import nmi
    >>> round(nmi([0, 0, 1, 1], [5, 5, 4, 5]), 4)
    0.3437
    """
    return _native.agreement(*_numbered(labels_true, labels_pred))[1]


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the adjusted Rand index: the share of pairs of samples on which classes and clusters agree.

    It is adjusted such that chance gives 0.

    Parameters
    ----------
    labels_true, labels_pred
        As for `clustering_accuracy`; the order of the two does not matter.

    Returns
    -------
    index : float
        At most 1, which is the same partition; below 0 for less agreement than by chance.

    Examples
    --------
    >>> from sparsemble import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _native.agreement(*_numbered(labels_true, labels_pred))[2]


def psnr(reference: ArrayLike, image: ArrayLike, *, shave: int = 0, brightness: bool = False) -> float:
    """Return the peak signal-to-noise ratio 10·log₁₀(255² / MSE) of two pictures, in decibels.

    Published figures of super-resolution are of 8-bit pictures, by their brightness and without a border as
    wide as the scale: ``psnr(a, b, brightness=True, shave=2)``.

    Parameters
    ----------
    reference, image : array-like of shape (height, width) or (height, width, 3)
        Pictures of one shape: uint8, uint16 or floats from 0 to 255, which are compared as they are.
    shave : int, default=0
        The pixels at each border that do not count.
    brightness : bool, default=False
        Compare the brightness of colours (Y of BT.601 in studio range, in whole levels) in the place of red,
        green and blue; grey in whole levels.

    Returns
    -------
    decibels : float
        Infinite for equal pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import psnr
    >>> round(psnr(np.zeros((8, 8)), np.full((8, 8), 25.5)), 6)
    20.0
    """
    truth, found = np.asarray(reference), np.asarray(image)
    alike = truth.dtype == found.dtype and truth.shape == found.shape
    if alike and truth.dtype in (np.uint8, np.float64) and not (shave or brightness):
        return _psnr_of_all(truth, found)
    planes, counted = _compared(truth, found, shave, brightness)
    return _native.psnr(*planes, counted)


def ssim(
    reference: ArrayLike,
    image: ArrayLike,
    *,
    shave: int = 0,
    brightness: bool = False,
    n_threads: int | None = None,
) -> float:
    """Return the mean structural similarity of two pictures (Wang, Bovik, Sheikh and Simoncelli, 2004).

    With the settings of its authors: a Gaussian window of 11 × 11 pixels with a deviation of 1.5, over all
    windows inside the picture; the mean of the colours.

    Parameters
    ----------
    reference, image, shave, brightness
        As for `psnr`; at least 11 pixels must be left each way.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`.

    Returns
    -------
    similarity : float
        1 for equal pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import ssim
    >>> picture = np.arange(256.0).reshape(16, 16)
    >>> round(ssim(picture, picture), 6)
    1.0
    """
    planes, counted = _compared(reference, image, shave, brightness)
    with running(n_threads, None, planes[0].size) as run:
        return float(np.mean(_native.ssim(*planes, counted, run)))


def _psnr_of_all(truth: NDArray[Any], found: NDArray[Any]) -> float:
    """Compare pictures of one shape as they lie: planes would take longer to make than to compare."""
    check_picture_shape(f"image has shape {found.shape}", found.shape)
    warn_of_small_unit([truth, found], stacklevel=4)
    try:
        return _native.psnr_of_all((truth.ravel(), found.ravel()))
    except ValueError:
        check_finite("reference", truth)
        check_finite("image", found)
        raise


def _compared(
    reference: ArrayLike, image: ArrayLike, shave: int, brightness: bool
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], tuple[int, bool]]:
    truth, found = to_planes(reference, any_unit=True, name="reference"), to_planes(image, any_unit=True)
    warn_of_small_unit([np.asarray(reference), np.asarray(image)], stacklevel=4)
    if truth.shape != found.shape:
        raise ValueError(
            f"reference has shape {np.shape(reference)} and image {np.shape(image)}; they must be the same"
        )
    shave = check_count("shave", shave, least=0)
    if 2 * shave >= min(truth.shape[1:]):
        raise ValueError(f"shave={shave}: leaves nothing of pictures of shape {np.shape(reference)}")
    return (truth, found), (shave, bool(brightness))


def _numbered(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return labels of any kind as numbers."""
    classes, clusters = np.asarray(labels_true), np.asarray(labels_pred)
    for name, labels in (("labels_true", classes), ("labels_pred", clusters)):
        if labels.ndim != 1 or len(labels) == 0:
            raise ValueError(f"{name} has shape {labels.shape}; it must hold a label for each sample")
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} labels and labels_pred {len(clusters)}; "
            "each sample needs one of both"
        )
    return _numbers(classes), _numbers(clusters)


def _numbers(labels: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
