"""
Compare ensembles of dictionaries
=================================

An ensemble approximates a patch by many weak dictionaries, whose approximations it averages by weights.
Weak dictionaries are cheap: they are patches drawn at random, or cluster centres. Here the three ensembles
of the paper are compared with one dictionary that was learned with care, on patches of a photograph that
none of them has seen: once whole patches, once patches of which only a quarter of the numbers was measured.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import sparsemble

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"
SIDE = 8

# %%
# Patches of 8 × 8 pixels with their mean removed, at intensities from 0 to 1.


def patches(name: str, count: int) -> np.ndarray:
    """Return patches with some detail from random places of a photograph."""
    image = np.asarray(Image.open(PHOTOGRAPHS / name).convert("L"), dtype=np.float32) / 255
    found = sparsemble.extract_patches(image, SIDE)
    found = found - found.mean(axis=1, keepdims=True)
    detailed = found[found.std(axis=1) > 0.03]
    return detailed[np.random.default_rng(0).permutation(len(detailed))[:count]]


train = np.concatenate([patches(name, 1000) for name in ("camera.png", "astronaut.png", "coffee.png")])
test = patches("chelsea.png", 500)

# %%
# Fifteen dictionaries of 64 atoms each, and one learned dictionary of 64 atoms.

settings = {"lam": 0.04, "coder_tol": 1e-4, "random_state": 0, "n_threads": 2}
ensembles = {
    name: sparsemble.EnsembleSparseCoder(64, n_estimators=15, method=method, **settings).fit(train)
    for name, method in {"RandExAv": "rand-ex-av", "BoostEx": "boost-ex", "BoostKM": "boost-km"}.items()
}
learned = sparsemble.DictionaryLearning(64, tol=1e-2, **settings).fit(train)

# %%
# `degraded_by` gives the same models for measurements: Φ takes 16 random sums of the 64 pixels of a patch.
# The error is always that of the whole patch, against the number of models that take part.

PHI = "orthonormal:measurements=16,seed=1"
measured = sparsemble.Operator(PHI, SIDE * SIDE, dtype=np.float32).apply(test)
views = {
    "whole patches": (test, lambda model: model),
    "a quarter of their numbers": (measured, lambda model: model.degraded_by(PHI)),
}


def first(ensemble: sparsemble.EnsembleSparseCoder, count: int) -> sparsemble.EnsembleSparseCoder:
    """Return the ensemble of the first members alone, their weights scaled to sum to 1."""
    beta = np.where(np.arange(len(ensemble.beta_)) < count, ensemble.beta_, 0)
    return ensemble.with_beta(beta / beta.sum())


figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for axis, (title, (samples, seen)) in zip(axes, views.items(), strict=True):
    counts = (1, 2, 4, 8, 15)
    for name, ensemble in ensembles.items():
        models = [seen(first(ensemble, count)) for count in counts]
        errors = [((model.approximate(samples) - test) ** 2).sum(axis=1).mean() for model in models]
        axis.plot(counts, errors, marker="o", label=name)
    error = ((seen(learned).approximate(samples) - test) ** 2).sum(axis=1).mean()
    axis.axhline(error, color="gray", linestyle="--", label="one learned dictionary")
    axis.set_title(title)
    axis.set_xlabel("models in the ensemble")
    axis.set_xticks(counts)
    axis.set_ylim(0)
    axis.grid(alpha=0.3)
axes[0].set_ylabel("mean squared error of a patch")
axes[1].legend()
plt.show()

# %%
# Whole patches are best served by a dictionary that was made for them. Where much is missing, the many
# dictionaries of an ensemble make different mistakes, which their average evens out.
