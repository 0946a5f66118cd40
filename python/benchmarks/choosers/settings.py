"""What is chosen: the settings of clustering, and what each of them could be."""

from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Setting:
    """How samples are clustered; a setting of which nothing is said is plain: the paper's BoostKM."""

    graph: str = "boost-km"
    """By the program's name: codes stacked, by centres (`boost-km`) or examples (`ensemble`), or others."""
    signed: bool = True
    """Whether samples on the other side of an atom may be coded by it."""
    scale: str | float = "none"
    """`none`, `range`, `deviation`, or a number: `range` where ranges differ by more than that."""
    members: int = 30
    samples_per_atom: float = 8.0
    refinements: int = 0
    sharpness: float = 1.0
    vectors: float = 1.0
    """Eigenvectors for each cluster."""
    power: float = 0.0

    def difference(self, other: "Setting") -> str:
        """Say what differs from another one."""
        names = [one.name for one in fields(self) if getattr(self, one.name) != getattr(other, one.name)]
        return ", ".join(f"{name}={text(getattr(self, name))}" for name in names) or "the same"

    def arguments(self, n_clusters: int, range_ratio: float) -> list[str]:
        """Return them as the program takes them, with its own choice of the scale made here."""
        return [
            *("--clusters", str(n_clusters), "--method", self.method),
            *("--scale", self.scale_of(range_ratio)),
            *("--vectors", str(count(self.vectors, n_clusters)), "--power", text(self.power)),
        ]

    def scale_of(self, range_ratio: float) -> str:
        """Return what features are divided by whose ranges differ by so much."""
        if isinstance(self.scale, str):
            return self.scale
        return "range" if range_ratio > self.scale else "none"

    @property
    def method(self) -> str:
        """The graph as the program takes it."""
        if self.graph == "neighbours":
            return "neighbours:count=10"
        graph = f"{self.graph}:members={self.members},samples_per_atom={text(self.samples_per_atom)}"
        if self.graph in WAYS["graph"]:
            graph += f",refinements={self.refinements},sharpness={text(self.sharpness)}"
        if self.graph == "ensemble":
            return graph + (",signed" if self.signed else "")
        return graph + ("" if self.signed else ",nonnegative")


PLAIN = Setting()
DEFAULT = Setting("ensemble", False, 10.0, 30, 8.0, 1, 8.0, 2.0, 10.0)
"""The default of clustering, found with labels of sets that it is judged by."""
WAYS: dict[str, tuple[Any, ...]] = {
    "graph": ("ensemble", "boost-km"),
    "signed": (False, True),
    "scale": ("none", "range", "deviation", 3.0, 10.0, 30.0, 100.0),
    "members": (10, 20, 30, 60),
    "samples_per_atom": (32.0, 16.0, 8.0, 4.0, 2.0),
    "refinements": (0, 1, 2),
    "sharpness": (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0),
    "vectors": (1.0, 1.5, 2.0, 3.0),
    "power": (0.0, 1.0, 5.0, 10.0, 20.0),
}
"""What each could be, in the order in which they are searched, the cheapest first. The most atoms, 2048,
bound the cost and matter to none of these sets."""
FREE = ("scale", "sharpness", "power")
"""The ways whose values all cost the same."""


def along(setting: Setting, way: str) -> list[Setting]:
    """Return what a setting could be in this way alone, itself included."""
    return [replace(setting, **{way: value}) for value in WAYS[way]]


def count(vectors: float, n_clusters: int) -> int:
    """Return how many eigenvectors these are in all."""
    return max(1, round(vectors * n_clusters))


def text(value: Any) -> str:
    """Return a value as the program and the page have it."""
    return f"{value:g}" if isinstance(value, float) else str(value)
