"""Missing pixels, beside biharmonic inpainting."""

import numpy as np
from shared.records import Records, progress
from skimage.restoration import inpaint_biharmonic

import sparsemble
from restorers.quality import Doubt, calibrate, contest, noting
from restorers.runs import RESTORED, Settings, pictures

TARGET = 2.0
"""dB above the rival, on average."""


def run(settings: Settings, records: Records) -> None:
    """Take half of the pixels away, then four fifths."""
    for missing in (0.5, 0.8):
        progress(f"missing pixels: {missing:.0%}")
        rng = np.random.default_rng(50)
        cases = {}
        for name, truth in pictures(RESTORED, settings).items():
            given = truth.copy()
            given[rng.random(truth.shape) < missing] = np.nan
            cases[name] = (truth, given)
        workload = f"{missing:.0%} of the pixels missing"
        doubts: list[Doubt] = []
        contenders = {
            "sparsemble": noting(
                lambda given: sparsemble.inpaint(given, np.isnan(given), return_std=True, n_threads=1), doubts
            ),
            "scikit-image biharmonic": lambda given, _: (
                255 * inpaint_biharmonic(np.nan_to_num(given) / 255, np.isnan(given))
            ),
        }
        means = contest(workload, cases, contenders, records)
        calibrate(workload, dict(zip(cases, doubts, strict=True)), records)
        above = means["sparsemble"] - means["scikit-image biharmonic"]
        records.compare(f"{workload}: dB above", "scikit-image biharmonic", "sparsemble", above, TARGET)
