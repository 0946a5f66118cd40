"""The part of the page docs/PERFORMANCE.md that is about the calls of the Python package."""

from shared.records import Records
from shared.tables import digits, head, table

HEAD = """\
# Performance of the Python package

Written by `cargo xtask bench python --output docs/PERFORMANCE.md`; do not edit it by hand.

## How it is measured

- **The same call on the same data**: a function or estimator of the package, and those of SPAMS,
  scikit-learn, dictlearn and scikit-image that it replaces, each as its users call it, conversions included.
  The samples are natural patches of the photographs in `data/cc0`, in double precision.
- **In turn**: all contenders run once, then all again, short calls several times each; the best wall-clock
  time of each counts. One thread each, the BLAS of all of them too. `extract_patches` and `im2col_sliding`
  return 130 MB: their times hang on how the system hands out memory and change tenfold, so they have more
  turns.
- **λ** is that of ‖x − Da‖² + λ‖a‖₁; SPAMS and scikit-learn get λ/2.
- **The objective** is computed for all contenders alike: of codes on the samples, of dictionaries on patches
  held out. Learners start from the same atoms only where a rival takes them, so theirs may differ either
  way; codes of the lasso may not be worse than a rival's by more than 1e-6, relatively, or the run fails.
"""

MEANING = """\
A ratio is the rival's time divided by ours: the target is never to be slower. The objective is how far ours
is above the rival's, relatively; of clusterings it is the share of wrong labels, of psnr, ssim, nmi and
adjusted_rand the value itself."""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return our part of the page."""
    return "\n".join([*head(HEAD, machine, records, MEANING), *_times(records)])


def details(records: Records) -> list[str]:
    """Return what a terminal shows beside the comparisons."""
    return []


def _times(records: Records) -> list[str]:
    rows = [
        [
            record["workload"],
            record["contender"],
            digits(1000 * record["seconds"]),
            "" if record["objective"] is None else f"{record['objective']:.6g}",
        ]
        for record in records.measurements
    ]
    return ["## Times\n", table(["call", "", "milliseconds", "objective"], rows)]
