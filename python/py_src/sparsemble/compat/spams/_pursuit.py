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
    positive,
    rows_of,
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

    With `lambda1` also until another atom would not lower ½‖x − Da‖² + λ₁‖a‖₀. Each atom is the one that
    then leaves the least error (order-recursive matching pursuit), as in SPAMS.

    Parameters
    ----------
    X, D
        Signals and atoms, as for `lasso`.
    L : int or array-like of int of shape (n,), optional
        The most atoms, for all signals or for each.
    eps : float or array-like of shape (n,), optional
        The largest squared error, for all signals or for each.
    lambda1 : float, optional
        λ₁, the price of an atom.
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
    if lambda1 is None:
        A = _pursue(X, D, L, eps, numThreads)
    else:
        A = _pursue_while_worth(X, D, L, eps, positive("omp", lambda1), numThreads)
    return (A, _path(A, X, D, numThreads)) if return_reg_path else A


def ompMask(
    X: ArrayLike,
    D: ArrayLike,
    B: ArrayLike,
    L: int | ArrayLike | None = None,
    eps: float | ArrayLike | None = None,
    lambda1: Any = None,
    return_reg_path: bool = False,
    numThreads: int = -1,
) -> Any:
    """Choose atoms greedily where only some entries of the signals were observed.

    As `omp`, with errors summed over what was observed. As in SPAMS, `eps` is multiplied by the share of a
    signal that was.

    Parameters
    ----------
    X, D, L, eps, return_reg_path, numThreads
        As for `omp`. What was not observed may be NaN.
    B : array-like of bool of shape (m, n)
        True where `X` was observed.
    lambda1 : float, optional
        Not available.

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
    >>> X, seen = np.array([[3.0], [np.nan]]), np.array([[True], [False]])
    >>> spams.ompMask(X, np.eye(2), seen, L=1).toarray()
    array([[3.],
           [0.]])
    """
    expect_defaults("ompMask", lambda1=(lambda1, None, "use L or eps"))
    observed, share = observed_share(B, np.shape(X))
    # No error at all is the same share of it for every signal.
    allowed = eps if eps is None or not np.any(eps) else share * np.asarray(eps)
    A = _pursue(X, D, L, allowed, numThreads, mask=observed)
    return (A, _path(A, X, D, numThreads, mask=observed)) if return_reg_path else A


def _path(
    A: csc_matrix, X: ArrayLike, D: ArrayLike, numThreads: int, mask: NDArray[np.bool_] | None = None
) -> NDArray[Any]:
    """Return the codes of the first signal with one atom, two, and as many as it has in `A`."""
    m, p = np.shape(D)
    path = np.zeros((p, min(m, p)), dtype=A.dtype, order="F")
    steps = np.arange(1, A[:, :1].nnz + 1)
    if len(steps):
        alone = np.repeat(np.asarray(X)[:, :1], len(steps), axis=1)
        seen = None if mask is None else np.repeat(mask[:1], len(steps), axis=0)
        path[:, : len(steps)] = _pursue(alone, D, steps, None, numThreads, mask=seen).toarray()
    return path


def _pursue_while_worth(
    X: ArrayLike, D: ArrayLike, L: Any, eps: Any, lambda1: float, numThreads: int
) -> csc_matrix:
    """Choose atoms greedily as long as each lowers ½‖x − Da‖² by more than its price."""
    price = 2 * lambda1
    if np.ndim(eps) != 1:
        return _pursue(X, D, L, eps, numThreads, min_gain=price)
    # The choices are the same in both, so the code of fewer atoms is the one that both limits allow.
    by_gain = _pursue(X, D, L, None, numThreads, min_gain=price)
    by_error = _pursue(X, D, L, eps, numThreads)
    is_shorter = np.diff(by_gain.indptr) < np.diff(by_error.indptr)
    parts = [(np.nonzero(mine)[0], A) for mine, A in ((is_shorter, by_gain), (~is_shorter, by_error))]
    n_atoms, n = by_gain.shape
    return _in_order([(chosen, A[:, chosen]) for chosen, A in parts], n_atoms, n)


def _pursue(
    X: ArrayLike,
    D: ArrayLike,
    L: Any,
    eps: Any,
    numThreads: int,
    mask: NDArray[np.bool_] | None = None,
    min_gain: float | None = None,
) -> csc_matrix:
    """Choose atoms greedily, with limits for all signals or for each; `min_gain` is for all of them."""
    if L is None and eps is None and min_gain is None:
        raise ValueError("give L, the most atoms, eps, the largest squared error, or both")
    n = len(rows_of("X", X))
    scales = np.ones(n)
    options: dict[str, Any] = {"method": "ormp", "min_gain": min_gain}
    if np.ndim(eps) == 1 and not np.any(eps):
        options["max_error"] = 0.0
    elif np.ndim(eps) == 1:
        # In the unit of its own allowed error, a signal is allowed an error of 1.
        scales = np.sqrt(_one_for_each("eps", eps, n))
        if not (scales > 0).all():
            raise ValueError("eps must be positive for each signal, or 0 for all of them")
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
