"""How large a run is, the data it is about, and calls of the native program."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment  # noqa: TID251 - a judge of our own
from scipy.sparse import csr_array
from shared.data import ROOT
from shared.native import native

N_CLASSES = 10
"""Of both sets of digits."""


@dataclass(frozen=True)
class Settings:
    """How much is measured."""

    n_samples: int
    n_graphs: int
    n_mixed: int
    repetitions: int


FULL = Settings(n_samples=9298, n_graphs=1000, n_mixed=0, repetitions=3)
QUICK = Settings(n_samples=1000, n_graphs=20, n_mixed=4000, repetitions=1)


@cache
def digits(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of a table, rows in an order that mixes the classes, and their classes."""
    folder = Path(os.environ.get("SPARSEMBLE_DATA", ROOT.parent / "shared" / "data")) / "clustering"
    table = folder / f"{name}.csv"
    if not table.is_file():
        raise SystemExit(f"there is no {table}; set SPARSEMBLE_DATA to a folder that has it")
    values = np.loadtxt(table, delimiter=",", skiprows=1, dtype=np.float32)
    values = values[np.random.default_rng(0).permutation(len(values))]
    return np.ascontiguousarray(values[:, :-1]), values[:, -1].astype(int)


def usps(settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Return the digits of USPS as they are in the file, and their classes."""
    samples, classes = digits("usps9298")
    return samples[: settings.n_samples], classes[: settings.n_samples]


def prepared(samples: np.ndarray) -> np.ndarray:
    """Return rows centred by the data and of unit norm, as the library prepares these digits."""
    rows = samples.astype(np.float64)
    rows -= rows.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return (rows / norms[:, None]).astype(np.float32)


@dataclass(frozen=True)
class Files:
    """A folder with samples in it, and what the native program makes of them."""

    folder: Path
    samples: np.ndarray

    def call(self, part: str, **options: Any) -> dict[str, Any]:
        """Run a part of clustering on one thread, if the options do not say otherwise."""
        found_in = {"samples": self.folder / "samples.f32", "features": self.samples.shape[1]}
        return call(part, **found_in | options)

    def graph(self, kind: str, **options: Any) -> tuple[dict[str, Any], csr_array]:
        """Build a graph of the samples as they are; return the record and the graph."""
        path = self.folder / "graph"
        record = self.call("graph", graph=kind, output=path, **{"repetitions": 1} | options)
        return record, read_graph(path)

    def fit(self, kind: str, clusters: int = N_CLASSES, **options: Any) -> tuple[dict[str, Any], np.ndarray]:
        """Cluster the samples; return the record and the labels."""
        path = self.folder / "labels.u32"
        record = self.call("fit", graph=kind, clusters=clusters, output=path, **options)
        return record, np.fromfile(path, dtype="<u4")


@contextmanager
def files(samples: np.ndarray) -> Iterator[Files]:
    """Write samples to a folder of their own for as long as they are needed."""
    with tempfile.TemporaryDirectory() as folder:
        samples.astype("<f4", copy=False).tofile(Path(folder) / "samples.f32")
        yield Files(Path(folder), samples)


def call(part: str, **options: Any) -> dict[str, Any]:
    """Run a part of clustering by the native program."""
    options = {"threads": 1, "seed": 1} | options
    return native("cluster", part, *(f"{name}={value}" for name, value in options.items()))


def read_graph(path: Path) -> csr_array:
    """Read the three arrays the native program has written."""
    types = {"weights": "<f4", "neighbours": "<u4", "starts": "<u8"}
    arrays = [np.fromfile(f"{path}.{name}", dtype=dtype) for name, dtype in types.items()]
    return csr_array((arrays[0], arrays[1].astype(np.int32), arrays[2].astype(np.int32)))


def write_graph(path: Path, graph: csr_array) -> None:
    """Write the three arrays for the native program."""
    graph.sort_indices()
    graph.data.astype("<f4").tofile(f"{path}.weights")
    graph.indices.astype("<u4").tofile(f"{path}.neighbours")
    graph.indptr.astype("<u8").tofile(f"{path}.starts")


def accuracy(classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of samples in the right class, with clusters matched to classes in the best way."""
    confusion = np.zeros((classes.max() + 1, labels.max() + 1))
    np.add.at(confusion, (classes, labels), 1)
    return float(confusion[linear_sum_assignment(-confusion)].sum() / len(classes))
