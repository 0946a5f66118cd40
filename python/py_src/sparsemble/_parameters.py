"""What the compiled code is told, and what it tells: dictionaries and their entries, for type checkers."""

from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray


class Parameters(TypedDict):
    """The parameters of a coder, `None` where not given."""

    argument: str
    method: str
    lam: float | None
    relative_lam: float | None
    ridge: float | None
    max_error: float | None
    max_l1_norm: float | None
    min_gain: float | None
    n_nonzero_coefs: int | None
    positive: bool
    atom_weights: NDArray[np.float64] | None
    tol: float
    max_iter: int | None


class RecipeParameters(TypedDict):
    """How to train, `None` for the default of the method."""

    method: str
    n_components: int | None
    n_estimators: int | None
    n_levels: int | None
    coder: Parameters | None
    max_iter: int | None
    tol: float | None
    positive_dict: bool | None
    validation_fraction: float | None
    patience: int | None
    seed: int


class GraphParameters(TypedDict):
    """The parameters of a graph, `None` where not given."""

    method: str
    n_estimators: int | None
    n_atoms: int | None
    samples_per_atom: float | None
    sharpness: float | None
    lam: float | None
    ridge: float | None
    n_nonzero_coefs: int | None
    n_neighbors: int | None
    coder_tol: float | None
    coder_max_iter: int | None


class ClusteringParameters(TypedDict):
    """How to cluster, `None` for the default of the library and for a guessed number of clusters."""

    n_clusters: int | None
    max_clusters: int
    graph: GraphParameters
    centre: str
    scale: str
    unit_norm: bool
    n_eigenvectors: int | None
    power: float | None
    n_init: int | None
    eigen_tol: float | None
    eigen_max_iter: int | None
    seed: int


class KMeansParameters(TypedDict):
    """How to find centres, `None` for the default of the library."""

    n_clusters: int
    init: str | NDArray[Any]
    max_iter: int | None
    tol: float | None
    seed: int


class ClusteringOutcome(TypedDict):
    """The clusters, and what the stages have found."""

    labels: NDArray[np.int32]
    vertices: NDArray[np.uint32] | None
    """The vertex of each sample, if equal samples share one."""
    masses: NDArray[np.float64]
    """What each vertex counts."""
    n_clusters: int
    guesses: list[int]
    """The numbers before the widest gaps, if the number of clusters is one of them."""
    scale: str
    eigenvalues: NDArray[np.float64]
    embedding: NDArray[np.float64]
    """A row for each vertex."""
    residual: float
    converged: bool
    unconverged: int
    """The samples whose codes fell short."""
    formed: bool
    """Whether the matrix is that of the graph, or of the codes whose product it is."""
    matrix: tuple[Any, Any, Any]
    n_columns: int
    stage_seconds: dict[str, float]
