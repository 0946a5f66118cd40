"""K-Means: the choice of the first centres against scikit-learn, and Lloyd's iterations against faiss."""

from itertools import count
from time import perf_counter
from typing import Any

import faiss
import numpy as np
from shared.contest import Contender, Result, interleave
from shared.data import learning_patches
from shared.records import Records, progress
from sklearn.cluster import kmeans_plusplus

from learners.runs import SIDE, Files, Settings, files

INITIALISATION_TARGET = 20.0
LLOYD_TARGET = 1.5
ITERATIONS = 10
SAME_INERTIA = 1e-3
"""How far two inertias may be apart, relatively, and count as the same."""

BLOCK = 4096


def run(settings: Settings, records: Records) -> None:
    """Run both on the same samples."""
    X, _ = learning_patches(SIDE, settings.n_samples, 0)
    with files(X) as samples:
        _initialisation(samples, settings, records)
        _iterations(samples, settings, records)


def inertia(X: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of the squared distances to the nearest centres, for every contender alike."""
    centers = centers.astype(np.float64)
    energies = np.einsum("ij,ij->i", centers, centers)
    total = 0.0
    for first in range(0, len(X), BLOCK):
        x = X[first : first + BLOCK].astype(np.float64)
        scores = x @ centers.T
        scores -= 0.5 * energies
        total += float(np.einsum("ij,ij->", x, x) - 2.0 * scores.max(axis=1).sum())
    return total


def _initialisation(samples: Files, settings: Settings, records: Records) -> None:
    workload = f"first centres M={SIDE**2} K={settings.n_atoms} T={len(samples.X)}"
    progress(workload)
    found: dict[tuple[str, int], list[float]] = {}

    def contender(name: str, threads: int, choose: Any) -> Contender:
        seeds = count()
        inertias = found.setdefault((name, threads), [])

        def run() -> tuple[float, None]:
            seconds, centers = choose(next(seeds))
            inertias.append(inertia(samples.X, centers))
            return seconds, None

        return Contender(name, "f32", threads, len(samples.X), run)

    def ours(threads: int) -> Any:
        def choose(seed: int) -> tuple[float, np.ndarray]:
            record = samples.learn("init", threads, atoms=settings.n_atoms, seed=seed, output="init")
            return record["seconds"], samples.matrix("init")

        return choose

    def theirs(seed: int) -> tuple[float, np.ndarray]:
        start = perf_counter()
        centers, _ = kmeans_plusplus(samples.X, settings.n_atoms, random_state=seed)
        return perf_counter() - start, centers

    contenders = [contender("K-Means‖", threads, ours(threads)) for threads in (1, 2)]
    contenders.append(contender("scikit-learn k-means++", 1, theirs))
    results = interleave(contenders, settings.repetitions)
    means = [float(np.mean(found[result.name, result.threads])) for result in results]
    for result, mean in zip(results, means, strict=True):
        records.note("first centres", result, M=SIDE**2, K=settings.n_atoms, inertia=mean)
    one, two, rival = results
    excess = means[0] / means[2] - 1
    if excess > 0:
        records.fail(f"{workload}: the inertia is {excess:.1e} above that of scikit-learn")
    ratio = rival.seconds / one.seconds
    records.compare(
        workload, rival.label, one.label, ratio, target=INITIALISATION_TARGET, objective_excess=excess
    )
    records.compare(workload, one.label, two.label, one.seconds / two.seconds)


def _iterations(samples: Files, settings: Settings, records: Records) -> None:
    """Begin at the same centres; the time of all is divided by the number of assignments.

    faiss makes one for each iteration, we make one more at the end.
    """
    workload = f"Lloyd M={SIDE**2} K={settings.n_atoms} T={len(samples.X)}"
    progress(workload)
    options = {"atoms": settings.n_atoms, "start": "start", "iterations": ITERATIONS}
    samples.learn("init", atoms=settings.n_atoms, output="start")
    start = samples.matrix("start")
    contenders = []
    for threads in (1, 2):
        output = f"centers-{threads}"
        contenders.append(samples.contender("Lloyd", "lloyd", threads, output=output, **options))
        contenders.append(_faiss(samples.X, start, threads))
    results = interleave(contenders, settings.repetitions)
    ours, rivals = results[::2], results[1::2]
    for own, rival in zip(ours, rivals, strict=True):
        own.output = samples.matrix(f"centers-{own.threads}")
        own.seconds /= ITERATIONS + 1
        rival.seconds /= ITERATIONS
    inertias = {id(result): inertia(samples.X, result.output) for result in results}
    for result in results:
        facts = {"M": SIDE**2, "K": settings.n_atoms, "inertia": inertias[id(result)]}
        records.note("Lloyd iteration", result, **facts)
    for own, rival in zip(ours, rivals, strict=True):
        _compare(records, workload, own, rival, inertias[id(own)] / inertias[id(rival)] - 1)
    records.compare(workload, ours[0].label, ours[1].label, ours[0].seconds / ours[1].seconds)


def _compare(records: Records, workload: str, own: Result, rival: Result, excess: float) -> None:
    if excess > SAME_INERTIA:
        records.fail(f"{workload}: the inertia is {excess:.1e} above that of {rival.label}")
    ratio = rival.seconds / own.seconds
    records.compare(workload, rival.label, own.label, ratio, target=LLOYD_TARGET, objective_excess=excess)


def _faiss(X: np.ndarray, start: np.ndarray, threads: int) -> Contender:
    """Use all samples, as faiss would otherwise take 256 for each centre."""

    def run() -> tuple[float, np.ndarray]:
        faiss.omp_set_num_threads(threads)
        clustering = faiss.Kmeans(
            X.shape[1],
            len(start),
            niter=ITERATIONS,
            max_points_per_centroid=len(X),
            min_points_per_centroid=1,
        )
        begin = perf_counter()
        clustering.train(X, init_centroids=start)
        return perf_counter() - begin, clustering.centroids

    return Contender("faiss", "f32", threads, len(X), run)
