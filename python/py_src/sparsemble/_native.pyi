"""The compiled half of the package; its interface may change at any time."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

TOLERANCE: float
"""The library's default of `tol`."""

class Parameters(TypedDict):
    """The parameters of a coder, `None` where not given."""

    method: str
    lam: float | None
    relative_lam: float | None
    max_error: float | None
    max_l1_norm: float | None
    n_nonzero_coefs: int | None
    positive: bool
    atom_weights: NDArray[np.float64] | None
    tol: float
    max_iter: int | None

_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
_Samples: TypeAlias = tuple[_Floats, NDArray[np.uint8] | None, NDArray[np.int64] | None]
_Run: TypeAlias = tuple[int, Callable[[int, int], Any] | None]
_Csr: TypeAlias = tuple[_Floats, NDArray[np.signedinteger], NDArray[np.signedinteger]]
_Report: TypeAlias = tuple[bool, int, float | None, NDArray[np.uint8]]

def encode(
    samples: _Samples, dictionary: _Floats, parameters: Parameters, run: _Run, /
) -> tuple[_Csr, _Report]:
    """Code the rows of `samples[0]`; X and dictionary have the same dtype."""

def lambda_max(samples: _Samples, dictionary: _Floats, run: _Run, /) -> NDArray[np.float64]:
    """Find the smallest λ that gives each row the zero code."""

def address(array: _Floats, /) -> int:
    """Tell where the library reads `array`: in place, or in a copy."""
