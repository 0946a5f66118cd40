"""The records as a table for the terminal and as the page docs/PERFORMANCE.md."""

from collections.abc import Callable
from typing import Any

from coders.records import Record, Records

HEAD = """\
# Performance of the coders

Written by `cargo xtask bench coding --output docs/PERFORMANCE.md`; do not edit it by hand.

## How it is measured

- **Samples** are natural patches of the photographs in `data/cc0`, mean removed, flat ones left out, unit norm; the
  atoms are other patches. All values are exact in single precision, so f32 and f64 solve the same problem.
- **In turn**: all contenders run once, then all again, in one process (the Rust GEMM libraries in a program called in
  between). The best wall-clock time of each counts. Ours is the Python package as a user calls it.
- **Time per sample** is compared. A slow rival codes only as many of the first samples as fit a time budget; the
  tables say how many. One thread each unless "×2" is written; the BLAS of NumPy and SPAMS is held to one.
- **λ** is that of ‖x − Da‖² + λ‖a‖₁. SPAMS and scikit-learn get λ/2, as they put a ½ before the error.
- **The gap** is the worst duality gap over all samples timed, as a fraction of the sample's energy, recomputed in
  float64 from the codes. A run counts only if it is at most 1e-6; † marks those that do not. Ours is compared with
  the fastest run of SPAMS that counts, in either dtype, with or without its `cholesky` option.
- **The objective** of ours may not be worse than the rival's by more than 1e-6 on the samples both have coded; the
  benchmark fails otherwise.
- SPAMS's `omp` is order-recursive, as our `ormp` is. scikit-learn's lasso stops at its own tolerance of 1e-8.
"""

TIME_NOTE = "Microseconds per sample."


def summary(records: Records) -> str:
    """Return all comparisons and how many targets were met, for a terminal."""
    rows = [["workload", "ours", "rival", "ratio", "target", "met"]]
    rows += [_comparison_cells(record) for record in records.comparisons]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    failures = [f"FAILED {failure}" for failure in records.failures]
    return "\n".join(["", *(line.rstrip() for line in lines), "", *failures, _verdict(records)])


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page."""
    parts = [HEAD, "## Machine\n", _table(["", ""], [[name, value] for name, value in machine.items()])]
    parts += ["## Targets\n", _verdict(records) + "\n", *_targets(records)]
    parts += _section(records, "Lasso", "lasso", ("M", "K", "lambda"), gaps=True)
    parts += _section(records, "Greedy pursuit of 10 atoms", "omp", ("M", "K"))
    parts += _section(records, "The best single atom", "one-sparse", ("M", "K"))
    parts += _rates(records)
    parts += _section(records, "Self-representation", "self-representation", ("M", "K", "lambda"), gaps=True)
    held_out = "self-representation, held out"
    parts += _section(records, "Coded by the others, for SPAMS", held_out, ("M", "K", "T"), gaps=True)
    parts += _growth(records)
    return "\n".join(parts)


def _verdict(records: Records) -> str:
    judged = [record for record in records.comparisons if record["met"] is not None]
    missed = [record for record in judged if not record["met"]]
    worse = f" {len(records.failures)} objectives were worse than a rival's." if records.failures else ""
    return f"{len(judged) - len(missed)} of {len(judged)} targets met, {len(missed)} missed.{worse}"


def _comparison_cells(record: Record) -> list[str]:
    ratio = record.get("reason", "none") if record["ratio"] is None else f"{record['ratio']:.2f}"
    target = "" if record["target"] is None else f"{record['target']:g}"
    met = {None: "", True: "yes", False: "NO"}[record["met"]]
    return [record["workload"], record["ours"], record["rival"], ratio, target, met]


def _targets(records: Records) -> list[str]:
    header = ["workload", "ours", "rival", "ratio", "target", "met"]
    judged = [record for record in records.comparisons if record["target"] is not None]
    others = [record for record in records.comparisons if record["target"] is None]
    parts = [_table(header, [_comparison_cells(record) for record in judged])]
    if others:
        parts.append("Comparisons without a target:\n")
        parts.append(_table(header[:4], [_comparison_cells(record)[:4] for record in others]))
    return parts


def _section(
    records: Records, title: str, bench: str, keys: tuple[str, ...], gaps: bool = False
) -> list[str]:
    chosen = [record for record in records.measurements if record["bench"] == bench]
    if not chosen:
        return []

    def time(record: Record) -> str:
        return f"{record['us_per_sample']:.3g}" + ("" if record["counts"] else " †")

    parts = [f"## {title}\n", TIME_NOTE + "\n", _pivot(chosen, keys, time)]
    if gaps:
        parts += ["Worst gap.\n", _pivot(chosen, keys, lambda record: f"{record['gap_max']:.0e}")]
    else:
        parts += [
            "Mean residual energy.\n",
            _pivot(chosen, keys, lambda record: f"{record['objective']:.6f}"),
        ]
    return [*parts, "Samples timed.\n", _pivot(chosen, keys, lambda record: f"{record['T']:,}")]


def _rates(records: Records) -> list[str]:
    """The rates of the bare product, of the 1-sparse coder as if it were one, and the other coders in its units."""
    products = [record for record in records.measurements if record["bench"] == "gemm"]
    if not products:
        return []

    def rate(record: Record) -> str:
        flops = 2 * record["M"] * record["K"] * record["T"]
        return f"{flops / record['seconds'] / 1e9:.1f}"

    searches = [record for record in records.measurements if record["bench"] == "one-sparse"]
    parts = ["## The machine's rate, and our fraction of it\n"]
    parts += [
        "GFLOP/s of the product of atoms and samples, stored a block at a time; for the coders, of the product"
    ]
    parts += ["they would have needed.\n", _pivot(products + searches, ("M", "K"), rate)]
    parts += ["Time in units of one such product by the fastest library, f32, one thread.\n"]
    return [
        *parts,
        _pivot(_in_products(records, products), ("M", "K"), lambda record: f"{record['units']:.2f}"),
    ]


def _in_products(records: Records, products: list[Record]) -> list[Record]:
    found = []
    for record in records.measurements:
        is_ours = record["contender"].startswith("sparsemble") and record["bench"] in {
            "lasso",
            "omp",
            "one-sparse",
        }
        same = [
            product["us_per_sample"]
            for product in products
            if all(product[key] == record[key] for key in ("M", "K", "dtype", "threads"))
        ]
        if is_ours and same and record["dtype"] == "f32":
            lam = "" if record["lambda"] is None else f" λ={record['lambda']}"
            method = record["contender"].removeprefix("sparsemble ")
            name = f"{record['bench']}{lam}" if method == "sparsemble" else method
            found.append(record | {"contender": name, "units": record["us_per_sample"] / min(same)})
    return found


def _growth(records: Records) -> list[str]:
    parts = []
    if records.growth:
        parts += [
            "## Growth\n",
            "Microseconds per sample in f32 by one thread at M = 64, K = 1024, λ = 0.2, one of",
        ]
        parts += ["them varied. The exponent is that of the best power law.\n"]
        rows = [
            [
                record["growth"],
                {"lambda": "λ"}.get(record["variable"], record["variable"]),
                ", ".join(f"{value:g}" for value in record["values"]),
                ", ".join(f"{time:.3g}" for time in record["us_per_sample"]),
                f"{record['exponent']:.2f}",
            ]
            for record in records.growth
        ]
        parts.append(_table(["coder", "varied", "values", "µs per sample", "exponent"], rows))
    if records.memory:
        parts += [
            "## Memory\n",
            "Megabytes of the input, and the rise of the process above it during one call.\n",
        ]
        rows = [
            [record["memory"], f"{record['data_mb']:.0f}", f"{record['extra_mb']:.0f}"]
            for record in records.memory
        ]
        parts.append(_table(["call", "input", "beyond it"], rows))
    return parts


def _pivot(records: list[Record], keys: tuple[str, ...], cell: Callable[[Record], str]) -> str:
    """A line for each contender, a column for each case."""
    cases: dict[tuple[Any, ...], str] = {}
    cells: dict[str, dict[tuple[Any, ...], str]] = {}
    for record in records:
        case = tuple(record[key] for key in keys)
        cases[case] = " ".join(f"{'λ' if key == 'lambda' else key}={record[key]}" for key in keys)
        threads = f" ×{record['threads']}" if record["threads"] > 1 else ""
        label = f"{record['contender']} {record['dtype']}{threads}"
        cells.setdefault(label, {})[case] = cell(record)
    rows = [[label, *(found.get(case, "") for case in cases)] for label, found in cells.items()]
    return _table(["", *cases.values()], rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
