"""The protocol of the literature, written anew: brightness, reduction, and what counts of the result."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from skimage.metrics import structural_similarity


@dataclass(frozen=True)
class Case:
    """A picture and its reduction."""

    name: str
    truth: np.ndarray
    small: np.ndarray
    """Not rounded."""
    scale: int

    @classmethod
    def of(cls, path: Path, scale: int) -> "Case":
        """Read a picture, crop it to a multiple of the scale and reduce it."""
        truth = brightness(path)
        height, width = (length // scale * scale for length in truth.shape)
        truth = truth[:height, :width]
        return cls(path.stem, truth, imresize(truth, 1 / scale), scale)

    def judge(self, found: np.ndarray) -> tuple[float, float]:
        """Return PSNR and SSIM of the picture as an 8-bit file has it, without `scale` pixels of border."""
        inner = (slice(self.scale, -self.scale),) * 2
        found, truth = np.clip(np.round(found), 0, 255)[inner], self.truth[inner]
        psnr = 10 * np.log10(255**2 / np.mean((found - truth) ** 2))
        ssim = structural_similarity(
            truth, found, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255
        )
        return float(psnr), float(ssim)


def brightness(path: Path) -> np.ndarray:
    """Return a grey picture, or Y of MATLAB's `rgb2ycbcr`, rounded to whole numbers."""
    picture = Image.open(path)
    if picture.mode == "L":
        return np.asarray(picture, dtype=float)
    red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB"), dtype=float), -1, 0)
    return np.round(16 + (65.481 * red + 128.553 * green + 24.966 * blue) / 255)


def imresize(picture: np.ndarray, scale: float) -> np.ndarray:
    """Return what MATLAB's bicubic `imresize` makes of a picture: antialiased, mirrored at the border."""
    return _weights(picture.shape[0], scale) @ picture @ _weights(picture.shape[1], scale).T


def back_projected(small: np.ndarray, scale: int) -> np.ndarray:
    """Return a picture enlarged by bicubic interpolation and made to fit the small one, in 20 turns (Eq. 16).

    What a turn adds is blurred by the square of a Gaussian over 5 × 5 pixels, as Yang et al. do.
    """
    blur = np.exp(-(np.arange(-2, 3) ** 2))
    blur /= blur.sum()
    large = imresize(small, scale)
    for _ in range(20):
        missing = imresize(small - imresize(large, 1 / scale), scale)
        for axis in (0, 1):
            missing = np.apply_along_axis(np.convolve, axis, missing, blur, mode="same")
        large = large + missing
    return large


def _weights(length: int, scale: float) -> np.ndarray:
    """Return the share of each old pixel, a column, in each new one, a row."""
    new = int(np.ceil(length * scale))
    shrink = min(scale, 1)
    centres = (np.arange(new) + 0.5) / scale - 0.5
    n_taps = int(np.ceil(4 / shrink)) + 2
    taps = np.floor(centres - 2 / shrink).astype(int)[:, None] + np.arange(n_taps)
    shares = _cubic((centres[:, None] - taps) * shrink)
    shares /= shares.sum(axis=1, keepdims=True)
    taps %= 2 * length
    weights = np.zeros((new, length))
    np.add.at(weights, (np.arange(new)[:, None], np.minimum(taps, 2 * length - 1 - taps)), shares)
    return weights


def _cubic(x: np.ndarray) -> np.ndarray:
    x = np.abs(x)
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, near, np.where(x <= 2, far, 0))
