"""Restored pictures against scikit-image, BM3D and SPAMS; see docs/RESTORATION.md.

Run by ``cargo xtask bench restoration``. Prints a line of JSON for each measurement and each comparison on
standard output, and a table on standard error. Needs the pictures of ``../shared/data``, or of the folder
that the variable ``SPARSEMBLE_DATA`` names.
"""

import sys

from coders.rivals import use_one_thread
from restorers import blur, holes, noise, recovery, report, speed
from restorers.runs import FULL, QUICK
from shared.script import main

WORKLOADS = {
    "recovery": recovery.run,
    "noise": noise.run,
    "holes": holes.run,
    "blur": blur.run,
    "speed": speed.run,
}
SIZES = {
    "n_pictures": (int, "pictures of each set"),
    "n_draws": (int, "random matrices for each number of measurements"),
    "repetitions": (int, "runs of each contender in a race"),
    "large": (int, "megapixels of a recovery whose time and memory are told; 12 takes minutes"),
}

if __name__ == "__main__":
    use_one_thread()
    sys.exit(main("restoration", WORKLOADS, (FULL, QUICK), SIZES, (report.page, report.details)))
