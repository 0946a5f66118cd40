"""Settings for each set of Table 3, chosen by the other five: the rule is `RULE` of `left_out_page.py`.

It was written by someone who knew Table 3, before the first figure of this search; it is not changed after.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from clusterers.runs import accuracy
from shared.contest import Result
from shared.records import Records, progress
from sklearn.metrics import normalized_mutual_info_score

from choosers.judged_sets import BARS, judged_sets
from choosers.search import PASSES, Settings
from choosers.settings import DEFAULT, PLAIN, WAYS, Setting, text
from choosers.suite import LabelledSet
from choosers.sweeps import PAIRS, sweep
from choosers.trials import labels, whole_part

GRAPH_WAYS: dict[str, tuple[Any, ...]] = {
    "graph": WAYS["graph"],
    "signed": WAYS["signed"],
    "scale": WAYS["scale"],
    "members": (10, 20, 30),
    "samples_per_atom": (16.0, 8.0, 4.0),
    "refinements": WAYS["refinements"],
    "sharpness": (1.0, 2.0, 4.0, 8.0, 16.0),
}
"""What a graph could be, in the order of the search. Fewer values than `WAYS`, as whole sets cost more."""
ROUNDING = 1e-9
"""What two ways to the same mean may differ by."""
FIRST_SEED = 100
"""Of the runs that judge: none of them took part in choosing."""
NONE = "none"
"""What is left out where all sets choose."""


@dataclass(frozen=True)
class Tried:
    """A graph with the spectral step that is best for it, and its score."""

    setting: Setting
    score: float
    exact: bool = True
    """If not, the score is no more than this: too little to be the best, so not all runs were made."""


def run(settings: Settings, records: Records) -> None:
    """Leave out each set in turn and judge by it; then choose by all, and judge that and the default."""
    sets = judged_sets(settings.n_sets)
    for one in sets:
        others = [other for other in sets if other is not one]
        chosen = _search(records, one.name, others, settings.n_seeds)
        _judge(records, "left out", chosen, one, settings.n_runs)
    shipped = _search(records, NONE, sets, settings.n_seeds)
    for by, setting in {"default": DEFAULT, "all": shipped}.items():
        for one in sets:
            _judge(records, by, setting, one, settings.n_runs)


def _search(records: Records, left_out: str, sets: list[LabelledSet], n_seeds: int) -> Setting:
    """Go through all ways of the graph until none changes anything, but no more often than the rule says."""
    now, ended = _tried(PLAIN, sets, n_seeds), False
    number = 0
    while number < PASSES and not ended:
        number, before = number + 1, now
        for way, values in GRAPH_WAYS.items():
            now = _along(records, (left_out, number, way), values, now, sets, n_seeds)
        ended = _graph(now.setting) == _graph(before.setting)
    facts = {"setting": now.setting.difference(PLAIN), "score": now.score, "passes": number, "ended": ended}
    records.note("left-out choice", _named(left_out, sets), seeds=n_seeds, sets=len(sets), **facts)
    return now.setting


def _along(
    records: Records,
    step: tuple[str, int, str],
    values: tuple[Any, ...],
    now: Tried,
    sets: list[LabelledSet],
    n_seeds: int,
) -> Tried:
    """Try what one thing could be, and return the best, the first among equals."""
    left_out, number, way = step
    progress(
        f"without {left_out}, pass {number}, {way}: {now.score:.4f} with {now.setting.difference(PLAIN)}"
    )
    tried, least = [], now.score
    for value in values:
        tried.append(_tried(replace(now.setting, **{way: value}), sets, n_seeds, least))
        least = max(least, tried[-1].score) if tried[-1].exact else least
    best = max((one for one in tried if one.exact), key=lambda one: one.score)
    for value, one in zip(values, tried, strict=True):
        records.note(
            "left-out step",
            _named(text(value), sets),
            left_out=left_out,
            number=number,
            way=way,
            setting=one.setting.difference(PLAIN),
            score=one.score,
            exact=one.exact,
            taken=one is best,
            in_force=getattr(now.setting, way) == value,
        )
    return best


def _tried(setting: Setting, sets: list[LabelledSet], n_seeds: int, least: float = 0.0) -> Tried:
    """Score a graph by the pair of vectors and power that is best on these sets: one pair for all of them.

    The cheapest runs come first. Where the score would be below `least` even if those left were perfect, they
    are not made: the graph has lost, whatever they are.
    """
    cheapest = sorted(sets, key=lambda one: one.samples.size)
    bound = np.ones(len(PAIRS))
    for one, seed in product(cheapest, range(n_seeds)):
        bound -= (1 - sweep(one, setting, seed)[0]) / (len(sets) * n_seeds)
        if bound.max() < least - ROUNDING:
            return Tried(setting, float(bound.max()), exact=False)
    means = np.mean([_mean(sweep(one, setting, seed)[0] for seed in range(n_seeds)) for one in sets], axis=0)
    best = int(np.argmax(means))
    vectors, power = PAIRS[best]
    return Tried(replace(setting, vectors=vectors, power=power), float(means[best]))


def _graph(setting: Setting) -> Setting:
    """Return a setting without its spectral step."""
    return replace(setting, vectors=PLAIN.vectors, power=PLAIN.power)


def _judge(records: Records, by: str, setting: Setting, one: LabelledSet, n_runs: int) -> None:
    """Run the program with seeds that took no part, one run after the other."""
    progress(f"judging {one.name} by the setting of {by}: {setting.difference(PLAIN)}")
    parts = [whole_part(one, FIRST_SEED + number) for number in range(n_runs)]
    found = [labels([part], setting)[0] for part in parts]
    accuracies = [accuracy(one.classes, of_run) for of_run in found]
    information = [float(normalized_mutual_info_score(one.classes, of_run)) for of_run in found]
    mean = float(np.mean(accuracies))
    records.note(
        "left-out judged",
        _named(one.name, [one]),
        by=by,
        setting=setting.difference(PLAIN),
        arguments=" ".join(setting.arguments(one.n_classes, parts[0].range_ratio)),
        runs=n_runs,
        accuracy=mean,
        accuracy_deviation=float(np.std(accuracies, ddof=1)),
        nmi=float(np.mean(information)),
        nmi_deviation=float(np.std(information, ddof=1)),
        bar=BARS[one.name] / 100,
        met=mean >= BARS[one.name] / 100,
        accuracies=accuracies,
    )


def _mean(arrays: Iterable[np.ndarray]) -> np.ndarray:
    """Return the mean of arrays of one shape."""
    return np.mean(list(arrays), axis=0)


def _named(name: str, sets: list[LabelledSet]) -> Result:
    """Return what a record is named by."""
    return Result(name, "f32", 1, sum(len(one.samples) for one in sets), 0.0)
