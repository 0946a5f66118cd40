# ruff: noqa: TID251 -- the references must come from somewhere else than our own library
"""Writes the reference codes of the coders, computed by scikit-learn.

Run from anywhere, with scikit-learn installed:

    python python/golden/make_coding_goldens.py

The files go to crates/sparsemble/tests/it/golden/, where `golden_coding.rs` reads them. Samples, atoms and
codes are rows here, so that the same bytes are columns in Rust. scikit-learn minimises
1/(2n)||x - Da||^2 + alpha ||a||_1 over n features; its alpha is lambda / (2n) with lambda of Eq. (1).
"""

from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.linear_model import Lasso, orthogonal_mp

FOLDER = Path(__file__).resolve().parents[2] / "crates/sparsemble/tests/it/golden"
N_FEATURES, N_ATOMS, N_SAMPLES = 25, 60, 16
LAMBDA = 0.2
SPARSITY = 5
ERROR = 0.05
RELATIVE = 0.1


def unit_rows(rows):
    """Divide each row by its norm."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def smooth_rows(rng, n_rows):
    """Draw random walks: coherent, as natural patches are."""
    rows = np.cumsum(rng.standard_normal((n_rows, N_FEATURES)), axis=1)
    return unit_rows(rows - rows.mean(axis=1, keepdims=True))


def lasso(atoms, sample, lam, positive=False):
    """Minimise ||x - Da||^2 + lam ||a||_1 to machine precision."""
    solver = Lasso(
        alpha=lam / (2 * len(sample)), fit_intercept=False, positive=positive, tol=1e-15, max_iter=2_000_000
    )
    return solver.fit(atoms.T, sample).coef_


def lasso_codes(atoms, samples, lam, **options):
    """Code every sample alone."""
    return np.array([lasso(atoms, sample, lam, **options) for sample in samples])


def weighted_codes(atoms, samples, weights):
    """Code with a price for each atom: the price shortens the atom."""
    return lasso_codes(atoms / weights[:, None], samples, LAMBDA) / weights


def masked_codes(atoms, samples, observed):
    """Code the observed entries of each sample with the same entries of the atoms."""
    pairs = zip(samples, observed, strict=True)
    return np.array([lasso(atoms[:, seen], sample[seen], LAMBDA) for sample, seen in pairs])


def self_codes(samples, lam):
    """Code each sample in terms of the others, Eq. (17)."""
    codes = np.zeros((len(samples), len(samples)))
    for i, sample in enumerate(samples):
        others = np.arange(len(samples)) != i
        codes[i, others] = lasso(samples[others], sample, lam)
    return codes


def omp_codes(atoms, samples, **options):
    """Code every sample alone, by orthogonal matching pursuit."""
    return np.array([orthogonal_mp(atoms.T, sample, **options) for sample in samples])


def references():
    """Compute all references by name, each with what it is."""
    rng = np.random.default_rng(1302)
    atoms, samples = smooth_rows(rng, N_ATOMS), smooth_rows(rng, N_SAMPLES)
    weights = rng.uniform(0.25, 4.0, N_ATOMS)
    observed = rng.uniform(size=samples.shape) < 0.7
    largest = 2 * np.abs(samples @ atoms.T).max(axis=1)
    relative = [lasso(atoms, sample, RELATIVE * lam) for sample, lam in zip(samples, largest, strict=True)]
    return {
        "atoms": (atoms, "unit atoms"),
        "samples": (samples, "unit samples"),
        "weights": (weights[None, :], "a price for each atom"),
        "observed": (observed.astype(float), "1 where a value is observed"),
        "lambda_max": (largest[None, :], "2 max |d'x|"),
        "lasso": (lasso_codes(atoms, samples, LAMBDA), f"lambda = {LAMBDA}"),
        "lasso_weak": (lasso_codes(atoms, samples, LAMBDA / 10), f"lambda = {LAMBDA / 10}"),
        "lasso_relative": (np.array(relative), f"lambda = {RELATIVE} lambda_max of the sample"),
        "lasso_nonnegative": (
            lasso_codes(atoms, samples, LAMBDA, positive=True),
            f"lambda = {LAMBDA}, a >= 0",
        ),
        "lasso_weighted": (weighted_codes(atoms, samples, weights), f"lambda = {LAMBDA}, weights"),
        "lasso_masked": (masked_codes(atoms, samples, observed), f"lambda = {LAMBDA}, observed"),
        "lasso_self": (self_codes(samples, LAMBDA), f"lambda = {LAMBDA}, samples as atoms, a_ii = 0"),
        "omp_count": (omp_codes(atoms, samples, n_nonzero_coefs=SPARSITY), f"{SPARSITY} atoms"),
        "omp_one": (omp_codes(atoms, samples, n_nonzero_coefs=1), "1 atom"),
        "omp_error": (omp_codes(atoms, samples, tol=ERROR), f"||x - Da||^2 <= {ERROR}"),
    }


def main():
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "Made by python/golden/make_coding_goldens.py with"
        f" scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}.",
        "Do not edit; rows are columns in Rust.",
        "",
    ]
    for name, (values, meaning) in references().items():
        file = FOLDER / f"coding_{name}.npy"
        np.save(file, np.ascontiguousarray(values, dtype="<f8"))
        lines.append(f"{file.name}: {meaning}, {values.shape[0]} x {values.shape[1]}")
    (FOLDER / "coding.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
