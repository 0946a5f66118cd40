"""Set5 and Set14, enlarged 2, 3 and 4 times, by models from the 91 images and by that of the package."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

import sparsemble
from enlargers.protocol import Case, back_projected, imresize
from enlargers.runs import SETS, SHIPPED, UNREDUCED, Settings, test_pictures, train

TARGETS = {
    (2, "Set5"): 37.00,
    (2, "Set14"): 32.62,
    (3, "Set5"): 32.95,
    (3, "Set14"): 29.38,
    (4, "Set5"): 30.60,
    (4, "Set14"): 27.55,
}
"""dB, for models from the 91 images only."""
A_PLUS = {
    (2, "Set5"): 36.54,
    (2, "Set14"): 32.28,
    (3, "Set5"): 32.59,
    (3, "Set14"): 29.13,
    (4, "Set5"): 30.28,
    (4, "Set14"): 27.32,
}
"""dB, as published."""
SRCNN = {
    (2, "Set5"): 36.66,
    (2, "Set14"): 32.42,
}
"""dB, as published; for the other scales we have no figures that we could check."""
REDUCTION = 0.10
"""The most that fewer atoms, fewer directions and bytes may cost, in dB."""
COST = 0.15
"""The most that freely licensed training pictures may cost, in dB."""
FROM_91, FROM_FREE = "sparsemble, 91 images", "sparsemble, the package's model"
WHOLE = "sparsemble, 91 images, unreduced"


def run(settings: Settings, records: Records) -> None:
    """Train on the 91 images, then enlarge everything by everyone."""
    with tempfile.TemporaryDirectory() as folder:
        for scale, options in SHIPPED.items():
            progress(f"×{scale}: training on the 91 images")
            model = Path(folder) / f"x{scale}.safetensors"
            seconds = train(scale, ["--precision", "byte", *options], settings, model)
            note = Result("sparsemble", "f32", 2, settings.n_training, seconds)
            records.note(f"training for ×{scale}", note, megabytes=model.stat().st_size / 1e6)
            progress(f"×{scale}: training without reduction")
            whole = Path(folder) / f"x{scale}-whole.safetensors"
            note = Result(
                "sparsemble", "f32", 2, settings.n_training, train(scale, UNREDUCED[scale], settings, whole)
            )
            records.note(f"training for ×{scale}, unreduced", note, megabytes=whole.stat().st_size / 1e6)
            enlargers = {
                "bicubic": lambda case: imresize(case.small, case.scale),
                "bicubic + back-projection": lambda case: back_projected(case.small, case.scale),
                WHOLE: _upscaler(sparsemble.load(whole)),
                FROM_91: _upscaler(sparsemble.load(model)),
                FROM_FREE: _upscaler(sparsemble.SuperResolution(scale)),
            }
            for name in SETS:
                _contest(scale, name, enlargers, settings, records)


def _upscaler(model: sparsemble.SuperResolution) -> Callable[[Case], np.ndarray]:
    return lambda case: model.upscale(case.small)


def _contest(
    scale: int,
    name: str,
    enlargers: dict[str, Callable[[Case], np.ndarray]],
    settings: Settings,
    records: Records,
) -> None:
    """Enlarge every picture of a set by everyone."""
    workload = f"{name} ×{scale}"
    progress(workload)
    cases = [Case.of(path, scale) for path in test_pictures(name, settings)]
    means = {}
    for contender, enlarge in enlargers.items():
        psnr, ssim = zip(*(case.judge(enlarge(case)) for case in cases), strict=True)
        pixels = sum(case.truth.size for case in cases)
        result = Result(name=contender, dtype="f32", threads=1, n_samples=pixels, seconds=None)
        means[contender] = float(np.mean(psnr))
        pictures = dict(zip((case.name for case in cases), psnr, strict=True))
        records.note(workload, result, psnr=means[contender], ssim=float(np.mean(ssim)), pictures=pictures)
    key = (scale, name)
    records.compare(f"{workload}: dB", "target", FROM_91, means[FROM_91], TARGETS[key])
    for rival, published in (("A+, as published", A_PLUS), ("SRCNN, as published", SRCNN)):
        if key in published:
            records.compare(f"{workload}: dB above", rival, FROM_91, means[FROM_91] - published[key])
    records.limit(f"{workload}: dB lost", WHOLE, FROM_91, means[WHOLE] - means[FROM_91], REDUCTION)
    records.limit(f"{workload}: dB lost", FROM_91, FROM_FREE, means[FROM_91] - means[FROM_FREE], COST)
