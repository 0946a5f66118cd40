"""Graphs of ensembles of USPS digits, L = 30 and K = T/8, in units of the matrix products they need."""

from shared.contest import Result
from shared.records import Records, progress

from clusterers.runs import Settings, files, prepared, usps

LIMIT = 1.5
KINDS = {"ensemble": LIMIT, "rand-ex-av": None, "boost-ex": None}
"""The default graph, and the paper's: the bound is for the first."""


def run(settings: Settings, records: Records) -> None:
    """Time graph and products in turn, in one process on one thread."""
    X = prepared(usps(settings)[0])
    with files(X) as samples:
        for kind, limit in KINDS.items():
            progress(f"graph: {kind}")
            record, found = samples.graph(kind, repetitions=settings.repetitions)
            result = Result(kind, "f32", 1, len(X), record["seconds"])
            parts = {name: record[name] for name in ("coding", "graph", "products")}
            records.note("graph of an ensemble", result, **parts, neighbours=found.nnz / len(X))
            workload = f"graph of {len(X)} USPS digits, L = 30, K = T/8: in units of"
            ratio = record["seconds"] / record["products"]
            if limit is None:
                records.compare(workload, "its products by faer", kind, ratio)
            else:
                records.limit(workload, "its products by faer", kind, ratio, limit)
