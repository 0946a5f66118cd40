"""Clustering: samples to labels by the graph of their sparse codes."""

from typing import Any, Literal

from sparsemble._graph_clustering import GraphClustering
from sparsemble._run import Progress

Centre = Literal["data", "sample", "none"]
Scale = Literal["auto", "range", "deviation", "none"]


class EnsembleSpectralClustering(GraphClustering):
    """Spectral clustering of the graph that an ensemble of dictionaries makes of the samples.

    Every dictionary codes every sample by one of its atoms. Samples are alike if many dictionaries code them
    by the same atom, or by each other; a graph of these similarities is clustered by its eigenvectors.

    ========== ============================================== ============================================
    method     dictionaries                                   similarities
    ========== ============================================== ============================================
    ensemble   samples drawn by the errors that are left,     AAᵀ of the codes A ≥ 0 in all dictionaries,
               moved to the middle of what they code          never formed if it would be large
    boost-km   weighted K-Means‖ centres, each sample         AAᵀ, its entries' magnitudes
               counting as much as its error that is left
    rand-ex-av samples drawn at random                        the magnitudes of Ā and Āᵀ, where Ā is the
                                                              mean code of each sample by the others
    boost-ex   samples drawn by the errors that are left      the same, weighted by boosting
    alt-opt    a single one, learned by Alt-Opt: what the     AAᵀ of the lasso's codes A, its entries'
               ensembles have to be better than               magnitudes
    ========== ============================================== ============================================

    The first is not one of the paper, and the best for most data.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters. "auto" takes the number of eigenvalues before the widest gap between two of
        them, or `max_clusters` if the graph has more separate parts, with a warning that this is a guess: on
        real data it is often wrong.
    method : {"ensemble", "boost-km", "rand-ex-av", "boost-ex", "alt-opt"}, default="ensemble"
        What dictionaries and similarities are, see above.
    n_estimators : int, optional
        The dictionaries. None is 30.
    n_atoms : int, optional
        The atoms of each dictionary, at least 2 and at most the number of samples that differ.
    samples_per_atom : float, optional
        The number of atoms by that of the samples, but at most 2048 atoms, for "alt-opt" at most 64 atoms.
        None is 8.
    sharpness : float, optional
        By how much samples count less whose atom is not near to them, at least 1: a coefficient a of a
        sample x counts as a·(a/‖x‖)^(sharpness − 1). None is 8 for "ensemble" and 1 for "boost-km"; the other
        methods have none.
    lam : float, optional
        λ of "alt-opt", without ½, for samples of unit norm. None is 0.2.
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
        The cluster of each sample, from 0; -1 for samples of weight 0.
    n_clusters_ : int
        The number of clusters.
    affinity_matrix_ : scipy.sparse.csr_array of float32 of shape (n_samples, n_samples)
        The similarities of the samples: symmetric, positive, without a diagonal; formed when first asked for
        if `fit` did without it.
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
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
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

    _methods = ("ensemble", "boost-km", "rand-ex-av", "boost-ex", "alt-opt")

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        method: Literal["ensemble", "boost-km", "rand-ex-av", "boost-ex", "alt-opt"] = "ensemble",
        n_estimators: int | None = None,
        n_atoms: int | None = None,
        samples_per_atom: float | None = None,
        sharpness: float | None = None,
        lam: float | None = None,
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
        self.lam = lam
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
    elastic-net the minimum of ‖x − aX‖² + λ‖a‖₁ + ρ‖a‖² (EnSC)      `lam`, `ridge`; `coder_tol`,
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
        λ, without ½, for samples of unit norm. None is 0.2 for "l1", and for "elastic-net" 0.02 of the λ
        above which the code of the sample would be zero, λ_max: γ = 50 γ₀, as in the program of You, Li,
        Robinson and Vidal (2016).
    ridge : float, optional
        ρ of the elastic net; given with `lam` or not at all. None is 0.001 of (λ_max/2‖x‖)², about
        the mixture 0.95 of the same authors' objective.
    n_nonzero_coefs : int, optional
        The samples in one code of "omp". None is 10, or as many as leave an error of 1e-6, as in the
        program of You, Robinson and Vidal (2016).
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
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
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
