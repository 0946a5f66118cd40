"""The Python package, call by call, against SPAMS, scikit-learn, dictlearn and scikit-image.

Run by ``cargo xtask bench python``; see docs/PERFORMANCE.md. Prints a line of JSON for each measurement and
each comparison on standard output, and a table on standard error. Exits with 1 if a code of ours was worse
than a rival's.
"""

import sys

from package import clustering, coding, compat, learning, pictures, report
from package.runs import FULL, QUICK
from shared.script import main
from threadpoolctl import threadpool_limits

WORKLOADS = {
    "coding": coding.run,
    "learning": learning.run,
    "clustering": clustering.run,
    "pictures": pictures.run,
    "spams": compat.run,
}
SIZES = {
    "n_samples": (int, "patches to code and to learn from"),
    "side": (int, "pixels of a side of the pictures"),
    "repetitions": (int, "runs of each contender"),
}

if __name__ == "__main__":
    threadpool_limits(limits=1)
    sys.exit(main("python", WORKLOADS, (FULL, QUICK), SIZES, (report.page, report.details)))
