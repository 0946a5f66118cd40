"""Timing: every contender once, then every contender again, and the best run of each is kept."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shared.gap import GAP_LIMIT


@dataclass(frozen=True)
class Contender:
    """Something that can be timed on a number of samples."""

    name: str
    dtype: str
    threads: int
    n_samples: int
    run: Callable[[], tuple[float, Any]]
    """Returns seconds and what came out."""


@dataclass
class Result:
    """The best run of a contender, and what its codes are worth."""

    name: str
    dtype: str
    threads: int
    n_samples: int
    seconds: float
    output: Any = None
    objective: np.ndarray | None = None
    """One value for each sample."""
    gap_max: float | None = None
    nnz: float | None = None
    """Coefficients per sample."""
    complete: bool = True
    """Whether it did what was asked; SPAMS in f32 is known to return empty codes."""

    @property
    def us_per_sample(self) -> float:
        """Microseconds."""
        return self.seconds / self.n_samples * 1e6

    @property
    def counts(self) -> bool:
        """Whether the codes are good enough for the time to mean something."""
        return self.complete and (self.gap_max is None or self.gap_max <= GAP_LIMIT)

    @property
    def label(self) -> str:
        """The name, the dtype, and the threads if more than one."""
        return f"{self.name} {self.dtype}" + (f" ×{self.threads}" if self.threads > 1 else "")


def interleave(contenders: Iterable[Contender], repetitions: int) -> list[Result]:
    """Run all contenders in turn, again and again, so that a slow spell of the machine meets all of them."""
    contenders = list(contenders)
    best: list[Result | None] = [None] * len(contenders)
    for _ in range(repetitions):
        for i, contender in enumerate(contenders):
            seconds, output = contender.run()
            if best[i] is None or seconds < best[i].seconds:
                best[i] = Result(
                    contender.name, contender.dtype, contender.threads, contender.n_samples, seconds, output
                )
    return [result for result in best if result is not None]
