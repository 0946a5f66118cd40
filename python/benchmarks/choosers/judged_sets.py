"""The six sets of Table 3, and the accuracy that issue 6 asks for on each."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from shared.data import ROOT

from choosers.suite import LabelledSet


@dataclass(frozen=True)
class Judged:
    """A set of Table 3."""

    name: str
    table: str
    """The file of the folder `clustering` that holds it."""
    bar: float
    """The average accuracy that is asked for, in per cent."""


JUDGED = (
    Judged("Digits", "digits_pendigits10992", 87.0),
    Judged("Soybean", "soybean562", 63.0),
    Judged("Segment", "segment2310", 70.0),
    Judged("Satimage", "satimage6435", 75.3),
    Judged("USPS", "usps9298", 80.0),
    Judged("Optdigits", "digits_optdigits5620", 94.0),
)
BARS = {one.name: one.bar for one in JUDGED}


@cache
def judged_sets(most: int) -> list[LabelledSet]:
    """Return the smallest of the sets, at full size and in the order of Table 3."""
    found = [_read(one) for one in JUDGED]
    taken = sorted(found, key=lambda one: len(one.samples))[:most]
    return [one for one in found if any(one is other for other in taken)]


def _read(judged: Judged) -> LabelledSet:
    """Read a set in single precision, as the experiment of Table 3 does."""
    folder = Path(os.environ.get("SPARSEMBLE_DATA", ROOT.parent / "shared" / "data")) / "clustering"
    table = folder / f"{judged.table}.csv"
    if not table.is_file():
        raise SystemExit(f"there is no {table}; set SPARSEMBLE_DATA to a folder that has it")
    values = np.loadtxt(table, delimiter=",", skiprows=1, dtype=np.float32)
    samples, classes = np.ascontiguousarray(values[:, :-1]), values[:, -1].astype(int)
    return LabelledSet(judged.name, judged.name, samples, classes, float("nan"))
