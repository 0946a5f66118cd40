"""Contests in which the nearest picture wins."""

import time
from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr
from shared.contest import Result
from shared.records import Records, progress

from restorers.runs import psnr

Case = tuple[np.ndarray, np.ndarray]
"""The truth, and what is given to everyone."""
Doubt = tuple[np.ndarray, np.ndarray]
"""What is said of the error of each pixel, and the error."""


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


def noting(
    restore: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], doubts: list[Doubt]
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a contender that notes what it says of its errors beside them: of missing pixels, if any are."""

    def contender(given: np.ndarray, truth: np.ndarray) -> np.ndarray:
        restored, std = restore(given)
        missing = np.isnan(given)
        counted = missing if missing.any() else np.ones_like(missing)
        doubts.append((std[counted], np.abs(restored - truth)[counted]))
        return restored

    return contender


def calibrate(workload: str, doubts: dict[str, Doubt], records: Records) -> None:
    """Keep whether errors are larger where they are said to be: by rank, and by quarters of the pixels."""
    ranks = {name: float(spearmanr(std, error).statistic) for name, (std, error) in doubts.items()}
    std, error = (np.concatenate(parts) for parts in zip(*doubts.values(), strict=True))
    order = np.argsort(std, kind="stable")
    quarters = [[_root_mean_square(part) for part in (std[q], error[q])] for q in np.array_split(order, 4)]
    result = Result(name="sparsemble", dtype="f64", threads=1, n_samples=std.size, seconds=None)
    records.note(f"uncertainty of {workload}", result, ranks=ranks, quarters=quarters)


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
