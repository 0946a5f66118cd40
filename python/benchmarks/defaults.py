"""The defaults of clustering, chosen on samples they are not judged by; the rule is in docs/DEFAULTS.md.

Run by ``cargo xtask bench defaults``. Prints a line of JSON for each setting on standard output, and tables
on standard error. What was clustered once is kept in ``target/xtask/defaults``.
"""

import sys

from choosers import guess, report, search
from shared.script import main

SIZES = {
    "n_samples": (int, "the most samples of a set"),
    "n_draws": (int, "draws to search by, and again to confirm by"),
}

if __name__ == "__main__":
    workloads = {"search": search.run, "guess": guess.run}
    sys.exit(main("defaults", workloads, (search.FULL, search.QUICK), SIZES, (report.page, report.details)))
