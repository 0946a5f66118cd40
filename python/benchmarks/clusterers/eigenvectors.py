"""The leading eigenvectors of graphs of USPS digits, against SciPy's `eigsh` at the same residual."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from shared.contest import Contender, Result, interleave
from shared.records import Records, progress

from clusterers.runs import N_CLASSES, Files, Settings, call, files, prepared, usps, write_graph

N_VECTORS = 2 * N_CLASSES
TOLERANCES = (1e-6, 1e-10)
"""The largest residual: our default, and one near what double precision can do."""
LOOSE = 10.0 ** -np.arange(2, 16)
"""Tolerances that `eigsh` is tried with, loosest first."""


@dataclass(frozen=True)
class Case:
    """A graph, and the matrix whose eigenvectors are wanted."""

    name: str
    path: Path
    operator: csr_array

    @classmethod
    def of(cls, name: str, graph: csr_array, folder: Path) -> "Case":
        """Write a graph to a file and normalise it."""
        path = folder / name.replace(" ", "-").replace(",", "")
        write_graph(path, graph)
        return cls(name, path, normalised(graph))

    def ours(self, tolerance: float) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
        """Return seconds, eigenvalues and vectors by our solver."""
        output = self.path.with_suffix(".f64")
        options = {"vectors": N_VECTORS, "tolerance": tolerance, "starts": 1, "output": output}
        found = call("eigenvectors", input=self.path, **options)["starts"][0]
        vectors = np.fromfile(output, dtype="<f8").reshape(-1, N_VECTORS)
        return found["seconds"], (np.array(found["values"]), vectors)

    def scipy(self, tolerance: float) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
        """Return seconds, eigenvalues and vectors by `eigsh`."""
        start = time.perf_counter()
        first = first_vector(self.operator, 0)
        values, vectors = eigsh(self.operator, N_VECTORS, which="LA", tol=tolerance, v0=first)
        return time.perf_counter() - start, (values, vectors)

    def residual(self, values: np.ndarray, vectors: np.ndarray) -> float:
        """Return the largest norm of M·u − λ·u."""
        residuals = self.operator @ vectors - vectors * values
        return float(np.sqrt(np.einsum("ij,ij->j", residuals, residuals).max()))


def normalised(graph: csr_array) -> csr_array:
    """Return D^(−1/2) S D^(−1/2)."""
    graph = graph.astype(np.float64)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    roots = diags_array(np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0))
    return csr_array(roots @ graph @ roots)


def first_vector(operator: csr_array, start: int) -> np.ndarray:
    """Return a vector to start from."""
    return np.random.default_rng(start).standard_normal(operator.shape[0])


def disconnected(graph: csr_array, classes: np.ndarray) -> csr_array:
    """Return the graph without its edges between classes."""
    edges = graph.tocoo()
    kept = classes[edges.row] == classes[edges.col]
    return csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=graph.shape)


def cases(samples: Files, classes: np.ndarray) -> list[Case]:
    """Return the graphs."""
    ensemble, neighbours = samples.graph("ensemble")[1], samples.graph("neighbours")[1]
    graphs = {
        "ensemble": ensemble,
        "10 neighbours": neighbours,
        "10 neighbours, cut between classes": disconnected(neighbours, classes),
    }
    return [Case.of(name, graph, samples.folder) for name, graph in graphs.items()]


def run(settings: Settings, records: Records) -> None:
    """Race on each graph."""
    X, classes = usps(settings)
    with files(prepared(X)) as samples:
        for case in cases(samples, classes):
            for tolerance in TOLERANCES:
                _race(case, tolerance, settings, records)


def _race(case: Case, tolerance: float, settings: Settings, records: Records) -> None:
    workload = f"{N_VECTORS} eigenvectors of {case.operator.shape[0]} USPS digits, {case.name}"
    progress(f"{workload}, residual {tolerance:g}")
    as_exact = max(tolerance, case.residual(*case.ours(tolerance)[1]))
    enough = (tol for tol in LOOSE if case.residual(*case.scipy(tol)[1]) <= as_exact)
    matched = next(enough, 0.0)
    size = case.operator.shape[0]
    contenders = [
        Contender("sparsemble", "f64", 1, size, lambda: case.ours(tolerance)),
        Contender(f"eigsh, tol={matched:.0e}", "f64", 1, size, lambda: case.scipy(matched)),
        Contender("eigsh, tol=0", "f64", 1, size, lambda: case.scipy(0.0)),
    ]
    own, *rivals = interleave(contenders, settings.repetitions)
    for result in (own, *rivals):
        residual = case.residual(*result.output)
        records.note("eigenvectors", result, graph=case.name, tolerance=tolerance, residual=residual)
    _compare(records, f"{workload}, residual {tolerance:g}", rivals, own)
    if case.residual(*own.output) > tolerance:
        records.fail(f"{workload}: the residual is {case.residual(*own.output):.1e}")


def _compare(records: Records, workload: str, rivals: list[Result], own: Result) -> None:
    """The target is for the rival with the same residual; the default of `eigsh` is beside it."""
    for rival, target in zip(rivals, (1.0, None), strict=True):
        records.compare(workload, rival.name, own.name, rival.seconds / own.seconds, target)
