"""
Move from SPAMS
===============

``import sparsemble.compat.spams as spams`` runs code that was written for SPAMS: the same names, the same
arguments and the same layout, with samples and atoms as **columns**. Change that line first; the functions
of `sparsemble` itself, with samples as rows, can come later or never.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import sparsemble
import sparsemble.compat.spams as spams

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"

# %%
# Code for SPAMS, as it is found in its users' programs: patches as columns, a dictionary by `trainDL`,
# codes by `lasso` and `omp`. Only the import is new.

image = np.asarray(Image.open(PHOTOGRAPHS / "coffee.png").convert("L")) / 255
X = spams.im2col_sliding(np.asfortranarray(image[:200, :300]), 8, 8)
X = np.asfortranarray(X - X.mean(axis=0))
X = np.asfortranarray(X[:, X.std(axis=0) > 0.02])

D = spams.trainDL(X, K=100, lambda1=0.1, iter=20, batchsize=512, numThreads=2)
A = spams.lasso(X, D=D, lambda1=0.1, mode=2, numThreads=2)
print(f"{D.shape=}, {A.shape=}, {A.nnz / A.shape[1]:.1f} atoms a patch")

B = spams.omp(X, D=D, L=5, numThreads=2)
for name, codes in {"lasso": A, "omp": B}.items():
    print(f"squared error of a patch, {name}: {((X - D @ codes) ** 2).sum(axis=0).mean():.3f}")

# %%
# The same in the words of this package. Samples are rows, and λ is without the ½ that SPAMS has in mode 2:
# twice its `lambda1`.

codes = sparsemble.sparse_encode(X.T, D.T, lam=0.2, n_threads=2)
print(f"largest difference of two coefficients: {np.abs(codes.T - A).max():.1e}")

# %%
# The atoms, and a patch as a sum of a few of them.

sample = int(np.argmax(X.std(axis=0)))
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", width_ratios=(1.4, 1))
tiles = np.pad(D.T.reshape(10, 10, 8, 8), [(0, 0), (0, 0), (1, 1), (1, 1)])
axes[0].imshow(tiles.transpose(0, 2, 1, 3).reshape(100, 100), cmap="gray", vmin=-0.4, vmax=0.4)
axes[0].set_title("atoms by trainDL")
pair = np.hstack([X[:, sample].reshape(8, 8), np.full((8, 1), np.nan), (D @ A[:, [sample]]).reshape(8, 8)])
axes[1].imshow(pair, cmap="gray")
axes[1].set_title(f"a patch, and its code of {A[:, [sample]].nnz} atoms")
for axis in axes:
    axis.set_axis_off()
plt.show()
