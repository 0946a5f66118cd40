"""The size of a run, and our learners as the program of crates/sparsemble-bench runs them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from shared.contest import Contender
from shared.native import native

SIDE = 8
"""Of the patches that are learned from: M = 64."""


@dataclass(frozen=True)
class Settings:
    """The size of a run."""

    n_samples: int
    n_atoms: int
    """Of clusterings and ensembles."""
    n_models: int
    repetitions: int
    spams_seconds: int
    """How long SPAMS learns; it takes whole seconds only."""
    large: int
    """Millions of patches of a training whose memory is told; none if zero."""


FULL = Settings(n_samples=100_000, n_atoms=1024, n_models=50, repetitions=3, spams_seconds=10, large=0)
QUICK = Settings(n_samples=6000, n_atoms=256, n_models=6, repetitions=2, spams_seconds=2, large=0)


@dataclass(frozen=True)
class Files:
    """Samples in a file, and a folder for what is learned from them."""

    folder: Path
    X: np.ndarray

    def matrix(self, name: str) -> np.ndarray:
        """Read what the program has written."""
        return np.fromfile(self.folder / name, dtype="<f4").reshape(-1, self.X.shape[1])

    def learn(self, learner: str, threads: int = 1, **options: Any) -> dict[str, Any]:
        """Run one of our learners on the samples and return its record; paths are names in the folder."""
        given = {"samples": "X", "features": self.X.shape[1], "threads": threads, "seed": 0} | options
        paths = {name: self.folder / given[name] for name in ("samples", "start", "output") if name in given}
        return native("learn", learner, *(f"{name}={value}" for name, value in (given | paths).items()))

    def contender(self, name: str, learner: str, threads: int = 1, **options: Any) -> Contender:
        """Make one of our learners a contender, whose output is the record."""

        def run() -> tuple[float, dict[str, Any]]:
            record = self.learn(learner, threads, **options)
            return record["seconds"], record

        return Contender(name, "f32", threads, len(self.X), run)


@contextmanager
def files(X: np.ndarray) -> Iterator[Files]:
    """Write the samples to a file for as long as they are needed."""
    with tempfile.TemporaryDirectory() as folder:
        X.astype("<f4").tofile(Path(folder) / "X")
        yield Files(Path(folder), X)
