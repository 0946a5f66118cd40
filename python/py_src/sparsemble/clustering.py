"""Clustering: samples to labels by the graph of their sparse codes."""

import numbers
import warnings
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsemble import _native
from sparsemble._run import Progress, running
from sparsemble._validation import FLOATS, check_parameters
from sparsemble.dictionary import check_method
from sparsemble.model import seed_of

if TYPE_CHECKING:
    from sparsemble._native import ClusteringOutcome, ClusteringParameters, GraphParameters

Centre = Literal["data", "sample", "none"]
Scale = Literal["auto", "range", "deviation", "none"]

_GRAPH = (
    "method",
    "n_estimators",
    "n_atoms",
    "samples_per_atom",
    "sharpness",
    "lam",
    "ridge",
    "n_nonzero_coefs",
    "n_neighbors",
    "coder_tol",
    "coder_max_iter",
)
"""The parameters of graphs, which the estimators have some of."""
_STAGES = (
    "max_clusters",
    "centre",
    "scale",
    "unit_norm",
    "n_eigenvectors",
    "power",
    "n_init",
    "eigen_tol",
    "eigen_max_iter",
)
"""The parameters of the other stages, which all estimators have."""


class GraphClustering(ClusterMixin, BaseEstimator):
    """What all estimators that cluster samples by a graph share; not to be used itself."""

    _methods: tuple[str, ...]
    _matrix: csr_array
    """The similarities of the vertices if they are formed, else the codes whose product they are."""
    _formed: bool

    def fit(self, X: ArrayLike, y: Any = None) -> Any:
        """Cluster samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place. A prepared copy is made of them: in the same dtype for "l1", "elastic-net" and
            "omp", else in float32, which is enough to find what is nearest.
        y : ignored
            For pipelines.

        Returns
        -------
        self : estimator
            The estimator itself.

        Warns
        -----
        UserWarning
            If the number of clusters is a guess.
        sklearn.exceptions.ConvergenceWarning
            Once, if codes, eigenvectors or K-Means did not reach what was asked for.
        """
        check_method(self.method, self._methods)
        parameters = self._parameters()
        # Unit norm leaves nothing of a single feature but its sign.
        least = 2 if self.unit_norm else 1
        # The compiled code looks for NaN as it reads.
        samples: NDArray[Any] = validate_data(
            self, X, dtype=FLOATS, ensure_all_finite=False, ensure_min_samples=2, ensure_min_features=least
        )
        with running(self.n_threads, self.progress, len(samples)) as run:
            found = _native.cluster(samples, parameters, run)
        self._keep(found)
        if parameters["n_clusters"] is None:
            warnings.warn(
                f"n_clusters='auto' chose {self.n_clusters_} by the widest gap between eigenvalues, which is "
                "a guess; look at eigenvalues_, and give n_clusters if you know it",
                UserWarning,
                stacklevel=2,
            )
        shortfalls = self._shortfalls(found, len(samples))
        if shortfalls:
            warnings.warn(", and ".join(shortfalls), ConvergenceWarning, stacklevel=2)
        return self

    @property
    def affinity_matrix_(self) -> csr_array:
        """The similarities of the samples; formed when it is first asked for, if `fit` did not need it."""
        check_is_fitted(self)
        if not self._formed:
            self._matrix, self._formed = _product(self._matrix), True
        return self._matrix if self._vertices is None else _spread(self._matrix, self._vertices)

    def _parameters(self) -> "ClusteringParameters":
        given = self.get_params(deep=False)
        graph = {name: given.get(name) for name in _GRAPH}
        stages = {name: given[name] for name in _STAGES}
        check_parameters(graph)
        check_parameters(stages)
        return {
            "n_clusters": _cluster_count(self.n_clusters),
            "graph": cast("GraphParameters", graph),
            "seed": seed_of(self.random_state),
            **stages,  # type: ignore[typeddict-item]
        }

    def _keep(self, found: "ClusteringOutcome") -> None:
        vertices, embedding = found["vertices"], found["embedding"]
        self.labels_ = found["labels"]
        self.n_clusters_ = found["n_clusters"]
        self.eigenvalues_ = found["eigenvalues"]
        self.embedding_ = embedding if vertices is None else embedding[vertices]
        self.scale_ = found["scale"]
        self.stage_seconds_ = found["stage_seconds"]
        self._vertices = vertices
        self._formed = found["formed"]
        self._matrix = csr_array(found["matrix"], shape=(len(embedding), found["n_columns"]))

    def _shortfalls(self, found: "ClusteringOutcome", n_samples: int) -> list[str]:
        """Say what did not converge, and what would help."""
        shortfalls = []
        if found["unconverged"]:
            codes = f"the codes of {found['unconverged']} of {n_samples} samples did not converge"
            shortfalls.append(f"{codes}; raise coder_max_iter or coder_tol")
        defaults = _native.clustering_defaults("ensemble")
        tol = defaults["eigen_tol"] if self.eigen_tol is None else self.eigen_tol
        if found["residual"] > tol:
            reached = f"the eigenvectors have a residual of {found['residual']:.1e}"
            shortfalls.append(f"{reached}; raise eigen_max_iter, or eigen_tol={tol:.1e}")
        elif not found["converged"]:
            shortfalls.append("K-Means had not stopped to improve; the labels are its last")
        return shortfalls

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are labels."""
        return hasattr(self, "labels_")


class EnsembleSpectralClustering(GraphClustering):
    """Spectral clustering of the graph that an ensemble of dictionaries makes of the samples.

    Every dictionary codes every sample by one of its atoms. Samples are alike if many dictionaries code them
    by the same atom, or by each other; a graph of these similarities is clustered by its eigenvectors.

    ========== ============================================== ============================================
    method     dictionaries                                   similarities
    ========== ============================================== ============================================
    ensemble   samples drawn by the errors that are left,     AAᵀ of the codes A ≥ 0 in all dictionaries,
               moved to the middle of what they code          never formed if it would be large
    boost-km   weighted K-Means‖ centres, each sample          AAᵀ, its entries' magnitudes
               counting as much as its error that is left
    rand-ex-av samples drawn at random                        the magnitudes of Ā and Āᵀ, where Ā is the
                                                              mean code of each sample by the others
    boost-ex   samples drawn by the errors that are left      the same, weighted by boosting
    ========== ============================================== ============================================

    The first is not one of the paper, and the best for most data.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters. "auto" takes the number of eigenvalues before the widest gap between two of
        them, with a warning that this is a guess.
    method : {"ensemble", "boost-km", "rand-ex-av", "boost-ex"}, default="ensemble"
        What dictionaries and similarities are, see above.
    n_estimators : int, optional
        The dictionaries. None is 30.
    n_atoms : int, optional
        The atoms of each dictionary, at least 2 and at most the number of samples that differ.
    samples_per_atom : float, optional
        The number of atoms by that of the samples, but at most 2048 atoms. None is 8.
    sharpness : float, optional
        By how much samples count less whose atom is not near to them, at least 1: a coefficient a of a
        sample x counts as a·(a/‖x‖)^(sharpness − 1). None is 8 for "ensemble" and 1 for "boost-km"; the other
        methods have none.
    centre : {"data", "sample", "none"}, default="data"
        What is subtracted from each sample first: the mean of all of them, or the mean of its own features.
    scale : {"auto", "range", "deviation", "none"}, default="auto"
        What each feature is divided by. "auto" is the range where features are of different kinds, which it
        tells by their ranges alone, and nothing where they are of one kind; see `scale_`.
    unit_norm : bool, default=True
        Whether each sample then gets unit norm, so that only directions count.
    n_eigenvectors : int, optional
        The coordinates that K-Means clusters. None is twice the number of clusters.
    power : float, optional
        How much larger eigenvalues count for more, as λ to this power; 0 is the usual spectral clustering of
        Ng, Jordan and Weiss, with as many eigenvectors as clusters. None is 10.
    n_init : int, optional
        The starts of K-Means, the best of which is taken. None is 10.
    max_clusters : int, default=30
        The most clusters that "auto" may choose.
    eigen_tol : float, optional
        The largest residual of an eigenvector. None is 1e-6.
    eigen_max_iter : int, optional
        The most products of the graph with eight vectors at once. None is 2000.
    random_state : int, RandomState instance or None, default=None
        The seed of all draws. The command line gives the same labels for the same whole number.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`. The labels are the same for any number.
    progress : bool or callable, optional
        True draws a tqdm bar; a function is called with ``(done, total)``, as for `sparse_encode`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n_samples,)
        The cluster of each sample, from 0.
    n_clusters_ : int
        The number of clusters.
    affinity_matrix_ : scipy.sparse.csr_array of float32 of shape (n_samples, n_samples)
        The similarities: symmetric, positive, without a diagonal. Samples that are equal after preparation
        are one vertex of the graph; here each has a row and a column, which are the same for all of them. If
        `fit` did without the matrix, it is formed when first asked for, which can take much memory.
    embedding_ : ndarray of float64 of shape (n_samples, n_eigenvectors)
        The coordinates of the samples, each of norm 1, or zero for a sample that is like no other.
    eigenvalues_ : ndarray of float64
        The leading eigenvalues of the normalised similarities D^(−1/2) S D^(−1/2), falling from 1; as many
        of them are 1 as the graph has separate parts.
    scale_ : {"range", "deviation", "none"}
        What features were divided by.
    stage_seconds_ : dict of str to float
        What each stage took: "preparation", "coding", "graph", "eigenvectors" and "k-means".
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names, if `fit` was given names.

    See Also
    --------
    SparseSubspaceClustering : Graphs of samples coded by each other, without dictionaries.
    clustering_accuracy : How well labels agree with known classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsemble import EnsembleSpectralClustering, clustering_accuracy
    >>> X, digits = load_digits(return_X_y=True)
    >>> clustering = EnsembleSpectralClustering(10, random_state=0).fit(X)
    >>> clustering_accuracy(digits, clustering.labels_) > 0.85
    True
    >>> clustering.affinity_matrix_.shape
    (1797, 1797)
    """

    _methods = ("ensemble", "boost-km", "rand-ex-av", "boost-ex")

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        method: Literal["ensemble", "boost-km", "rand-ex-av", "boost-ex"] = "ensemble",
        n_estimators: int | None = None,
        n_atoms: int | None = None,
        samples_per_atom: float | None = None,
        sharpness: float | None = None,
        centre: Centre = "data",
        scale: Scale = "auto",
        unit_norm: bool = True,
        n_eigenvectors: int | None = None,
        power: float | None = None,
        n_init: int | None = None,
        max_clusters: int = 30,
        eigen_tol: float | None = None,
        eigen_max_iter: int | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.n_estimators = n_estimators
        self.n_atoms = n_atoms
        self.samples_per_atom = samples_per_atom
        self.sharpness = sharpness
        self.centre = centre
        self.scale = scale
        self.unit_norm = unit_norm
        self.n_eigenvectors = n_eigenvectors
        self.power = power
        self.n_init = n_init
        self.max_clusters = max_clusters
        self.eigen_tol = eigen_tol
        self.eigen_max_iter = eigen_max_iter
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress


class SparseSubspaceClustering(GraphClustering):
    """Spectral clustering of samples that are coded by each other: sparse subspace clustering.

    Samples of one linear subspace are sparse combinations of others of the same one. Each is coded by all
    the others, x ≈ aX with a zero for itself, and the similarity of two samples is the sum of the magnitudes
    that each has in the code of the other.

    =========== ==================================================== =====================================
    method      codes                                                takes
    =========== ==================================================== =====================================
    l1          the minimum of ‖x − aX‖² + λ‖a‖₁ (SSC by basis       `lam`; `coder_tol`, `coder_max_iter`
                pursuit, the ℓ1 graph)
    elastic-net the minimum of ‖x − aX‖² + λ‖a‖₁ + ρ‖a‖² (EnSC)       `lam`, `ridge`; `coder_tol`,
                                                                     `coder_max_iter`
    omp         greedily chosen samples (SSC-OMP)                    `n_nonzero_coefs`
    neighbours  1 for the nearest samples: no codes, but what they   `n_neighbors`
                have to be better than
    =========== ==================================================== =====================================

    The cost grows with the square of the number of samples.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters, as for `EnsembleSpectralClustering`.
    method : {"l1", "elastic-net", "omp", "neighbours"}, default="l1"
        How samples are coded, see above.
    lam : float, optional
        λ, without ½, for samples of unit norm. None is 0.2 for "l1".
    ridge : float, optional
        ρ of the elastic net.
    n_nonzero_coefs : int, optional
        The samples in one code of "omp".
    n_neighbors : int, optional
        The nearest samples of each. None is 10.
    centre, scale, unit_norm
        How samples are made comparable, as for `EnsembleSpectralClustering`. Subspaces that are known to
        contain the origin need ``centre="none", scale="none"``.
    n_eigenvectors, power, n_init, max_clusters, eigen_tol, eigen_max_iter
        How the graph is clustered, as for `EnsembleSpectralClustering`.
    coder_tol : float, optional
        The largest duality gap of a code as a fraction of ‖x‖². None is 1e-6.
    coder_max_iter : int, optional
        The most passes over the samples for one code. None is 100.
    random_state : int, RandomState instance or None, default=None
        The seed of the eigenvectors' and K-Means' starts.
    n_threads, progress
        How to run, as for `sparse_encode`.

    Attributes
    ----------
    labels_, n_clusters_, affinity_matrix_, embedding_, eigenvalues_, scale_, stage_seconds_
        As those of `EnsembleSpectralClustering`.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names, if `fit` was given names.

    See Also
    --------
    EnsembleSpectralClustering : Faster, and better on most data that is not made of subspaces.

    Examples
    --------
    Two planes in a space of six dimensions.

    >>> import numpy as np
    >>> from sparsemble import SparseSubspaceClustering
    >>> rng = np.random.default_rng(0)
    >>> planes = rng.standard_normal((2, 2, 6))
    >>> X = np.concatenate([rng.standard_normal((40, 2)) @ plane for plane in planes])
    >>> clustering = SparseSubspaceClustering(2, centre="none", scale="none", random_state=0)
    >>> labels = clustering.fit_predict(X)
    >>> labels[0] != labels[40], len(set(labels[:40])), len(set(labels[40:]))
    (np.True_, 1, 1)
    """

    _methods = ("l1", "elastic-net", "omp", "neighbours")

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        method: Literal["l1", "elastic-net", "omp", "neighbours"] = "l1",
        lam: float | None = None,
        ridge: float | None = None,
        n_nonzero_coefs: int | None = None,
        n_neighbors: int | None = None,
        centre: Centre = "data",
        scale: Scale = "auto",
        unit_norm: bool = True,
        n_eigenvectors: int | None = None,
        power: float | None = None,
        n_init: int | None = None,
        max_clusters: int = 30,
        eigen_tol: float | None = None,
        eigen_max_iter: int | None = None,
        coder_tol: float | None = None,
        coder_max_iter: int | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.lam = lam
        self.ridge = ridge
        self.n_nonzero_coefs = n_nonzero_coefs
        self.n_neighbors = n_neighbors
        self.centre = centre
        self.scale = scale
        self.unit_norm = unit_norm
        self.n_eigenvectors = n_eigenvectors
        self.power = power
        self.n_init = n_init
        self.max_clusters = max_clusters
        self.eigen_tol = eigen_tol
        self.eigen_max_iter = eigen_max_iter
        self.coder_tol = coder_tol
        self.coder_max_iter = coder_max_iter
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress


def _cluster_count(n_clusters: Any) -> int | None:
    """Return the number of clusters as the compiled code takes it: None is a guess."""
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return None
    if not isinstance(n_clusters, numbers.Integral):
        raise TypeError(f"n_clusters={n_clusters!r}: must be a whole number, or 'auto'")
    return int(n_clusters)


def _spread(graph: csr_array, vertices: NDArray[np.uint32]) -> csr_array:
    """Return the similarities of samples by those of the vertices that stand for them all together."""
    pairs, copies = graph.tocoo(), np.bincount(vertices)
    shares = pairs.data / (copies[pairs.row] * copies[pairs.col])
    alike = csr_array((shares.astype(graph.dtype), (pairs.row, pairs.col)), shape=graph.shape)
    return alike[vertices][:, vertices]


def _product(codes: csr_array) -> csr_array:
    """Return the similarities AAᵀ of codes that are not negative, without the diagonal."""
    graph = (codes.astype(np.float64) @ codes.T).tocsr()
    graph = (graph - diags_array(graph.diagonal())).tocsr().astype(codes.dtype)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph
