"""Rivals that may not be there, and the warnings of those that are."""

import warnings
from collections.abc import Callable
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
