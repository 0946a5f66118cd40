"""The page docs/CLUSTERING.md."""

from collections.abc import Callable

from shared.records import Record, Records
from shared.tables import digits, growth, head, table

HEAD = """\
# Clustering, measured

Written by `cargo xtask bench clustering --mixed 1000000 --output docs/CLUSTERING.md`; do not edit it by hand.
How good the clusters are is in [REPRODUCTION](REPRODUCTION.md), Table 3.

## How it is measured

- **Samples** are the 9298 USPS digits, 256 pixels each, centred by the data and of unit norm, and parts of
  them and of the 10,992 pendigits, in random order. One thread each, contenders in turn, the best time of
  each; a million samples run once, on both cores.
- **l1 graph**: λ = 0.2 of Eq. (1), which is 0.1 with ½ before the error. SPAMS cannot exclude an atom. What
  its users can do is a call for each sample; that is timed on a few. The target is for what it would take if
  it could: a ninth of the samples coded by the others in one call, the time of the Gram matrix, found from
  two sizes, counted once. Objectives and gaps are checked. Only ours includes forming the graph.
- **Graphs of ensembles** are compared with products by faer of just the multiply-adds of their passes, in the
  same process, in turn.
- **Eigenvectors**: `eigsh` of SciPy has the loosest tolerance (a power of ten) that gives residuals as small
  as was asked of ours; its default, tol=0, stands beside it. Wrong is an eigenvalue that is off by more than
  10⁻⁴. Truth is a dense solver's.
- **Pipeline**: from samples to labels. The rival is the time of SPAMS for the codes of the l1 graph, as
  above, and `SpectralClustering(affinity="precomputed")` of scikit-learn on that graph, which runs once and is
  stopped after three minutes; the ratio is then a bound from below.
- **Many samples** are from a mixture of 20 random subspaces of 4 dimensions in 64, with noise that has a
  fifth of their standard deviation.
"""

MEANING = """\
Where a workload says units or answers, the ratio is that number; elsewhere it is the rival's time divided by
ours."""

Cells = Callable[[Record], dict[str, str]]
"""What a line of a table says, by the titles of its columns."""

STAGES = ("preparation", "coding", "graph", "eigenvectors", "k-means")


def page(records: Records, machine: dict[str, str]) -> str:
    """Return the page."""
    parts = head(HEAD, machine, records, MEANING)
    parts += _section(records, "graph of an ensemble", "Graphs of ensembles", _ensemble_cells)
    parts += _section(records, "eigenvectors", "Eigenvectors", _eigenvector_cells)
    parts += _section(records, "correctness", "Wrong eigenvalues", _wrong_cells)
    parts += _section(records, "pipeline", "Pipeline", _pipeline_cells)
    parts += _many(records)
    costs = {"seconds": "seconds", "peak_mb": "most memory of the whole, MB"}
    parts += growth(records, "stage", costs, "By the number of samples; K is that of each of the 30 members.")
    return "\n".join(parts)


def details(records: Records) -> list[str]:
    """Return what a million samples took."""
    return _many(records)


def _section(records: Records, bench: str, title: str, cells: Cells) -> list[str]:
    """Tabulate a line for each measurement."""
    rows = [cells(record) for record in records.measurements if record["bench"] == bench]
    if not rows:
        return []
    return [f"## {title}\n", table(list(rows[0]), [list(row.values()) for row in rows])]


def _ensemble_cells(record: Record) -> dict[str, str]:
    return {
        "graph": record["contender"],
        "coding, s": digits(record["coding"]),
        "forming the graph, s": digits(record["graph"]),
        "products by faer, s": digits(record["products"]),
        "neighbours": digits(record["neighbours"]),
    }


def _eigenvector_cells(record: Record) -> dict[str, str]:
    return {
        "graph": record["graph"],
        "asked for": f"{record['tolerance']:.0e}",
        "": record["contender"],
        "seconds": digits(record["seconds"]),
        "largest residual": f"{record['residual']:.0e}",
    }


def _wrong_cells(record: Record) -> dict[str, str]:
    return {
        "workload": record["workload"],
        "": record["contender"],
        "answers": str(record["T"]),
        "wrong": str(record["wrong"]),
    }


def _pipeline_cells(record: Record) -> dict[str, str]:
    return {
        "": record["contender"],
        "seconds": digits(record["seconds"]),
        "accuracy, %": "" if record["accuracy"] is None else f"{100 * record['accuracy']:.1f}",
    }


def _many(records: Records) -> list[str]:
    """Tabulate the stages of the largest run."""
    parts = []
    for record in records.measurements:
        if record["bench"] != "many samples":
            continue
        form = "formed" if record["formed"] else "not formed"
        converged = "" if record["converged"] else ", not converged"
        text = (
            f"{record['T']:,} samples, {record['data_mb']:.0f} MB: {record['seconds']:.0f} s on "
            f"{record['threads']} threads, most memory {record['peak_mb']:.0f} MB, "
            f"accuracy {100 * record['accuracy']:.1f} %, the graph is {form}{converged}.\n"
        )
        stages = record["stages"]
        rows = [[name, digits(stages[name]["seconds"]), f"{stages[name]['peak_mb']:.0f}"] for name in STAGES]
        parts += ["## Many samples\n", text, table(["stage", "seconds", "most memory so far, MB"], rows)]
    return parts
