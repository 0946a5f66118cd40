"""Samples coded by each other, Eq. (17): M = 256, K = T = 9298, no sample by itself.

SPAMS cannot exclude an atom. So it codes the first ninth of the samples against all the others: a
dictionary that is a little smaller, which favours it. Its time has a part paid once, the Gram matrix,
which would weigh too much on so few samples: two sizes give both parts, and the comparison uses their sum
for all T samples. On that smaller problem we run too, so that the objectives can be compared.
"""

import numpy as np
from shared.contest import Result, interleave
from shared.data import Problem, self_representation
from shared.gap import GAP_LIMIT, lasso_certificate
from shared.records import Records, progress

from coders import ours, rivals
from coders.judge import compare_fastest, compare_with_ourselves, pick
from coders.lasso import certify
from coders.memory import measure
from coders.runs import Settings, coder

LAM = 0.2
SPAMS_TARGET = 8.0
MEMORY_LIMIT_MB = 400.0
HELD_OUT = 9
"""One sample in so many is coded by SPAMS."""


def run(settings: Settings, records: Records) -> None:
    """Run it with and without exclusion."""
    name, X = self_representation(settings.n_self)
    workload = f"self-representation of {len(X)} {name} λ={LAM}"
    progress(workload)
    n_held_out = len(X) // HELD_OUT
    problem = Problem(X[:n_held_out], X[n_held_out:])
    spams = against_the_others(problem, len(X), max(1, settings.repetitions // 2), records)
    own = _all_by_all(X, settings, records)
    compare_fastest(records, workload, spams, pick(own, "sparsemble"), SPAMS_TARGET)
    compare_with_ourselves(records, workload, own)
    for dtype in ("f32", "f64"):
        samples, _ = Problem(X, X).cast(dtype)
        data, extra = measure(samples, None, method="lasso", lam=LAM, n_threads=1)
        records.remember(f"{workload} {dtype}", data, extra)
        limit = f"{MEMORY_LIMIT_MB:.0f} MB beyond the data"
        ratio = MEMORY_LIMIT_MB / max(extra, 1.0)
        records.compare(f"memory of {workload}", limit, f"sparsemble {dtype}", ratio, target=1.0)


def _all_by_all(X: np.ndarray, settings: Settings, records: Records) -> list[Result]:
    problem, excluded = Problem(X, X), np.arange(len(X))
    contenders = ours.contenders(problem, method="lasso", lam=LAM, tol=GAP_LIMIT, exclude=excluded)
    results = interleave(contenders, settings.repetitions)
    for result in results:
        certificate = lasso_certificate(X, X, result.output, LAM, excluded)
        result.gap_max, result.nnz = float(certificate.gap.max()), result.output.nnz / len(X)
        result.objective = certificate.objective
        records.measure("self-representation", result, problem.shape, LAM)
    return results


def against_the_others(problem: Problem, n_all: int, repetitions: int, records: Records) -> list[Result]:
    """Time SPAMS on the samples of the problem, compare objectives, and return estimates for all samples."""
    contenders = []
    sizes = (len(problem.X) // 10, len(problem.X))
    for dtype in ("f32", "f64"):
        X, D = problem.cast(dtype)
        for name, cholesky in rivals.SPAMS_LASSO.items():
            code = rivals.spams_lasso(D, LAM, cholesky, threads=1)
            contenders += [coder(name, dtype, 1, code, X[:size]) for size in sizes]
    contenders += [
        contender
        for contender in ours.contenders(problem, method="lasso", lam=LAM, tol=GAP_LIMIT)
        if contender.threads == 1
    ]
    results = interleave(contenders, repetitions)
    for result in results:
        certify(result, problem, LAM)
        records.measure("self-representation, held out", result, problem.shape, LAM)
    spams = pick(results, "SPAMS")
    whole = spams[1::2]
    compare_fastest(records, "self-representation, held out", whole, pick(results, "sparsemble"))
    return [_for_all(few, many, n_all) for few, many in zip(spams[::2], whole, strict=True)]


def _for_all(few: Result, many: Result, n_all: int) -> Result:
    """Estimate the time of all samples: a part paid once and a part for each, from two sizes."""
    each = (many.seconds - few.seconds) / (many.n_samples - few.n_samples)
    once = max(0.0, many.seconds - each * many.n_samples)
    return Result(many.name, many.dtype, 1, n_all, once + each * n_all, gap_max=many.gap_max)
