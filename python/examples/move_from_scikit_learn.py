"""
Move from scikit-learn
======================

The estimators here are scikit-learn estimators: they work in pipelines, grid searches and data frames. Two
things change. The penalty `lam` stands in ‖x − aD‖² + λ‖a‖₁ without ½, so it is **twice** the `alpha` of
scikit-learn; and codes are sparse arrays.
"""

from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn import decomposition
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsemble

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"
SIDE, ALPHA = 8, 0.1

image = np.asarray(Image.open(PHOTOGRAPHS / "astronaut.png").convert("L")) / 255
X = sparsemble.extract_patches(image, SIDE)
X -= X.mean(axis=1, keepdims=True)
X = X[X.std(axis=1) > 0.05]
X = X[np.random.default_rng(0).permutation(len(X))]
X /= np.sqrt((X**2).sum(axis=1, keepdims=True))
dictionary, X = X[:256], X[256:1756]

# %%
# Codes
# -----
#
# The same codes, for `lam = 2 * alpha`. scikit-learn codes only a few of the samples here, as it takes
# long.

few = X[:200]
start = perf_counter()
theirs = decomposition.sparse_encode(few, dictionary, algorithm="lasso_lars", alpha=ALPHA)
seconds_theirs = perf_counter() - start

start = perf_counter()
ours = sparsemble.sparse_encode(few, dictionary, lam=2 * ALPHA, n_threads=1)
seconds_ours = perf_counter() - start

print(f"largest difference of two coefficients: {np.abs(ours - theirs).max():.1e}")
print(f"scikit-learn {seconds_theirs:.3f} s, sparsemble {seconds_ours:.4f} s on one thread")

# %%
# A dictionary
# ------------
#
# Learned by both from the same samples, for the same objective. Both go once over all of them.

start = perf_counter()
scikit = decomposition.MiniBatchDictionaryLearning(
    64, alpha=ALPHA, batch_size=512, max_iter=1, random_state=0
).fit(X)
seconds_theirs = perf_counter() - start

start = perf_counter()
learner = sparsemble.MiniBatchDictionaryLearning(64, lam=2 * ALPHA, random_state=0, n_threads=1).fit(X)
seconds_ours = perf_counter() - start


def objective(atoms: np.ndarray) -> float:
    """Return the mean of ‖x − aD‖² + λ‖a‖₁, with the best codes there are."""
    codes = sparsemble.sparse_encode(X, atoms, lam=2 * ALPHA, n_threads=2)
    return (((X - codes @ atoms) ** 2).sum() + 2 * ALPHA * abs(codes).sum()) / len(X)


figure, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
for axis, name, seconds, atoms in (
    (axes[0], "scikit-learn", seconds_theirs, scikit.components_),
    (axes[1], "sparsemble", seconds_ours, learner.components_),
):
    tiles = np.pad(atoms.reshape(8, 8, SIDE, SIDE), [(0, 0), (0, 0), (1, 1), (1, 1)])
    mosaic = tiles.transpose(0, 2, 1, 3).reshape(8 * (SIDE + 2), -1)
    axis.imshow(mosaic, cmap="gray", vmin=-0.4, vmax=0.4)
    axis.set_title(f"{name}: {seconds:.2f} s, objective {objective(atoms):.4f}")
    axis.set_axis_off()
plt.show()

# %%
# A pipeline
# ----------
#
# Codes are sparse arrays, which most estimators of scikit-learn take as they are. `sparse_output=False`
# gives dense ones, for data frames and for those that do not.

pipeline = make_pipeline(StandardScaler(), sparsemble.SparseCoder(dictionary, lam=2.0))
codes = pipeline.fit_transform(X[:100])
print(type(codes).__name__, codes.shape, f"{codes.nnz / codes.shape[0]:.1f} atoms a sample")
