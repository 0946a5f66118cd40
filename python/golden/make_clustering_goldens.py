# ruff: noqa: TID251 -- the references must come from somewhere else than our own library
"""Writes references for clustering: agreement of partitions, optimal assignments and eigenvalues of a graph.

Run from anywhere, with scikit-learn and SciPy installed:

    python python/golden/make_clustering_goldens.py

The files go to crates/sparsemble/tests/it/golden/, where `golden_clustering.rs` reads them. Rows here are
columns in Rust.
"""

from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

FOLDER = Path(__file__).resolve().parents[2] / "crates/sparsemble/tests/it/golden"
N_CASES, N_SAMPLES, N_VERTICES = 12, 150, 90


def figures(classes, clusters):
    """Compute accuracy by the optimal assignment, NMI with the arithmetic normaliser, and ARI."""
    counts = contingency_matrix(classes, clusters)
    right = counts[linear_sum_assignment(counts, maximize=True)].sum()
    nmi = normalized_mutual_info_score(classes, clusters, average_method="arithmetic")
    return right / len(classes), nmi, adjusted_rand_score(classes, clusters)


def partitions(rng):
    """Draw classes, and clusters that agree with them more or less."""
    classes, clusters = [], []
    for case in range(N_CASES):
        truth = rng.integers(1 + case % 7, size=N_SAMPLES)
        found = (3 * truth + 1) % 11
        changed = rng.random(N_SAMPLES) < case / N_CASES
        found[changed] = rng.integers(2 + case % 5, size=changed.sum())
        classes.append(truth)
        clusters.append(found)
    return np.array(classes), np.array(clusters)


def graph(rng):
    """Draw a graph of three parts, two of them joined weakly, and two vertices on their own."""
    part = np.arange(N_VERTICES) * 3 // N_VERTICES
    weights = rng.random((N_VERTICES, N_VERTICES)) * (rng.random((N_VERTICES, N_VERTICES)) < 0.2)
    weights[part[:, None] != part[None, :]] = 0
    weights[0, 40] = 0.05
    weights[N_VERTICES - 1] = weights[:, N_VERTICES - 1] = 0
    weights = np.triu(weights, 1).astype(np.float32)
    return (weights + weights.T).astype(float)


def references():
    """Compute all references by name, each with what it is."""
    rng = np.random.default_rng(1302)
    classes, clusters = partitions(rng)
    weights = graph(rng)
    degrees = weights.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1e-300)), 0)
    values = np.linalg.eigvalsh(scale[:, None] * weights * scale[None, :])[::-1]
    costs = rng.standard_normal((25, 40))
    agreements = [figures(*case) for case in zip(classes, clusters, strict=True)]
    return {
        "classes": (classes, "a class for each sample, a row for each case"),
        "clusters": (clusters, "a cluster for each sample, a row for each case"),
        "figures": (np.array(agreements), "accuracy, NMI and ARI"),
        "costs": (costs, "costs of an assignment, its columns as rows"),
        "pairs": (np.array(linear_sum_assignment(costs.T)).T, "row and column of each pair"),
        "graph": (weights, "a symmetric graph"),
        "values": (values[None, :], "the eigenvalues of its normalised matrix"),
    }


def main():
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "Made by python/golden/make_clustering_goldens.py with"
        f" scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}.",
        "Do not edit; rows are columns in Rust.",
        "",
    ]
    for name, (values, meaning) in references().items():
        file = FOLDER / f"clustering_{name}.npy"
        np.save(file, np.ascontiguousarray(values, dtype="<f8"))
        lines.append(f"{file.name}: {meaning}, {values.shape[0]} x {values.shape[1]}")
    (FOLDER / "clustering.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
