"""The part of the page docs/PERFORMANCE.md that is about the learners."""

from shared.records import Record, Records
from shared.tables import digits, growth, head, table

HEAD = """\
# Performance of the learners

Written by `cargo xtask bench learning --output docs/PERFORMANCE.md`; do not edit it by hand.

## How it is measured

- **Samples** are natural patches of 8 × 8 pixels from the photographs in `data/cc0`: mean removed, flat ones
  left out, unit norm, f32. Two photographs are held out to judge dictionaries by.
- **In turn**: all contenders run once, then all again. The best wall-clock time of each counts. Ours is the
  library itself, called by the program of `crates/sparsemble-bench`; reading the samples is not counted. One
  thread each unless "×2" is written.
- **First centres**: K-Means‖ against scikit-learn's `kmeans_plusplus` with its default number of trials. The
  inertia is that after assigning every sample, the mean over as many seeds as there were repetitions.
- **Lloyd**: the same first centres and the same number of iterations for both. The time is that of all,
  divided by the number of assignments: faiss makes one for each iteration, ours one more at the end.
- **Dictionary**: SPAMS's `trainDL` learns for a given time, in both dtypes. The goal is the better of its two
  objectives on the patches held out; ours and scikit-learn's `MiniBatchDictionaryLearning` (coordinate
  descent) run until they reach it. The codes of all dictionaries come from our lasso,
  with a duality gap of at most 1e-6. scikit-learn is given up once it has missed the target.
- **Ensembles**: boosting, or the training and the approximations of an average, in units of L products of all
  atoms with all samples by the faster of two GEMM libraries; with the lasso, in units of one call of the
  coder for each dictionary. Both are timed by the same process in between.
- **Memory**: `--large 10` also trains on a file of 10 million patches, by `sparsemble train` on two threads,
  and tells the most megabytes of the process, looked at every 20 ms: what it has allocated, and all that was
  resident, which is what counts.
"""

MEANING = """\
A ratio is the rival's time divided by ours; one with a target of at most (≤) is our time in units of what we
are compared with. The objective is how far ours is above the rival's, relatively."""

TITLES = {
    "first centres": "First centres",
    "Lloyd iteration": "An iteration of Lloyd",
    "dictionary learning": "Dictionary learning",
    "ensembles": "Ensembles",
}


def page(records: Records, machine: dict[str, str]) -> str:
    """Return our part of the page."""
    parts = head(HEAD, machine, records, MEANING)
    for bench, title in TITLES.items():
        chosen = [record for record in records.measurements if record["bench"] == bench]
        if chosen:
            parts += [f"## {title}\n", _times(chosen)]
    return "\n".join([*parts, *details(records)])


def details(records: Records) -> list[str]:
    """Return what a terminal shows beside the comparisons."""
    text = """\
Seconds in f32 by one thread, one number varied, and the most memory of the process in megabytes, which
includes the samples (a fourth of a kilobyte each). The exponent is that of the best power law of the time."""
    return growth(records, "learner", {"seconds": "seconds", "peak_mb": "MB"}, text)


def _times(records: list[Record]) -> str:
    """Tabulate the contenders of one workload, and what they reached."""
    reached = [name for name in ("inertia", "objective") if name in records[0]]
    sizes = [name for name in ("M", "K", "L", "T", "lambda") if name in records[0]]
    header = ["", "threads", *("λ" if name == "lambda" else name for name in sizes), "seconds", *reached]
    rows = [
        [
            f"{record['contender']} {record['dtype']}",
            str(record["threads"]),
            *(f"{record[name]:,}" for name in sizes),
            digits(record["seconds"]),
            *(f"{record[name]:.6g}" for name in reached),
        ]
        for record in records
    ]
    return table(header, rows)
