"""Checks of arrays, in the words of the caller.

The values themselves are checked by the compiled code as it reads them.
"""

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

if TYPE_CHECKING:
    from sparsemble._native import Parameters

FLOATS = [np.float64, np.float32]
"""The dtypes that are used as they are; everything else becomes the first."""

_NUMBER = numbers.Real, "a number"
_COUNT = numbers.Integral, "a whole number"
_KINDS: dict[str, tuple[Any, str]] = {
    "method": (str, "the name of a method"),
    "positive": (bool | np.bool_, "True or False"),
    "atom_weights": (np.ndarray, "an array"),
    "n_nonzero_coefs": _COUNT,
    "max_iter": _COUNT,
}

Samples = tuple[NDArray[Any], NDArray[np.uint8] | None, NDArray[np.int64] | None]


def check_samples(
    X: ArrayLike, dictionary: ArrayLike, mask: ArrayLike | None, exclude: ArrayLike | None
) -> tuple[Samples, NDArray[Any]]:
    """Return `(X, mask, exclude)` and the dictionary as the compiled code takes them, copying little."""
    X = check_array(X, dtype=FLOATS, ensure_all_finite=False, ensure_min_samples=0, input_name="X")
    dictionary = check_array(
        dictionary, dtype=X.dtype, ensure_all_finite=False, ensure_min_samples=0, input_name="dictionary"
    )
    if X.shape[1] != dictionary.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and the atoms of dictionary have {dictionary.shape[1]}; "
            "samples and atoms are rows, so both arrays need the same number of columns"
        )
    return (X, _check_mask(mask, X), _check_exclude(exclude, X)), dictionary


def _check_mask(mask: ArrayLike | None, X: NDArray[Any]) -> NDArray[np.uint8] | None:
    if mask is None:
        return None
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"mask has dtype {mask.dtype}; it must be bool, True where X was observed")
    if mask.shape != X.shape:
        raise ValueError(f"mask has shape {mask.shape}; it must have that of X, {X.shape}")
    return mask.view(np.uint8)


def _check_exclude(exclude: ArrayLike | None, X: NDArray[Any]) -> NDArray[np.int64] | None:
    if exclude is None:
        return None
    exclude = np.asarray(exclude)
    if exclude.dtype.kind not in "iu":
        raise TypeError(f"exclude has dtype {exclude.dtype}; it must hold whole numbers, -1 for no exclusion")
    if exclude.shape != X.shape[:1]:
        raise ValueError(
            f"exclude has shape {exclude.shape}; it must hold one atom for each of {X.shape[0]} samples"
        )
    return exclude.astype(np.int64, order="C")


def check_parameters(parameters: "Parameters") -> None:
    """Refuse parameters of the wrong kind; their ranges are checked by the compiled code."""
    for name, value in parameters.items():
        kind, words = _KINDS.get(name, _NUMBER)
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name}={value!r}: must be {words}")


def check_atom_weights(atom_weights: ArrayLike | None, n_atoms: int) -> NDArray[np.float64] | None:
    """Return the weights as the compiled code takes them."""
    if atom_weights is None:
        return None
    weights = np.asarray(atom_weights, dtype=np.float64)
    if weights.shape != (n_atoms,):
        raise ValueError(
            f"atom_weights has shape {weights.shape}; it must hold one weight for each of {n_atoms} atoms"
        )
    return weights
