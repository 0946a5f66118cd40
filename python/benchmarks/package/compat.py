"""Every function of `sparsemble.compat.spams` against the one of SPAMS whose name and arguments it has."""

from typing import Any

import numpy as np
import spams
from shared.records import Records

import sparsemble.compat.spams as shim
from package.rivals import unheard
from package.runs import LAM, MANY_TURNS, Match, Settings, photograph, play, problem

N_NONZERO = 5
MISSING = 0.3
FEW = 10
"""Weights for each signal and archetypes are slow for everyone: this many times fewer signals."""


def run(settings: Settings, records: Records) -> None:
    """Call both with the same arguments."""
    data = problem(settings)
    X, D = np.asfortranarray(data.X.T), np.asfortranarray(data.D.T)
    for call, (arguments, options) in _calls(X, D, settings).items():
        function = call.split(",")[0]
        match = Match(
            f"compat.spams.{call}, {' × '.join(map(str, arguments[0].shape))}",
            unheard(_call(shim, function, arguments, options)),
            {"SPAMS": unheard(_call(spams, function, arguments, options))},
            turns=MANY_TURNS if function == "im2col_sliding" else 1,
        )
        play("spams", match, settings, records)


def _calls(
    X: np.ndarray, D: np.ndarray, settings: Settings
) -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """Return the arguments of every function, by its name and what is asked of it."""
    rng = np.random.default_rng(0)
    few = np.asfortranarray(X[:, : max(X.shape[1] // FEW, 1)])
    seen = np.asfortranarray(rng.random(X.shape) > MISSING)
    prices = np.asfortranarray(rng.uniform(0.5, 1.5, (D.shape[1], few.shape[1])))
    archetypes = np.asfortranarray(np.abs(X[:, -20:]))
    picture = np.asfortranarray(photograph(settings.side), dtype=np.float64)
    colours = np.asfortranarray(rng.random((3, X.shape[1])))
    penalty: dict[str, Any] = {"lambda1": LAM / 2, "mode": 2, "numThreads": 1}
    greedy: dict[str, Any] = {"L": N_NONZERO, "eps": 1e-8, "numThreads": 1}
    learning: dict[str, Any] = {"K": 100, "lambda1": LAM / 2, "iter": 20, "batchsize": 512, "numThreads": 1}
    stains = learning | {
        "K": 2,
        "lambda1": 0.1,
        "iter": 100,
        "posAlpha": True,
        "posD": True,
        "verbose": False,
    }
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
        "trainDL, two stains": ((colours,), stains),
        "trainDL_Memory": ((X,), learning),
        "decompSimplex": ((np.asfortranarray(np.abs(few)), archetypes), {"numThreads": 1}),
        "im2col_sliding": ((picture, 8, 8), {}),
    }


def _call(module: Any, function: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return lambda: getattr(module, function)(*arguments, **options)
