"""A Gaussian blur with noise, beside Wiener and Richardson-Lucy at their best setting."""

import numpy as np
from scipy.ndimage import correlate1d
from shared.records import Records, progress
from skimage.restoration import richardson_lucy, wiener

import sparsemble
from restorers.quality import Doubt, calibrate, contest, noting
from restorers.runs import RESTORED, Settings, pictures

BLUR = 1.6
NOISE = 2.0
TARGET = 1.0
"""dB above each rival, on average."""
BALANCES = (3e-4, 1e-3, 2e-3, 3e-3, 6e-3, 1e-2, 3e-2)
ITERATIONS = (5, 10, 20, 30, 50, 80)
MARGIN = 16
"""The rivals know no borders: they are given the picture with its mirror image around it."""


def run(settings: Settings, records: Records) -> None:
    """Blur every picture and let everyone undo it."""
    progress("blur")
    rng = np.random.default_rng(16)
    reach = int(4 * BLUR + 0.5)
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / BLUR) ** 2)
    taps /= taps.sum()
    kernel = np.outer(taps, taps)
    cases = {}
    for name, truth in pictures(RESTORED, settings).items():
        blurred = correlate1d(correlate1d(truth, taps, axis=0, mode="reflect"), taps, axis=1, mode="reflect")
        cases[name] = (truth, blurred + NOISE * rng.standard_normal(truth.shape))
    workload = "Gaussian blur, σ = 1.6, with noise, σ = 2"
    doubts: list[Doubt] = []
    contenders = {
        "blurred": lambda given, _: given,
        "sparsemble": noting(
            lambda given: sparsemble.deblur(given, BLUR, NOISE, return_std=True, n_threads=1), doubts
        ),
        "scikit-image Wiener": lambda given, _: [
            _inside(wiener(_padded(given), kernel, balance, clip=False)) for balance in BALANCES
        ],
        "scikit-image Richardson-Lucy": lambda given, _: [
            _inside(richardson_lucy(np.clip(_padded(given), 1e-3, 1), kernel, count)) for count in ITERATIONS
        ],
    }
    means = contest(workload, cases, contenders, records)
    calibrate(workload, dict(zip(cases, doubts, strict=True)), records)
    for rival in ("scikit-image Wiener", "scikit-image Richardson-Lucy"):
        above = means["sparsemble"] - means[rival]
        records.compare(f"{workload}: dB above", rival, "sparsemble", above, TARGET)


def _padded(picture: np.ndarray) -> np.ndarray:
    return np.pad(picture, MARGIN, mode="symmetric") / 255


def _inside(picture: np.ndarray) -> np.ndarray:
    return 255 * picture[MARGIN:-MARGIN, MARGIN:-MARGIN]
