"""How our time per sample grows with T, K and λ, and what a call needs in memory."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from coders import ours
from coders.contest import Settings, coder, interleave
from coders.data import Problem, patch_problem
from coders.memory import measure
from coders.records import Records, progress

CODERS: dict[str, dict[str, Any]] = {
    "lasso": {"method": "lasso", "lam": 0.2},
    "omp": {"method": "omp", "n_nonzero_coefs": 10},
    "one-sparse": {"method": "one-sparse"},
}
"""In f32, by one thread, at M = 64; K = 1024 and λ = 0.2 where they do not vary."""

SAMPLES = (1000, 3000, 10_000, 30_000, 100_000)
ATOMS = (128, 256, 512, 1024, 2048)
PENALTIES = (0.8, 0.4, 0.2, 0.1)
USUAL_ATOMS = 1024


def run(settings: Settings, records: Records) -> None:
    """Vary one thing at a time."""
    most = settings.n_samples
    usual = min(most, 20_000)
    for name, options in CODERS.items():
        progress(f"growth of {name}")

        def by_samples(n: float, options: dict[str, Any] = options) -> tuple[Problem, dict[str, Any]]:
            return patch_problem(8, int(n), USUAL_ATOMS), options

        def by_atoms(k: float, options: dict[str, Any] = options) -> tuple[Problem, dict[str, Any]]:
            return patch_problem(8, usual, int(k)), options

        _vary(records, settings, name, "T", [n for n in SAMPLES if n <= most], by_samples)
        _vary(records, settings, name, "K", ATOMS, by_atoms)

    def by_penalty(lam: float) -> tuple[Problem, dict[str, Any]]:
        return patch_problem(8, usual, USUAL_ATOMS), CODERS["lasso"] | {"lam": lam}

    _vary(records, settings, "lasso", "lambda", PENALTIES, by_penalty)
    _memory(records, most)


def _vary(
    records: Records,
    settings: Settings,
    name: str,
    variable: str,
    values: Iterable[float],
    case: Callable[[float], tuple[Problem, dict[str, Any]]],
) -> None:
    values = list(values)
    contenders = []
    for value in values:
        problem, options = case(value)
        contenders.append(coder("sparsemble", "f32", 1, ours.coder_of(problem.D, 1, **options), problem.X))
    times = [result.us_per_sample for result in interleave(contenders, settings.repetitions)]
    records.grow(name, variable, values, times, _exponent(values, times))


def _exponent(values: list[float], times: list[float]) -> float:
    """The power of the variable that fits the times best."""
    return float(np.polyfit(np.log(values), np.log(times), 1)[0])


def _memory(records: Records, n_samples: int) -> None:
    problem = patch_problem(8, n_samples, USUAL_ATOMS)
    for name, options in CODERS.items():
        data, extra = measure(problem.X, problem.D, n_threads=1, **options)
        records.remember(f"{name} M=64 K={USUAL_ATOMS} T={len(problem.X)} f32", data, extra)
