"""How much a larger file is worth: models for ×2 from the 91 images, of several sizes and precisions."""

import tempfile
from pathlib import Path

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

import sparsemble
from enlargers.protocol import Case
from enlargers.runs import SETS, Settings, test_pictures, train

SCALE = 2
PRECISIONS = ("byte", "half", "full")


def run(settings: Settings, records: Records) -> None:
    """Train each, and enlarge both sets by it."""
    cases = {name: [Case.of(path, SCALE) for path in test_pictures(name, settings)] for name in SETS}
    middle = settings.atoms[len(settings.atoms) // 2 + len(settings.atoms) % 2]
    models = [(atoms, PRECISIONS[0]) for atoms in settings.atoms]
    models += [(middle, precision) for precision in PRECISIONS[1:]]
    with tempfile.TemporaryDirectory() as folder:
        for atoms, precision in models:
            progress(f"curve: {atoms} atoms, {precision}")
            path = Path(folder) / "model.safetensors"
            options = ["--atoms", str(atoms), "--precision", precision, "--force"]
            seconds = train(SCALE, options, settings, path)
            model = sparsemble.load(path)
            means = {}
            for name, of_set in cases.items():
                means[name] = float(np.mean([case.judge(model.upscale(case.small))[0] for case in of_set]))
            result = Result("sparsemble", "f32", 2, settings.n_training, seconds)
            size = path.stat().st_size / 1e6
            records.note(
                "size and quality", result, atoms=atoms, precision=precision, megabytes=size, means=means
            )
