"""Compressive recovery of the pictures of the paper's Table 1, without side information."""

import time

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

import sparsemble
from restorers.quality import calibrate
from restorers.runs import RECOVERED, Settings, pictures, psnr

TARGETS = {8: 27.6, 16: 31.4, 32: 36.4}
"""dB for so many measurements of a block of 64 pixels, the mean over pictures and draws."""
PAPER = {8: 24.51, 16: 26.70, 32: 29.66}
"""The best method of the paper, Ex-MLD, which may have known the means of the blocks."""


def run(settings: Settings, records: Records) -> None:
    """Measure and recover every picture with several random matrices."""
    truths = pictures(RECOVERED, settings)
    for n_measurements, target in TARGETS.items():
        progress(f"recovery from {n_measurements} of 64")
        found: dict[str, list[float]] = {name: [] for name in truths}
        starts: dict[str, list[float]] = {name: [] for name in truths}
        doubts: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        start = time.perf_counter()
        for draw in range(settings.n_draws):
            recovery = sparsemble.CompressiveRecovery(
                n_measurements=n_measurements, kind="orthonormal", random_state=draw, n_threads=1
            )
            for name, truth in truths.items():
                measurements = recovery.sense(truth)
                recovered, std = recovery.recover(measurements, truth.shape, return_std=True)
                found[name].append(psnr(truth, recovered))
                if draw == 0:
                    doubts[name] = (std.ravel(), np.abs(recovered - truth).ravel())
                starts[name].append(psnr(truth, recovery.first_estimate(measurements, truth.shape)))
        workload = f"recovery from {n_measurements} of 64"
        pixels = settings.n_draws * sum(truth.size for truth in truths.values())
        for contender, values in (("local Gaussians, block by block", starts), ("sparsemble", found)):
            seconds = time.perf_counter() - start if contender == "sparsemble" else None
            result = Result(name=contender, dtype="f64", threads=1, n_samples=pixels, seconds=seconds)
            each = {name: float(np.mean(of_draws)) for name, of_draws in values.items()}
            spread = float(np.std(np.mean(list(values.values()), axis=0)))
            mean = float(np.mean(list(each.values())))
            records.note(workload, result, psnr=mean, pictures=each, spread=spread, draws=settings.n_draws)
        calibrate(workload, doubts, records)
        mean = float(np.mean(list(found.values())))
        gains = [np.min(np.subtract(found[name], starts[name])) for name in truths]
        records.compare(f"{workload}: dB", "target", "sparsemble", mean, target)
        records.compare(
            f"{workload}: dB above", "the paper's Ex-MLD", "sparsemble", mean - PAPER[n_measurements]
        )
        records.compare(
            f"{workload}: least gain on any picture, dB",
            "block by block",
            "sparsemble",
            float(min(gains)),
            0.0,
        )
