"""Greedy pursuit of ten atoms against SPAMS, whose `omp` is order-recursive, and scikit-learn.

The residual energy is the objective. It is asserted between equals: our order-recursive pursuit and SPAMS,
our orthogonal pursuit and scikit-learn. By its nature the orthogonal one chooses a little worse.
"""

from shared.contest import interleave
from shared.data import patch_problem
from shared.gap import residual_energy
from shared.records import Records, progress

from coders import ours, rivals
from coders.judge import compare_fastest, compare_with_ourselves, pick
from coders.lasso import SHAPES
from coders.runs import Settings

SPARSITY = 10
RIVALS = {"SPAMS": (3.0, "ormp"), "scikit-learn": (40.0, "omp")}
"""The target, and which of our methods makes the same choices."""

METHODS = {"sparsemble omp": "omp", "sparsemble ormp": "ormp"}


def run(settings: Settings, records: Records) -> None:
    """Run all sizes."""
    for side, n_atoms in SHAPES:
        workload = f"M={side**2} K={n_atoms}"
        progress(f"pursuit {workload}")
        problem = patch_problem(side, settings.n_samples, n_atoms)
        contenders = list(rivals.pursuit_contenders(problem, SPARSITY, settings))
        for name, method in METHODS.items():
            contenders += ours.contenders(problem, name, method=method, n_nonzero_coefs=SPARSITY)
        results = interleave(contenders, settings.repetitions)
        for result in results:
            result.objective = residual_energy(problem.X[: result.n_samples], problem.D, result.output)
            result.nnz = result.output.nnz / result.n_samples
            result.complete = result.nnz > 0.99 * SPARSITY
            records.measure("omp", result, problem.shape)
        for name, method in METHODS.items():
            own = pick(results, name, threads=None)
            for rival, (target, equal) in RIVALS.items():
                spot = f"{method} {workload}"
                compare_fastest(records, spot, pick(results, rival), pick(own, ""), target, method == equal)
            compare_with_ourselves(records, f"{method} {workload}", own)
