"""Writes the reference gradient features and back-projections of super-resolution, computed by SciPy.

Run from anywhere, with SciPy installed:

    python python/golden/make_super_resolution_goldens.py

The files go to crates/sparsemble/tests/it/golden/, where `super_resolution_pairs.rs` reads them. The rows of
a picture are rows here, so that the same bytes are columns in Rust.
"""

from pathlib import Path

import numpy as np
import scipy
from scipy.signal import convolve2d
from scipy.signal.windows import gaussian

FOLDER = Path(__file__).resolve().parents[2] / "crates/sparsemble/tests/it/golden"
SIDE, SMALL_WIDTH, SMALL_HEIGHT, ITERATIONS = 13, 11, 8, 4


def cubic(x):
    """Evaluate the cubic of Keys with a = -1/2."""
    x = np.abs(x)
    inner = 1.5 * x**3 - 2.5 * x**2 + 1
    outer = -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, inner, np.where(x <= 2, outer, 0))


def resizing(length, new_length):
    """Make the matrix of MATLAB's imresize for one axis: antialiased, mirrored at the ends."""
    scale = new_length / length
    stretch = min(scale, 1)
    matrix = np.zeros((new_length, length))
    for i in range(new_length):
        centre = (i + 0.5) / scale - 0.5
        places = np.arange(np.floor(centre - 2 / stretch), np.ceil(centre + 2 / stretch) + 1)
        weights = cubic(stretch * (centre - places))
        sources = np.mod(places, 2 * length).astype(int)
        sources = np.where(sources < length, sources, 2 * length - 1 - sources)
        np.add.at(matrix[i], sources, weights / weights.sum())
    return matrix


def resized(picture, height, width):
    """Resize a picture by both matrices."""
    return resizing(picture.shape[0], height) @ picture @ resizing(picture.shape[1], width).T


def back_projected(estimate, small):
    """Repeat the steps of Yang et al.'s backprojection.m."""
    kernel = np.outer(gaussian(5, 1), gaussian(5, 1)) ** 2
    kernel /= kernel.sum()
    for _ in range(ITERATIONS):
        missed = small - resized(estimate, *small.shape)
        estimate = estimate + convolve2d(resized(missed, *estimate.shape), kernel, mode="same")
    return estimate


def references():
    """Compute all references by name, each with what it is."""
    rng = np.random.default_rng(1302)
    picture = rng.integers(256, size=(SIDE, SIDE)).astype(float)
    first, second = np.array([[-1, 0, 1]]), np.array([[1, 0, -2, 0, 1]])
    maps = [convolve2d(picture, kernel, mode="same") for kernel in (first, first.T, second, second.T)]
    small = rng.integers(256, size=(SMALL_HEIGHT, SMALL_WIDTH)).astype(float)
    estimate = resized(small, 2 * SMALL_HEIGHT, 2 * SMALL_WIDTH)
    return {
        "picture": (picture, "a picture"),
        "features": (
            np.array(maps, dtype=float).reshape(1, -1),
            "its gradients, filter by filter, row by row",
        ),
        "small": (small, "a small picture"),
        "estimate": (estimate, "the same enlarged by bicubic interpolation"),
        "projected": (back_projected(estimate, small), f"that after {ITERATIONS} back-projections"),
    }


def main():
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "Made by python/golden/make_super_resolution_goldens.py with"
        f" SciPy {scipy.__version__}, NumPy {np.__version__}.",
        "Do not edit; rows are columns in Rust.",
        "",
    ]
    for name, (values, meaning) in references().items():
        values = np.ascontiguousarray(values, dtype="<f8")
        np.save(FOLDER / f"super_resolution_{name}.npy", values)
        lines.append(f"super_resolution_{name}.npy: {meaning}, {values.shape[0]} x {values.shape[1]}")
    (FOLDER / "super_resolution.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
