"""Clustering against SPAMS, SciPy and scikit-learn, its growth and a million samples; see docs/CLUSTERING.md.

Run by ``cargo xtask bench clustering``. Prints a line of JSON for each measurement and each comparison on
standard output, and a table on standard error. Needs the tables of ``../shared/data/clustering``, or of the
folder that the variable ``SPARSEMBLE_DATA`` names.
"""

import sys

from clusterers import correctness, eigenvectors, ensemble, growth, l1, million, pipeline, report
from clusterers.runs import FULL, QUICK
from coders.rivals import use_one_thread
from shared.script import main

WORKLOADS = {
    "l1": l1.run,
    "ensemble": ensemble.run,
    "eigenvectors": eigenvectors.run,
    "correctness": correctness.run,
    "pipeline": pipeline.run,
    "growth": growth.run,
    "million": million.run,
}
SIZES = {
    "n_samples": (int, "digits of USPS"),
    "n_graphs": (int, "random graphs whose eigenvectors are checked"),
    "n_mixed": (int, "samples of the mixture of subspaces; 1000000 takes minutes, 0 leaves it out"),
    "repetitions": (int, "runs of each contender in a race"),
}

if __name__ == "__main__":
    use_one_thread()
    sys.exit(main("clustering", WORKLOADS, (FULL, QUICK), SIZES, (report.page, report.details)))
