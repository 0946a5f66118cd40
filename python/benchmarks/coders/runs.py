"""The size of a run, and contenders that code samples."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from shared.contest import Contender

Coder = Callable[[np.ndarray], Any]
"""Samples in, codes out."""

PILOT_SAMPLES = 64


@dataclass(frozen=True)
class Settings:
    """The size of a run."""

    n_samples: int
    n_self: int
    repetitions: int
    rival_seconds: float
    """A rival codes as many samples as it can in this time, at most all."""


FULL = Settings(n_samples=100_000, n_self=9298, repetitions=5, rival_seconds=2.0)
QUICK = Settings(n_samples=2000, n_self=1000, repetitions=2, rival_seconds=0.04)


def coder(name: str, dtype: str, threads: int, code: Coder, X: np.ndarray) -> Contender:
    """Make a contender that codes all of X."""

    def run() -> tuple[float, Any]:
        start = perf_counter()
        codes = code(X)
        return perf_counter() - start, codes

    return Contender(name, dtype, threads, len(X), run)


def affordable(code: Coder, X: np.ndarray, seconds: float) -> np.ndarray:
    """As many of the first samples as `code` can do in the given time, judged by a few."""
    pilot = X[:PILOT_SAMPLES]
    code(pilot[:2])  # what is paid once: imports, threads, detection of the processor
    start = perf_counter()
    code(pilot)
    per_sample = (perf_counter() - start) / len(pilot)
    return X[: max(len(pilot), int(seconds / per_sample))]
