"""The choice: a search from plain settings, way after way, and its confirmation."""

from dataclasses import dataclass, replace

from shared.contest import Result
from shared.records import Records

from choosers.judge import Difference, Draws, Marks, marks
from choosers.settings import DEFAULT, FREE, PLAIN, WAYS, Setting, along, text
from choosers.suite import suite

PASSES = 3


@dataclass(frozen=True)
class Settings:
    """How much is tried."""

    n_samples: int
    n_draws: int
    n_seeds: int
    """Seeds that each set chooses by where it is not the one left out."""
    n_runs: int
    """Runs that the set left out is judged by."""
    n_sets: int
    """How many of the sets of Table 3 take part, the smallest ones."""


FULL = Settings(n_samples=1000, n_draws=4, n_seeds=3, n_runs=20, n_sets=6)
QUICK = Settings(n_samples=200, n_draws=2, n_seeds=1, n_runs=2, n_sets=2)


def run(settings: Settings, records: Records) -> None:
    """Search by the first draws, and confirm by others."""
    choosing = Draws(0, settings.n_draws, settings.n_samples)
    confirming = replace(choosing, first=settings.n_draws)
    _describe(records)
    found = _search(records, choosing)
    better = _confirm(records, "found", found, confirming)
    _confirm(records, "plain", PLAIN, confirming)
    chosen = found if better.counts else PLAIN
    _confirm(records, "the choice", chosen, confirming)
    _confirm(records, "the default", DEFAULT, confirming)
    for graph in ("boost-ex", "rand-ex-av"):
        _confirm(records, f"{graph}, else the choice", replace(chosen, graph=graph), confirming)
    neighbours = replace(chosen, graph="neighbours")
    _confirm(records, "10 neighbours, spectral step of the choice", neighbours, confirming)
    usual = replace(neighbours, vectors=1.0, power=0.0)
    _confirm(records, "10 neighbours, Ng, Jordan and Weiss", usual, confirming)


def _describe(records: Records) -> None:
    """Note all sets, those too whose classes are no clusters."""
    for taken, sets in zip((True, False), suite(), strict=True):
        for one in sets:
            shape = {"M": one.samples.shape[1], "classes": one.n_classes}
            facts = {"information": one.information, "taken": taken}
            records.note("set", Result(one.name, "f64", 1, len(one.samples), 0.0), **shape, **facts)


def _search(records: Records, draws: Draws) -> Setting:
    """Go through all ways until none changes anything, but no more often than the rule says."""
    now = PLAIN
    for number in range(1, PASSES + 1):
        before = now
        for way in WAYS:
            now = _along(records, number, way, now, draws)
        if now == before:
            break
    return now


def _along(records: Records, number: int, way: str, now: Setting, draws: Draws) -> Setting:
    """Try what one thing could be, and return what it is then."""
    tried = {setting: marks(setting, draws) for setting in along(now, way)}
    taken = _taken(way, tried)
    for setting, found in tried.items():
        facts = {"pass": number, "way": way, "in_force": setting == now, "taken": setting == taken}
        _note(records, "search", text(getattr(setting, way)), setting, found, tried[now], draws, **facts)
    return taken


def _taken(way: str, tried: dict[Setting, Marks]) -> Setting:
    """Of values of one cost the best; else the cheapest that is not worse by more than a standard error."""
    best = max(tried, key=lambda setting: float(tried[setting].score.mean()))
    if way in FREE:
        return best
    for setting, found in tried.items():
        behind = Difference.of(tried[best].score - found.score)
        if behind.mean <= behind.error:
            return setting
    return best


def _confirm(records: Records, name: str, setting: Setting, draws: Draws) -> Difference:
    found, plain = marks(setting, draws), marks(PLAIN, draws)
    return _note(records, "confirmation", name, setting, found, plain, draws)


def _note(
    records: Records,
    bench: str,
    name: str,
    setting: Setting,
    found: Marks,
    beside: Marks,
    draws: Draws,
    **facts: object,
) -> Difference:
    """Keep what a setting is worth, and by how much that is more than what another one is."""
    score = Difference.of(found.score - beside.score)
    stability = Difference.of(found.stability - beside.stability)
    records.note(
        bench,
        Result(name, "f32", 1, draws.n_samples, 0.0),
        setting=setting.difference(PLAIN),
        first_draw=draws.first,
        draws=draws.count,
        sources=len(found.score),
        accuracy=float(found.accuracy.mean()),
        nmi=float(found.information.mean()),
        stability=float(found.stability.mean()),
        score_difference=score.mean,
        score_error=score.error,
        better=score.better,
        worse=score.worse,
        stability_difference=stability.mean,
        stability_error=stability.error,
        counts=score.counts,
        **facts,
    )
    return score
