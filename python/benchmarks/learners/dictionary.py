"""Dictionary learning: the time to a dictionary as good as the one SPAMS has after a while.

Learned from patches of some photographs, judged by patches of others: the mean of ‖x − Da‖² + λ‖a‖₁ with the
codes of our lasso, certified for every sample, whoever learned the dictionary.
"""

import warnings
from collections.abc import Iterator
from time import perf_counter

import numpy as np
import spams
from shared.contest import Contender, Result, interleave
from shared.data import DTYPES, learning_patches
from shared.gap import GAP_LIMIT, lasso_certificate
from shared.records import Records, progress
from sklearn.decomposition import MiniBatchDictionaryLearning  # noqa: TID251 - a rival, not a tool

import sparsemble
from learners.runs import SIDE, Files, Settings, files

ATOMS = 256
LAM = 0.2
HELD_OUT = 3000
SPAMS_TARGET = 4.0
SKLEARN_TARGET = 40.0
PATIENCE = 1.1
"""scikit-learn is given up after so many times what the target asks for."""

FIRST_LOOK = 0.05
LOOKS = 1.15
"""Our atoms are judged after this many seconds, and then whenever this many times as many have passed."""


def run(settings: Settings, records: Records) -> None:
    """Run SPAMS for a while, then ours and scikit-learn until they are as good."""
    X, held_out = learning_patches(SIDE, settings.n_samples, HELD_OUT)
    workload = f"dictionary M={SIDE**2} K={ATOMS} λ={LAM} T={len(X)}"
    progress(workload)
    goal, spams_result = _spams(X, held_out, settings.spams_seconds, records)
    with files(X) as samples:
        one, two = _ours(samples, held_out, goal, settings, records)
    for own in (one, two):
        target = SPAMS_TARGET if own.threads == 1 else None
        ratio = spams_result.seconds / own.seconds
        records.compare(workload, spams_result.label, own.label, ratio, target=target)
    rival, reached = _sklearn(X, held_out, goal, one.seconds, records)
    label = rival.label if reached else f"{rival.label}, not there yet"
    records.compare(workload, label, one.label, rival.seconds / one.seconds, target=SKLEARN_TARGET)


def objective(held_out: np.ndarray, D: np.ndarray) -> float:
    """Return the mean objective of Eq. (1), from codes whose gaps are small enough."""
    X, D = held_out.astype(np.float64), np.ascontiguousarray(D, dtype=np.float64)
    codes = sparsemble.sparse_encode(X, D, method="lasso", lam=LAM, tol=GAP_LIMIT, n_threads=1)
    certificate = lasso_certificate(X, D, codes, LAM)
    if certificate.gap.max() > GAP_LIMIT:
        raise RuntimeError(f"a gap of {certificate.gap.max():.1e} is too wide to judge a dictionary")
    return float(certificate.objective.mean())


def _note(records: Records, result: Result, reached: float) -> None:
    facts = {"M": SIDE**2, "K": ATOMS, "lambda": LAM, "objective": reached}
    records.note("dictionary learning", result, **facts)


def _spams(X: np.ndarray, held_out: np.ndarray, seconds: int, records: Records) -> tuple[float, Result]:
    """Return the better objective of its two dtypes; it takes λ/2, as it puts a ½ before the error."""
    found = []
    for dtype in DTYPES:
        samples = np.asfortranarray(X.T, dtype=DTYPES[dtype])
        start = perf_counter()
        D = spams.trainDL(samples, K=ATOMS, lambda1=LAM / 2, iter=-seconds, numThreads=1, verbose=False)
        result = Result("SPAMS trainDL", dtype, 1, len(X), perf_counter() - start)
        found.append((objective(held_out, D.T), result))
        _note(records, result, found[-1][0])
    return min(found, key=lambda pair: pair[0])


def _looks(most: float) -> Iterator[float]:
    time = FIRST_LOOK
    while time < most:
        yield time
        time *= LOOKS


def _ours(
    samples: Files, held_out: np.ndarray, goal: float, settings: Settings, records: Records
) -> list[Result]:
    """Return the time to the goal by one and by two threads."""
    times = ",".join(f"{time:.4f}" for time in _looks(settings.spams_seconds))

    def contender(threads: int) -> Contender:
        def run() -> tuple[float, float]:
            options = {"atoms": ATOMS, "lambda": LAM, "times": times, "output": f"atoms-{threads}"}
            record = samples.learn("online", threads, **options)
            for number, seconds in enumerate(record["reached"]):
                reached = objective(held_out, samples.matrix(f"atoms-{threads}.{number}"))
                if reached <= goal:
                    return seconds, reached
            raise RuntimeError(f"our learner is at {reached:.5f} and has not come to {goal:.5f}")

        return Contender("online Alt-Opt", "f32", threads, len(samples.X), run)

    results = interleave([contender(threads) for threads in (1, 2)], settings.repetitions)
    for result in results:
        _note(records, result, result.output)
    return results


def _sklearn(
    X: np.ndarray, held_out: np.ndarray, goal: float, ours: float, records: Records
) -> tuple[Result, bool]:
    """Learn in its mini-batches until the goal is reached, or until it has missed the target."""
    learner = MiniBatchDictionaryLearning(ATOMS, alpha=LAM / 2, fit_algorithm="cd", random_state=0)
    most = PATIENCE * SKLEARN_TARGET * ours
    seconds, first, looks = 0.0, 0, _looks(np.inf)
    look, reached = next(looks), np.inf
    while reached > goal and seconds < most:
        batch = X[first : first + learner.batch_size]
        first = (first + len(batch)) % len(X)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.partial_fit(batch)
        seconds += perf_counter() - start
        if seconds >= look:
            reached = objective(held_out, learner.components_)
            while look <= seconds:
                look = next(looks)
    result = Result("scikit-learn mini-batches", "f32", 1, len(X), seconds)
    _note(records, result, reached)
    return result, reached <= goal
