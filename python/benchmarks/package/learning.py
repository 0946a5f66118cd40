"""Dictionaries: the same samples, the same first atoms where a rival takes them, the same number of turns."""

from typing import Any

import numpy as np
import spams
from shared.data import learning_patches
from shared.records import Records
from sklearn import decomposition  # noqa: TID251 - a rival, not a tool

import sparsemble
from package.rivals import dictlearn, unheard, with_dictlearn
from package.runs import LAM, SIDE, Match, Settings, play

N_ATOMS = 100
N_NONZERO = 5
TURNS = 5
BATCH = 512
HELD_OUT = 2000
PARTS = 10
"""Mini-batch learners see so many times as many samples."""


def run(settings: Settings, records: Records) -> None:
    """Learn by turns with the lasso, by K-SVD, and by mini-batches."""
    X, held_out = (
        patches.astype(np.float64)
        for patches in learning_patches(SIDE, PARTS * settings.n_samples, min(HELD_OUT, settings.n_samples))
    )
    few, start = X[: settings.n_samples], X[:N_ATOMS]
    for match in (_by_turns(few, start, held_out), _k_svd(few, start, held_out), _in_parts(X, held_out)):
        play("learning", match, settings, records)


def _objective(held_out: np.ndarray) -> Any:
    """Return a judge of dictionaries: the mean of Eq. (1) on patches held out."""

    def judge(atoms: np.ndarray) -> float:
        codes = sparsemble.sparse_encode(held_out, atoms, lam=LAM, n_threads=1)
        error = ((held_out - codes @ atoms) ** 2).sum()
        return float((error + LAM * np.abs(codes.data).sum()) / len(held_out))

    return judge


def _error(held_out: np.ndarray) -> Any:
    """Return a judge of dictionaries: the mean squared error of codes of a few atoms."""

    def judge(atoms: np.ndarray) -> float:
        codes = sparsemble.sparse_encode(
            held_out, atoms, method="omp", n_nonzero_coefs=N_NONZERO, n_threads=1
        )
        return float(((held_out - codes @ atoms) ** 2).sum() / len(held_out))

    return judge


def _by_turns(X: np.ndarray, start: np.ndarray, held_out: np.ndarray) -> Match:
    def ours() -> np.ndarray:
        learner = sparsemble.DictionaryLearning(
            lam=LAM, max_iter=TURNS, tol=0.0, dict_init=start, random_state=0, n_threads=1
        )
        return learner.fit(X).components_

    def sklearn() -> np.ndarray:
        learner = decomposition.DictionaryLearning(
            N_ATOMS, alpha=LAM / 2, max_iter=TURNS, tol=0.0, fit_algorithm="cd", random_state=0
        )
        return learner.fit(X).components_

    workload = f"DictionaryLearning, lasso M={SIDE**2} K={N_ATOMS} λ={LAM} T={len(X)}, {TURNS} turns"
    return Match(workload, unheard(ours), {"scikit-learn": unheard(sklearn)}, _objective(held_out))


def _k_svd(X: np.ndarray, start: np.ndarray, held_out: np.ndarray) -> Match:
    def ours() -> np.ndarray:
        learner = sparsemble.DictionaryLearning(
            method="k-svd",
            n_nonzero_coefs=N_NONZERO,
            max_iter=TURNS,
            tol=0.0,
            dict_init=start,
            random_state=0,
            n_threads=1,
        )
        return learner.fit(X).components_

    def rival() -> np.ndarray:
        learner = dictlearn.DictionaryLearning(
            N_ATOMS, n_nonzero_coefs=N_NONZERO, max_iter=TURNS, dict_init=start, random_state=0
        )
        return learner.fit(X).components_

    workload = f"DictionaryLearning, k-svd M={SIDE**2} K={N_ATOMS} s={N_NONZERO} T={len(X)}, {TURNS} turns"
    return Match(workload, unheard(ours), with_dictlearn({"dictlearn": rival}), _error(held_out))


def _in_parts(X: np.ndarray, held_out: np.ndarray) -> Match:
    columns = np.asfortranarray(X.T)

    def ours() -> np.ndarray:
        learner = sparsemble.MiniBatchDictionaryLearning(N_ATOMS, lam=LAM, random_state=0, n_threads=1)
        return learner.fit(X).components_

    def sklearn() -> np.ndarray:
        learner = decomposition.MiniBatchDictionaryLearning(
            N_ATOMS, alpha=LAM / 2, batch_size=BATCH, max_iter=1, fit_algorithm="cd", random_state=0
        )
        return learner.fit(X).components_

    def spams_atoms() -> np.ndarray:
        batches = -(-len(X) // BATCH)
        settings = {"batchsize": BATCH, "iter": batches, "numThreads": 1, "verbose": False}
        atoms = spams.trainDL(columns, K=N_ATOMS, lambda1=LAM / 2, **settings)
        return np.ascontiguousarray(atoms.T)

    rivals = {"scikit-learn": unheard(sklearn), "SPAMS": spams_atoms}
    workload = f"MiniBatchDictionaryLearning M={SIDE**2} K={N_ATOMS} λ={LAM} T={len(X)}, once over all"
    return Match(workload, ours, rivals, _objective(held_out))
