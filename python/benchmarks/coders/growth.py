"""How our time per sample grows with T, K and λ, and what a call needs in memory."""

from typing import Any

from shared.contest import interleave
from shared.data import Problem, patch_problem
from shared.records import Records, progress

from coders import ours
from coders.memory import measure
from coders.runs import Settings, coder

CODERS: dict[str, dict[str, Any]] = {
    "lasso": {"method": "lasso", "lam": 0.2},
    "omp": {"method": "omp", "n_nonzero_coefs": 10},
    "one-sparse": {"method": "one-sparse"},
}
"""In f32, by one thread, on 8×8 patches."""

SAMPLES = (300, 1000, 3000, 10_000, 30_000, 100_000)
ATOMS = (128, 256, 512, 1024, 2048)
PENALTIES = (0.8, 0.4, 0.2, 0.1)

SIDE = 8
USUAL_SAMPLES = 20_000
USUAL_ATOMS = 1024


def run(settings: Settings, records: Records) -> None:
    """Vary one thing at a time."""
    most = settings.n_samples
    usual = min(most, USUAL_SAMPLES)
    by_samples = {n: patch_problem(SIDE, n, USUAL_ATOMS) for n in SAMPLES if n <= most}
    by_atoms = {n: patch_problem(SIDE, usual, n) for n in ATOMS}
    for name, options in CODERS.items():
        progress(f"growth of {name}")
        for variable, problems in (("T", by_samples), ("K", by_atoms)):
            cases = {value: (problem, options) for value, problem in problems.items()}
            _vary(records, settings, name, variable, cases)
    problem = patch_problem(SIDE, usual, USUAL_ATOMS)
    penalties = {lam: (problem, CODERS["lasso"] | {"lam": lam}) for lam in PENALTIES}
    _vary(records, settings, "lasso", "lambda", penalties)
    _memory(records, most)


def _vary(
    records: Records,
    settings: Settings,
    name: str,
    variable: str,
    cases: dict[float, tuple[Problem, dict[str, Any]]],
) -> None:
    contenders = [
        coder("sparsemble", "f32", 1, ours.coder_of(problem.D, 1, **options), problem.X)
        for problem, options in cases.values()
    ]
    times = [result.us_per_sample for result in interleave(contenders, settings.repetitions)]
    records.grow(name, variable, list(cases), times)


def _memory(records: Records, n_samples: int) -> None:
    problem = patch_problem(SIDE, n_samples, USUAL_ATOMS)
    for name, options in CODERS.items():
        data, extra = measure(problem.X, problem.D, n_threads=1, **options)
        records.remember(f"{name} M={SIDE**2} K={USUAL_ATOMS} T={len(problem.X)} f32", data, extra)
