"""The lasso of Eq. (1) against SPAMS and scikit-learn, at a certified gap."""

from itertools import product

from shared.contest import Result, interleave
from shared.data import Problem, patch_problem
from shared.gap import GAP_LIMIT, lasso_certificate
from shared.records import Records, progress

from coders import ours, rivals
from coders.judge import compare_fastest, compare_with_ourselves, pick
from coders.runs import Settings

SHAPES = [(8, 256), (8, 1024), (8, 2048), (16, 1024)]
"""Side of the patches and number of atoms."""

SPAMS_TARGETS = {
    (8, 256, 0.4): 6.0,
    (8, 1024, 0.4): 12.0,
    (8, 2048, 0.4): 17.0,
    (8, 256, 0.2): 5.0,
    (8, 1024, 0.2): 10.0,
    (8, 2048, 0.2): 15.0,
}
"""By side, atoms and λ."""

SKLEARN_TARGET = 50.0


def run(settings: Settings, records: Records) -> None:
    """Run all sizes and both penalties."""
    for (side, n_atoms), lam in product(SHAPES, (0.4, 0.2)):
        workload = f"lasso M={side**2} K={n_atoms} λ={lam}"
        progress(workload)
        problem = patch_problem(side, settings.n_samples, n_atoms)
        results = _contest(problem, lam, settings, records)
        own, spams = pick(results, "sparsemble"), pick(results, "SPAMS")
        compare_fastest(records, workload, spams, own, SPAMS_TARGETS.get((side, n_atoms, lam)))
        for dtype in ("f32", "f64"):
            compare_fastest(records, f"{workload}, {dtype} only", spams, pick(own, "", dtype))
        two = f"{workload}, two threads"
        compare_fastest(
            records, two, pick(results, "SPAMS", threads=2), pick(results, "sparsemble", threads=2)
        )
        compare_fastest(records, workload, pick(results, "scikit-learn"), own, SKLEARN_TARGET)
        compare_with_ourselves(records, workload, pick(results, "sparsemble", threads=None))


def _contest(problem: Problem, lam: float, settings: Settings, records: Records) -> list[Result]:
    contenders = ours.contenders(problem, method="lasso", lam=lam, tol=GAP_LIMIT)
    contenders += rivals.lasso_contenders(problem, lam, settings)
    results = interleave(contenders, settings.repetitions)
    for result in results:
        certify(result, problem, lam)
        records.measure("lasso", result, problem.shape, lam)
    return results


def certify(result: Result, problem: Problem, lam: float) -> None:
    """Fill in what the codes are worth."""
    certificate = lasso_certificate(problem.X[: result.n_samples], problem.D, result.output, lam)
    result.objective, result.gap_max = certificate.objective, float(certificate.gap.max())
    result.nnz = result.output.nnz / result.n_samples
