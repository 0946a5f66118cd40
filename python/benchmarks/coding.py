"""The coders against SPAMS, scikit-learn, NumPy, faiss and GEMM libraries; see docs/PERFORMANCE.md.

Run by ``cargo xtask bench coding``. Prints a line of JSON for each measurement and each comparison on
standard output, and a table on standard error. Exits with 1 if an objective of ours was worse than a rival's.
"""

import argparse
import datetime
import sys
from dataclasses import replace
from pathlib import Path

from coders import growth, lasso, one_sparse, pursuit, rivals, self_representation
from coders.contest import FULL, QUICK
from coders.machine import describe
from coders.records import Records
from coders.report import page, summary

WORKLOADS = {
    "lasso": lasso.run,
    "omp": pursuit.run,
    "one-sparse": one_sparse.run,
    "self-representation": self_representation.run,
    "growth": growth.run,
}


def main() -> int:
    """Read the command line, run the workloads and report."""
    parser = argparse.ArgumentParser(prog="cargo xtask bench coding", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few samples, within a minute: for a rough idea")
    parser.add_argument("--samples", type=int, help="samples a contender codes (a full run: 100,000)")
    parser.add_argument("--repetitions", type=int, help="runs of each contender (a full run: 5)")
    parser.add_argument("--rival-seconds", type=float, help="what a rival may take for a run (a full run: 2)")
    parser.add_argument("--only", choices=WORKLOADS, help="one workload")
    parser.add_argument("--output", type=Path, help="also write the page docs/PERFORMANCE.md here")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="the date on the page")
    arguments = parser.parse_args()

    rivals.use_one_thread()
    machine = {"date": arguments.date} | describe()
    machine["command"] = " ".join(["cargo xtask bench coding", *sys.argv[1:]])
    settings = QUICK if arguments.quick else FULL
    asked = {
        "n_samples": arguments.samples,
        "repetitions": arguments.repetitions,
        "rival_seconds": arguments.rival_seconds,
    }
    settings = replace(settings, **{name: value for name, value in asked.items() if value is not None})
    records = Records()
    for name, run in WORKLOADS.items():
        if arguments.only in (None, name):
            run(settings, records)
    print(summary(records), file=sys.stderr)
    if arguments.output:
        arguments.output.write_text(page(records, machine), encoding="utf-8")
    return 1 if records.failures else 0


if __name__ == "__main__":
    sys.exit(main())
