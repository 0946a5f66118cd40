"""The size of a run, and one call against those it replaces."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image
from shared.contest import Contender, Result, interleave
from shared.data import PHOTOGRAPHS, Problem, patch_problem
from shared.records import Records, progress

from package.rivals import no_output

Call = Callable[[], Any]
Judge = Callable[[Any], float]
"""What came out to a number, the less the better."""

SIDE = 8
ATOMS = 256
LAM = 0.2
SHORT = 0.05
"""Seconds that a contender has each time it is its turn; short calls are made again and again."""
MANY_TURNS = 4
"""For calls that return a hundred megabytes."""
SLACK = 1e-6
"""By how much, relatively, a minimum of ours may be above a rival's."""


@dataclass(frozen=True)
class Settings:
    """The size of a run."""

    n_samples: int
    side: int
    repetitions: int


FULL = Settings(n_samples=1000, side=512, repetitions=2)
QUICK = Settings(n_samples=400, side=128, repetitions=1)


@dataclass(frozen=True)
class Match:
    """A call of ours, the calls it replaces, and how what comes out is judged."""

    workload: str
    ours: Call
    rivals: dict[str, Call]
    judge: Judge | None = None
    same_minimum: bool = False
    """Whether both look for the same minimum, so that ours may not be worse."""
    turns: int = 1
    """More of them where the time hangs on how the system hands out memory, which changes tenfold."""


def play(group: str, match: Match, settings: Settings, records: Records) -> None:
    """Time all calls of a match in turn, and compare ours with each of the others."""
    progress(f"{group}: {match.workload}")
    calls = {"sparsemble": match.ours} | match.rivals
    contenders = [Contender(name, "", 1, 1, _timed(call)) for name, call in calls.items()]
    with no_output():
        results = interleave(contenders, settings.repetitions * match.turns)
    worth = {result.name: _worth(result, match.judge) for result in results}
    for result in results:
        records.note("calls", result, group=group, workload=match.workload, objective=worth[result.name])
    ours, *others = results
    for rival in others:
        excess = _excess(worth["sparsemble"], worth[rival.name])
        if match.same_minimum and excess is not None and excess > SLACK:
            records.fail(f"{match.workload}: {excess:+.0e} above {rival.name}")
        ratio = rival.seconds / ours.seconds
        records.compare(match.workload, rival.name, "sparsemble", ratio, 1.0, objective_excess=excess)


def _timed(call: Call) -> Callable[[], tuple[float, Any]]:
    def run() -> tuple[float, Any]:
        best, total = float("inf"), 0.0
        while total < SHORT:
            start = perf_counter()
            output = call()
            seconds = perf_counter() - start
            best, total = min(best, seconds), total + seconds
        return best, output

    return run


def _worth(result: Result, judge: Judge | None) -> float | None:
    return None if judge is None else judge(result.output)


def _excess(ours: float | None, theirs: float | None) -> float | None:
    return (
        None if ours is None or theirs is None else (ours - theirs) / max(abs(theirs), np.finfo(float).tiny)
    )


def problem(settings: Settings) -> Problem:
    """Return patches and atoms in double precision, as most users have them."""
    found = patch_problem(SIDE, settings.n_samples, ATOMS)
    return Problem(found.X.astype(np.float64), found.D.astype(np.float64))


@cache
def photograph(side: int) -> np.ndarray:
    """Return a grey photograph of 8 bits, as large as asked for."""
    return np.ascontiguousarray(np.asarray(Image.open(PHOTOGRAPHS / "camera.png"))[:side, :side])


@cache
def noisy(side: int) -> np.ndarray:
    """Return the same with noise."""
    clean = photograph(side)
    noise = np.random.default_rng(0).normal(0, 10, clean.shape)
    return (clean + noise).clip(0, 255).round().astype(np.uint8)
