"""Clusters: first centres, K-Means, spectral clustering, and how labels agree."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from shared.data import patch_problem
from shared.records import Records
from sklearn import cluster, decomposition, metrics, preprocessing  # noqa: TID251 - rivals, not tools
from sklearn.datasets import load_digits

import sparsemble
from package.rivals import unheard
from package.runs import SIDE, Match, Settings, play

N_CENTRES = 256
ROUNDS = 10
PARTS = 10
"""Of K-Means there are so many times as many samples."""
LABELS = 100_000
MEMBERS = 30


def run(settings: Settings, records: Records) -> None:
    """Cluster the same samples by everyone."""
    X = patch_problem(SIDE, PARTS * settings.n_samples, 1).X.astype(np.float64)
    matches = [_centres(X), _k_means(X), *_spectral(), *_agreement()]
    for match in matches:
        play("clustering", match, settings, records)


def _inertia(X: np.ndarray) -> Any:
    def judge(centres: np.ndarray) -> float:
        distances = (centres**2).sum(axis=1) - 2 * X @ centres.T
        return float(distances.min(axis=1).sum() + (X**2).sum())

    return judge


def _centres(X: np.ndarray) -> Match:
    return Match(
        f"kmeans_parallel M={SIDE**2} K={N_CENTRES} T={len(X)}",
        lambda: sparsemble.kmeans_parallel(X, N_CENTRES, random_state=0, n_threads=1),
        {"scikit-learn kmeans_plusplus": lambda: cluster.kmeans_plusplus(X, N_CENTRES, random_state=0)[0]},
        _inertia(X),
    )


def _k_means(X: np.ndarray) -> Match:
    options: dict[str, Any] = {"init": X[:N_CENTRES], "max_iter": ROUNDS, "tol": 0.0}
    ours = sparsemble.WeightedKMeans(N_CENTRES, n_threads=1, **options)
    theirs = cluster.KMeans(N_CENTRES, n_init=1, **options)
    return Match(
        f"WeightedKMeans M={SIDE**2} K={N_CENTRES} T={len(X)}, {ROUNDS} rounds",
        unheard(lambda: ours.fit(X).cluster_centers_),
        {"scikit-learn KMeans": unheard(lambda: theirs.fit(X).cluster_centers_)},
        _inertia(X),
    )


def _spectral() -> list[Match]:
    X, digits = load_digits(return_X_y=True)
    seeded: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    usual = {"n_neighbors": 10, "power": 0.0, "n_eigenvectors": 10, "random_state": 0, "n_threads": 1}

    def by_parts() -> np.ndarray:
        codes = scipy.sparse.hstack(list(_member_codes(X - X.mean(axis=0))))
        similarities = (codes @ codes.T).tocsr()
        return cluster.SpectralClustering(10, affinity="precomputed", **seeded).fit_predict(similarities)

    def wrong(labels: np.ndarray) -> float:
        return 1 - sparsemble.clustering_accuracy(digits, labels)

    return [
        Match(
            f"SparseSubspaceClustering, ten neighbours of {len(X)} digits (wrong labels)",
            lambda: sparsemble.SparseSubspaceClustering(10, method="neighbours", **usual).fit_predict(X),
            {
                "scikit-learn SpectralClustering": lambda: cluster.SpectralClustering(
                    10, affinity="nearest_neighbors", **seeded
                ).fit_predict(X)
            },
            wrong,
        ),
        Match(
            f"EnsembleSpectralClustering, {MEMBERS} dictionaries of {len(X)} digits (wrong labels)",
            lambda: sparsemble.EnsembleSpectralClustering(10, random_state=0, n_threads=1).fit_predict(X),
            {"scikit-learn, the same graph by its parts": unheard(by_parts)},
            wrong,
        ),
    ]


def _member_codes(X: np.ndarray) -> Iterator[scipy.sparse.csr_array]:
    """Give the codes of samples by one atom each, in dictionaries of examples drawn by what is left over.

    As `EnsembleSpectralClustering` does by default, but that its atoms also move to the middle of what they
    code.
    """
    X = preprocessing.normalize(X)
    rng = np.random.default_rng(0)
    left = np.ones(len(X))
    for _ in range(MEMBERS):
        atoms = X[rng.choice(len(X), len(X) // 8, replace=False, p=left / left.sum())]
        codes = scipy.sparse.csr_array(
            decomposition.sparse_encode(X, atoms, algorithm="omp", n_nonzero_coefs=1)
        ).maximum(0)
        left = ((X - codes @ atoms) ** 2).sum(axis=1)
        yield codes.power(8)


def _agreement() -> list[Match]:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 20, LABELS)
    found = np.where(rng.random(LABELS) < 0.7, true, rng.integers(0, 20, LABELS))
    pairs = {
        "nmi": (sparsemble.nmi, metrics.normalized_mutual_info_score),
        "adjusted_rand": (sparsemble.adjusted_rand, metrics.adjusted_rand_score),
    }
    return [
        Match(
            f"{name} T={LABELS}",
            partial(ours, true, found),
            {f"scikit-learn {theirs.__name__}": partial(theirs, true, found)},
            float,
        )
        for name, (ours, theirs) in pairs.items()
    ]
