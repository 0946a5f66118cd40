"""Rivals that may not be there, and what those that are say unasked."""

import ctypes
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    import dictlearn
except ImportError:
    dictlearn = None


def unheard(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return the call without its warnings, most of which are about convergence."""

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()

    return run


def with_dictlearn(calls: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    """Return these calls of dictlearn, none if it is not installed."""
    return {} if dictlearn is None else {name: unheard(call) for name, call in calls.items()}


@contextmanager
def no_output() -> Iterator[None]:
    """Keep the compiled code of a rival from printing to standard output, which is for the records."""
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what is still in the buffers of C would come out later
        os.dup2(kept, 1)
        os.close(kept)
