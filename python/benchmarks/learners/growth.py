"""How the cost of learning grows with T, K and L, and the memory it needs."""

from contextlib import ExitStack
from typing import Any

from shared.contest import interleave
from shared.data import learning_patches
from shared.records import Records, progress

from learners.runs import SIDE, Settings, files

SHARES = (8, 4, 2, 1)
"""The values of T and K: the most of a run, divided by these."""
MODELS = (2, 4, 8, 16)

LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "K-Means‖": ("init", {}),
    "Lloyd, 5 iterations": ("lloyd", {"start": "start", "iterations": 5}),
    "online Alt-Opt, 1 epoch": ("epoch", {"lambda": 0.2}),
    "RandExAv": ("average", {}),
    "BoostEx": ("boost", {"coder": "one-sparse"}),
}
ENSEMBLES = ("RandExAv", "BoostEx")
"""They have L models, each with 1-sparse codes; the others are without."""


def run(settings: Settings, records: Records) -> None:
    """Vary one thing at a time; in f32, by one thread."""
    usual = {"T": settings.n_samples // 2, "K": settings.n_atoms // 4, "L": MODELS[1]}
    for name in LEARNERS:
        progress(f"growth of {name}")
        varied = {
            "T": [settings.n_samples // share for share in SHARES],
            "K": [settings.n_atoms // share for share in SHARES],
            "L": list(MODELS) if name in ENSEMBLES else [],
        }
        for variable, values in varied.items():
            if values:
                cases = [usual | {variable: value} for value in values]
                _vary(records, settings, name, variable, cases)


def _vary(
    records: Records, settings: Settings, name: str, variable: str, cases: list[dict[str, int]]
) -> None:
    learner, options = LEARNERS[name]
    contenders = []
    with ExitStack() as stack:
        for case in cases:
            X, _ = learning_patches(SIDE, case["T"], 0)
            samples = stack.enter_context(files(X))
            if "start" in options:
                samples.learn("init", atoms=case["K"], output=options["start"])
            contenders.append(samples.contender(name, learner, atoms=case["K"], models=case["L"], **options))
        results = interleave(contenders, settings.repetitions)
    records.grow(
        name,
        variable,
        [case[variable] for case in cases],
        [result.seconds for result in results],
        unit="seconds",
        peak_mb=[result.output["peak_mb"] for result in results],
    )
