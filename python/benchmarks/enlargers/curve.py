"""How much a larger file is worth: models from the 91 images, of several sizes and precisions.

Judged by pictures that are in no test set, so that the choice of a size is not fitted to one.
"""

import tempfile
from pathlib import Path

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

import sparsemble
from enlargers.protocol import Case
from enlargers.runs import SHIPPED, Settings, judges, train

PRECISIONS = ("byte", "half", "full")


def run(settings: Settings, records: Records) -> None:
    """Train each, and enlarge the same pictures by it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        for scale, shipped in SHIPPED.items():
            cases = [Case.of(picture, scale) for picture in judges(settings)]
            for varied, options in _models(settings):
                progress(f"curve: ×{scale}, {varied}")
                # An option that is there twice would be refused.
                kept = [] if options[0] in shipped else shipped
                seconds = train(scale, [*kept, *options, "--force"], settings, path)
                model = sparsemble.load(path)
                mean = float(np.mean([case.judge(model.upscale(case.small))[0] for case in cases]))
                result = Result("sparsemble", "f32", 2, settings.n_training, seconds)
                megabytes = path.stat().st_size / 1e6
                facts = {"scale": scale, "varied": varied, "megabytes": megabytes, "psnr": mean}
                records.note("size and quality", result, **facts)


def _models(settings: Settings) -> list[tuple[str, list[str]]]:
    """Return what is varied, and its options; all else is as in the package."""
    models = [(f"{atoms} atoms", ["--atoms", str(atoms)]) for atoms in settings.atoms]
    models += [(f"{count} members a stage", ["--models", str(count)]) for count in settings.models]
    return models + [(f"maps in {kind}", ["--precision", kind]) for kind in PRECISIONS]
