"""Our own coders, through the Python package as a user calls them."""

from typing import Any

from shared.contest import Contender
from shared.data import Problem

import sparsemble
from coders.runs import Coder, coder

THREADS = (1, 2)


def coder_of(D: Any, threads: int, **options: Any) -> Coder:
    """Return `sparse_encode` with all but the samples given."""
    return lambda X: sparsemble.sparse_encode(X, D, n_threads=threads, **options)


def contenders(problem: Problem, name: str = "sparsemble", **options: Any) -> list[Contender]:
    """Return one contender for each dtype and number of threads."""
    found = []
    for dtype in ("f32", "f64"):
        X, D = problem.cast(dtype)
        found += [coder(name, dtype, threads, coder_of(D, threads, **options), X) for threads in THREADS]
    return found
