"""What is chosen: the settings of clustering, and what else each of them could be."""

from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Setting:
    """How samples are clustered; the defaults are those of the program."""

    scale: str = "auto"
    """`none`, `range`, `deviation`, or `auto` for `range` where ranges differ by more than `kinds`."""
    kinds: float = 10.0
    """The largest range over the lower quartile from which on features are of different kinds."""
    sharpness: float = 8.0
    members: int = 30
    samples_per_atom: float = 8.0
    refinements: int = 1
    neighbours: int = 0
    """If not 0, the graph is that of so many nearest samples instead."""
    vectors: float = 2.0
    """Eigenvectors for each cluster."""
    power: float = 10.0

    def difference(self, other: "Setting") -> str:
        """Say what differs from another one."""
        names = [one.name for one in fields(self) if getattr(self, one.name) != getattr(other, one.name)]
        return ", ".join(f"{name}={_text(getattr(self, name))}" for name in names) or "the same"

    def arguments(self, n_clusters: int, range_ratio: float) -> list[str]:
        """Return them as the program takes them, with its own choice of the scale made here."""
        chosen = "range" if range_ratio > self.kinds else "none"
        return [
            *("--clusters", str(n_clusters), "--method", self._graph()),
            *("--scale", chosen if self.scale == "auto" else self.scale),
            *("--vectors", str(max(1, round(self.vectors * n_clusters))), "--power", _text(self.power)),
        ]

    def _graph(self) -> str:
        if self.neighbours:
            return f"neighbours:count={self.neighbours}"
        return (
            f"ensemble:members={self.members},samples_per_atom={_text(self.samples_per_atom)},"
            f"refinements={self.refinements},sharpness={_text(self.sharpness)}"
        )


PRESENT = Setting()
BASELINES = {
    "10 neighbours, same spectral step": Setting(neighbours=10),
    "10 neighbours, Ng, Jordan and Weiss": Setting(neighbours=10, vectors=1.0, power=0.0),
    "examples, cosines and features as they are, Ng, Jordan and Weiss": Setting(
        scale="none", sharpness=1.0, refinements=0, vectors=1.0, power=0.0
    ),
}
WAYS: dict[str, tuple[Any, ...]] = {
    "sharpness": (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0),
    "members": (10, 20, 30, 60),
    "samples_per_atom": (2.0, 4.0, 8.0, 16.0, 32.0),
    "refinements": (0, 1, 2),
    "vectors": (1.0, 1.5, 2.0, 3.0),
    "power": (0.0, 1.0, 5.0, 10.0, 20.0),
    "scale": ("auto", "none", "range", "deviation"),
    "kinds": (3.0, 10.0, 30.0, 100.0),
}
"""What each could be. The most atoms, 2048, bound the cost and matter to none of these sets."""


def others(setting: Setting, way: str) -> list[Setting]:
    """Return the settings that differ from one in this way alone."""
    values = [value for value in WAYS[way] if value != getattr(setting, way)]
    return [replace(setting, **{way: value}) for value in values]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
