"""How often eigenvalues are wrong: repeated ones, of graphs in several parts, are the hard case.

Random graphs are compared with a dense solver, and so is each part of the digits' graph on its own.
"""

import tempfile
from pathlib import Path

import numpy as np
from scipy.linalg import eigvalsh  # noqa: TID251 - the truth
from scipy.sparse import block_diag, csr_array, random_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigsh
from shared.contest import Result
from shared.records import Records, progress

from clusterers.eigenvectors import disconnected, first_vector, normalised
from clusterers.runs import N_CLASSES, Settings, call, files, prepared, usps, write_graph

STARTS = 12
"""On the digits."""
WRONG = 1e-4
"""How far an eigenvalue may be off: much more than any residual asked for allows."""
TOLERANCES = (0.0, 1e-10, 1e-4)
"""Of `eigsh`; 0 is its default."""
OURS = "sparsemble"

Counts = dict[str, int]


def run(settings: Settings, records: Records) -> None:
    """Count wrong answers of everyone."""
    with tempfile.TemporaryDirectory() as folder:
        _random_graphs(Path(folder), settings, records)
        _digits(Path(folder), settings, records)


def _random_graphs(folder: Path, settings: Settings, records: Records) -> None:
    progress(f"correctness: {settings.n_graphs} random graphs")
    rng = np.random.default_rng(0)
    counts: Counts = {}
    for number in range(settings.n_graphs):
        graph = _random_graph(rng)
        count = int(rng.integers(1, min(20, graph.shape[0] - 2)))
        truth = eigvalsh(normalised(graph).toarray())[::-1][:count]
        _count(counts, graph, truth, [number], folder)
    workload = "eigenvalues of random graphs: wrong answers"
    _report(records, workload, counts, settings.n_graphs)


def _random_graph(rng: np.random.Generator) -> csr_array:
    """Return a graph in one to six parts, some of them alike, some vertices without edges."""
    parts = []
    for _ in range(rng.integers(1, 7)):
        size = int(rng.integers(4, 50))
        part = random_array((size, size), density=rng.uniform(0.05, 0.6), rng=rng, dtype=np.float64)
        part.data += 0.1
        parts += [part] * int(rng.integers(1, 3))
    graph = csr_array(block_diag(parts))
    graph = (graph + graph.T).astype(np.float32)
    graph.setdiag(0)
    graph.eliminate_zeros()
    return csr_array(graph)


def _digits(folder: Path, settings: Settings, records: Records) -> None:
    """The digits' graph of neighbours, cut between the classes, from many starts."""
    X, classes = usps(settings)
    with files(prepared(X)) as samples:
        graph = disconnected(samples.graph("neighbours")[1], classes)
    progress(f"correctness: {graph.shape[0]} digits, {STARTS} starts")
    n_parts, part = connected_components(graph, directed=False)
    found = []
    for number in range(n_parts):
        members = np.flatnonzero(part == number)
        found.append(eigvalsh(normalised(graph[members][:, members]).toarray()))
    truth = np.sort(np.concatenate(found))[::-1][: 2 * N_CLASSES]
    counts: Counts = {}
    _count(counts, graph, truth, list(range(STARTS)), folder)
    workload = f"eigenvalues of {graph.shape[0]} USPS digits, {n_parts} parts: wrong answers"
    _report(records, workload, counts, STARTS)


def _count(counts: Counts, graph: csr_array, truth: np.ndarray, starts: list[int], folder: Path) -> None:
    """Let everyone find the eigenvalues from each start, and count what is wrong."""
    write_graph(folder / "graph", graph)
    options = {"vectors": len(truth), "tolerance": 1e-6, "starts": len(starts), "seed": starts[0]}
    answers = call("eigenvectors", input=folder / "graph", **options)["starts"]
    wrong = [_is_wrong(np.array(answer["values"]), truth) for answer in answers]
    counts[OURS] = counts.get(OURS, 0) + sum(wrong)
    operator = normalised(graph)
    for tolerance in TOLERANCES:
        name = f"eigsh, tol={tolerance:g}"
        wrong = [_is_wrong(_eigsh(operator, len(truth), tolerance, start), truth) for start in starts]
        counts[name] = counts.get(name, 0) + sum(wrong)


def _eigsh(operator: csr_array, count: int, tolerance: float, start: int) -> np.ndarray:
    """Return the eigenvalues, nothing if there is an error."""
    v0 = first_vector(operator, start)
    try:
        return eigsh(operator, count, which="LA", tol=tolerance, v0=v0, return_eigenvectors=False)
    except ArpackError:
        return np.empty(0)


def _is_wrong(found: np.ndarray, truth: np.ndarray) -> bool:
    return len(found) != len(truth) or bool(np.abs(np.sort(found)[::-1] - truth).max() > WRONG)


def _report(records: Records, workload: str, counts: Counts, n_answers: int) -> None:
    for name, wrong in counts.items():
        records.note("correctness", Result(name, "f64", 1, n_answers, 0.0), workload=workload, wrong=wrong)
    records.limit(workload, f"of {n_answers}", OURS, counts[OURS], 0)
