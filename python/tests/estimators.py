"""One list of estimators: a new one is a line here, and stands under every common law."""

from sparsemble import (
    CompressiveRecovery,
    DictionaryLearning,
    EnsembleSparseCoder,
    EnsembleSpectralClustering,
    MiniBatchDictionaryLearning,
    MultilevelDictionary,
    SparseCoder,
    SparseSubspaceClustering,
    SuperResolution,
    WeightedKMeans,
)

CODERS = [
    SparseCoder(relative_lam=0.1),
    SparseCoder(relative_lam=0.1, positive=True, sparse_output=False),
    SparseCoder(max_error=0.1, n_threads=1),
    SparseCoder(method="omp", n_nonzero_coefs=1),
    SparseCoder(method="one-sparse"),
    SparseCoder(method="fista", lam=0.1, tol=1e-3),
    SparseCoder(method="elastic-net", lam=0.1, ridge=0.1, positive=True),
]

TRAINED = [
    DictionaryLearning(),
    DictionaryLearning(3, method="mod", n_nonzero_coefs=1),
    DictionaryLearning(3, method="k-svd", n_nonzero_coefs=1, sparse_output=False),
    DictionaryLearning(3, positive=True, positive_dict=True),
    MiniBatchDictionaryLearning(),
    EnsembleSparseCoder(n_estimators=3),
    EnsembleSparseCoder(3, n_estimators=3, method="boost-ex", coder="one-sparse"),
    EnsembleSparseCoder(3, n_estimators=3, method="rand-ex-av", relative_lam=0.1),
    MultilevelDictionary(3, n_levels=3, n_estimators=5),
    MultilevelDictionary(n_levels=3, examples=False),
]

CLUSTERINGS = [
    # Not the default of eight clusters: some checks have only four samples that differ, in two pairs. Nor two
    # atoms, the default for four: they may be one pair or the other for ever, so that no two samples meet.
    EnsembleSpectralClustering(2, n_atoms=3),
    EnsembleSpectralClustering(3, method="boost-km"),
    EnsembleSpectralClustering(3, method="boost-ex", n_atoms=3),
    EnsembleSpectralClustering(3, method="rand-ex-av"),
    EnsembleSpectralClustering(2, method="alt-opt", n_atoms=4),
    SparseSubspaceClustering(3),
    SparseSubspaceClustering(3, method="elastic-net", lam=0.1, ridge=0.1),
    SparseSubspaceClustering(3, method="omp", n_nonzero_coefs=2),
    SparseSubspaceClustering(3, method="neighbours", n_neighbors=3),
    WeightedKMeans(3),
]

PICTURES = [CompressiveRecovery(), SuperResolution()]
"""These take pictures, which are no table: of its checks scikit-learn runs only the first by itself."""
