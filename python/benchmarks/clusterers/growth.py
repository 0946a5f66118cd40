"""How the time of each stage and the memory grow with T, with K in proportion and with K held."""

from collections.abc import Iterable

from shared.records import Records, progress

from clusterers.runs import Settings, digits, files

SHARES = (8, 4, 2, 1)
"""T is that of all samples, divided by these."""
TABLES = {"USPS": "usps9298", "pendigits": "digits_pendigits10992"}
KINDS = {"K = T/8": "ensemble", "K = 64": "ensemble:atoms=64", "l1": "l1"}
STAGES = ("preparation", "coding", "graph", "eigenvectors", "k-means")


def run(settings: Settings, records: Records) -> None:
    """Cluster parts of both tables."""
    for table, name in TABLES.items():
        samples = digits(name)[0][: settings.n_samples]
        for kind, text in KINDS.items():
            progress(f"growth: {table}, {kind}")
            sizes = [len(samples) // share for share in SHARES]
            found = []
            for size in sizes:
                with files(samples[:size]) as part:
                    found.append([part.fit(text)[0] for _ in range(settings.repetitions)])
            _grow(f"{table}, {kind}", sizes, found, records)


def _grow(what: str, sizes: list[int], found: list[list[dict]], records: Records) -> None:
    memory = [min(record["peak_mb"] for record in runs) for runs in found]
    for stage in STAGES:
        seconds = [_least(record["stages"][stage]["seconds"] for record in runs) for runs in found]
        records.grow(f"{what}: {stage}", "T", sizes, seconds, unit="seconds", peak_mb=memory)
    seconds = [_least(record["seconds"] for record in runs) for runs in found]
    records.grow(f"{what}: all", "T", sizes, seconds, unit="seconds", peak_mb=memory)


def _least(seconds: Iterable[float]) -> float:
    """Return the least, but no less than a clock can tell."""
    return max(min(seconds), 1e-6)
