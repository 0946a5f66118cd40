"""Writes reference pictures in other sizes, by Pillow, and reference similarities, by scikit-image.

Run from anywhere, with Pillow and scikit-image installed:

    python python/golden/make_image_goldens.py

The files go to crates/sparsemble/tests/it/golden/, where `golden_image.rs` reads them. Pillow's antialiased
bicubic is MATLAB's but at the border, which it cuts off instead of mirroring: tests compare what is inside.
Whole pictures are compared with MATLAB's rule written down once more here, pixel by pixel.
"""

from pathlib import Path

import numpy as np
import PIL
import skimage
from PIL import Image
from skimage.metrics import structural_similarity

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "crates/sparsemble/tests/it/golden"
WIDTH, HEIGHT = 60, 48


def resized(picture, factor, method):
    """Resize by Pillow in floating point."""
    size = (round(WIDTH * factor), round(HEIGHT * factor))
    return np.asarray(Image.fromarray(picture.astype(np.float32)).resize(size, method))


def mirrored(picture, scale):
    """Resize bicubically by MATLAB's rule: wider by 1 / scale when smaller, mirrored at the border."""
    for _ in range(2):
        picture = np.array([mirrored_line(line, scale) for line in picture]).T
    return picture


def mirrored_line(line, scale):
    """Resize a line; every new pixel is a weighted mean of those within reach of its centre."""
    reach = 2 / min(scale, 1)
    new = []
    for i in range(int(np.ceil(len(line) * scale))):
        centre = (i + 0.5) / scale - 0.5
        total = weights = 0.0
        for j in range(int(np.floor(centre - reach)), int(np.ceil(centre + reach)) + 1):
            weight = cubic(abs(centre - j) * min(scale, 1))
            place = j % (2 * len(line))
            total += weight * line[min(place, 2 * len(line) - 1 - place)]
            weights += weight
        new.append(total / weights)
    return new


def cubic(x):
    """Return Keys' kernel with a = -1/2."""
    if x <= 1:
        return 1.5 * x**3 - 2.5 * x**2 + 1
    return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x <= 2 else 0.0


def similarity(a, b):
    """Compare by scikit-image as Wang and others define it."""
    return structural_similarity(
        a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255
    )


def references():
    """Compute all references by name, each with what it is."""
    whole = np.asarray(Image.open(ROOT / "data/cc0/camera.png").convert("L"), dtype=float)
    picture = whole[90 : 90 + HEIGHT, 190 : 190 + WIDTH]
    bicubic, lanczos = Image.Resampling.BICUBIC, Image.Resampling.LANCZOS
    noisy = np.round(picture + 12 * np.random.default_rng(5).standard_normal(picture.shape))
    halved = resized(picture, 1 / 2, bicubic)
    enlarged = np.asarray(Image.fromarray(halved).resize((WIDTH, HEIGHT), bicubic), dtype=float)
    return {
        "picture": (picture, "a picture"),
        "doubled": (resized(picture, 2, bicubic), "twice as large, bicubic"),
        "halved": (halved, "half as large, bicubic"),
        "third": (resized(picture, 1 / 3, bicubic), "a third as large, bicubic"),
        "mirrored_doubled": (mirrored(picture, 2), "twice as large, by MATLAB's rule"),
        "mirrored_halved": (mirrored(picture, 1 / 2), "half as large, by MATLAB's rule"),
        "mirrored_third": (mirrored(picture, 1 / 3), "a third as large, by MATLAB's rule"),
        "lanczos": (resized(picture, 3 / 4, lanczos), "three quarters as large, Lanczos"),
        "noisy": (noisy, "the picture with noise"),
        "enlarged": (enlarged, "the picture halved and doubled"),
        "ssim": (
            np.array([[similarity(picture, noisy), similarity(picture, enlarged)]]),
            "the structural similarity of the picture and these two",
        ),
    }


def main():
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "Made by python/golden/make_image_goldens.py with"
        f" Pillow {PIL.__version__}, scikit-image {skimage.__version__}, NumPy {np.__version__}.",
        "Do not edit; rows are columns in Rust.",
        "",
    ]
    for name, (values, meaning) in references().items():
        file = FOLDER / f"image_{name}.npy"
        np.save(file, np.ascontiguousarray(values, dtype="<f8"))
        lines.append(f"{file.name}: {meaning}, {values.shape[0]} x {values.shape[1]}")
    (FOLDER / "image.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
