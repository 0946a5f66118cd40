"""Contests in which the nearest picture wins."""

import time
from collections.abc import Callable

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

from restorers.runs import psnr

Case = tuple[np.ndarray, np.ndarray]
"""The truth, and what is given to everyone."""


def contest(
    workload: str,
    cases: dict[str, Case],
    contenders: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray | list[np.ndarray]]],
    records: Records,
) -> dict[str, float]:
    """Restore every picture by everyone; return the mean PSNR of each.

    A contender is called with what is given and with the truth, which it must not use. It may return several
    pictures, of which the best counts: that is how rivals get their best setting.
    """
    means = {}
    for contender, restore in contenders.items():
        progress(f"{workload}: {contender}")
        start = time.perf_counter()
        found = {name: _best(truth, restore(given, truth)) for name, (truth, given) in cases.items()}
        seconds = time.perf_counter() - start
        means[contender] = float(np.mean(list(found.values())))
        pixels = sum(truth.size for truth, _ in cases.values())
        result = Result(name=contender, dtype="f64", threads=1, n_samples=pixels, seconds=seconds)
        records.note(workload, result, psnr=means[contender], pictures=found)
    return means


def _best(truth: np.ndarray, found: np.ndarray | list[np.ndarray]) -> float:
    return max(psnr(truth, picture) for picture in (found if isinstance(found, list) else [found]))
