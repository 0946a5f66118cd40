"""Checks of arrays, in the words of the caller.

The values themselves are checked by the compiled code as it reads them.
"""

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

from sparsemble import _native

if TYPE_CHECKING:
    from sparsemble._parameters import Parameters

FLOATS = [np.float64, np.float32]
"""The dtypes that are used as they are; everything else becomes the first."""

_NUMBER = numbers.Real, "a number"
_COUNT = numbers.Integral, "a whole number"
_KINDS: dict[str, tuple[Any, str]] = {
    "method": (str, "the name of a method"),
    "positive": (bool | np.bool_, "True or False"),
    "positive_dict": (bool | np.bool_, "True or False"),
    "atom_weights": (np.ndarray, "an array"),
    "argument": (str, "a name"),
    "coder": (dict, "parameters"),
    "n_nonzero_coefs": _COUNT,
    "max_iter": _COUNT,
    "n_components": _COUNT,
    "n_estimators": _COUNT,
    "n_levels": _COUNT,
    "patience": _COUNT,
    "n_atoms": _COUNT,
    "n_neighbors": _COUNT,
    "coder_max_iter": _COUNT,
    "max_clusters": _COUNT,
    "n_eigenvectors": _COUNT,
    "n_init": _COUNT,
    "eigen_max_iter": _COUNT,
    "centre": (str, "the name of a centre, or 'none'"),
    "scale": (str, "the name of a scale, or 'none'"),
    "unit_norm": (bool | np.bool_, "True or False"),
}
_NEEDED = ("argument", "method", "positive", "max_clusters", "centre", "scale", "unit_norm")

Samples = tuple[NDArray[Any], NDArray[np.uint8] | None, NDArray[np.int64] | None, NDArray[np.float64] | None]


def native(X: Any) -> Any:
    """Return an array in the byte order of this machine: only then its dtype can be one of FLOATS."""
    foreign = isinstance(X, np.ndarray) and not X.dtype.isnative
    return X.astype(X.dtype.newbyteorder("=")) if foreign else X


def check_samples(
    X: ArrayLike,
    dictionary: ArrayLike,
    mask: ArrayLike | None,
    exclude: ArrayLike | None,
    atom_weights: ArrayLike | None = None,
) -> tuple[Samples, NDArray[Any], NDArray[np.float64] | None]:
    """Return the samples and what is special about each, the dictionary, and the weights for all samples."""
    rows = _table("X", native(X), FLOATS)
    atoms = _table("dictionary", dictionary, [rows.dtype])
    if rows.shape[1] != atoms.shape[1]:
        raise ValueError(
            f"X has {rows.shape[1]} features and the atoms of dictionary have {atoms.shape[1]}; "
            "samples and atoms are rows, so both arrays need the same number of columns"
        )
    weights = _check_atom_weights(atom_weights, len(rows), len(atoms))
    by_sample = weights is not None and weights.ndim == 2
    samples = (
        rows,
        _check_mask(mask, rows.shape),
        _check_exclude(exclude, len(rows)),
        weights if by_sample else None,
    )
    return samples, atoms, None if by_sample else weights


def _table(name: str, given: Any, dtypes: list[Any]) -> NDArray[Any]:
    """Return an array of one of these dtypes, the first of them if it has another.

    What is as it should be is not looked at closer: that takes longer than coding a hundred samples.
    """
    if type(given) is np.ndarray and given.ndim == 2 and given.shape[1] > 0 and given.dtype in dtypes:
        return given
    if np.iscomplexobj(given):
        raise ValueError(f"Complex data not supported: {name} has complex values; code both their parts")
    table: NDArray[Any] = check_array(
        given, dtype=dtypes, ensure_all_finite=False, ensure_min_samples=0, input_name=name
    )
    return table


def _check_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    if mask is None:
        return None
    observed = np.asarray(mask)
    if observed.dtype != np.bool_:
        raise TypeError(f"mask has dtype {observed.dtype}; it must be bool, True where X was observed")
    if observed.shape != shape:
        raise ValueError(f"mask has shape {observed.shape}; it must have that of X, {shape}")
    return observed.view(np.uint8)


def _check_exclude(exclude: ArrayLike | None, n_samples: int) -> NDArray[np.int64] | None:
    if exclude is None:
        return None
    atoms = np.asarray(exclude)
    if atoms.dtype.kind not in "iu":
        raise TypeError(f"exclude has dtype {atoms.dtype}; it must hold whole numbers, -1 for no exclusion")
    if atoms.shape != (n_samples,):
        raise ValueError(
            f"exclude has shape {atoms.shape}; it must hold one atom for each of {n_samples} samples"
        )
    return atoms.astype(np.int64, order="C")


def _check_atom_weights(
    atom_weights: ArrayLike | None, n_samples: int, n_atoms: int
) -> NDArray[np.float64] | None:
    if atom_weights is None:
        return None
    weights = np.asarray(atom_weights, dtype=np.float64)
    if weights.shape not in ((n_atoms,), (n_samples, n_atoms)):
        raise ValueError(
            f"atom_weights has shape {weights.shape}; it must hold one weight for each of {n_atoms} atoms, "
            f"or a row of them for each of {n_samples} samples"
        )
    return weights


def check_parameters(parameters: Mapping[str, Any], prefix: str = "") -> None:
    """Refuse parameters of the wrong kind; their ranges are checked by the compiled code.

    `prefix` is what the caller puts before the names of the coder's `tol` and `max_iter`.
    """
    for name, value in parameters.items():
        kind, words = _KINDS.get(name, _NUMBER)
        left_out = value is None and name not in _NEEDED and (name != "tol" or "argument" not in parameters)
        if not left_out and not isinstance(value, kind):
            shown = prefix + name if name in ("tol", "max_iter") else name
            raise TypeError(f"{shown}={value!r}: must be {words}")


def check_weights(sample_weight: ArrayLike | None, X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the weights of samples as the compiled code takes them."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def coder_parameters(estimator: Any, method: str) -> "Parameters":
    """Return the coder that the parameters of an estimator ask for; by default that of its method."""
    limits = ("lam", "relative_lam", "ridge", "max_error", "max_l1_norm", "min_gain", "n_nonzero_coefs")
    limit = {name: getattr(estimator, name, None) for name in limits}
    default = _native.defaults(method)["coder"]
    name = estimator.coder
    if name is None:
        name = "omp" if limit["n_nonzero_coefs"] is not None else default["method"]
    if name == default["method"] and all(value is None for value in limit.values()):
        limit |= {name: value for name, value in default.items() if name in limits}
    parameters: Parameters = {
        "argument": "coder",
        "method": name,
        **limit,  # type: ignore[typeddict-item]
        "positive": estimator.positive,
        "atom_weights": None,
        "tol": default.get("tol", _native.TOLERANCE) if estimator.coder_tol is None else estimator.coder_tol,
        "max_iter": estimator.coder_max_iter,
    }
    check_parameters(parameters, prefix="coder_")
    return parameters


def check_phi(phi: ArrayLike | LinearOperator | str, dtype: Any) -> NDArray[Any] | str:
    """Return Φ as the compiled code takes it: a text, or a matrix."""
    if isinstance(phi, str):
        return phi
    if isinstance(phi, LinearOperator):
        phi = phi.matmat(np.eye(phi.shape[1], dtype=phi.dtype))
    matrix: NDArray[Any] = check_array(phi, dtype=dtype, input_name="phi")
    return matrix
