"""Sparse coding, dictionary learning and ensembles of sparse models.

Samples are rows, as in scikit-learn: `X` is `(n_samples, n_features)`, a dictionary is
`(n_atoms, n_features)` and codes are sparse and `(n_samples, n_atoms)`, so that `codes @ dictionary`
approximates `X`. `lam` is the λ of ‖x − aD‖² + λ‖a‖₁, without a ½ in front: scikit-learn's `alpha` is
`lam / 2`.

Pictures are `(height, width)` or `(height, width, 3)`, in grey levels with black 0 and white 255 for floats
too.
"""

from sparsemble._native import __version__
from sparsemble._report import CodingReport, SampleStatus
from sparsemble.clustering import EnsembleSpectralClustering, SparseSubspaceClustering
from sparsemble.coding import SparseCoder, lambda_max, sparse_encode
from sparsemble.compressive import CompressiveRecovery
from sparsemble.degradation import Operator
from sparsemble.dictionary import DictionaryLearning, MiniBatchDictionaryLearning
from sparsemble.ensemble import EnsembleSparseCoder
from sparsemble.image import imresize
from sparsemble.kmeans import WeightedKMeans, kmeans_parallel
from sparsemble.metrics import adjusted_rand, clustering_accuracy, nmi, psnr, ssim
from sparsemble.model_file import load
from sparsemble.multilevel import MultilevelDictionary
from sparsemble.patch import assemble_patches, extract_patches
from sparsemble.restoration import deblur, denoise, inpaint, restore
from sparsemble.super_resolution import SuperResolution
from sparsemble.weights import EnsembleWeights, ensemble_weights

__all__ = [
    "CodingReport",
    "CompressiveRecovery",
    "DictionaryLearning",
    "EnsembleSparseCoder",
    "EnsembleSpectralClustering",
    "EnsembleWeights",
    "MiniBatchDictionaryLearning",
    "MultilevelDictionary",
    "Operator",
    "SampleStatus",
    "SparseCoder",
    "SparseSubspaceClustering",
    "SuperResolution",
    "WeightedKMeans",
    "__version__",
    "adjusted_rand",
    "assemble_patches",
    "clustering_accuracy",
    "deblur",
    "denoise",
    "ensemble_weights",
    "extract_patches",
    "imresize",
    "inpaint",
    "kmeans_parallel",
    "lambda_max",
    "load",
    "nmi",
    "psnr",
    "restore",
    "sparse_encode",
    "ssim",
]
