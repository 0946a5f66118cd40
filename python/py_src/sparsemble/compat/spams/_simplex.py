"""Convex combinations by SPAMS's name."""

from numpy.typing import ArrayLike
from scipy.sparse import csc_matrix

from sparsemble import _native
from sparsemble._run import running
from sparsemble.compat.spams._arguments import naming_columns, rows_of, threads


def decompSimplex(X: ArrayLike, Z: ArrayLike, computeXtX: bool = False, numThreads: int = -1) -> csc_matrix:
    """Find the point of the convex hull of the columns of `Z` that is nearest to each column of `X`.

    This is the minimum of ‖x − Za‖² with a ≥ 0 and Σa = 1.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Signals, one a column.
    Z : array-like of shape (m, p)
        Points, one a column.
    computeXtX : bool, default=False
        Without effect.
    numThreads : int, default=-1
        Exactly this many threads; -1 is all cores.

    Returns
    -------
    A : csc_matrix of shape (p, n)
        The weights of the points.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> spams.decompSimplex([[1.0], [-3.0]], [[0.0, 2.0, 1.0], [0.0, 0.0, 5.0]]).toarray()
    array([[0.5],
           [0.5],
           [0. ]])
    """
    samples, points = rows_of("X", X), rows_of("Z", Z)
    if samples.shape[1] != points.shape[1]:
        raise ValueError(f"X has {samples.shape[1]} rows and Z {points.shape[1]}; they must have as many")
    with running(threads(numThreads), None, len(samples)) as run, naming_columns(samples):
        weights = _native.simplex_weights(samples, points.astype(samples.dtype), run)
    return csc_matrix(weights, shape=(len(points), len(samples)))
