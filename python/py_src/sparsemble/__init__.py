"""Sparse coding and ensembles of sparse models.

Samples are rows, as in scikit-learn: `X` is `(n_samples, n_features)`, a dictionary is
`(n_atoms, n_features)` and codes are sparse and `(n_samples, n_atoms)`, so that `codes @ dictionary`
approximates `X`. `lam` is the λ of ‖x − aD‖² + λ‖a‖₁, without a ½ in front: scikit-learn's `alpha` is
`lam / 2`.
"""

from sparsemble._native import __version__
from sparsemble._report import CodingReport, SampleStatus
from sparsemble.coding import SparseCoder, lambda_max, sparse_encode

__all__ = [
    "CodingReport",
    "SampleStatus",
    "SparseCoder",
    "__version__",
    "lambda_max",
    "sparse_encode",
]
