"""A million samples of 64 features, from a mixture of subspaces, clustered end to end."""

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

from clusterers.runs import Settings, accuracy, files

N_FEATURES = 64
N_CLASSES = 20
DIMENSIONS = 4
"""Of each subspace."""
NOISE = 0.05
"""The standard deviation of a feature; without it a feature has 0.25."""
THREADS = 2


def run(settings: Settings, records: Records) -> None:
    """Cluster them once, on all cores."""
    if settings.n_mixed == 0:
        return
    progress(f"{settings.n_mixed} samples")
    samples, classes = mixture(settings.n_mixed)
    with files(samples) as written:
        record, labels = written.fit("ensemble", clusters=N_CLASSES, threads=THREADS)
    result = Result("sparsemble", "f32", THREADS, len(samples), record["seconds"])
    facts = {name: record[name] for name in ("stages", "formed", "converged", "peak_mb")}
    data = samples.nbytes / 1e6
    records.note("many samples", result, accuracy=accuracy(classes, labels), data_mb=data, **facts)


def mixture(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of random subspaces with noise, and the subspace of each."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=count)
    samples = NOISE * rng.standard_normal((count, N_FEATURES), dtype=np.float32)
    for number in range(N_CLASSES):
        basis = rng.standard_normal((DIMENSIONS, N_FEATURES), dtype=np.float32) / np.sqrt(N_FEATURES)
        members = np.flatnonzero(classes == number)
        samples[members] += rng.standard_normal((len(members), DIMENSIONS), dtype=np.float32) @ basis
    return samples, classes
