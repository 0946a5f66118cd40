"""What a set of codes is worth, computed in float64 from the codes alone, for every contender alike.

Samples are rows: X is (T, M), the dictionary D is (K, M), codes are (T, K). Each code should minimise Eq.
(1),

    P(a) = ‖x − aD‖² + λ‖a‖₁.

Every θ with max |Dθ| ≤ λ/2 bounds the minimum from below by ‖x‖² − ‖x − θ‖². The certificate takes θ = s·r,
the residual r = x − aD scaled by the best s that keeps it feasible. Its gap is twice that of the form with ½.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

GAP_LIMIT = 1e-6
"""The largest gap, as a fraction of the sample's energy, of a run that counts."""

BLOCK = 1024
"""Samples at a time, so that the correlations of a block stay small."""


class Certificate(NamedTuple):
    """One value for each sample."""

    objective: np.ndarray
    """P(a)."""
    gap: np.ndarray
    """P(a) minus its lower bound, as a fraction of ‖x‖²."""


def lasso_certificate(
    X: np.ndarray, D: np.ndarray, codes: Any, lam: float, excluded: np.ndarray | None = None
) -> Certificate:
    """Judge the sparse codes of Eq. (1); `excluded` names the atom that each sample may not use."""
    objective, gap = np.empty(len(X)), np.empty(len(X))
    D = D.astype(np.float64, copy=False)
    for rows, x, a, r in _residuals(X, D, codes):
        correlations = np.abs(r @ D.T)
        if excluded is not None:
            correlations[np.arange(len(x)), excluded[rows]] = 0.0
        feasible = _ratio(lam / 2, correlations.max(axis=1), otherwise=np.inf)
        best = _ratio(_dots(x, r), _dots(r, r), otherwise=0.0)
        theta = np.minimum(best, feasible)[:, None] * r
        energy = _dots(x, x)
        objective[rows] = _dots(r, r) + lam * np.asarray(abs(a).sum(axis=1)).ravel()
        gap[rows] = _ratio(objective[rows] - energy + _dots(x - theta, x - theta), energy, otherwise=0.0)
    return Certificate(objective, gap)


def residual_energy(X: np.ndarray, D: np.ndarray, codes: Any) -> np.ndarray:
    """Return ‖x − aD‖² of each sample."""
    energy = np.empty(len(X))
    for rows, _, _, r in _residuals(X, D.astype(np.float64, copy=False), codes):
        energy[rows] = _dots(r, r)
    return energy


def _residuals(
    X: np.ndarray, D: np.ndarray, codes: Any
) -> Iterator[tuple[slice, np.ndarray, Any, np.ndarray]]:
    codes = codes.tocsr()
    for first in range(0, len(X), BLOCK):
        rows = slice(first, min(first + BLOCK, len(X)))
        x, a = X[rows].astype(np.float64), codes[rows].astype(np.float64)
        yield rows, x, a, x - a @ D


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)


def _ratio(numerator: Any, denominator: np.ndarray, otherwise: float) -> np.ndarray:
    """Divide, with another value where the denominator is zero."""
    out = np.full(denominator.shape, otherwise)
    return np.divide(numerator, denominator, out=out, where=denominator > 0)
