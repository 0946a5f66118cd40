"""Codes: the lasso and orthogonal matching pursuit."""

from functools import partial
from typing import Any

import numpy as np
import spams
from scipy.sparse import csr_array
from shared.gap import lasso_certificate, residual_energy
from shared.records import Records
from sklearn import decomposition  # noqa: TID251 - a rival, not a tool

import sparsemble
from package.rivals import dictlearn, unheard, with_dictlearn
from package.runs import ATOMS, LAM, SIDE, Match, Settings, play, problem

N_NONZERO = 5


def run(settings: Settings, records: Records) -> None:
    """Code the same patches by everyone."""
    data = problem(settings)
    play("coding", _lasso(data), settings, records)
    for match in _pursuits(data):
        play("coding", match, settings, records)


def _lasso(data: Any) -> Match:
    X, D = data.X, data.D
    atoms = np.asfortranarray(D.T)
    columns = np.asfortranarray(X.T)
    sklearn = partial(decomposition.sparse_encode, X, D, alpha=LAM / 2)
    rivals = {
        "SPAMS": lambda: spams.lasso(columns, D=atoms, lambda1=LAM / 2, mode=2, numThreads=1).T,
        "scikit-learn LARS": unheard(partial(sklearn, algorithm="lasso_lars")),
        "scikit-learn CD": unheard(partial(sklearn, algorithm="lasso_cd")),
    }
    rivals |= with_dictlearn(
        {"dictlearn FISTA": lambda: dictlearn.sparse_encode(X, D, algorithm="fista", alpha=LAM)}
    )

    def judge(codes: Any) -> float:
        return float(lasso_certificate(X, D, csr_array(codes), LAM).objective.mean())

    return Match(
        f"sparse_encode, lasso M={SIDE**2} K={ATOMS} λ={LAM} T={len(X)}",
        lambda: sparsemble.sparse_encode(X, D, lam=LAM, n_threads=1),
        rivals,
        judge,
        same_minimum=True,
    )


def _pursuits(data: Any) -> list[Match]:
    X, D = data.X, data.D
    atoms, columns = np.asfortranarray(D.T), np.asfortranarray(X.T)
    sklearn = partial(decomposition.sparse_encode, X, D, algorithm="omp", n_nonzero_coefs=N_NONZERO)
    plain: dict[str, Any] = {"scikit-learn": unheard(sklearn)}
    plain |= with_dictlearn(
        {"dictlearn": lambda: dictlearn.sparse_encode(X, D, algorithm="omp", n_nonzero_coefs=N_NONZERO)}
    )
    recursive = {"SPAMS": lambda: spams.omp(columns, D=atoms, L=N_NONZERO, eps=0.0, numThreads=1).T}

    def judge(codes: Any) -> float:
        return float(residual_energy(X, D, csr_array(codes)).mean())

    def match(method: str, rivals: dict[str, Any]) -> Match:
        workload = f"sparse_encode, {method} M={SIDE**2} K={ATOMS} s={N_NONZERO} T={len(X)}"
        options: dict[str, Any] = {"method": method, "n_nonzero_coefs": N_NONZERO, "n_threads": 1}
        return Match(workload, lambda: sparsemble.sparse_encode(X, D, **options), rivals, judge)

    return [match("omp", plain), match("ormp", recursive)]
