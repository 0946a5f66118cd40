"""The defaults of clustering, chosen on samples they are not judged by; the rule is in docs/DEFAULTS.md.

Run by ``cargo xtask bench defaults``. Prints a line of JSON for each setting on standard output, and tables
on standard error. What was clustered once is kept in ``target/xtask/defaults``.
"""

import sys

from choosers import choice, guess, report
from shared.script import main

SIZES = {
    "n_samples": (int, "the most samples of a set"),
    "n_draws": (int, "draws to choose by, and again to confirm by"),
}

if __name__ == "__main__":
    workloads = {"choice": choice.run, "guess": guess.run}
    sys.exit(main("defaults", workloads, (choice.FULL, choice.QUICK), SIZES, (report.page, report.details)))
