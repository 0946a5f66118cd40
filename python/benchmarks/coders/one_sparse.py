"""The best single atom against blocked NumPy, faiss, and the bare product by the best GEMM library."""

from shared.contest import Result, interleave
from shared.data import patch_problem
from shared.gap import residual_energy
from shared.records import Records, progress

from coders import ours, rivals
from coders.judge import compare_fastest, compare_with_ourselves, pick
from coders.lasso import SHAPES
from coders.runs import Settings

SEARCH_TARGET = 2.0
PRODUCT_TARGET = 1.0
PRODUCTS = ("OpenBLAS", "faer", "matrixmultiply")


def run(settings: Settings, records: Records) -> None:
    """Run all sizes."""
    for side, n_atoms in SHAPES:
        workload = f"1-sparse M={side**2} K={n_atoms}"
        progress(workload)
        problem = patch_problem(side, settings.n_samples, n_atoms)
        contenders = ours.contenders(problem, method="one-sparse")
        contenders += rivals.best_atom_contenders(problem)
        contenders += rivals.product_contenders(problem)
        # These take a hundredth of the time of the others, and the closest race of all.
        results = interleave(contenders, 3 * settings.repetitions)
        for result in results:
            bench = "gemm" if result.name in PRODUCTS else "one-sparse"
            if bench == "one-sparse":
                result.objective = residual_energy(problem.X, problem.D, result.output)
                result.nnz = result.output.nnz / result.n_samples
            records.measure(bench, result, problem.shape)
        _compare(records, workload, results)


def _compare(records: Records, workload: str, results: list[Result]) -> None:
    own = pick(results, "sparsemble", threads=None)
    for dtype in ("f32", "f64"):
        mine = pick(own, "", dtype)
        products = [result for name in PRODUCTS for result in pick(results, name, dtype)]
        compare_fastest(records, workload, products, mine, PRODUCT_TARGET)
        for rival in ("NumPy", "faiss"):
            found = pick(results, rival, dtype)
            if found:
                compare_fastest(records, workload, found, mine, SEARCH_TARGET)
    compare_with_ourselves(records, workload, own)
