"""Dictionary learning by SPAMS's names."""

import copy
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from sparsemble._run import running
from sparsemble.compat.spams._arguments import (
    L1COEFFS,
    L2ERROR,
    L2ERROR2,
    PENALTY,
    SPARSITY,
    count,
    expect_defaults,
    naming_columns,
    positive,
    refuse,
    rows_of,
    threads,
)
from sparsemble.dictionary import DictionaryLearning, MiniBatchDictionaryLearning

_BATCH = 512
"""SPAMS's `batchsize`, if none is given."""
_PORTION = 64
"""Batches that one call of the compiled module learns from."""
_RIDGE = 1e-9
"""SPAMS's `lambda2` in learning, if none is given: nothing."""
_SETTLED = 1e-5
"""A training by the clock ends early if the mean objective changes by less than this fraction."""


def trainDL(
    X: ArrayLike,
    return_model: bool = False,
    model: dict[str, Any] | None = None,
    D: ArrayLike | None = None,
    numThreads: int = -1,
    batchsize: int = -1,
    K: int = -1,
    lambda1: float | None = None,
    lambda2: float = _RIDGE,
    iter: int = -1,
    t0: float = 1e-5,
    mode: int = PENALTY,
    posAlpha: bool = False,
    posD: bool = False,
    expand: bool = False,
    modeD: int = 0,
    whiten: bool = False,
    clean: bool = True,
    verbose: bool = True,
    gamma1: float = 0.0,
    gamma2: float = 0.0,
    rho: float = 1.0,
    iter_updateD: int | None = None,
    stochastic_deprecated: bool = False,
    modeParam: int = 0,
    batch: bool = False,
    log_deprecated: bool = False,
    logName: str = "",
) -> Any:
    """Learn a dictionary of `K` atoms for the columns of `X`.

    ==== ================================================== ===========================================
    mode each signal is coded by the minimum of             learned is the dictionary of least
    ==== ================================================== ===========================================
    0    ‖x − Da‖² with ‖a‖₁ ≤ λ₁                           mean ‖x − Da‖²
    1    ‖a‖₁ with ‖x − Da‖² ≤ λ₁                           mean ‖x − Da‖²
    2    ½‖x − Da‖² + λ₁‖a‖₁                                mean of that
    3    ‖x − Da‖² with λ₁ atoms at most                    mean ‖x − Da‖²
    4    the number of atoms with ‖x − Da‖² ≤ λ₁            mean ‖x − Da‖²
    ==== ================================================== ===========================================

    The draws are the same in each call, as in SPAMS; they are not SPAMS's.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Signals, one a column.
    return_model : bool, default=False
        Also return what the learner remembers.
    model : dict, optional
        Go on learning with what was remembered.
    D : array-like of shape (m, K), optional
        Atoms to start from. By default these are cluster centres of the signals.
    numThreads : int, default=-1
        Exactly this many threads; -1 is all cores.
    batchsize : int, default=-1
        The signals of an iteration; -1 is 512.
    K : int
        The number of atoms, unless `D` is given.
    lambda1 : float
        λ₁.
    lambda2 : float, default=1e-9
        Larger values are not available.
    iter : int, default=-1
        The iterations, of `batchsize` signals each; with `batch`, of all signals. A negative number is the
        most seconds, before which the training ends if nothing changes any more.
    mode : {0, 1, 2, 3, 4}, default=2
        See above.
    posAlpha : bool, default=False
        Allow only positive coefficients (modes 0, 1 and 2).
    posD : bool, default=False
        Allow no negative entry of an atom.
    modeD : {0}, default=0
        Atoms are bounded by their norm.
    batch : bool, default=False
        Learn from all signals in each iteration.
    verbose : bool, default=True
        Without effect: nothing is printed.
    t0, expand, whiten, clean, gamma1, gamma2, rho, iter_updateD, stochastic_deprecated, modeParam, \
log_deprecated, logName
        Only their defaults are available.

    Returns
    -------
    D : ndarray of shape (m, K)
        The atoms, of unit norm, in Fortran order.
    model : dict
        Only if `return_model`: the number of iterations "iter" and the "learner", a
        `MiniBatchDictionaryLearning`.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> X = np.random.default_rng(0).random((3, 500))
    >>> D = spams.trainDL(X, K=2, lambda1=0.1, iter=20, posAlpha=True, posD=True)
    >>> D.shape, bool((D >= 0).all())
    ((3, 2), True)
    """
    expect_defaults(
        "trainDL",
        t0=(t0, 1e-5, "leave it out: how fast old signals fade is chosen here"),
        expand=(expand, False, "leave it out"),
        whiten=(whiten, False, "whiten the signals before"),
        clean=(clean, True, "leave it out: atoms that nobody uses are always replaced"),
        rho=(rho, 1.0, "leave it out: how fast old signals fade is chosen here"),
        iter_updateD=(iter_updateD, None, "leave it out"),
        stochastic_deprecated=(stochastic_deprecated, False, "leave it out"),
        modeParam=(modeParam, 0, "leave it out"),
        log_deprecated=(log_deprecated, False, "use callback of MiniBatchDictionaryLearning"),
        logName=(logName, "", "use callback of MiniBatchDictionaryLearning"),
        modeD=(modeD, 0, "use atoms that are bounded by their norm alone"),
        gamma1=(gamma1, 0.0, "leave it out: it belongs to another modeD"),
        gamma2=(gamma2, 0.0, "leave it out: it belongs to another modeD"),
    )
    if not 0 <= lambda2 <= _RIDGE:
        refuse("trainDL", "lambda2", lambda2, "learn without a ridge, and code with one by lasso")
    options = _learner_options(mode, lambda1, posAlpha)
    options |= {"positive_dict": bool(posD), "n_threads": threads(numThreads), "random_state": 0}
    samples = rows_of("X", X)
    start = None if D is None else rows_of("D", D)
    if start is not None and start.shape[1] != samples.shape[1]:
        raise ValueError(
            f"D has shape {start.T.shape} and X {samples.T.shape}; signals and atoms are columns, so both "
            "need the same number of rows"
        )
    n_atoms = len(start) if start is not None else count("K", K)
    if n_atoms > len(samples) and start is None and model is None:
        raise ValueError(f"K={K}: there are only {len(samples)} signals to start from; give fewer, or D")
    if batch:
        if model is not None or return_model:
            refuse("trainDL", "model", "with batch=True", "start from the atoms so far: D=D")
        return _learn_at_once(samples, start, n_atoms, count("iter", iter), options)
    learner = MiniBatchDictionaryLearning(n_atoms, dict_init=start, **options)
    if model is not None:
        learner = _continued(model, start)
    size = _BATCH if batchsize == -1 else count("batchsize", batchsize)
    with naming_columns(samples):
        _learn(learner, samples, n_atoms, (size, iter))
    atoms = np.asfortranarray(learner.components_.T)
    return (atoms, {"iter": learner.n_iter_, "learner": learner}) if return_model else atoms


def trainDL_Memory(
    X: ArrayLike,
    D: ArrayLike | None = None,
    numThreads: int = -1,
    batchsize: int = -1,
    K: int = -1,
    lambda1: float | None = None,
    iter: int = -1,
    t0: float = 1e-5,
    mode: int = PENALTY,
    posD: bool = False,
    expand: bool = False,
    modeD: int = 0,
    whiten: bool = False,
    clean: bool = True,
    gamma1: float = 0.0,
    gamma2: float = 0.0,
    rho: float = 1.0,
    iter_updateD: int = 1,
    stochastic_deprecated: bool = False,
    modeParam: int = 0,
    batch: bool = False,
    log_deprecated: bool = False,
    logName: str = "",
) -> Any:
    """Learn a dictionary as `trainDL` does, in mode 2.

    SPAMS keeps the codes of all signals here, to forget the old ones when there are new; this package lets
    old codes fade without keeping them, and needs no other function for it.

    Parameters
    ----------
    X, D, numThreads, batchsize, K, lambda1, iter, mode, posD, modeD, batch
        As for `trainDL`.
    t0, expand, whiten, clean, gamma1, gamma2, rho, iter_updateD, stochastic_deprecated, modeParam, \
log_deprecated, logName
        Only their defaults are available.

    Returns
    -------
    D : ndarray of shape (m, K)
        The atoms, of unit norm, in Fortran order.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemble.compat.spams as spams
    >>> X = np.random.default_rng(0).standard_normal((8, 500))
    >>> spams.trainDL_Memory(X, K=10, lambda1=0.1, iter=10).shape
    (8, 10)
    """
    if mode != PENALTY:
        refuse("trainDL_Memory", "mode", mode, "use trainDL")
    return trainDL(
        X,
        D=D,
        numThreads=numThreads,
        batchsize=batchsize,
        K=K,
        lambda1=lambda1,
        iter=iter,
        t0=t0,
        posD=posD,
        expand=expand,
        modeD=modeD,
        whiten=whiten,
        clean=clean,
        gamma1=gamma1,
        gamma2=gamma2,
        rho=rho,
        iter_updateD=None if iter_updateD == 1 else iter_updateD,
        stochastic_deprecated=stochastic_deprecated,
        modeParam=modeParam,
        batch=batch,
        log_deprecated=log_deprecated,
        logName=logName,
    )


def _learner_options(mode: int, lambda1: float | None, posAlpha: bool) -> dict[str, Any]:
    """Return how the estimators of this package code signals in a mode of `trainDL`."""
    value = positive("trainDL", lambda1)
    of_the_lasso = {
        L1COEFFS: {"max_l1_norm": value},
        L2ERROR: {"max_error": value},
        PENALTY: {"lam": 2 * value},
    }
    if mode in of_the_lasso:
        return {"coder": "lasso", "positive": bool(posAlpha), **of_the_lasso[mode]}
    if posAlpha:
        refuse("trainDL", "posAlpha", posAlpha, f"leave it out with mode={mode}, or use mode 0, 1 or 2")
    if mode == SPARSITY:
        return {"coder": "ormp", "n_nonzero_coefs": int(value)}
    if mode == L2ERROR2:
        return {"coder": "ormp", "max_error": value}
    return refuse("trainDL", "mode", mode, "use 2, the penalty, 3, the number of atoms, or 4, the error")


def _learn(
    learner: MiniBatchDictionaryLearning, samples: NDArray[Any], n_atoms: int, limits: tuple[int, int]
) -> None:
    """Learn from mini-batches of a size: so many, or for so many seconds."""
    size, iterations = limits
    began = time.monotonic()
    if not hasattr(learner, "_model"):
        some = np.random.default_rng(0).permutation(len(samples))[: max(10_000, 20 * n_atoms)]
        start = learner.dict_init
        learner.n_features_in_ = samples.shape[1]
        learner._begin(samples[some], None, learner._recipe(start), start)
    model, before, done = learner._model, learner.n_iter_, 0
    samples = samples.astype(learner._dtype, copy=False)
    sizes = [min(size, len(samples) - first) for first in range(0, len(samples), size)]
    batches = _batches(len(samples), size)
    with running(learner.n_threads, None, size) as run:
        while done != iterations:
            out_of_time = iterations < 0 and time.monotonic() - began > -iterations
            whole = iterations < 0 and done % len(sizes) == 0
            if out_of_time or (whole and _is_settled(model.objective[before:], sizes)):
                break
            # Where nobody looks at the clock between them, many at a time.
            portion = min(_PORTION, iterations - done) if iterations > 0 else 1
            model = model.fit_batches(samples, list(islice(batches, portion)), run)
            done += portion
    learner._keep(model)


def _batches(n: int, size: int) -> Iterator[NDArray[np.int64]]:
    """Give the numbers of all signals in a random order, batch by batch, and again in another one."""
    draws = np.random.default_rng(1)
    while True:
        order = draws.permutation(n).astype(np.int64, copy=False)
        yield from (order[first : first + size] for first in range(0, n, size))


def _is_settled(curve: NDArray[np.float64], sizes: list[int]) -> bool:
    """Whether the mean objective of all signals was that of the time before."""
    epoch = len(sizes)
    if len(curve) < 2 * epoch:
        return False
    before, last = (np.average(part, weights=sizes) for part in curve[-2 * epoch :].reshape(2, epoch))
    return bool(abs(before - last) <= _SETTLED * before)


def _learn_at_once(
    samples: NDArray[Any], start: NDArray[Any] | None, n_atoms: int, iterations: int, options: dict[str, Any]
) -> NDArray[Any]:
    learner = DictionaryLearning(n_atoms, dict_init=start, max_iter=iterations, tol=0.0, **options)
    with warnings.catch_warnings():
        # How long to go on was asked for in iterations, not by a tolerance.
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(samples)
    return np.asfortranarray(learner.components_.T)


def _continued(model: dict[str, Any], start: NDArray[Any] | None) -> MiniBatchDictionaryLearning:
    """Return a copy of the learner in a model."""
    learner = model.get("learner")
    if not isinstance(learner, MiniBatchDictionaryLearning):
        raise ValueError("model must be one that trainDL of this module has returned")
    if start is not None and not np.array_equal(start, learner.components_):
        raise ValueError("D must be the atoms that were returned with model, or left out")
    return copy.deepcopy(learner)
