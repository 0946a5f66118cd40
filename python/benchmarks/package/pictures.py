"""Pictures: patches, sizes, and how near two are."""

from functools import partial

import numpy as np
from shared.records import Records
from skimage import metrics, transform
from sklearn.feature_extraction import image as patches

import sparsemble
from package.runs import MANY_TURNS, SIDE, Match, Settings, noisy, photograph, play


def run(settings: Settings, records: Records) -> None:
    """Do the same to the same pictures."""
    clean, other = photograph(settings.side), noisy(settings.side)
    for match in (*_patches(clean), *_nearness(clean, other), *_sizes(clean)):
        play("pictures", match, settings, records)


def _patches(clean: np.ndarray) -> list[Match]:
    picture = clean.astype(np.float64)
    size = f"{len(clean)} × {len(clean)}"
    found = sparsemble.extract_patches(picture, SIDE)
    squares = found.reshape(-1, SIDE, SIDE)
    return [
        Match(
            f"extract_patches {size}, {SIDE} × {SIDE}",
            lambda: sparsemble.extract_patches(picture, SIDE),
            {"scikit-learn": lambda: patches.extract_patches_2d(picture, (SIDE, SIDE))},
            turns=MANY_TURNS,
        ),
        Match(
            f"assemble_patches {size}, {SIDE} × {SIDE}",
            lambda: sparsemble.assemble_patches(found, picture.shape),
            {"scikit-learn": lambda: patches.reconstruct_from_patches_2d(squares, picture.shape)},
        ),
    ]


def _nearness(clean: np.ndarray, other: np.ndarray) -> list[Match]:
    size = f"{len(clean)} × {len(clean)}, 8 bits"
    similarity = partial(metrics.structural_similarity, gaussian_weights=True, use_sample_covariance=False)
    return [
        Match(
            f"psnr {size}",
            lambda: sparsemble.psnr(clean, other),
            {"scikit-image": lambda: metrics.peak_signal_noise_ratio(clean, other)},
            float,
        ),
        Match(
            f"ssim {size}",
            lambda: sparsemble.ssim(clean, other, n_threads=1),
            {"scikit-image": lambda: similarity(clean, other, data_range=255)},
            float,
        ),
    ]


def _sizes(clean: np.ndarray) -> list[Match]:
    picture = clean.astype(np.float64)
    matches = []
    for scale in (0.5, 2.0):
        shape = (int(len(clean) * scale),) * 2
        theirs = partial(transform.resize, order=3, anti_aliasing=scale < 1, mode="symmetric")
        matches.append(
            Match(
                f"imresize {len(clean)} × {len(clean)} to {shape[0]} × {shape[1]}",
                lambda shape=shape: sparsemble.imresize(picture, shape, n_threads=1),
                {"scikit-image": lambda shape=shape, theirs=theirs: theirs(picture, shape)},
            )
        )
    return matches
