"""
Stain normalisation, as histology tools do it
=============================================

Slides of tissue are stained with haematoxylin and eosin, and each laboratory gets other colours. Vahadane's
method finds the two colours of a slide by sparse, non-negative dictionary learning, and paints its stains in
the colours of another slide. The tools that do so call SPAMS; here the same lines run with
`sparsemble.compat.spams` in its place. With SPAMS installed, ``SPAMS=spams python stain_normalisation.py``
runs them with SPAMS.
"""

import importlib
import os
import time

import matplotlib.pyplot as plt
import numpy as np

spams = importlib.import_module(os.environ.get("SPAMS", "sparsemble.compat.spams"))

# %%
# Two slides whose stains are known: nuclei in haematoxylin on tissue in eosin, and a hole in the tissue.
# Light falls off exponentially with the amount of stain, so optical densities add up.


def slide(colours: np.ndarray, strength: tuple[float, float], seed: int, side: int = 160) -> np.ndarray:
    """Return a picture of stains that take these optical densities out of red, green and blue."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:side, :side]
    nuclei = np.zeros((side, side))
    for row, column, size in zip(*rng.uniform(0, side, (2, 60)), rng.uniform(4, 8, 60), strict=True):
        nuclei = np.maximum(nuclei, np.exp(-((((rows - row) ** 2 + (columns - column) ** 2) / size**2) ** 2)))
    waves = np.sin(rows / 9 + 3 * np.sin(columns / 23 + seed)) + np.sin(columns / 7 + seed)
    tissue = (0.55 + 0.2 * waves) * (1 - 0.8 * nuclei)
    hole = (rows - side / 2) ** 2 + (columns - side / 5) ** 2 < (side / 8) ** 2
    stains = (
        np.stack([strength[0] * nuclei, strength[1] * np.clip(tissue, 0, None)], axis=-1) * ~hole[..., None]
    )
    light = 255 * np.exp(-stains @ colours) + rng.normal(0, 2, (side, side, 3))
    return np.clip(light, 1, 255).round().astype(np.uint8)


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of unit norm."""
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


OURS = unit(np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11]]))
THEIRS = unit(np.array([[0.55, 0.76, 0.35], [0.30, 0.90, 0.31]]))
source = slide(THEIRS, (1.1, 0.7), seed=3)
target = slide(OURS, (1.6, 1.0), seed=7)

# %%
# The method itself, written as histology tools write it: the stains of a slide are the dictionary of its
# optical densities, the amounts of stain the codes of its pixels.


def optical_density(picture: np.ndarray) -> np.ndarray:
    """Return -log of the light that is left, one pixel a row."""
    return np.maximum(-np.log(np.maximum(picture, 1) / 255), 1e-6).reshape(-1, 3)


def stain_matrix(picture: np.ndarray) -> np.ndarray:
    """Return the colours of haematoxylin and eosin, one a row."""
    density = optical_density(picture)
    density = density[density.sum(axis=1) > 0.3]  # tissue, not glass
    dictionary = spams.trainDL(
        np.asfortranarray(density.T),
        K=2,
        lambda1=0.1,
        mode=2,
        modeD=0,
        posAlpha=True,
        posD=True,
        verbose=False,
    ).T
    # Haematoxylin takes more of the red light.
    return unit(dictionary[np.argsort(-dictionary[:, 0])])


def concentrations(picture: np.ndarray, stains: np.ndarray) -> np.ndarray:
    """Return how much of each stain there is, one pixel a row."""
    density = np.asfortranarray(optical_density(picture).T)
    return spams.lasso(X=density, D=np.asfortranarray(stains.T), mode=2, lambda1=0.01, pos=True).toarray().T


def normalised(picture: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return the picture in the colours, and with the strength, of another."""
    own, wanted = stain_matrix(picture), stain_matrix(like)
    amounts, their_amounts = concentrations(picture, own), concentrations(like, wanted)
    amounts *= np.percentile(their_amounts, 99, axis=0) / np.percentile(amounts, 99, axis=0)
    return (255 * np.exp(-amounts @ wanted)).reshape(picture.shape).clip(0, 255).astype(np.uint8)


began = time.perf_counter()
result = normalised(source, target)
took = time.perf_counter() - began

# %%
# The stains that were found, beside those the slides were painted with.

print(f"{spams.__name__}: {took:.2f} s")
for name, picture, truth in (("source", source, THEIRS), ("target", target, OURS)):
    found = stain_matrix(picture)
    angles = np.degrees(np.arccos(np.clip((found * truth).sum(axis=1), -1, 1)))
    print(f"{name}: haematoxylin is {angles[0]:.1f}° off, eosin {angles[1]:.1f}°")

# %%
# The source in the colours of the target, and where its nuclei are.

amounts = concentrations(source, stain_matrix(source))
pictures = {
    "source": source,
    "target": target,
    "source, normalised": result,
    "its haematoxylin": amounts[:, 0].reshape(source.shape[:2]),
}
figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axis, (title, shown) in zip(axes, pictures.items(), strict=True):
    axis.imshow(shown, cmap="Purples")
    axis.set_title(title, fontsize=9)
    axis.set_axis_off()
plt.show()
