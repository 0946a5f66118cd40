"""The others, each called the way its users call it, with its fastest settings.

SPAMS and scikit-learn put a ½ before the squared error, so their penalty is λ/2.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import faiss
import numpy as np
import spams
from scipy.sparse import csr_array
from shared.contest import Contender
from shared.data import Problem
from shared.native import product_contender
from sklearn.decomposition import sparse_encode  # noqa: TID251 - a rival, not a tool
from threadpoolctl import threadpool_limits

from coders.runs import Coder, Settings, affordable, coder

BLOCK = 512
"""Samples in one matrix product."""

SKLEARN_ITERATIONS = 10_000
"""Ten times its default, which leaves gaps of 1e-5. It stops by itself at 1e-8, which cannot be changed."""

SPAMS_LASSO = {"SPAMS": False, "SPAMS cholesky": True}
"""The two ways of its lasso: by the inverse of the Gram matrix of the support, and by its Cholesky factor."""


def use_one_thread() -> None:
    """Hold the BLAS of NumPy, SciPy and SPAMS, and faiss, to one thread for the rest of the process."""
    threadpool_limits(limits=1, user_api="blas")
    faiss.omp_set_num_threads(1)


def spams_lasso(D: np.ndarray, lam: float, cholesky: bool, threads: int) -> Coder:
    """Return its LARS for the penalised lasso."""
    atoms = np.asfortranarray(D.T)
    return lambda X: (
        spams.lasso(X.T, D=atoms, lambda1=lam / 2, mode=2, cholesky=cholesky, numThreads=threads).T
    )


def lasso_contenders(problem: Problem, lam: float, settings: Settings) -> Iterable[Contender]:
    """Give SPAMS in both dtypes and both ways, and scikit-learn's coordinate descent."""
    for dtype in ("f32", "f64"):
        X, D = problem.cast(dtype)
        for threads in (1, 2):
            for name, cholesky in SPAMS_LASSO.items():
                code = spams_lasso(D, lam, cholesky, threads)
                yield coder(name, dtype, threads, code, affordable(code, X, settings.rival_seconds))
    X, D = problem.cast("f64")
    code = sklearn_coder(D, algorithm="lasso_cd", alpha=lam / 2, max_iter=SKLEARN_ITERATIONS)
    yield coder("scikit-learn", "f64", 1, code, affordable(code, X, settings.rival_seconds))


def pursuit_contenders(problem: Problem, n_atoms: int, settings: Settings) -> Iterable[Contender]:
    """Give SPAMS, whose `omp` is order-recursive, and scikit-learn's orthogonal matching pursuit."""
    for dtype in ("f32", "f64"):
        X, D = problem.cast(dtype)
        for threads in (1, 2):
            code = _spams_omp(np.asfortranarray(D.T), n_atoms, threads)
            yield coder("SPAMS", dtype, threads, code, affordable(code, X, settings.rival_seconds))
        code = sklearn_coder(D, algorithm="omp", n_nonzero_coefs=n_atoms)
        yield coder("scikit-learn", dtype, 1, code, affordable(code, X, settings.rival_seconds))


def _spams_omp(atoms: np.ndarray, n_atoms: int, threads: int) -> Coder:
    # Without an explicit eps it returns empty codes in f32.
    return lambda X: spams.omp(X.T, atoms, L=n_atoms, eps=0.0, numThreads=threads).T


def sklearn_coder(D: np.ndarray, **options: Any) -> Coder:
    """Return scikit-learn's `sparse_encode`, its warnings about convergence unheard."""

    def code(X: np.ndarray) -> csr_array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return csr_array(sparse_encode(X, D, **options))

    return code


def best_atom_contenders(problem: Problem) -> Iterable[Contender]:
    """Give blocked NumPy and the exact search of faiss over ±D, for the atom of largest |correlation|."""
    for dtype in ("f32", "f64"):
        X, D = problem.cast(dtype)
        yield coder("NumPy", dtype, 1, _numpy_best_atom(D), X)
    X, D = problem.cast("f32")
    yield coder("faiss", "f32", 1, _faiss_best_atom(D), X)


def _numpy_best_atom(D: np.ndarray) -> Coder:
    product, magnitude = np.empty((2, BLOCK, len(D)), dtype=D.dtype)

    def code(X: np.ndarray) -> csr_array:
        atoms, coefficients = np.empty(len(X), dtype=np.int32), np.empty(len(X), dtype=X.dtype)
        for first in range(0, len(X), BLOCK):
            samples = X[first : first + BLOCK]
            rows = np.arange(len(samples))
            np.matmul(samples, D.T, out=product[: len(rows)])
            best = np.abs(product[: len(rows)], out=magnitude[: len(rows)]).argmax(axis=1)
            atoms[first : first + BLOCK] = best
            coefficients[first : first + BLOCK] = product[rows, best]
        return one_per_sample(atoms, coefficients, len(D))

    return code


def _faiss_best_atom(D: np.ndarray) -> Coder:
    index = faiss.IndexFlatIP(D.shape[1])
    index.add(np.concatenate([D, -D]))

    def code(X: np.ndarray) -> csr_array:
        similarity, found = index.search(X, 1)
        found, similarity = found[:, 0], similarity[:, 0]
        coefficients = np.where(found < len(D), similarity, -similarity)
        return one_per_sample(found % len(D), coefficients, len(D))

    return code


def one_per_sample(atoms: np.ndarray, coefficients: np.ndarray, n_atoms: int) -> csr_array:
    """Return the codes with one coefficient for each sample."""
    starts = np.arange(len(atoms) + 1)
    return csr_array((coefficients, atoms, starts), shape=(len(atoms), n_atoms))


def product_contenders(problem: Problem) -> Iterable[Contender]:
    """Give the GEMM libraries, for the bare product of atoms and samples in blocks, never stored whole."""
    for dtype in ("f32", "f64"):
        X, D = problem.cast(dtype)
        yield coder("OpenBLAS", dtype, 1, _numpy_product(D), X)
        for library in ("faer", "matrixmultiply"):
            yield product_contender(library, dtype, X.shape[1], len(D), len(X))


def _numpy_product(D: np.ndarray) -> Coder:
    product = np.empty((BLOCK, len(D)), dtype=D.dtype)

    def multiply(X: np.ndarray) -> None:
        for first in range(0, len(X), BLOCK):
            samples = X[first : first + BLOCK]
            np.matmul(samples, D.T, out=product[: len(samples)])

    return multiply
