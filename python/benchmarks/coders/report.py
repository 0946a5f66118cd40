"""The part of the page docs/PERFORMANCE.md that is about the coders."""

from shared.records import Record, Records
from shared.tables import digits, growth, head, memory, pivot

HEAD = """\
# Performance of the coders

Written by `cargo xtask bench coding --output docs/PERFORMANCE.md`; do not edit it by hand.

## How it is measured

- **Samples** are natural patches of the photographs in `data/cc0`: mean removed, flat ones left out, unit
  norm. The atoms are other patches. All values are exact in single precision, so f32 and f64 solve the
  same problem.
- **In turn**: all contenders run once, then all again, in one process (the Rust GEMM libraries in a
  program called in between). The best wall-clock time of each counts. Ours is the Python package as a
  user calls it.
- **Time per sample** is compared. A slow rival codes only as many of the first samples as fit a time
  budget; the tables say how many. One thread each unless "×2" is written; the BLAS of NumPy and SPAMS is
  held to one.
- **λ** is that of ‖x − Da‖² + λ‖a‖₁. SPAMS and scikit-learn get λ/2, as they put a ½ before the error.
- **The gap** is the worst duality gap over all samples timed, as a fraction of the sample's energy,
  recomputed in float64 from the codes. A run counts only if it is at most 1e-6; † marks those that do
  not. Ours is compared with the fastest run of SPAMS that counts, in either dtype, with or without its
  `cholesky` option.
- **The objective** of ours may not be worse than the rival's by more than 1e-6, relatively, on the
  samples both have coded; the benchmark fails otherwise. For the pursuits it is the residual energy,
  asserted between equal algorithms: SPAMS's `omp` is order-recursive, as our `ormp` is; scikit-learn's is
  our `omp`.
- **Self-representation**: SPAMS cannot exclude an atom, so it codes a ninth of the samples against the
  others, a slightly smaller dictionary. The time of its Gram matrix, found from two sizes, is counted once
  for all samples. The objectives are compared on that smaller problem, which we solve too.
- scikit-learn's `sparse_encode` runs its lasso to a tolerance of 1e-8, which cannot be changed.
- The best single atom is found in whole numbers of 16 bits and confirmed in floats, so that ours takes nearly
  the same time in both dtypes. Eight bits, which pay where the processor has VNNI, are not built.
"""

MEANING = """\
A ratio is the rival's time per sample divided by ours. The objective is how far ours is above the
rival's, relatively, on the same samples."""


def page(records: Records, machine: dict[str, str]) -> str:
    """Return our part of the page."""
    parts = head(HEAD, machine, records, MEANING)
    parts += _section(records, "Lasso", "lasso", ("M", "K", "lambda"), gaps=True)
    parts += _section(records, "Greedy pursuit of 10 atoms", "omp", ("M", "K"))
    parts += _section(records, "The best single atom", "one-sparse", ("M", "K"))
    parts += _rates(records)
    parts += _section(records, "Self-representation", "self-representation", ("M", "K", "lambda"), gaps=True)
    title = "Self-representation: a ninth of the samples by the others"
    parts += _section(records, title, "self-representation, held out", ("M", "K", "T"), gaps=True)
    return "\n".join([*parts, *_growth(records)])


def details(records: Records) -> list[str]:
    """Return what a terminal shows beside the comparisons."""
    return [*_rates(records), *_growth(records)]


def _growth(records: Records) -> list[str]:
    text = """\
Microseconds per sample in f32 by one thread at M = 64, K = 1024, λ = 0.2, one of
them varied. The exponent is that of the best power law."""
    beyond = "Megabytes of the input, and the rise of the process above it during one call."
    return [*growth(records, "coder", {"us_per_sample": "µs per sample"}, text), *memory(records, beyond)]


def _section(
    records: Records, title: str, bench: str, keys: tuple[str, ...], gaps: bool = False
) -> list[str]:
    chosen = [record for record in records.measurements if record["bench"] == bench]
    if not chosen:
        return []

    def time(record: Record) -> str:
        return digits(record["us_per_sample"]) + ("" if record["counts"] else " †")

    parts = [f"## {title}\n", "Microseconds per sample.\n", pivot(chosen, keys, time)]
    if gaps:
        parts += ["Worst gap.\n", pivot(chosen, keys, lambda record: f"{record['gap_max']:.1e}")]
    return [*parts, "Samples timed.\n", pivot(chosen, keys, lambda record: f"{record['T']:,}")]


def _rates(records: Records) -> list[str]:
    """Tabulate the rates of the bare product and of the 1-sparse coder, and all coders in products."""
    products = [record for record in records.measurements if record["bench"] == "gemm"]
    if not products:
        return []

    def rate(record: Record) -> str:
        flops = 2 * record["M"] * record["K"] * record["T"]
        return f"{flops / record['seconds'] / 1e9:.1f}"

    searches = [record for record in records.measurements if record["bench"] == "one-sparse"]
    return [
        "## The machine's rate, and our fraction of it\n",
        "GFLOP/s of the product of atoms and samples, a block at a time; for the coders, of the product they",
        "would have needed.\n",
        pivot(products + searches, ("M", "K"), rate),
        "Time in units of one such product by the fastest library, f32, one thread.\n",
        pivot(_in_products(records, products), ("M", "K"), lambda record: f"{record['units']:.2f}"),
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
