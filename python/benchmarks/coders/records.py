"""What a run found: each fact is printed as one line of JSON when it is known, and kept for the report."""

import json
import sys
from dataclasses import dataclass, field
from typing import Any

from coders.contest import Result

Record = dict[str, Any]


@dataclass
class Records:
    """All facts of a run, in the order they were found."""

    measurements: list[Record] = field(default_factory=list)
    comparisons: list[Record] = field(default_factory=list)
    growth: list[Record] = field(default_factory=list)
    memory: list[Record] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Objectives that were worse than a rival's: the run is not valid."""

    def measure(self, bench: str, result: Result, shape: dict[str, int], lam: float | None = None) -> None:
        """Keep the time of one contender and what its codes are worth."""
        record = {
            "bench": bench,
            "contender": result.name,
            "dtype": result.dtype,
            "threads": result.threads,
            **shape,
            "T": result.n_samples,
            "lambda": lam,
            "seconds": result.seconds,
            "us_per_sample": result.us_per_sample,
            "gap_max": result.gap_max,
            "objective": None if result.objective is None else float(result.objective.mean()),
            "nnz": result.nnz,
            "counts": result.counts,
        }
        _keep(self.measurements, record)

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
        record = {
            "workload": workload,
            "rival": rival,
            "ours": ours,
            "ratio": ratio,
            "target": target,
            "met": met,
        }
        _keep(self.comparisons, record | facts)

    def grow(
        self, coder: str, variable: str, values: list[float], us_per_sample: list[float], exponent: float
    ) -> None:
        """Keep how the time per sample changes with one variable."""
        record = {"growth": coder, "variable": variable, "values": values}
        _keep(self.growth, record | {"us_per_sample": us_per_sample, "exponent": exponent})

    def remember(self, workload: str, data_mb: float, extra_mb: float) -> None:
        """Keep the memory a call needed beyond its input."""
        _keep(self.memory, {"memory": workload, "data_mb": data_mb, "extra_mb": extra_mb})


def _keep(records: list[Record], record: Record) -> None:
    records.append(record)
    print(json.dumps(record, ensure_ascii=False), flush=True)


def progress(text: str) -> None:
    """Tell whoever waits what is being measured; standard output is for the records."""
    print(text, file=sys.stderr, flush=True)
