"""One graph, all spectral steps: what each pair of vectors and power is worth, kept like other trials."""

import hashlib
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from clusterers.runs import accuracy, files
from shared.records import progress
from sklearn.metrics import normalized_mutual_info_score

from choosers.settings import WAYS, Setting, count, text
from choosers.suite import LabelledSet
from choosers.trials import KEPT, build, whole_part

VECTORS: tuple[float, ...] = WAYS["vectors"]
POWERS: tuple[float, ...] = WAYS["power"]
PAIRS = list(product(VECTORS, POWERS))
"""The spectral steps, in the order in which ties are broken."""
MOST = 30
"""The most members of a graph. Those of fewer are the first of them, and sharper ones are the same powers."""


def sweep(whole: LabelledSet, setting: Setting, seed: int) -> np.ndarray:
    """Return accuracy and NMI of each of the `PAIRS` with the graph of a setting, 2 × 20.

    Codes and the most eigenvectors are made once; the first of these are the same as if fewer had been
    asked for, so a pair finds what `sparsemble cluster` would with the same seed.
    """
    options = {
        "graph": setting.method,
        "scale": setting.scale_of(whole_part(whole, seed).range_ratio),
        "clusters": whole.n_classes,
        "vectors": ",".join(str(count(vectors, whole.n_classes)) for vectors in VECTORS),
        "powers": ",".join(map(text, POWERS)),
        "seed": seed,
    }
    kept = _kept(whole, options, "npy")
    if kept.is_file():
        return np.load(kept)
    KEPT.mkdir(parents=True, exist_ok=True)
    with files(whole.samples) as samples:
        path = samples.folder / "labels.u32"
        codes = _kept(
            whole, options | {"graph": replace(setting, members=MOST, sharpness=1.0).method}, "codes"
        )
        record = samples.call("sweep", output=path, codes=codes, most=MOST, **options)
        labels = np.fromfile(path, dtype="<u4").reshape(len(PAIRS), -1)
    progress(f"{whole.name}, seed {seed}, {record['seconds']:.1f} s: {options['graph']} {options['scale']}")
    found = np.array(
        [
            [accuracy(whole.classes, of_pair) for of_pair in labels],
            [normalized_mutual_info_score(whole.classes, of_pair) for of_pair in labels],
        ]
    )
    # Whole or not at all: a run may be stopped here.
    unfinished = kept.with_suffix(".part.npy")
    np.save(unfinished, found)
    unfinished.replace(kept)
    return found


def _kept(whole: LabelledSet, options: dict[str, Any], ending: str) -> Path:
    """Return where what these options make of a set is kept."""
    key = " ".join([build("SPARSEMBLE_BENCH_BIN"), whole.name, *(f"{k}={v}" for k, v in options.items())])
    return KEPT / f"{hashlib.sha256(key.encode()).hexdigest()}.{ending}"
