"""Whether errors are larger where the models of the package say so."""

import numpy as np
from scipy.stats import spearmanr
from shared.contest import Result
from shared.records import Records, progress

import sparsemble
from enlargers.protocol import Case
from enlargers.runs import SHIPPED, Settings, judges

PARTS = 10


def run(settings: Settings, records: Records) -> None:
    """Enlarge pictures that were not learned from, and compare what is said of pixels with their errors."""
    for scale in SHIPPED:
        progress(f"uncertainty, ×{scale}")
        model = sparsemble.SuperResolution(scale)
        said, missed, ranks = [], [], []
        for picture in judges(settings):
            case = Case.of(picture, scale)
            found, std = model.upscale(case.small, return_std=True)
            inner = (slice(scale, -scale),) * 2
            error = np.abs(found - case.truth)[inner].ravel()
            said.append(std[inner].ravel())
            missed.append(error)
            ranks.append(float(spearmanr(said[-1], error).statistic))
        std, error = np.concatenate(said), np.concatenate(missed)
        order = np.argsort(std, kind="stable")
        parts = [
            [_root_mean_square(values[part]) for values in (std, error)]
            for part in np.array_split(order, PARTS)
        ]
        result = Result("sparsemble", "f32", 1, std.size, None)
        facts = {"rank": float(np.mean(ranks)), "least_rank": min(ranks), "parts": parts}
        records.note(f"uncertainty, ×{scale}", result, **facts)


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
