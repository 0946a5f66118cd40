"""The coders against SPAMS, scikit-learn, NumPy, faiss and GEMM libraries; see docs/PERFORMANCE.md.

Run by ``cargo xtask bench coding``. Prints a line of JSON for each measurement and each comparison on
standard output, and a table on standard error. Exits with 1 if an objective of ours was worse than a rival's.
"""

import sys

from coders import growth, lasso, one_sparse, pursuit, report, rivals, self_representation
from coders.runs import FULL, QUICK
from shared.script import main

WORKLOADS = {
    "lasso": lasso.run,
    "omp": pursuit.run,
    "one-sparse": one_sparse.run,
    "self-representation": self_representation.run,
    "growth": growth.run,
}
SIZES = {
    "n_samples": (int, "samples a contender codes"),
    "repetitions": (int, "runs of each contender"),
    "rival_seconds": (float, "what a rival may take for a run"),
}

if __name__ == "__main__":
    rivals.use_one_thread()
    sys.exit(main("coding", WORKLOADS, (FULL, QUICK), SIZES, (report.page, report.details)))
