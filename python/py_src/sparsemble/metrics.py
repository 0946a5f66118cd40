"""How good a result is."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemble import _native


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
