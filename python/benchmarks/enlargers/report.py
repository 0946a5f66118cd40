"""The page docs/SUPER_RESOLUTION.md."""

from shared.records import Record, Records
from shared.tables import growth, head, table

HEAD = """\
# Super-resolution, measured

Written by `cargo xtask bench superres --output docs/SUPER_RESOLUTION.md`; do not edit it by hand.

## How it is measured

- **Protocol**: the brightness of Set5 and Set14 (Y of MATLAB's `rgb2ycbcr`, whole numbers), cropped to a
  multiple of the scale and reduced by bicubic `imresize`, not rounded. The result counts as an 8-bit file
  would hold it, without as many pixels of border as the scale. Reduction and PSNR are written anew in NumPy
  for this page, SSIM is scikit-image's with the Gaussian window.
- **Models**: one from the 91 images of Yang et al. (without t65, which is t36 once more), by
  `sparsemble train --method upscaler --seed 1` with the options in `python/benchmarks/enlargers/runs.py`; one
  that is not reduced, with all atoms, all directions, and maps in floats; and the one in the package, from
  fifteen freely licensed pictures (`crates/sparsemble/models/README.md`).
- **What was looked at**: the prototype's windows, shrinkage and features were chosen by Set5, and so were,
  with pictures of the BSDS, directions and bytes here. Set5 is no fair test of them; Set14 is, as far as we
  know: its figures were printed along and chose nothing. Size and quality and uncertainty are judged by the
  last twenty test pictures of the BSDS, which no model has learned from. The scale of the uncertainty was set
  by twenty pictures of the BSDS, some of which may be the same.
- **Bicubic + back-projection** has no dictionary: twenty turns of Eq. (16) from the bicubic picture. A+ and
  SRCNN are quoted as published, not run.
- **Speed**: two threads, ×2, contenders in turn, the best time of each. PairDict is only the coding of its
  features, by SPAMS; RandExAv is our own. Both do a sixteenth of the picture. The share of the GEMM rate is
  that of all multiply-adds in choices and maps, compared with products of faer (64 × 1024) on as many threads
  in the same process.
"""

MEANING = """\
Where a workload says dB, the ratio is in dB; where it says share, it is a share; elsewhere it is the rival's
time divided by ours."""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page."""
    parts = head(HEAD, machine, records, MEANING)
    parts += _pictures(records)
    parts += _training(records)
    parts += _curve(records)
    parts += _doubts(records)
    costs = {"seconds": "seconds", "us_per_pixel": "µs a pixel", "peak_mb": "most memory, MB"}
    parts += growth(records, "call", costs, "By the number of pixels of the result, two threads.")
    return "\n".join(parts)


def details(records: Records) -> list[str]:
    """Return nothing more for the terminal."""
    del records
    return []


def _pictures(records: Records) -> list[str]:
    """Tabulate the PSNR of every picture, and the mean SSIM."""
    workloads: dict[str, list[Record]] = {}
    for record in records.measurements:
        if "pictures" in record:
            workloads.setdefault(record["bench"], []).append(record)
    parts = ["## Pictures\n"] if workloads else []
    for workload, found in workloads.items():
        rows = []
        for record in found:
            cells = [f"{value:.2f}" for value in record["pictures"].values()]
            rows.append([record["contender"], *cells, f"{record['psnr']:.3f}", f"{record['ssim']:.4f}"])
        parts += [f"### {workload}\n", table(["dB", *found[0]["pictures"], "mean", "SSIM"], rows)]
    return parts


def _training(records: Records) -> list[str]:
    """Tabulate what training on the 91 images took."""
    found = [record for record in records.measurements if record["bench"].startswith("training")]
    rows = [[r["bench"], f"{r['seconds']:.0f}", f"{r['megabytes']:.1f}"] for r in found]
    header = ["on the 91 images, all cores", "seconds", "MB of the model"]
    return ["## Training\n", table(header, rows)] if found else []


def _curve(records: Records) -> list[str]:
    """Tabulate quality by the size of the model."""
    found = [record for record in records.measurements if record["bench"] == "size and quality"]
    if not found:
        return []
    rows = [
        [
            f"×{record['scale']}",
            record["varied"],
            f"{record['megabytes']:.1f}",
            f"{record['psnr']:.3f}",
            f"{record['seconds']:.0f}",
        ]
        for record in found
    ]
    return [
        "## Size and quality\n",
        "All else is as in the package's models; from the 91 images, judged by pictures of the BSDS.\n",
        table(["scale", "varied", "MB", "dB", "training, s"], rows),
    ]


def _doubts(records: Records) -> list[str]:
    """Tabulate whether errors are larger where the models say so."""
    found = [record for record in records.measurements if record["bench"].startswith("uncertainty")]
    if not found:
        return []
    ranks = [[r["bench"], f"{r['rank']:.2f}", f"{r['least_rank']:.2f}"] for r in found]
    pair = "{:.1f} / {:.1f}".format
    parts = [[record["bench"], *(pair(*both) for both in record["parts"])] for record in found]
    return [
        "## Uncertainty\n",
        "Whether the error of a pixel is larger where the package's model says so, on pictures of the BSDS:",
        "the rank correlation of both.\n",
        table(["", "mean of the pictures", "least"], ranks),
        "What is said / the true error, root mean squares in grey levels, by tenths of the pixels of all",
        "pictures in the order of what is said.\n",
        table(["", "surest tenth", *(f"{n}." for n in range(2, 10)), "least sure"], parts),
    ]
