"""Comparisons: time per sample, at an objective that is no worse."""

from collections.abc import Iterable

from shared.contest import Result
from shared.records import Records

OBJECTIVE_SLACK = 1e-6
"""How much worse, relatively, our objective may be than a rival's on the same samples."""

THREADS_TARGET = 1.8
SINGLE_PRECISION_TARGET = 1.6


def pick(
    results: Iterable[Result], name: str, dtype: str | None = None, threads: int | None = 1
) -> list[Result]:
    """Return the results of the contenders whose name begins with `name`; None is any."""
    return [
        result
        for result in results
        if result.name.startswith(name)
        and dtype in (None, result.dtype)
        and threads in (None, result.threads)
    ]


def compare_fastest(
    records: Records,
    workload: str,
    rivals: list[Result],
    ours: list[Result],
    target: float | None = None,
    same_objective: bool = True,
) -> None:
    """Compare the fastest of each side among those that count.

    Where both minimise the same thing, our objective must be no worse.
    """
    rival, own = _fastest(rivals), _fastest(ours)
    if rival is None or own is None:
        loser = rivals[0] if rival is None else ours[0]
        names = {"workload": workload, "rival": rivals[0].name, "ours": ours[0].name}
        # Nobody to beat is no target missed; a certificate of our own that fails is.
        met = False if target is not None and own is None else None
        records.compare(**names, ratio=None, target=target, met=met, reason=f"{loser.name} misses the gap")
        return
    excess = _objective_excess(own, rival)
    if same_objective and excess is not None and excess > OBJECTIVE_SLACK:
        records.fail(f"{workload}: the objective of {own.label} is {excess:.1e} above {rival.label}")
    ratio = rival.us_per_sample / own.us_per_sample
    records.compare(workload, rival.label, own.label, ratio, target=target, objective_excess=excess)


def compare_with_ourselves(records: Records, workload: str, ours: list[Result]) -> None:
    """Compare two threads with one in each dtype, and single precision with double."""

    def own(dtype: str, threads: int) -> Result:
        return pick(ours, "", dtype, threads)[0]

    pairs = [(own(dtype, 1), own(dtype, 2), THREADS_TARGET) for dtype in ("f32", "f64")]
    pairs.append((own("f64", 1), own("f32", 1), SINGLE_PRECISION_TARGET))
    for slower, faster, target in pairs:
        if slower.counts and faster.counts:
            records.compare(
                workload, slower.label, faster.label, slower.seconds / faster.seconds, target=target
            )
        else:
            records.compare(
                workload, slower.label, faster.label, None, target=target, reason="misses the gap"
            )


def _fastest(results: list[Result]) -> Result | None:
    return min(
        (result for result in results if result.counts), key=lambda result: result.us_per_sample, default=None
    )


def _objective_excess(own: Result, rival: Result) -> float | None:
    if own.objective is None or rival.objective is None:
        return None
    shared = min(own.n_samples, rival.n_samples)
    ours, theirs = own.objective[:shared].sum(), rival.objective[:shared].sum()
    return float(ours / theirs - 1)
