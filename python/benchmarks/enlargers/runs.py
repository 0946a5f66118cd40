"""How large a run is, the pictures it is about, and models trained by the program."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from shared.data import ROOT

SETS = ("Set5", "Set14")
SHIPPED = {2: ["--atoms", "640"], 3: [], 4: ["--parts", "36"]}
"""How the models of the package were trained, by scale: see crates/sparsemble/models/README.md."""
UNREDUCED = {
    scale: ["--precision", "full", "--directions", "200", "--parts", str(9 * scale**2)] for scale in SHIPPED
}
"""Models that leave no direction out, keep maps in floats and have all atoms; nothing has 200 directions."""
REPEATED = "t65"
"""The training picture that is there twice: t36 is the same file."""


@dataclass(frozen=True)
class Settings:
    """How much is measured."""

    n_pictures: int
    n_training: int
    repetitions: int
    side: int
    """Of the small picture in a race, in pixels."""
    atoms: tuple[int, ...]
    """Dictionary sizes on the curve of size and quality."""
    models: tuple[int, ...]
    """Members of each stage on that curve."""
    n_judges: int
    large: int
    """Megapixels of a picture whose time and memory are told, or 0."""


FULL = Settings(
    n_pictures=14,
    n_training=90,
    repetitions=5,
    side=512,
    atoms=(128, 256, 512, 640, 1024),
    models=(2, 4, 8),
    n_judges=20,
    large=0,
)
QUICK = Settings(
    n_pictures=1, n_training=3, repetitions=1, side=256, atoms=(32, 64), models=(2,), n_judges=2, large=0
)


def folder(*names: str) -> Path:
    """Return a folder of the pictures."""
    found = Path(os.environ.get("SPARSEMBLE_DATA", ROOT.parent / "shared" / "data")).joinpath(
        "images", *names
    )
    if not found.is_dir():
        raise SystemExit(f"there are no pictures in {found}; set SPARSEMBLE_DATA to a folder that has them")
    return found


def test_pictures(name: str, settings: Settings) -> list[Path]:
    """Return the files of a test set."""
    files = sorted(path for path in folder("sr", name).iterdir() if path.suffix in {".bmp", ".png"})
    return files[: settings.n_pictures]


def judges(settings: Settings) -> list[Path]:
    """Return pictures that are neither learned from nor in a test set: the last of the BSDS."""
    return sorted(folder("bsds", "bsds300_test_gray_png").glob("*.png"))[-settings.n_judges :]


def train(scale: int, options: list[str], settings: Settings, output: Path) -> float:
    """Train an upscaler by the program on the 91 images, each of them once.

    Returns the seconds it took, on all cores.
    """
    images = sorted(path for path in folder("train91").glob("*.bmp") if path.stem != REPEATED)
    command = [os.environ["SPARSEMBLE_PROGRAM"], "train", "--method", "upscaler", "--scale", str(scale)]
    command += ["--seed", "1", *options, "-o", str(output), *map(str, images[: settings.n_training])]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start
