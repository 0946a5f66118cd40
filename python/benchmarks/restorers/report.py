"""The page docs/RESTORATION.md."""

from shared.records import Record, Records
from shared.tables import growth, head, memory, table

HEAD = """\
# Restoration, measured

Written by `cargo xtask bench restoration --output docs/RESTORATION.md`; do not edit it by hand.

## How it is measured

- **Pictures** are the usual ones (barbara, boat, couple, fingerprint, house, lena, man, peppers; cameraman
  instead of fingerprint where there is no Φ), never used for learning or for choosing a number: those were
  chosen on pictures of the BSDS. One thing came of looking at Barbara: that the Gaussians of a recovery
  listen before they speak (decision 0017). The PSNR is that of the picture as an 8-bit file would hold it.
- **Recovery**: blocks of 8 × 8 pixels, N measurements of each by one orthonormal Φ, nothing else: the means
  of the blocks are not known. DRAWS Φ for each N; "±" is the standard deviation of the mean over the
  pictures from Φ to Φ. The method of the program and of the Python package, as it is.
- **White noise**: σ = 25, added to the picture and not clipped. Non-local means and total variation are those
  of scikit-image, BM3D is that of PyPI where it installs.
- **Missing pixels**: each pixel is missing with the same probability; biharmonic inpainting is that of
  scikit-image.
- **Blur**: a Gaussian, σ = 1.6, mirrored at the border, then noise, σ = 2. Wiener and Richardson-Lucy are
  scikit-image's, each picture with the best of several settings, chosen by the truth.
- **Speed**: contenders run in turn, the best wall-clock time of each counts, one thread each unless it
  says otherwise. "Seconds in all" are those of all pictures, of a recovery for each of the Φ, with its
  measuring and the estimate block by block that it is compared with. The share of the GEMM rate is that of
  the multiply-adds of both priors (groups found and estimated, patches compared with members and estimated
  by them; all else of a recovery counts as time only) against products of faer (64 × 1024) on as many
  threads, right after it. `--large 12` adds a picture of 12 megapixels with its peak memory, which takes
  minutes.
"""

MEANING = """\
Where a workload says dB, the ratio is in dB: the PSNR itself, or how far ours is above the rival's. Elsewhere
it is the rival's time divided by ours, or the share that is named."""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page."""
    draws = max((record.get("draws", 0) for record in records.measurements), default=0)
    parts = head(HEAD.replace("DRAWS", str(draws)), machine, records, MEANING)
    parts += _pictures(records)
    parts += _uncertainty(records)
    costs = {"seconds": "seconds", "us_per_pixel": "µs a pixel"}
    parts += growth(records, "call", costs, "Time by the number of pixels, one thread.")
    parts += memory(records, "Megabytes of the picture, and the most the process has had.")
    return "\n".join(parts)


def details(records: Records) -> list[str]:
    """Return nothing more for the terminal."""
    del records
    return []


def _pictures(records: Records) -> list[str]:
    """Tabulate the PSNR of every picture."""
    parts = ["## Pictures\n"]
    workloads: dict[str, list[Record]] = {}
    for record in records.measurements:
        if "pictures" in record:
            workloads.setdefault(record["bench"], []).append(record)
    for workload, found in workloads.items():
        names = list(found[0]["pictures"])
        rows = []
        for record in found:
            spread = f" ± {record['spread']:.2f}" if "spread" in record else ""
            cells = [f"{record['pictures'][name]:.2f}" for name in names]
            seconds = "" if record["seconds"] is None else f"{record['seconds']:.0f}"
            rows.append([record["contender"], *cells, f"{record['psnr']:.2f}{spread}", seconds])
        parts += [f"### {workload}\n", table(["dB", *names, "mean", "seconds in all"], rows)]
    return parts


def _uncertainty(records: Records) -> list[str]:
    """Tabulate what is said of the errors beside the errors."""
    found = [record for record in records.measurements if "quarters" in record]
    if not found:
        return []
    names = list(dict.fromkeys(name for record in found for name in record["ranks"]))
    rank = "{:.2f}".format
    ranks = [
        [record["bench"], *(rank(record["ranks"][name]) if name in record["ranks"] else "" for name in names)]
        for record in found
    ]
    pair = "{:.1f} / {:.1f}".format
    quarters = [[record["bench"], *(pair(*both) for both in record["quarters"])] for record in found]
    return [
        "## Uncertainty\n",
        "Whether the error of a pixel is larger where it is said to be: the rank correlation of both. Where",
        "pixels are missing, only those count.\n",
        table(["", *names], ranks),
        "What is said / the true error, root mean squares in grey levels, by quarters of the pixels of all",
        "pictures in the order of what is said.\n",
        table(["", "surest quarter", "second", "third", "least sure"], quarters),
    ]
