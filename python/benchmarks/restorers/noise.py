"""White noise of deviation 25, beside non-local means, total variation and BM3D."""

from collections.abc import Callable

import numpy as np
from shared.records import Records, progress
from skimage.restoration import denoise_nl_means, denoise_tv_chambolle

import sparsemble
from restorers.quality import Doubt, calibrate, contest, noting
from restorers.runs import RESTORED, Settings, pictures

SIGMA = 25.0
TARGET = 30.1
"""dB, the mean over the eight pictures."""
WEIGHTS = (0.08, 0.1, 0.12)
"""Of total variation: the best of these for each picture counts."""


def run(settings: Settings, records: Records) -> None:
    """Restore every picture from the same noise by everyone."""
    progress("white noise")
    rng = np.random.default_rng(25)
    cases = {}
    for name, truth in pictures(RESTORED, settings).items():
        cases[name] = (truth, truth + SIGMA * rng.standard_normal(truth.shape))
    doubts: list[Doubt] = []
    means = contest("white noise, σ = 25", cases, _contenders(doubts), records)
    calibrate("white noise, σ = 25", dict(zip(cases, doubts, strict=True)), records)
    records.compare("white noise, σ = 25: dB", "target", "sparsemble", means["sparsemble"], TARGET)
    for rival, mean in means.items():
        if rival != "sparsemble":
            records.compare("white noise, σ = 25: dB above", rival, "sparsemble", means["sparsemble"] - mean)


def _contenders(
    doubts: list[Doubt],
) -> dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray | list[np.ndarray]]]:
    contenders = {
        "noisy": lambda noisy, _: noisy,
        "sparsemble": noting(
            lambda noisy: sparsemble.denoise(noisy, SIGMA, return_std=True, n_threads=1), doubts
        ),
        "scikit-image non-local means": lambda noisy, _: _non_local_means(noisy),
        "scikit-image total variation": lambda noisy, _: [
            255 * denoise_tv_chambolle(noisy / 255, weight) for weight in WEIGHTS
        ],
    }
    try:
        from bm3d import bm3d
    except ImportError:
        progress("bm3d is not installed and left out")
    else:
        contenders["bm3d"] = lambda noisy, _: bm3d(noisy, SIGMA)
    return contenders


def _non_local_means(noisy: np.ndarray) -> np.ndarray:
    scaled, sigma = noisy / 255, SIGMA / 255
    return 255 * denoise_nl_means(
        scaled, patch_size=7, patch_distance=11, h=0.6 * sigma, sigma=sigma, fast_mode=False
    )
