"""What is coded: natural patches of the committed photographs, and the USPS digits where they are at hand."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[3]
PHOTOGRAPHS = ROOT / "data" / "cc0"
DTYPES = {"f32": np.float32, "f64": np.float64}

MOST_SAMPLES = 100_000
MOST_ATOMS = 2048
DRAWN_PER_PHOTOGRAPH = 60_000
HELD_OUT = ("chelsea", "coffee")
"""The photographs that learned dictionaries are judged on."""
LEAST_VARIANCE = 1e-3
"""Of the pixels of a patch, at intensities from 0 to 1: flatter ones are noise."""


@dataclass(frozen=True)
class Problem:
    """Samples and atoms as rows of unit norm.

    Their values are exact in single precision, so that f32 and f64 runs solve the same problem.
    """

    X: np.ndarray
    D: np.ndarray

    @property
    def shape(self) -> dict[str, int]:
        """M and K, as the records name them."""
        return {"M": self.D.shape[1], "K": self.D.shape[0]}

    def cast(self, dtype: str) -> tuple[np.ndarray, np.ndarray]:
        """Return X and D in one of `DTYPES`."""
        return self.X.astype(DTYPES[dtype], copy=False), self.D.astype(DTYPES[dtype], copy=False)


def patch_problem(side: int, n_samples: int, n_atoms: int) -> Problem:
    """Return patches of side × side pixels; the atoms are other patches, the same for any `n_samples`."""
    patches = _patches(side)
    atoms = patches[MOST_SAMPLES : MOST_SAMPLES + MOST_ATOMS]
    return Problem(patches[: min(n_samples, MOST_SAMPLES)], atoms[:n_atoms])


def learning_patches(side: int, n_samples: int, n_held_out: int) -> tuple[np.ndarray, np.ndarray]:
    """Return patches to learn from, and others to judge by, from photographs of their own."""
    return _patches(side, held_out=False)[:n_samples], _patches(side, held_out=True)[:n_held_out]


@cache
def _patches(side: int, held_out: bool | None = None) -> np.ndarray:
    """Return patches in random order: of all photographs, or of those held out, or of the others."""
    rng = np.random.default_rng(0)
    photographs = sorted(path for path in PHOTOGRAPHS.iterdir() if path.suffix in {".png", ".jpg"})
    photographs = [path for path in photographs if held_out in (None, path.stem in HELD_OUT)]
    patches = np.concatenate([_patches_of(path, side, rng) for path in photographs])
    needed = {None: MOST_SAMPLES + MOST_ATOMS, False: MOST_SAMPLES, True: 0}[held_out]
    if len(patches) < needed:
        raise RuntimeError(f"{PHOTOGRAPHS} holds {len(patches)} patches with detail; {needed} are needed")
    return patches[rng.permutation(len(patches))]


def _patches_of(photograph: Path, side: int, rng: np.random.Generator) -> np.ndarray:
    pixels = np.asarray(Image.open(photograph).convert("L"))
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (side, side))
    rows, columns = windows.shape[:2]
    drawn = rng.permutation(rows * columns)[:DRAWN_PER_PHOTOGRAPH]
    patches = windows[drawn // columns, drawn % columns].reshape(-1, side * side) / 255.0
    patches -= patches.mean(axis=1, keepdims=True)
    return _unit_rows(patches[patches.var(axis=1) > LEAST_VARIANCE])


def self_representation(n_samples: int) -> tuple[str, np.ndarray]:
    """Return the name and the rows of a set to be coded by itself, 256 features each."""
    folder = Path(os.environ.get("SPARSEMBLE_DATA", ROOT.parent / "shared" / "data"))
    table = folder / "clustering" / "usps9298.csv"
    if not table.is_file():
        return "16×16 patches", patch_problem(16, n_samples, 1).X
    digits = np.loadtxt(table, delimiter=",", skiprows=1, dtype=np.float32)[:, :-1].astype(np.float64)
    return "USPS digits", _unit_rows(digits - digits.mean(axis=0))[:n_samples]


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return (rows / norms[:, None]).astype(np.float32)
