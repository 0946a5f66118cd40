"""The choice: each way alone, all that won together, and who stays."""

from dataclasses import dataclass, replace

from shared.contest import Result
from shared.records import Records

from choosers.judge import Difference, Draws, marks
from choosers.settings import BASELINES, PRESENT, WAYS, Setting, others
from choosers.suite import suite


@dataclass(frozen=True)
class Settings:
    """How much is tried."""

    n_samples: int
    n_draws: int


FULL = Settings(n_samples=1000, n_draws=4)
QUICK = Settings(n_samples=200, n_draws=2)


def run(settings: Settings, records: Records) -> None:
    """Choose by the first draws, and confirm by others."""
    choosing = Draws(0, settings.n_draws, settings.n_samples)
    confirming = replace(choosing, first=settings.n_draws)
    _describe(records)
    for name, setting in BASELINES.items():
        _note(records, "baseline", name, setting, choosing)
    _note(records, "present", "present", PRESENT, choosing)
    joint = PRESENT
    for way in WAYS:
        winner = _one_way(records, way, choosing)
        joint = replace(joint, **{way: getattr(winner, way)})
    _note(records, "confirmation", "present", PRESENT, confirming)
    found = _note(records, "confirmation", "all that won", joint, confirming)
    chosen = joint if found.counts else PRESENT
    _note(records, "choice", "the choice", chosen, confirming)


def _describe(records: Records) -> None:
    """Note all sets, those too whose classes are no clusters."""
    for taken, sets in zip((True, False), suite(), strict=True):
        for one in sets:
            shape = {"M": one.samples.shape[1], "classes": one.n_classes}
            facts = {"information": one.information, "taken": taken}
            records.note("set", Result(one.name, "f64", 1, len(one.samples), 0.0), **shape, **facts)


def _one_way(records: Records, way: str, draws: Draws) -> Setting:
    """Try what else one thing could be; return the best that counts as better, else the present one."""
    winner, most = PRESENT, 0.0
    for setting in others(PRESENT, way):
        found = _note(records, way, setting.difference(PRESENT), setting, draws)
        if found.counts and found.mean > most:
            winner, most = setting, found.mean
    return winner


def _note(records: Records, bench: str, name: str, setting: Setting, draws: Draws) -> Difference:
    """Keep what a setting is worth, and by how much that is more than what the present one is."""
    found, present = marks(setting, draws), marks(PRESENT, draws)
    score = Difference.of(found.score - present.score)
    stability = Difference.of(found.stability - present.stability)
    records.note(
        bench,
        Result(name, "f32", 1, draws.n_samples, 0.0),
        setting=setting.difference(PRESENT),
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
    )
    return score
