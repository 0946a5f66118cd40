"""Runs of the program on parts of the sets, kept in the build folder so that none is made twice."""

import hashlib
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from shared.data import ROOT

from choosers.settings import Setting
from choosers.suite import LabelledSet

KEPT = ROOT / "target" / "xtask" / "defaults"
SHARE = 0.8
"""Of the samples of a set, but no more than are asked for, each draw has so many: another part for each."""


@dataclass(frozen=True)
class Part:
    """What one draw takes from a set."""

    whole: LabelledSet
    draw: int
    rows: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        """The classes of its samples."""
        return self.whole.classes[self.rows]

    @property
    def range_ratio(self) -> float:
        """The largest range of a feature over the lower quartile of the ranges, as the library defines it."""
        ranges = np.ptp(self.whole.samples[self.rows], axis=0)
        ranges = np.sort(ranges[ranges > 0])
        return float(ranges[-1] / ranges[(len(ranges) - 1) // 4])


def part(whole: LabelledSet, draw: int, most: int) -> Part:
    """Return the part of a set that a draw takes: the same for all settings."""
    rng = np.random.default_rng([draw, *whole.name.encode()])
    count = min(most, int(SHARE * len(whole.samples)))
    return Part(whole, draw, np.sort(rng.permutation(len(whole.samples))[:count]))


def whole_part(whole: LabelledSet, seed: int) -> Part:
    """Return all of a set, to be clustered with this seed."""
    return Part(whole, seed, np.arange(len(whole.samples)))


def labels(parts: list[Part], setting: Setting) -> list[np.ndarray]:
    """Cluster each part, on as many cores as there are."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_labels, setting), parts))


def _labels(setting: Setting, taken: Part) -> np.ndarray:
    arguments = setting.arguments(taken.whole.n_classes, taken.range_ratio)
    arguments += ["--seed", str(taken.draw), "--threads", "1"]
    key = " ".join([build("SPARSEMBLE_PROGRAM"), taken.whole.name, str(len(taken.rows)), *arguments])
    kept = KEPT / f"{hashlib.sha256(key.encode()).hexdigest()}.npy"
    if kept.is_file():
        return np.load(kept)
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KEPT) as name:
        folder = Path(name)
        np.save(folder / "samples.npy", taken.whole.samples[taken.rows])
        command = [os.environ["SPARSEMBLE_PROGRAM"], "cluster", str(folder / "samples.npy"), *arguments]
        done = subprocess.run(
            [*command, "--output", str(folder / "labels.csv")], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed on {taken.whole.name}: {done.stderr.strip()}")
        found = np.loadtxt(folder / "labels.csv", skiprows=1, dtype=np.int32)
        np.save(folder / "labels.npy", found)
        (folder / "labels.npy").replace(kept)
    return found


@cache
def build(variable: str) -> str:
    """Return what tells one build of a program from another; the variable says where it is."""
    return hashlib.sha256(Path(os.environ[variable]).read_bytes()).hexdigest()
