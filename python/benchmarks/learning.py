"""The learners against scikit-learn, faiss, SPAMS and GEMM libraries; see docs/PERFORMANCE.md.

Run by ``cargo xtask bench learning``. Prints a line of JSON for each measurement and each comparison on
standard output, and a table on standard error. Exits with 1 if what we learned was worse than a rival's.
"""

import sys

from coders.rivals import use_one_thread
from learners import clustering, dictionary, ensembles, growth, large, report
from learners.runs import FULL, QUICK
from shared.script import main

WORKLOADS = {
    "clustering": clustering.run,
    "dictionary": dictionary.run,
    "ensembles": ensembles.run,
    "growth": growth.run,
    "large": large.run,
}
SIZES = {
    "n_samples": (int, "samples to learn from"),
    "n_atoms": (int, "atoms of clusterings and ensembles"),
    "n_models": (int, "models of an ensemble"),
    "repetitions": (int, "runs of each contender"),
    "spams_seconds": (int, "how long SPAMS learns"),
    "large": (int, "millions of patches of a training whose memory is told; 10 takes 3 GB of disk"),
}

if __name__ == "__main__":
    use_one_thread()
    sys.exit(main("learning", WORKLOADS, (FULL, QUICK), SIZES, (report.page, report.details)))
