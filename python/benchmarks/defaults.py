"""The defaults of clustering, chosen on samples they are not judged by; the rule is in docs/DEFAULTS.md.

``--only left-out`` chooses on the sets of Table 3 but one, which judges; its rule is in docs/LEFT_OUT.md.

Run by ``cargo xtask bench defaults``. Prints a line of JSON for each setting on standard output, and tables
on standard error. What was clustered once is kept in ``target/xtask/defaults``.
"""

import sys

from choosers import guess, left_out, report, search
from shared.script import main

SIZES = {
    "n_samples": (int, "the most samples of a set"),
    "n_draws": (int, "draws to search by, and again to confirm by"),
    "n_seeds": (int, "seeds that a set chooses by if another is left out"),
    "n_runs": (int, "runs that the set left out is judged by"),
    "n_sets": (int, "how many sets of Table 3 take part in that, the smallest"),
}

if __name__ == "__main__":
    workloads = {"search": search.run, "guess": guess.run, "left-out": left_out.run}
    sys.exit(main("defaults", workloads, (search.FULL, search.QUICK), SIZES, (report.page, report.details)))
