"""Arguments as SPAMS has them: signals in columns, modes by number, options that must be as they are."""

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_matrix

from sparsemble._validation import native
from sparsemble.coding import sparse_encode

L1COEFFS, L2ERROR, PENALTY, SPARSITY, L2ERROR2, PENALTY2 = range(6)
"""The modes: what is minimised, and what is bounded."""


def encode(X: ArrayLike, D: ArrayLike, numThreads: int, **options: Any) -> csc_matrix:
    """Code the columns of `X` by `sparse_encode`, as exactly as SPAMS does."""
    samples, atoms = _signals_and_atoms(X, D)
    # SPAMS's codes are exact but for rounding.
    tol = 1e-6 if samples.dtype == np.float32 else 1e-9
    with naming_columns(samples, options.get("mask")):
        codes = sparse_encode(samples, atoms, tol=tol, n_threads=threads(numThreads), **options)
    return csc_matrix((codes.data, codes.indices, codes.indptr), shape=(len(atoms), len(samples)))


@contextmanager
def naming_columns(samples: NDArray[Any], mask: NDArray[np.bool_] | None = None) -> Iterator[None]:
    """Tell where a bad value is as SPAMS's layout counts: signals are columns."""
    try:
        yield
    except ValueError:
        bad = ~np.isfinite(samples) if mask is None else mask & ~np.isfinite(samples)
        if not bad.any():
            raise
        signal, row = np.argwhere(bad)[0]
        fix = "leave the signal out, or its value by lassoMask or ompMask"
        raise ValueError(f"X[{row}, {signal}] is NaN or infinite; {fix}") from None


def rows_of(name: str, matrix: ArrayLike) -> NDArray[Any]:
    """Return the columns as rows, in a dtype that is computed with."""
    array = native(np.asarray(matrix))
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; it must be a matrix, with a vector in each column")
    return array.T if array.dtype in (np.float32, np.float64) else array.T.astype(np.float64)


def _signals_and_atoms(X: ArrayLike, D: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    samples, atoms = rows_of("X", X), rows_of("D", D)
    if samples.shape[1] != atoms.shape[1]:
        raise ValueError(
            f"X has shape {np.shape(X)} and D {np.shape(D)}; signals and atoms are columns, so both need the "
            "same number of rows"
        )
    return samples, atoms


def observed_share(B: ArrayLike, shape: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the mask by rows, and the share of each signal that was observed, or 1 of one without."""
    mask = np.asarray(B)
    if mask.dtype != np.bool_:
        raise TypeError(f"B has dtype {mask.dtype}; it must be bool, True where X was observed")
    if mask.shape != shape:
        raise ValueError(f"B has shape {mask.shape}; it must have that of X, {shape}")
    share = mask.mean(axis=0)
    return mask.T, np.where(share > 0.0, share, 1.0)


def divided(X: ArrayLike, scales: NDArray[np.float64]) -> NDArray[Any]:
    """Return the signals in units of their own."""
    signals = rows_of("X", X).T
    return signals if (scales == 1.0).all() else (signals / scales).astype(signals.dtype)


def multiplied(A: csc_matrix, scales: NDArray[np.float64]) -> csc_matrix:
    """Return the codes of signals that were divided by these."""
    A.data *= np.repeat(scales, np.diff(A.indptr)).astype(A.dtype)
    return A


def positive(function: str, lambda1: Any) -> float:
    """Return λ₁, or say what is wrong with it."""
    if lambda1 is None:
        raise ValueError(f"{function}: lambda1 must be given")
    if not (_is_number(lambda1) and lambda1 > 0 and np.isfinite(lambda1)):
        raise ValueError(f"{function}: lambda1={lambda1}: must be one positive number")
    return float(lambda1)


def count(name: str, value: Any) -> int:
    """Return a number of things, or say what is wrong with it."""
    if not (_is_number(value) and value >= 1 and float(value).is_integer()):
        raise ValueError(f"{name}={value}: must be a whole number, at least 1")
    return int(value)


def _is_number(value: Any) -> bool:
    return np.ndim(value) == 0 and isinstance(np.asarray(value).item(), numbers.Real)


def threads(numThreads: int) -> int | None:
    """Return a number of threads as this package reads it."""
    if numThreads == -1:
        return None
    return count("numThreads", numThreads)


def expect_defaults(function: str, **options: tuple[Any, Any, str]) -> None:
    """Refuse options that this package does not have, unless they ask for what it does anyway."""
    for name, (value, default, alternative) in options.items():
        if value is not default and (default is None or value != default):
            refuse(function, name, value, alternative)


def refuse(function: str, name: str, value: Any, alternative: str) -> Any:
    """Say what is not available, and what to do."""
    shown = value if np.ndim(value) == 0 else "an array"
    raise NotImplementedError(f"{function}: {name}={shown} is not available; {alternative}")
