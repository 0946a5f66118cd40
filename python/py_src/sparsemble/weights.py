"""The best weights of an ensemble, under four constraints."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from sparsemble import _native
from sparsemble._run import Progress, running
from sparsemble._validation import check_weights
from sparsemble.ensemble import EnsembleSparseCoder

Constraint = Literal["unconstrained", "non-negative", "affine", "simplex"]


@dataclass(frozen=True)
class EnsembleWeights:
    """Weights of an ensemble, and the evidence that they are the best.

    With one set of weights for each sample all arrays have a row for each; with shared weights the norms
    are root means of squares over the samples.

    Attributes
    ----------
    beta : ndarray of shape (n_estimators,) or (n_samples, n_estimators)
        β.
    residual : float or ndarray of shape (n_samples,)
        ‖x − Σ β_l a_l D_l‖.
    best_member : float or ndarray of shape (n_samples,)
        That of the best dictionary alone.
    optimality : float or ndarray of shape (n_samples,)
        By how much the conditions of optimality are missed, relative to the residuals of the dictionaries.
    rounding : float or ndarray of shape (n_samples,)
        The root of what rounding may add to the squared residual or take from it.
    holds : bool
        Whether every combination is as good as its best member, but for rounding: the bound of the paper.
    """

    beta: NDArray[np.float64]
    residual: Any
    best_member: Any
    optimality: Any
    rounding: Any
    holds: bool


def ensemble_weights(
    estimator: EnsembleSparseCoder,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    constraint: Constraint = "simplex",
    per_sample: bool = False,
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
    progress: Progress = None,
) -> EnsembleWeights:
    """Find the weights β with which an ensemble approximates samples best.

    ============= =================== ==================================================
    constraint    β                   the approximation lies in
    ============= =================== ==================================================
    unconstrained any                 the span of those of the dictionaries
    non-negative  β ≥ 0               their cone
    affine        Σβ = 1              their affine hull
    simplex       β ≥ 0 and Σβ = 1    their convex hull
    ============= =================== ==================================================

    Parameters
    ----------
    estimator : EnsembleSparseCoder
        A fitted ensemble.
    X : array-like of shape (n_samples, n_features)
        Samples to code.
    y : array-like of shape (n_samples, n_features), optional
        What the approximations should be, if that is not `X` itself: the whole samples, for an ensemble
        that was `degraded_by` Φ.
    constraint : {"unconstrained", "non-negative", "affine", "simplex"}, default="simplex"
        What is asked of the weights, see above.
    per_sample : bool, default=False
        Find the best weights of each sample (which know the sample), not the best for all together.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts for shared weights.
    n_threads, progress
        How to run, as for `sparse_encode`.

    Returns
    -------
    weights : EnsembleWeights
        The weights, what they achieve, and their certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import EnsembleSparseCoder, ensemble_weights
    >>> X = np.random.default_rng(0).standard_normal((300, 8))
    >>> ensemble = EnsembleSparseCoder(16, n_estimators=5, lam=0.5, random_state=0).fit(X)
    >>> weights = ensemble_weights(ensemble, X, constraint="affine")
    >>> round(float(weights.beta.sum()), 6), weights.holds
    (1.0, True)
    >>> better = ensemble.with_beta(weights.beta)
    """
    samples = estimator._check_samples(X)
    model = estimator._model
    targets = samples
    if y is not None:
        targets = check_array(y, dtype=samples.dtype, ensure_all_finite=False, input_name="y")
    elif model.n_inputs != model.n_features:
        raise ValueError("a degraded ensemble needs y, the whole samples")
    if per_sample and sample_weight is not None:
        raise ValueError("sample_weight has no effect with per_sample=True; leave it out")
    masses = check_weights(sample_weight, samples)
    with running(n_threads, progress, len(samples)) as run:
        beta, (holds, columns) = _native.ensemble_weights(
            model, (samples, targets, masses), (constraint, per_sample), run
        )
    names = ("residual", "best_member", "optimality", "rounding")
    figures = columns if per_sample else [float(column[0]) for column in columns]
    return EnsembleWeights(beta, holds=holds, **dict(zip(names, figures, strict=True)))
