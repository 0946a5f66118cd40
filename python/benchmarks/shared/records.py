"""What a run found: each fact is printed as one line of JSON when it is known, and kept for the report."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shared.contest import Result

Record = dict[str, Any]
NAMING = (
    "bench",
    "contender",
    "dtype",
    "threads",
    "T",
    "workload",
    "rival",
    "ours",
    "growth",
    "variable",
    "memory",
)


@dataclass
class Records:
    """All facts of a run, in the order they were found."""

    measurements: list[Record] = field(default_factory=list)
    comparisons: list[Record] = field(default_factory=list)
    growth: list[Record] = field(default_factory=list)
    memory: list[Record] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Objectives that were worse than a rival's: the run is not valid."""
    commands: list[str] = field(default_factory=list)
    """The runs that found them."""
    recalled: list[Record] = field(default_factory=list)
    """What earlier runs have found, and this one has not yet."""

    def begin(self, command: str) -> None:
        """Keep the command of this run."""
        self.commands.append(command)
        print(json.dumps({"command": command}, ensure_ascii=False), flush=True)

    def fail(self, failure: str) -> None:
        """Keep why this run is not valid."""
        self.failures.append(failure)
        print(json.dumps({"failure": failure}, ensure_ascii=False), flush=True)

    def recall(self, path: Path) -> None:
        """Take in what another run has printed on standard output; what is found again takes its place."""
        kinds = {
            "bench": self.measurements,
            "workload": self.comparisons,
            "growth": self.growth,
            "memory": self.memory,
        }
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            first = next(iter(record))
            if first == "command":
                self.commands.append(record["command"])
            elif first == "failure":
                self.failures.append(record["failure"])
            else:
                self.recalled.append(record)
                kinds[first].append(record)

    def _keep(self, records: list[Record], record: Record) -> None:
        again = [earlier for earlier in self.recalled if _name(earlier) == _name(record)]
        if again:
            self.recalled = [earlier for earlier in self.recalled if earlier not in again]
            records[:] = [earlier for earlier in records if earlier not in again]
        records.append(record)
        print(json.dumps(record, ensure_ascii=False), flush=True)

    def measure(self, bench: str, result: Result, shape: dict[str, int], lam: float | None = None) -> None:
        """Keep the time of one coder and what its codes are worth."""
        codes = {
            "lambda": lam,
            "us_per_sample": result.us_per_sample,
            "gap_max": result.gap_max,
            "objective": None if result.objective is None else float(result.objective.mean()),
            "nnz": result.nnz,
            "counts": result.counts,
        }
        self.note(bench, result, **shape, **codes)

    def note(self, bench: str, result: Result, **facts: Any) -> None:
        """Keep the time of one contender and other facts about its run."""
        record = {
            "bench": bench,
            "contender": result.name,
            "dtype": result.dtype,
            "threads": result.threads,
            "T": result.n_samples,
            "seconds": result.seconds,
        }
        self._keep(self.measurements, record | facts)

    def compare(
        self,
        workload: str,
        rival: str,
        ours: str,
        ratio: float | None,
        target: float | None = None,
        **facts: Any,
    ) -> None:
        """Keep a ratio of times, above 1 if we are faster, and whether it reaches its target."""
        met = None if target is None else ratio is not None and ratio >= target
        self._compare(workload, rival, ours, ratio, target, met, facts)

    def limit(self, workload: str, unit: str, ours: str, ratio: float, target: float) -> None:
        """Keep our cost in units of another, and whether it is at most its target."""
        self._compare(workload, unit, ours, ratio, target, ratio <= target, {"at_most": True})

    def _compare(
        self,
        workload: str,
        rival: str,
        ours: str,
        ratio: float | None,
        target: float | None,
        met: bool | None,
        facts: Record,
    ) -> None:
        record = {
            "workload": workload,
            "rival": rival,
            "ours": ours,
            "ratio": ratio,
            "target": target,
            "met": met,
        }
        self._keep(self.comparisons, record | facts)

    def grow(
        self,
        what: str,
        variable: str,
        values: list[float],
        costs: list[float],
        unit: str = "us_per_sample",
        **facts: Any,
    ) -> None:
        """Keep how a cost changes with one variable, and the exponent of the best power law."""
        exponent = float(np.polyfit(np.log(values), np.log(costs), 1)[0])
        record = {"growth": what, "variable": variable, "values": values}
        self._keep(self.growth, record | {unit: costs, "exponent": exponent} | facts)

    def remember(self, workload: str, data_mb: float, extra_mb: float) -> None:
        """Keep the memory a call needed beyond its input."""
        self._keep(self.memory, {"memory": workload, "data_mb": data_mb, "extra_mb": extra_mb})


def _name(record: Record) -> list[Any]:
    """Return what a record is about, without what was found."""
    return [record[key] for key in NAMING if key in record]


def progress(text: str) -> None:
    """Tell whoever waits what is being measured; standard output is for the records."""
    print(text, file=sys.stderr, flush=True)
