"""Greedy codes by SPAMS's names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_matrix

from sparsemble.compat.spams._arguments import (
    count,
    divided,
    encode,
    expect_defaults,
    multiplied,
    observed_share,
)


def omp(
    X: ArrayLike,
    D: ArrayLike,
    L: int | ArrayLike | None = None,
    eps: float | ArrayLike | None = None,
    lambda1: Any = None,
    return_reg_path: bool = False,
    numThreads: int = -1,
) -> Any:
    """Choose atoms greedily for each column of `X`, until there are `L` or ‖x − Da‖² ≤ `eps`.

    Each atom is the one that then leaves the least error (order-recursive matching pursuit), as in SPAMS.

    Parameters
    ----------
    X, D
        Signals and atoms, as for `lasso`.
    L : int or array-like of int of shape (n,), optional
        The most atoms, for all signals or for each.
    eps : float or array-like of shape (n,), optional
        The largest squared error, for all signals or for each.
    lambda1 : float, optional
        Not available.
    return_reg_path : bool, default=False
        Also return the codes of the first signal with one atom, two, and so on.
    numThreads : int, default=-1
        Exactly this many threads; -1 is all cores.

    Returns
    -------
    A : csc_matrix of shape (p, n)
        The codes.
    path : ndarray of shape (p, min(m, p))
        Only if `return_reg_path`.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> spams.omp(np.array([[3.0], [0.1]]), np.eye(2), L=1).toarray()
    array([[3.],
           [0.]])
    """
    expect_defaults("omp", lambda1=(lambda1, None, "use L or eps"))
    A = _pursue(X, D, L, eps, numThreads)
    if not return_reg_path:
        return A
    m, p = np.shape(D)
    path = np.zeros((p, min(m, p)), dtype=A.dtype, order="F")
    steps = np.arange(1, A[:, :1].nnz + 1)
    if len(steps):
        alone = np.repeat(np.asarray(X)[:, :1], len(steps), axis=1)
        path[:, : len(steps)] = _pursue(alone, D, steps, None, numThreads).toarray()
    return A, path


def ompMask(
    X: ArrayLike,
    D: ArrayLike,
    B: ArrayLike,
    L: int | ArrayLike | None = None,
    eps: float | ArrayLike | None = None,
    lambda1: Any = None,
    return_reg_path: bool = False,
    numThreads: int = -1,
) -> csc_matrix:
    """Choose atoms greedily where only some entries of the signals were observed.

    As `omp`, with errors summed over what was observed. As in SPAMS, `eps` is multiplied by the share of a
    signal that was.

    Parameters
    ----------
    X, D, L, eps, numThreads
        As for `omp`. What was not observed may be NaN.
    B : array-like of bool of shape (m, n)
        True where `X` was observed.
    lambda1, return_reg_path
        Not available.

    Returns
    -------
    A : csc_matrix of shape (p, n)
        The codes.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> X, seen = np.array([[3.0], [np.nan]]), np.array([[True], [False]])
    >>> spams.ompMask(X, np.eye(2), seen, L=1).toarray()
    array([[3.],
           [0.]])
    """
    expect_defaults(
        "ompMask",
        lambda1=(lambda1, None, "use L or eps"),
        return_reg_path=(return_reg_path, False, "call it for several L"),
    )
    observed, share = observed_share(B, np.shape(X))
    return _pursue(X, D, L, None if eps is None else share * np.asarray(eps), numThreads, mask=observed)


def _pursue(
    X: ArrayLike, D: ArrayLike, L: Any, eps: Any, numThreads: int, mask: NDArray[np.bool_] | None = None
) -> csc_matrix:
    """Choose atoms greedily, with limits for all signals or for each."""
    if L is None and eps is None:
        raise ValueError("give L, the most atoms, eps, the largest squared error, or both")
    n = np.shape(X)[1]
    scales = np.ones(n)
    options: dict[str, Any] = {"method": "ormp"}
    if np.ndim(eps) == 1:
        # In the unit of its own allowed error, a signal is allowed an error of 1.
        scales = np.sqrt(_one_for_each("eps", eps, n))
        if not (scales > 0).all():
            raise ValueError("eps must be positive for each signal; give one number for all of them, or L")
        options["max_error"] = 1.0
    elif eps is not None:
        options["max_error"] = float(eps)
    signals = divided(X, scales)
    if np.ndim(L) != 1:
        if L is not None:
            options["n_nonzero_coefs"] = count("L", L)
        return multiplied(encode(signals, D, numThreads, mask=mask, **options), scales)
    limits = _one_for_each("L", L, n)
    coded = {}
    for limit in np.unique(limits):
        (chosen,) = np.nonzero(limits == limit)
        seen = None if mask is None else mask[chosen]
        options["n_nonzero_coefs"] = count("L", limit)
        coded[limit] = (chosen, encode(signals[:, chosen], D, numThreads, mask=seen, **options))
    return multiplied(_in_order(list(coded.values()), np.shape(D)[1], n), scales)


def _in_order(parts: list[tuple[NDArray[np.intp], csc_matrix]], p: int, n: int) -> csc_matrix:
    """Put the codes of chosen signals back to where the signals were."""
    entries = [part.tocoo() for _, part in parts]
    columns = np.concatenate([chosen[part.col] for (chosen, _), part in zip(parts, entries, strict=True)])
    rows, data = (np.concatenate([getattr(part, name) for part in entries]) for name in ("row", "data"))
    return csc_matrix((data, (rows, columns)), shape=(p, n))


def _one_for_each(name: str, values: Any, n: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; it must hold one number for each of {n} signals")
    return array
