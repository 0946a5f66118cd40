"""What the estimators that cluster samples by a graph share."""

import numbers
import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsemble import _native
from sparsemble._run import running
from sparsemble._validation import FLOATS, check_parameters, check_weights, native
from sparsemble.dictionary import check_method
from sparsemble.model import seed_of

if TYPE_CHECKING:
    from sparsemble._parameters import ClusteringOutcome, ClusteringParameters, GraphParameters

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

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Any:
        """Cluster samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place. A prepared copy is made of them: in the same dtype for "l1", "elastic-net" and
            "omp", else in float32, which is enough to find what is nearest.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts, all alike by default. A sample of weight w counts as w equal samples
            do: in the mean and the deviation of the features, in the draws and the errors of dictionaries, in
            the similarities of others with it and in K-Means. It is one vertex of the graph, as equal samples
            are, so that it is never coded by its own copies. Only ratios of weights matter. A sample of
            weight 0 is left out: its label is -1, and its coordinates and similarities are zero.

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
            self,
            native(X),
            dtype=FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=2,
            ensure_min_features=least,
        )
        weights = check_weights(sample_weight, samples)
        n_samples = len(samples)
        counted = None if weights is None or weights.all() else np.flatnonzero(weights)
        if weights is not None and counted is not None:
            samples, weights = samples[counted], weights[counted]
            if len(samples) < 2:
                raise ValueError(f"sample_weight is zero for all but {len(samples)} samples; two must count")
            assert_all_finite(samples, input_name="X")  # the compiled code would count other rows
        with running(self.n_threads, self.progress, len(samples)) as run:
            found = _native.cluster(samples, weights, parameters, run)
        self._keep(found, weights is not None)
        if counted is not None:
            self._leave_room(counted, n_samples)
        if parameters["n_clusters"] is None:
            others = " and ".join(str(count) for count in found["guesses"][1:])
            warnings.warn(
                f"n_clusters='auto' chose {self.n_clusters_} by the widest gap between eigenvalues, which is "
                f"a guess{f' (the next widest are after {others})' if others else ''}; look at eigenvalues_, "
                "and give n_clusters if you know it",
                UserWarning,
                stacklevel=2,
            )
        shortfalls = self._shortfalls(found, len(samples))
        if shortfalls:
            warnings.warn(", and ".join(shortfalls), ConvergenceWarning, stacklevel=2)
        return self

    @property
    def affinity_matrix_(self) -> csr_array:
        """The similarities of the samples: symmetric, positive, without a diagonal.

        Samples that are equal after preparation are one vertex of the graph; here each has a row and a
        column, which are the same for all of them, whatever their weights. If `fit` did without the matrix,
        it is formed when first asked for, which can take much memory.
        """
        check_is_fitted(self)
        if not self._formed:
            self._matrix, self._formed = _product(self._matrix), True
        return self._matrix if self._masses is None else _spread(self._matrix, self._vertices, self._masses)

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

    def _keep(self, found: "ClusteringOutcome", weighed: bool) -> None:
        vertices, embedding = found["vertices"], found["embedding"]
        self.labels_ = found["labels"]
        self.n_clusters_ = found["n_clusters"]
        self.eigenvalues_ = found["eigenvalues"]
        self.embedding_ = embedding if vertices is None else embedding[vertices]
        self.scale_ = found["scale"]
        self.stage_seconds_ = found["stage_seconds"]
        # Where every vertex is one sample, and all count alike, its similarities are the sample's.
        alike = vertices is None and not weighed
        self._vertices = np.arange(len(embedding)) if vertices is None else vertices.astype(np.intp)
        self._masses = None if alike else found["masses"]
        self._formed = found["formed"]
        self._matrix = csr_array(found["matrix"], shape=(len(embedding), found["n_columns"]))

    def _leave_room(self, counted: NDArray[np.intp], n_samples: int) -> None:
        """Add the samples that do not count to what was found of the others."""
        labels, embedding, vertices = self.labels_, self.embedding_, self._vertices
        self.labels_ = np.full(n_samples, -1, dtype=labels.dtype)
        self.embedding_ = np.zeros((n_samples, embedding.shape[1]))
        self._vertices = np.full(n_samples, -1)
        self.labels_[counted], self.embedding_[counted], self._vertices[counted] = labels, embedding, vertices

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


def _cluster_count(n_clusters: Any) -> int | None:
    """Return the number of clusters as the compiled code takes it: None is a guess."""
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return None
    if not isinstance(n_clusters, numbers.Integral):
        raise TypeError(f"n_clusters={n_clusters!r}: must be a whole number, or 'auto'")
    return int(n_clusters)


def _spread(graph: csr_array, vertices: NDArray[np.intp], masses: NDArray[np.float64]) -> csr_array:
    """Return the similarities of samples by those of the vertices that stand for them all together.

    A sample that has none is like no other.
    """
    pairs = graph.tocoo()
    shares = pairs.data / (masses[pairs.row] * masses[pairs.col])
    size = len(masses) + 1  # one more, the last, which has no neighbours
    alike = csr_array((shares.astype(graph.dtype), (pairs.row, pairs.col)), shape=(size, size))
    return alike[vertices][:, vertices]


def _product(codes: csr_array) -> csr_array:
    """Return the similarities AAᵀ of codes that are not negative, without the diagonal."""
    graph = (codes.astype(np.float64) @ codes.T).tocsr()
    graph = (graph - diags_array(graph.diagonal())).tocsr().astype(codes.dtype)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph
