"""How large a run is, and the pictures it is about."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from shared.data import ROOT

RECOVERED = (
    "barbara_512",
    "boat_512",
    "couple_512",
    "fingerprint_512",
    "house_256",
    "lena_512",
    "man_512",
    "peppers_256",
)
"""The pictures of the paper's Table 1, in its order."""
RESTORED = (*(name for name in RECOVERED if name != "fingerprint_512"), "cameraman_256")
"""The pictures that denoising is compared on."""


@dataclass(frozen=True)
class Settings:
    """How much is measured."""

    n_pictures: int
    n_draws: int
    repetitions: int
    side: int | None
    """Only the middle of each picture, this many pixels wide and high; all of it if there is no number."""
    large: int
    """Megapixels of a recovery whose time and memory are told; none if it is zero."""


FULL = Settings(n_pictures=8, n_draws=5, repetitions=3, side=None, large=0)
QUICK = Settings(n_pictures=2, n_draws=1, repetitions=1, side=96, large=0)


def pictures(names: tuple[str, ...], settings: Settings) -> dict[str, np.ndarray]:
    """Return grey pictures by name, black 0 and white 255."""
    folder = Path(os.environ.get("SPARSEMBLE_DATA", ROOT.parent / "shared" / "data")) / "images" / "standard"
    if not folder.is_dir():
        raise SystemExit(f"there are no pictures in {folder}; set SPARSEMBLE_DATA to a folder that has them")
    found = {}
    for name in names[: settings.n_pictures]:
        picture = np.asarray(Image.open(folder / f"{name}.png").convert("L"), dtype=np.float64)
        if settings.side is not None:
            top, left = ((length - settings.side) // 2 for length in picture.shape)
            picture = picture[top : top + settings.side, left : left + settings.side]
        found[name.rpartition("_")[0]] = np.ascontiguousarray(picture)
    return found


def psnr(truth: np.ndarray, found: np.ndarray) -> float:
    """Return the PSNR in dB of a picture as an 8-bit file would hold it."""
    error = np.mean((np.clip(np.round(found), 0, 255) - truth) ** 2)
    return float(10 * np.log10(255**2 / error))
