"""Every function of `sparsemble.compat.spams` against the one of SPAMS whose name and arguments it has."""

from typing import Any

import numpy as np
import spams
from shared.records import Records

import sparsemble.compat.spams as shim
from package.rivals import unheard
from package.runs import LAM, MANY_TURNS, Judge, Match, Settings, photograph, play, problem

Calls = dict[str, tuple[tuple[Any, ...], dict[str, Any]]]
"""The arguments of functions, by their name and what is asked of them."""

N_NONZERO = 5
MISSING = 0.3
FEW = 10
"""Weights for each signal and archetypes are slow for everyone: this many times fewer signals."""
STAINS = np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11]])
"""The colours of haematoxylin and eosin, as optical densities of red, green and blue."""


def run(settings: Settings, records: Records) -> None:
    """Call both with the same arguments."""
    data = problem(settings)
    X, D = np.asfortranarray(data.X.T), np.asfortranarray(data.D.T)
    for call, (arguments, options) in (_calls(X, D, settings) | _few_atoms(X.shape[1])).items():
        function = call.split(",")[0]
        match = Match(
            f"compat.spams.{call}, {' × '.join(map(str, arguments[0].shape))}",
            unheard(_call(shim, function, arguments, options)),
            {"SPAMS": unheard(_call(spams, function, arguments, options))},
            _judge(function, arguments, options),
            same_minimum=function == "lasso",
            turns=MANY_TURNS if function == "im2col_sliding" else 1,
        )
        play("spams", match, settings, records)


def _calls(X: np.ndarray, D: np.ndarray, settings: Settings) -> Calls:
    """Return the arguments of every function, by its name and what is asked of it."""
    rng = np.random.default_rng(0)
    few = np.asfortranarray(X[:, : max(X.shape[1] // FEW, 1)])
    seen = np.asfortranarray(rng.random(X.shape) > MISSING)
    prices = np.asfortranarray(rng.uniform(0.5, 1.5, (D.shape[1], few.shape[1])))
    archetypes = np.asfortranarray(np.abs(X[:, -20:]))
    picture = np.asfortranarray(photograph(settings.side), dtype=np.float64)
    penalty: dict[str, Any] = {"lambda1": LAM / 2, "mode": 2, "numThreads": 1}
    greedy: dict[str, Any] = {"L": N_NONZERO, "eps": 1e-8, "numThreads": 1}
    learning: dict[str, Any] = {"K": 100, "lambda1": LAM / 2, "iter": 20, "batchsize": 512, "numThreads": 1}
    return {
        "lasso": ((X, D), penalty),
        "lasso, mode 0": ((X, D), penalty | {"lambda1": 1.0, "mode": 0}),
        "lasso, mode 1": ((X, D), penalty | {"lambda1": 0.2, "mode": 1}),
        "lasso, lambda2": ((X, D), penalty | {"lambda2": 0.05}),
        "lasso, pos": ((X, D), penalty | {"pos": True}),
        "lasso, path": ((X, D), penalty | {"return_reg_path": True}),
        "lassoMask": ((X, D, seen), penalty),
        "lassoMask, mode 0": ((X, D, seen), penalty | {"lambda1": 1.0, "mode": 0}),
        "lassoMask, mode 1": ((X, D, seen), penalty | {"lambda1": 0.2, "mode": 1}),
        "lassoWeighted": ((few, D, prices), penalty),
        "lassoWeighted, mode 1": ((few, D, prices), penalty | {"lambda1": 0.2, "mode": 1}),
        "omp": ((X, D), greedy),
        "omp, lambda1": ((X, D), {"lambda1": 0.02, "numThreads": 1}),
        "ompMask": ((X, D, seen), greedy),
        "trainDL": ((X,), learning | {"verbose": False}),
        "trainDL_Memory": ((X,), learning),
        "decompSimplex": ((np.asfortranarray(np.abs(few)), archetypes), {"numThreads": 1}),
        "im2col_sliding": ((picture, 8, 8), {}),
    }


def _few_atoms(n_signals: int) -> Calls:
    """Return calls with few atoms of three features: the stains of a slide, and noise."""
    rng = np.random.default_rng(0)
    slide, noise = _slide(n_signals), np.asfortranarray(rng.random((3, n_signals)))
    coding: dict[str, Any] = {"lambda1": 0.1, "mode": 2, "numThreads": 1}
    positive = {"posAlpha": True, "posD": True}
    learning = coding | positive | {"iter": 100, "batchsize": 512, "verbose": False}
    calls: Calls = {}
    for n_atoms in (2, 5, 10, 32):
        stains = rng.random((3, n_atoms)) + 0.05
        stains = np.asfortranarray(stains / np.sqrt((stains**2).sum(axis=0)))
        calls |= {
            f"lasso, {n_atoms} stains": ((slide, stains), coding),
            f"lasso, {n_atoms} stains, pos": ((slide, stains), coding | {"pos": True}),
            f"trainDL, {n_atoms} stains": ((slide,), learning | {"K": n_atoms}),
            f"trainDL, {n_atoms} stains of noise": ((noise,), learning | {"K": n_atoms}),
        }
    return calls


def _slide(n_pixels: int) -> np.ndarray:
    """Return optical densities of pixels that hold two stains, some of them only one or none, and noise."""
    rng = np.random.default_rng(1)
    amounts = rng.gamma(1.0, 0.6, (n_pixels, 2)) * (rng.random((n_pixels, 2)) > 0.3)
    pixels = amounts @ (STAINS / np.sqrt((STAINS**2).sum(axis=1, keepdims=True)))
    return np.asfortranarray((pixels + 0.02 * rng.standard_normal(pixels.shape)).clip(0).T)


def _judge(function: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Judge | None:
    """Return the mean objective of the signals, by codes or by a dictionary, where there is one to both."""
    if function not in ("lasso", "trainDL") or options.get("mode", 2) != 2 or "return_reg_path" in options:
        return None
    X, lam, ridge = arguments[0], options["lambda1"], options.get("lambda2", 0.0)

    def objective(D: np.ndarray, A: Any) -> float:
        error = ((X - D @ A.toarray()) ** 2).sum()
        return float((error / 2 + lam * np.abs(A.data).sum() + ridge / 2 * (A.data**2).sum()) / X.shape[1])

    if function == "lasso":
        return lambda codes: objective(arguments[1], codes)
    pos = options.get("posAlpha", False)
    return lambda D: objective(D, shim.lasso(X, D, lambda1=lam, pos=pos, numThreads=1))


def _call(module: Any, function: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return lambda: getattr(module, function)(*arguments, **options)
