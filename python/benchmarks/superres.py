"""Enlarged pictures by the protocol of the literature, and what they cost; see docs/SUPER_RESOLUTION.md.

Run by ``cargo xtask bench superres``. Prints a line of JSON for each measurement and each comparison on
standard output, and a table on standard error. Needs the pictures of ``../shared/data``, or of the folder
that the variable ``SPARSEMBLE_DATA`` names.
"""

import sys

from coders.rivals import use_one_thread
from enlargers import curve, doubts, quality, report, speed
from enlargers.runs import FULL, QUICK
from shared.script import main

WORKLOADS = {"quality": quality.run, "curve": curve.run, "doubts": doubts.run, "speed": speed.run}
SIZES = {
    "n_pictures": (int, "pictures of each test set"),
    "n_training": (int, "pictures to learn from"),
    "n_judges": (int, "pictures for the curve of size and quality, and for uncertainty"),
    "large": (int, "megapixels of a picture whose time and memory are told; 100 takes a minute"),
    "repetitions": (int, "runs of each contender in a race"),
}

if __name__ == "__main__":
    use_one_thread()
    sys.exit(main("superres", WORKLOADS, (FULL, QUICK), SIZES, (report.page, report.details)))
