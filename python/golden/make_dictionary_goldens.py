# ruff: noqa: TID251 -- the references must come from somewhere else than our own library
"""Writes a small dictionary-learning problem and the objective scikit-learn reaches on it.

Run from anywhere, with scikit-learn installed:

    python python/golden/make_dictionary_goldens.py

The files go to crates/sparsemble/tests/it/golden/, where `alt_opt.rs` reads them: samples and start as text,
one sample or atom a line, rounded so that the text is exact. scikit-learn minimises
1/2 ||X - AD||^2 + alpha ||A||_1 over all samples at once; its alpha is lambda / 2 with lambda of Eq. (1). The
objective written is that of Eq. (3), all masses equal, with codes solved to machine precision.
"""

from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.decomposition import DictionaryLearning
from sklearn.linear_model import Lasso

FOLDER = Path(__file__).resolve().parents[2] / "crates/sparsemble/tests/it/golden"
N_FEATURES, N_ATOMS, N_SAMPLES = 16, 24, 200
LAMBDA = 0.2
ITERATIONS = 200


def smooth_rows(rng, n_rows):
    """Draw random walks of unit norm and zero mean: coherent, as natural patches are."""
    rows = np.cumsum(rng.standard_normal((n_rows, N_FEATURES)), axis=1)
    rows -= rows.mean(axis=1, keepdims=True)
    return np.round(rows / np.linalg.norm(rows, axis=1, keepdims=True), 5)


def objective(samples, atoms):
    """Average ||x - Da||^2 + lambda ||a||_1 over the samples, with the best codes."""
    total = 0.0
    for sample in samples:
        solver = Lasso(alpha=LAMBDA / (2 * N_FEATURES), fit_intercept=False, tol=1e-14, max_iter=1_000_000)
        code = solver.fit(atoms.T, sample).coef_
        total += np.sum((sample - code @ atoms) ** 2) + LAMBDA * np.abs(code).sum()
    return total / len(samples)


def main():
    """Write the files."""
    rng = np.random.default_rng(1302)
    samples, start = smooth_rows(rng, N_SAMPLES), smooth_rows(rng, N_ATOMS)
    unit = start / np.linalg.norm(start, axis=1, keepdims=True)
    learner = DictionaryLearning(
        N_ATOMS,
        alpha=LAMBDA / 2,
        max_iter=ITERATIONS,
        tol=1e-8,
        fit_algorithm="cd",
        transform_max_iter=10_000,
        dict_init=unit,
        code_init=np.zeros((N_SAMPLES, N_ATOMS)),
        random_state=0,
    ).fit(samples)
    np.savetxt(FOLDER / "dictionary_samples.txt", samples, fmt="%.5f")
    np.savetxt(FOLDER / "dictionary_start.txt", start, fmt="%.5f")
    figures = [objective(samples, unit), objective(samples, learner.components_)]
    np.savetxt(
        FOLDER / "dictionary_objectives.txt",
        figures,
        fmt="%.9f",
        header="Made by python/golden/make_dictionary_goldens.py with"
        f" scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}.\n"
        f"lambda = {LAMBDA}: the objective of the start, and after {learner.n_iter_} iterations.",
    )


if __name__ == "__main__":
    main()
