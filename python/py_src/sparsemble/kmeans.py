"""Weighted K-Means."""

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsemble import _native
from sparsemble._run import Progress, running
from sparsemble._validation import FLOATS, check_parameters, check_weights, native
from sparsemble.model import seed_of

if TYPE_CHECKING:
    from sparsemble._parameters import KMeansParameters


def kmeans_parallel(
    X: ArrayLike,
    n_clusters: int,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
    n_threads: int | None = None,
    progress: Progress = None,
) -> NDArray[Any]:
    """Choose first centres for K-Means by K-Means‖, with weights of samples.

    Five passes draw half as many samples as there are clusters each, with probabilities proportional to
    weight times squared distance from what is drawn already. Those are then clustered, each with the weight
    of the samples nearest to it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    n_clusters : int
        The number of centres, at most that of the samples of positive weight.
    sample_weight : array-like of shape (n_samples,), optional
        How much each sample counts.
    random_state : int, RandomState instance or None, default=None
        The seed of the draws.
    n_threads, progress
        How to run, as for `sparse_encode`.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        The centres, in the dtype of the samples: an `init` for `WeightedKMeans` or any other K-Means.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import kmeans_parallel
    >>> X = np.array([[0.0], [0.1], [10.0], [10.1]])
    >>> np.sort(kmeans_parallel(X, 2, random_state=0), axis=0).round()
    array([[ 0.],
           [10.]])
    """
    kmeans = WeightedKMeans(n_clusters, random_state=random_state)
    samples: NDArray[Any] = check_array(native(X), dtype=FLOATS, ensure_all_finite=False, input_name="X")
    weights = check_weights(sample_weight, samples)
    masses = np.ones(len(samples)) if weights is None else weights
    with running(n_threads, progress, len(samples)) as run:
        return _native.first_centers(samples, masses, kmeans._parameters(samples), run)


class WeightedKMeans(ClusterMixin, BaseEstimator):
    """K-Means of samples that count as much as their weights say.

    It minimises Σ w_i ‖x_i − μ‖² over the centres, μ being the nearest one of each sample. A weight that is
    a whole number is as many copies of the sample, if `init` gives the first centres; draws of them have the
    same chances. The search for the nearest centre is a matrix product
    that rules out most centres early, so many centres are no problem.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, at most that of the samples of positive weight.
    init : {"k-means||", "k-means++"} or array-like of shape (n_clusters, n_features), default="k-means||"
        The first centres: K-Means‖, which draws many samples at a time in a few passes; K-Means++, one
        sample after the other; or these.
    max_iter : int, optional
        The most improvements of the centres. None is 100.
    tol : float, optional
        Stop when the inertia falls by no more than this fraction of itself. None is 1e-4.
    random_state : int, RandomState instance or None, default=None
        The seed of the first centres.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`. The centres are the same bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar; a function is called with ``(done, total)``, as for `sparse_encode`.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres, in the dtype of the samples.
    labels_ : ndarray of int32 of shape (n_samples,)
        The cluster of each sample, those of weight 0 included.
    inertia_ : float
        Σ w_i ‖x_i − μ‖², as scikit-learn has it.
    n_iter_ : int
        How often the centres were improved.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
        Their names, if `fit` was given names.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import WeightedKMeans
    >>> X = np.array([[0.0], [1.0], [10.0], [12.0]])
    >>> kmeans = WeightedKMeans(2, random_state=0).fit(X, sample_weight=[3, 1, 1, 1])
    >>> np.sort(kmeans.cluster_centers_, axis=0)
    array([[ 0.25],
           [11.  ]])
    >>> kmeans.inertia_
    2.75
    >>> bool(kmeans.predict([[2.0]])[0] == kmeans.labels_[0])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means||",
        max_iter: int | None = None,
        tol: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> "WeightedKMeans":
        """Find the centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts.

        Returns
        -------
        self : WeightedKMeans
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the inertia still fell at the last iteration.
        """
        # The compiled code looks for NaN as it reads.
        samples: NDArray[Any] = validate_data(self, native(X), dtype=FLOATS, ensure_all_finite=False)
        weights = check_weights(sample_weight, samples)
        masses = np.ones(len(samples)) if weights is None else weights
        parameters = self._parameters(samples)
        with running(self.n_threads, self.progress, len(samples)) as run:
            found = _native.weighted_kmeans(samples, masses, parameters, run)
        self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_, converged = found
        if not converged:
            message = f"the inertia still fell in the last of {self.n_iter_} iterations"
            warnings.warn(f"{message}; raise max_iter or tol", ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Find the nearest centre of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; converted to the dtype of the centres.

        Returns
        -------
        labels : ndarray of int32 of shape (n_samples,)
            The cluster of each.
        """
        check_is_fitted(self)
        samples: NDArray[Any] = validate_data(
            self, X, dtype=self.cluster_centers_.dtype, reset=False, ensure_all_finite=False
        )
        with running(self.n_threads, self.progress, len(samples)) as run:
            return _native.nearest_centers(self.cluster_centers_, samples, run)

    def _parameters(self, samples: NDArray[Any]) -> "KMeansParameters":
        if not isinstance(self.n_clusters, numbers.Integral):
            raise TypeError(f"n_clusters={self.n_clusters!r}: must be a whole number")
        init = self.init
        if not isinstance(init, str):
            init = check_array(init, dtype=samples.dtype, input_name="init")
            expected = (int(self.n_clusters), samples.shape[1])
            if init.shape != expected:
                raise ValueError(f"init has shape {init.shape}; it must be {expected}, a row for each centre")
        check_parameters({"max_iter": self.max_iter, "tol": self.tol})
        return {
            "n_clusters": int(self.n_clusters),
            "init": init,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "seed": seed_of(self.random_state),
        }
