"""The l1 graph of the USPS digits: each coded by all the others, λ = 0.2 of Eq. (1).

SPAMS cannot exclude an atom. What its users can do is a call for each sample with all the others for a
dictionary; that is timed on a few samples. Beside it stands what it would take if it could exclude atoms: the
samples are split, one part coded by the rest in one call, and the part paid once, the Gram matrix, found from
two sizes; see `coders/self_representation.py`.
"""

import time

import numpy as np
import spams
from coders import ours
from coders.judge import compare_fastest
from coders.self_representation import HELD_OUT, LAM, against_the_others
from shared.contest import Result
from shared.data import Problem
from shared.gap import GAP_LIMIT, lasso_certificate
from shared.records import Records, progress

from clusterers.runs import Files, Settings, files, prepared, usps

TARGET = 8.0
KIND = f"l1:lambda={LAM}"
N_CALLS = 20
"""Samples that SPAMS codes in calls of their own."""
SAME_GRAPH = 1e-4
"""How far a weight of the graph may be from that of the codes."""

_ESTIMATES: dict[int, list[Result]] = {}
"""The times of SPAMS by the number of samples; more than one workload needs them."""


def run(settings: Settings, records: Records) -> None:
    """Time the graph, and SPAMS for its codes."""
    X = prepared(usps(settings)[0])
    workload = f"l1 graph of {len(X)} USPS digits, λ = {LAM}"
    with files(X) as samples:
        own = graph(samples, settings, records)
    rival = spams_codes(X, settings, records)
    compare_fastest(records, workload, rival, [own], TARGET)
    alone = _call_by_call(X, records)
    records.compare(workload, f"{alone.name} {alone.dtype}", own.label, alone.seconds / own.seconds)


def graph(samples: Files, settings: Settings, records: Records) -> Result:
    """Time our graph, and check it by the certificate of the codes it is made of."""
    progress("l1 graph: ours")
    record, found = samples.graph(KIND, repetitions=settings.repetitions)
    X = samples.samples
    own = np.arange(len(X))
    codes = ours.coder_of(X, 1, method="lasso", lam=LAM, tol=GAP_LIMIT, exclude=own)(X)
    certificate = lasso_certificate(X, X, codes, LAM, own)
    result = Result("sparsemble", "f32", 1, len(X), record["seconds"], gap_max=float(certificate.gap.max()))
    apart = abs(found - (abs(codes) + abs(codes).T))
    if apart.max() > SAME_GRAPH:
        records.fail(f"the l1 graph differs from that of certified codes by {apart.max():.1e}")
    mean = float(certificate.objective.mean())
    records.note("l1 graph", result, objective=mean, gap_max=result.gap_max, neighbours=found.nnz / len(X))
    return result


def spams_codes(X: np.ndarray, settings: Settings, records: Records) -> list[Result]:
    """Estimate the time of SPAMS for all samples, if it could exclude atoms."""
    if len(X) not in _ESTIMATES:
        progress("l1 graph: SPAMS")
        n_held_out = len(X) // HELD_OUT
        problem = Problem(X[:n_held_out], X[n_held_out:])
        _ESTIMATES[len(X)] = against_the_others(problem, len(X), settings.repetitions, records)
    return _ESTIMATES[len(X)]


def _call_by_call(X: np.ndarray, records: Records) -> Result:
    """Time calls for single samples, as SPAMS can do it."""
    columns = np.asfortranarray(X.T)
    start = time.perf_counter()
    for i in range(N_CALLS):
        others = np.asfortranarray(np.delete(columns, i, axis=1))
        spams.lasso(columns[:, i : i + 1], D=others, lambda1=LAM / 2, mode=2, numThreads=1)
    seconds = (time.perf_counter() - start) / N_CALLS * len(X)
    result = Result("SPAMS, a call for each sample", "f32", 1, len(X), seconds)
    records.note("l1 graph", result)
    return result
