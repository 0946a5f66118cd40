"""Clusters: first centres, K-Means, spectral clustering, and how labels agree."""

from functools import partial
from typing import Any

import numpy as np
from shared.data import patch_problem
from shared.records import Records
from sklearn import cluster, metrics
from sklearn.datasets import load_digits

import sparsemble
from package.rivals import unheard
from package.runs import SIDE, Match, Settings, play

N_CENTRES = 256
ROUNDS = 10
PARTS = 10
"""Of K-Means there are so many times as many samples."""
LABELS = 100_000


def run(settings: Settings, records: Records) -> None:
    """Cluster the same samples by everyone."""
    X = patch_problem(SIDE, PARTS * settings.n_samples, 1).X.astype(np.float64)
    matches = [_centres(X), _k_means(X), _spectral(), *_agreement()]
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


def _spectral() -> Match:
    X, digits = load_digits(return_X_y=True)
    theirs = partial(cluster.SpectralClustering, 10, random_state=0, n_jobs=1)
    return Match(
        f"EnsembleSpectralClustering, {len(X)} digits (wrong labels)",
        lambda: sparsemble.EnsembleSpectralClustering(10, random_state=0, n_threads=1).fit_predict(X),
        {"scikit-learn SpectralClustering": lambda: theirs(affinity="nearest_neighbors").fit_predict(X)},
        lambda labels: 1 - sparsemble.clustering_accuracy(digits, labels),
    )


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
