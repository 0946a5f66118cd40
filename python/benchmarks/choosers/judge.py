"""What settings are worth: agreement with the classes, and, without classes, of draws with each other."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from clusterers.runs import accuracy
from shared.records import progress
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from choosers.settings import PLAIN, Setting
from choosers.suite import LabelledSet, suite
from choosers.trials import labels, part

LEVEL = 2.0
"""Standard errors that a difference must be above to count."""


@dataclass(frozen=True)
class Draws:
    """Which parts of the sets a setting is tried on."""

    first: int
    count: int
    n_samples: int


@dataclass(frozen=True)
class Marks:
    """What a setting is worth on each source of samples."""

    accuracy: np.ndarray
    information: np.ndarray
    stability: np.ndarray
    """The mean adjusted Rand index of two draws on the samples that both have: it knows no class."""

    @property
    def score(self) -> np.ndarray:
        """The mean of accuracy and NMI: what is judged by."""
        return (self.accuracy + self.information) / 2


@dataclass(frozen=True)
class Difference:
    """A mean over the sources, its standard error, and on how many it is above and below zero."""

    mean: float
    error: float
    better: int
    worse: int

    @classmethod
    def of(cls, values: np.ndarray) -> "Difference":
        """Summarise the differences of two settings on the sources."""
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")
        return cls(float(values.mean()), error, int((values > 0).sum()), int((values < 0).sum()))

    @property
    def counts(self) -> bool:
        """Whether the first is better by more than chance would make it."""
        return self.mean > 0 and self.mean > LEVEL * self.error


@cache
def marks(setting: Setting, draws: Draws) -> Marks:
    """Try a setting on all sets."""
    progress(f"draws {draws.first} to {draws.first + draws.count - 1}: {setting.difference(PLAIN)}")
    sources: dict[str, list[tuple[float, float, float]]] = {}
    for whole in suite()[0]:
        sources.setdefault(whole.source, []).append(_on(whole, setting, draws))
    return Marks(*np.array([np.mean(found, axis=0) for found in sources.values()]).T)


def _on(whole: LabelledSet, setting: Setting, draws: Draws) -> tuple[float, float, float]:
    """Return accuracy, NMI and stability on a set."""
    parts = [part(whole, draws.first + number, draws.n_samples) for number in range(draws.count)]
    found = labels(parts, setting)
    pairs = list(zip(parts, found, strict=True))
    stable = []
    for (one, of_one), (other, of_other) in combinations(pairs, 2):
        _, here, there = np.intersect1d(one.rows, other.rows, return_indices=True)
        stable.append(adjusted_rand_score(of_one[here], of_other[there]))
    return (
        float(np.mean([accuracy(taken.classes, of_it) for taken, of_it in pairs])),
        float(np.mean([normalized_mutual_info_score(taken.classes, of_it) for taken, of_it in pairs])),
        float(np.mean(stable)) if stable else float("nan"),
    )
