"""The lasso by SPAMS's names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_matrix

from sparsemble import _native
from sparsemble._run import running
from sparsemble.compat.spams._arguments import (
    L1COEFFS,
    L2ERROR,
    PENALTY,
    divided,
    encode,
    expect_defaults,
    multiplied,
    observed_share,
    positive,
    refuse,
    rows_of,
)


def lasso(
    X: ArrayLike,
    D: ArrayLike | None = None,
    Q: Any = None,
    q: Any = None,
    return_reg_path: bool = False,
    L: int = -1,
    lambda1: float | None = None,
    lambda2: float = 0.0,
    mode: int = PENALTY,
    pos: bool = False,
    ols: bool = False,
    numThreads: int = -1,
    max_length_path: int = -1,
    verbose: bool = False,
    cholesky: bool = False,
) -> Any:
    """Find the codes a of the lasso for each column x of `X`.

    ==== ==================================================
    mode minimum of
    ==== ==================================================
    0    ‖x − Da‖² with ‖a‖₁ ≤ λ₁
    1    ‖a‖₁ with ‖x − Da‖² ≤ λ₁
    2    ½‖x − Da‖² + λ₁‖a‖₁ + ½λ₂‖a‖²
    ==== ==================================================

    Parameters
    ----------
    X : array-like of shape (m, n)
        Signals, one a column.
    D : array-like of shape (m, p)
        Atoms, one a column.
    Q, q, ols, max_length_path
        Not available.
    return_reg_path : bool, default=False
        Also return the codes of the first signal on the way to its own: where an atom enters or leaves.
    L : int, default=-1
        The most atoms in a code; -1 is no limit. A code that needs more is an error.
    lambda1 : float
        λ₁.
    lambda2 : float, default=0
        λ₂, in mode 2.
    mode : {0, 1, 2}, default=2
        See above.
    pos : bool, default=False
        Allow only positive coefficients.
    numThreads : int, default=-1
        Exactly this many threads; -1 is all cores.
    verbose, cholesky
        Without effect.

    Returns
    -------
    A : csc_matrix of shape (p, n)
        The codes.
    path : ndarray of shape (p, 4 * L), or (p, 4 * p) without `L`
        Only if `return_reg_path`: a code in each column, the zero code first, and zeros where it has ended.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> spams.lasso(np.array([[3.0], [0.1]]), D=np.eye(2), lambda1=0.2).toarray().round(6)
    array([[2.8],
           [0. ]])
    """
    expect_defaults(
        "lasso",
        Q=(Q, None, "give D itself"),
        q=(q, None, "give D itself"),
        ols=(ols, False, "fit the atoms in use by least squares"),
        max_length_path=(max_length_path, -1, "leave it out"),
    )
    if D is None:
        raise ValueError("lasso: D must be given, the atoms in columns")
    options = _penalty("lasso", mode, lambda1, lambda2)
    if return_reg_path and "ridge" in options:
        refuse("lasso", "return_reg_path", True, "leave lambda2 out, or call it for several lambda1")
    A = _at_most(encode(X, D, numThreads, positive=bool(pos), **options), L, "lasso")
    return (A, _path(X, D, options, bool(pos), L)) if return_reg_path else A


def lassoMask(
    X: ArrayLike,
    D: ArrayLike,
    B: ArrayLike,
    L: int = -1,
    lambda1: float | None = None,
    lambda2: float = 0.0,
    mode: int = PENALTY,
    pos: bool = False,
    numThreads: int = -1,
    verbose: bool = False,
) -> csc_matrix:
    """Find the codes of the lasso where only some entries of the signals were observed.

    As `lasso`, with errors summed over what was observed. As in SPAMS, λ₁ is multiplied by the share of a
    signal that was, in modes 1 and 2.

    Parameters
    ----------
    X, D
        Signals and atoms, as for `lasso`. What was not observed may be NaN.
    B : array-like of bool of shape (m, n)
        True where `X` was observed.
    L, lambda1, lambda2, mode, pos, numThreads, verbose
        As for `lasso`.

    Returns
    -------
    A : csc_matrix of shape (p, n)
        The codes.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> X, seen = np.array([[3.0], [np.nan]]), np.array([[True], [False]])
    >>> spams.lassoMask(X, np.eye(2), seen, lambda1=0.4).toarray().round(6)  # λ is 0.4 times ½
    array([[2.8],
           [0. ]])
    """
    options = _penalty("lassoMask", mode, lambda1, lambda2)
    observed, share = observed_share(B, np.shape(X))
    # A signal s times as small has a λ s times, and an allowed error s² times, as small in its own unit.
    scales = {L1COEFFS: np.ones_like(share), L2ERROR: np.sqrt(share), PENALTY: share}[mode]
    A = encode(divided(X, scales), D, numThreads, positive=bool(pos), mask=observed, **options)
    return _at_most(multiplied(A, scales), L, "lassoMask")


def lassoWeighted(
    X: ArrayLike,
    D: ArrayLike,
    W: ArrayLike,
    L: int = -1,
    lambda1: float | None = None,
    mode: int = PENALTY,
    pos: bool = False,
    numThreads: int = -1,
    verbose: bool = False,
) -> csc_matrix:
    """Find the codes of the lasso with a weight for each coefficient: Σ w|a| in the place of ‖a‖₁.

    Parameters
    ----------
    X, D, L, lambda1, mode, pos, numThreads, verbose
        As for `lasso`.
    W : array-like of shape (p, n)
        The weights, one a coefficient.

    Returns
    -------
    A : csc_matrix of shape (p, n)
        The codes.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> spams.lassoWeighted([[3.0], [4.0]], np.eye(2), [[1.0], [2.0]], lambda1=0.5).toarray().round(6)
    array([[2.5],
           [3. ]])
    """
    weights = np.asarray(W)
    expected = (len(rows_of("D", D)), len(rows_of("X", X)))
    if weights.shape != expected:
        raise ValueError(f"W has shape {weights.shape}; it must be {expected}, a weight for each coefficient")
    options = _penalty("lassoWeighted", mode, lambda1, 0.0)
    return _at_most(
        encode(X, D, numThreads, positive=bool(pos), atom_weights=weights.T, **options), L, "lassoWeighted"
    )


def _penalty(function: str, mode: int, lambda1: float | None, lambda2: float) -> dict[str, Any]:
    """Return the arguments of `sparse_encode` for a mode."""
    if mode not in (L1COEFFS, L2ERROR, PENALTY):
        raise ValueError(f"{function}: mode={mode!r} is not known; use 0, 1 or 2")
    value = positive(function, lambda1)
    if lambda2 == 0.0:
        name = {L1COEFFS: "max_l1_norm", L2ERROR: "max_error", PENALTY: "lam"}[mode]
        return {name: 2 * value if mode == PENALTY else value}
    if mode != PENALTY:
        refuse(function, "lambda2", lambda2, f"leave it out with mode={mode}, or use mode=2")
    return {"method": "elastic-net", "lam": 2 * value, "ridge": float(lambda2)}


def _path(X: ArrayLike, D: ArrayLike, options: dict[str, Any], pos: bool, L: int) -> NDArray[Any]:
    """Return the codes of the first signal where an atom enters or leaves, one a column."""
    sample, atoms = rows_of("X", X)[:1], rows_of("D", D)
    path = np.zeros((len(atoms), 4 * (L if L >= 0 else len(atoms))), dtype=sample.dtype, order="F")
    (end,) = options.items()
    doubles = sample.astype(np.float64), atoms.astype(np.float64)
    with running(1, None, 1) as run:
        _, codes = _native.lasso_path(*doubles, (*end, path.shape[1]), pos, run)
    path[:, : len(codes)] = codes.T
    return path


def _at_most(A: csc_matrix, L: int, function: str) -> csc_matrix:
    """Refuse codes of more than `L` atoms; a negative `L` allows all."""
    if L < 0:
        return A
    counts = np.diff(A.indptr)
    too_long = int((counts > L).sum())
    if too_long:
        raise NotImplementedError(
            f"{function}: L={L}: the codes of {too_long} of {len(counts)} signals have more atoms; "
            "raise lambda1 or L, or use omp, which stops at L"
        )
    return A
