"""Writes the reference clusterings of weighted K-Means, computed by scikit-learn.

Run from anywhere, with scikit-learn installed:

    python python/golden/make_kmeans_goldens.py

The files go to crates/sparsemble/tests/it/golden/, where `golden_kmeans.rs` reads them. Samples and centres
are rows here, so that the same bytes are columns in Rust.
"""

from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.cluster import KMeans, kmeans_plusplus

FOLDER = Path(__file__).resolve().parents[2] / "crates/sparsemble/tests/it/golden"
N_FEATURES, N_SAMPLES, N_CLUSTERS = 6, 240, 12
N_SEEDS = 40


def seeding_inertia(samples, masses, seed):
    """Choose centres by k-means++ and sum the weighted squared distances to them."""
    centers, _ = kmeans_plusplus(samples, N_CLUSTERS, sample_weight=masses, random_state=seed)
    squared = ((samples[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    return masses @ squared.min(axis=1)


def references():
    """Compute all references by name, each with what it is."""
    rng = np.random.default_rng(1302)
    middles = 3 * rng.standard_normal((N_CLUSTERS, N_FEATURES))
    samples = middles[rng.integers(N_CLUSTERS, size=N_SAMPLES)] + rng.standard_normal((N_SAMPLES, N_FEATURES))
    masses = rng.exponential(size=N_SAMPLES)
    first = samples[rng.choice(N_SAMPLES, N_CLUSTERS, replace=False)]
    kmeans = KMeans(N_CLUSTERS, init=first, n_init=1, tol=0, max_iter=1000, algorithm="lloyd")
    kmeans.fit(samples, sample_weight=masses)
    seeding = [seeding_inertia(samples, masses, seed) for seed in range(N_SEEDS)]
    return {
        "samples": (samples, "samples"),
        "masses": (masses[None, :], "a mass for each sample"),
        "first": (first, "the first centres"),
        "centers": (kmeans.cluster_centers_, "where Lloyd's iterations end"),
        "labels": (kmeans.labels_[None, :], "the cluster of each sample"),
        "inertia": (np.array([[kmeans.inertia_]]), "the sum of weighted squared distances"),
        "seeding": (np.array([seeding]), "that sum for the centres of kmeans_plusplus with different seeds"),
    }


def main():
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "Made by python/golden/make_kmeans_goldens.py with"
        f" scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}.",
        "Do not edit; rows are columns in Rust.",
        "",
    ]
    for name, (values, meaning) in references().items():
        file = FOLDER / f"kmeans_{name}.npy"
        np.save(file, np.ascontiguousarray(values, dtype="<f8"))
        lines.append(f"{file.name}: {meaning}, {values.shape[0]} x {values.shape[1]}")
    (FOLDER / "kmeans.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
