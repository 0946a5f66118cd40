"""How good a guess of the number of clusters is: several rules on the same eigenvalues.

The rule of the program is the first. The others were written down before they were tried here; one replaces
it only if its error is smaller by more than two standard errors over the sources, as for the other defaults.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from shared.contest import Result
from shared.records import Records, progress

from choosers.judge import Difference
from choosers.search import Settings
from choosers.suite import suite
from choosers.trials import part

MOST = 30
"""The most clusters that the program looks for."""


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of a graph, how many of them are 1, and the number of samples and classes."""

    values: np.ndarray
    parts: int
    n_samples: int
    n_classes: int

    def widest(self, power: float = 1.0, most: int = MOST) -> int:
        """Return the number of eigenvalues before the widest gap between their powers."""
        most = min(most, MOST, len(self.values) - 1)
        first = min(self.parts, most)
        powers = np.clip(self.values, 0, 1) ** power
        gaps = (powers[:-1] - powers[1:])[first - 1 : most]
        return first + int(np.argmax(gaps))

    def relative(self) -> int:
        """Return the number before the largest ratio of eigenvalues of the Laplacian, from two on."""
        first = min(max(self.parts, 2), MOST, len(self.values) - 1)
        small = np.maximum(1 - self.values, 1e-6)
        return first + int(np.argmax((small[1:] / small[:-1])[first - 1 : MOST]))

    def effective(self, power: float) -> int:
        """Return the sum of the powers: each eigenvalue counts as much as it is worth."""
        return int(np.clip(round(float((np.clip(self.values, 0, 1) ** power).sum())), 1, MOST))


RULES: dict[str, Callable[[Spectrum], int]] = {
    "the widest gap": lambda one: one.widest(),
    "the widest gap, at most √T": lambda one: one.widest(most=max(1, int(one.n_samples**0.5))),
    "the widest gap of λ²": lambda one: one.widest(power=2.0),
    "the widest gap of λ¹⁰": lambda one: one.widest(power=10.0),
    "the largest ratio of 1 − λ": Spectrum.relative,
    "the sum of λ¹⁰": lambda one: one.effective(10.0),
    "always 8": lambda one: 8,
}


def run(settings: Settings, records: Records) -> None:
    """Try the rules on the sets to choose by, and on samples whose structure is known."""
    draws = range(settings.n_draws)
    real: dict[str, list[Spectrum]] = {}
    for whole in suite()[0]:
        progress(f"the number of clusters of {whole.name}")
        for draw in draws:
            taken = part(whole, draw, settings.n_samples)
            found = _spectrum(whole.samples[taken.rows], whole.n_classes, ["--seed", str(draw)])
            real.setdefault(whole.source, []).append(found)
    _note(records, "guess", real)
    made: dict[str, list[Spectrum]] = {}
    for draw in draws:
        for name, samples, count, options in _made(np.random.default_rng(draw)):
            made.setdefault(name, []).append(_spectrum(samples, count, [*options, "--seed", str(draw)]))
    _note(records, "guess of known structure", made)


def _note(records: Records, bench: str, sources: dict[str, list[Spectrum]]) -> None:
    """Keep how good each rule is on these sources, and by how much better than the first."""
    errors: dict[str, np.ndarray] = {}
    for name, rule in RULES.items():
        pairs = [[(rule(one), one.n_classes) for one in spectra] for spectra in sources.values()]

        def mean(
            judge: Callable[[int, int], float], pairs: list[list[tuple[int, int]]] = pairs
        ) -> np.ndarray:
            return np.array([np.mean([judge(guess, true) for guess, true in source]) for source in pairs])

        errors[name] = mean(lambda guess, true: abs(np.log2(guess / true)))
        less = Difference.of(next(iter(errors.values())) - errors[name])
        records.note(
            bench,
            Result(name, "f64", 1, 0, 0.0),
            sources=len(pairs),
            right=float(mean(lambda guess, true: float(guess == true)).mean()),
            within_one=float(mean(lambda guess, true: float(abs(guess - true) <= 1)).mean()),
            factor=float(2 ** errors[name].mean()),
            less=less.mean,
            less_error=less.error,
            counts=less.counts,
        )


def _spectrum(samples: np.ndarray, n_classes: int, options: list[str]) -> Spectrum:
    """Return the eigenvalues that the program guesses by."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "samples.npy", samples)
        command = [
            os.environ["SPARSEMBLE_PROGRAM"],
            "cluster",
            str(folder / "samples.npy"),
            "-k",
            "auto",
            *options,
        ]
        command += ["--threads", "1", "--json", "--output", str(folder / "labels.csv")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    spectrum = Spectrum(np.array(found["eigenvalues"]), max(1, found["components"]), len(samples), n_classes)
    if spectrum.widest() != found["guesses"][0]:
        raise RuntimeError(f"the program guesses {found['guesses']}, the same rule here {spectrum.widest()}")
    return spectrum


def _made(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray, int, list[str]]]:
    """Yield samples whose clusters are known, and how they are to be compared."""
    as_given = ["--centre", "none", "--scale", "none"]
    for count in (3, 6, 12):
        spans = [rng.standard_normal((60, 3)) @ rng.standard_normal((3, 30)) for _ in range(count)]
        samples = np.concatenate(spans)
        samples += 0.1 * samples.std() * rng.standard_normal(samples.shape)
        yield "subspaces, l1", samples, count, [*as_given, "--method", "l1"]
        middles = 4 * rng.standard_normal((count, 10))
        samples = np.repeat(middles, 60, axis=0) + rng.standard_normal((60 * count, 10))
        yield "blobs", samples, count, []
        sizes = 60 * (1 + np.arange(count))
        angles = 2 * np.pi * np.concatenate([(np.arange(n) + rng.uniform(-0.5, 0.5, n)) / n for n in sizes])
        radii = np.repeat(1.0 + np.arange(count), sizes) + 0.05 * rng.standard_normal(len(angles))
        rings = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
        yield "rings, neighbours", rings, count, [*as_given, "--keep-norm", "--method", "neighbours:count=5"]
        far = np.repeat(100.0 * np.eye(count, 12), 60, axis=0) + rng.standard_normal((60 * count, 12))
        yield "separate parts, neighbours", far, count, ["--keep-norm", "--method", "neighbours"]
