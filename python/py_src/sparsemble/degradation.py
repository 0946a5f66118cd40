"""Degradations: what happened to samples or pictures before we saw them, z = Φy."""

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse.linalg import LinearOperator

from sparsemble import _native


class Operator:
    """A linear degradation z = Φy of samples or of grey pictures, described by a text.

    ===================================== ================================================================
    spec                                  Φ
    ===================================== ================================================================
    ``identity``                          nothing happened
    ``gaussian:measurements=16,seed=5``   random combinations of all features, normal, of variance 1/16
    ``orthonormal:measurements=16``       the same with orthonormal rows
    ``bernoulli:measurements=16``         ±1/√16 with equal chances
    ``mask:missing=0.5,seed=3``           half of the features are missing
    ``blur:sigma=1.6``                    a Gaussian blur, the border mirrored; samples are square patches
    ``blur:sigma=1.6,decimate=2``         of which every second pixel of every second row is kept
    ===================================== ================================================================

    Projections measure each block of a picture by itself; its measurements are those of the first block,
    then those of the next, row by row.

    Parameters
    ----------
    spec : str
        What Φ is, see above; a seed that is not given is 0.
    shape : int or (int, int)
        The number of features of samples, or height and width of pictures.
    block_size : int, default=8
        The side of the blocks of a picture that projections measure; height and width must be multiples
        of it. The others have no use for it.
    dtype : {float64, float32}, default=float64
        The dtype of what goes in and comes out.

    Attributes
    ----------
    spec : str
        The text, without what is a default.
    shape : (int, int)
        The numbers of measurements and of features: the shape of Φ as a matrix.
    input_shape, output_shape : tuple of int
        The shapes of y and z. That of z is a picture's if what is measured is a picture.
    dtype : dtype
        As given.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import Operator
    >>> blur = Operator("blur:sigma=1.6,decimate=2", (48, 64))
    >>> blur.apply(np.ones((48, 64))).shape
    (24, 32)
    >>> from scipy.sparse.linalg import lsqr
    >>> y = np.arange(6.0)
    >>> mask = Operator("mask:missing=0.5,seed=3", 6)
    >>> found, *_ = lsqr(mask.aslinearoperator(), mask.apply(y))
    >>> bool(np.allclose(mask.apply(found), mask.apply(y)))
    True
    """

    def __init__(
        self, spec: str, shape: int | tuple[int, int], *, block_size: int = 8, dtype: DTypeLike = np.float64
    ) -> None:
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype={dtype!r}: must be float64 or float32")
        self.input_shape = _counts(shape)
        self.block_size = operator.index(block_size)
        if self.block_size < 1:
            raise ValueError(f"block_size={block_size}: must be at least 1")
        self._phi = _native.Operator(spec, list(self.input_shape), self.block_size, self.dtype == np.float32)
        self.spec = self._phi.text
        self.shape = self._phi.shape
        self.output_shape: tuple[int, ...] = self._phi.measured or self.shape[:1]

    def apply(self, y: ArrayLike) -> NDArray[Any]:
        """Degrade: z = Φy.

        Parameters
        ----------
        y : array-like of shape ``(..., *input_shape)``
            A sample or a picture, or any array of them.

        Returns
        -------
        z : ndarray of shape ``(..., *output_shape)``
            What is measured.
        """
        rows, before = self._rows(y, self.input_shape, "y")
        return self._phi.apply(rows).reshape(before + self.output_shape)

    def adjoint(self, z: ArrayLike) -> NDArray[Any]:
        """Apply the adjoint: Φᵀz.

        Parameters
        ----------
        z : array-like of shape ``(..., *output_shape)``
            Measurements, or any array of them.

        Returns
        -------
        y : ndarray of shape ``(..., *input_shape)``
            Each measurement given back to the features it came from.
        """
        rows, before = self._rows(z, self.output_shape, "z")
        return self._phi.adjoint(rows).reshape(before + self.input_shape)

    def aslinearoperator(self) -> LinearOperator:
        """Give Φ to SciPy, whose solvers take pictures as vectors, row by row.

        Returns
        -------
        operator : scipy.sparse.linalg.LinearOperator of shape (n_measurements, n_features)
            Φ and its adjoint.
        """
        n_measurements, n_features = self.shape

        def matvec(y: NDArray[Any]) -> NDArray[Any]:
            return self.apply(np.reshape(y, self.input_shape)).reshape(n_measurements)

        def rmatvec(z: NDArray[Any]) -> NDArray[Any]:
            return self.adjoint(np.reshape(z, self.output_shape)).reshape(n_features)

        return LinearOperator(self.shape, matvec=matvec, rmatvec=rmatvec, dtype=self.dtype)

    def _rows(
        self, array: ArrayLike, shape: tuple[int, ...], name: str
    ) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return the parts of this shape as rows, and the shape of the whole in front of it."""
        whole = np.asarray(array, dtype=self.dtype)
        before = whole.ndim - len(shape)
        if before < 0 or whole.shape[before:] != shape:
            raise ValueError(f"{name} has shape {whole.shape}; it must end in {shape}")
        return whole.reshape(-1, int(np.prod(shape))), whole.shape[:before]

    def __repr__(self) -> str:
        """Show how it was made."""
        shape = self.input_shape if len(self.input_shape) > 1 else self.input_shape[0]
        return f"Operator({self.spec!r}, {shape})"

    def __reduce__(self) -> Any:
        """Pickle what it was made from."""
        return _again, (self.spec, self.input_shape, self.block_size, self.dtype)


def _again(spec: str, shape: tuple[int, ...], block_size: int, dtype: np.dtype[Any]) -> Operator:
    return Operator(spec, shape, block_size=block_size, dtype=dtype)  # type: ignore[arg-type]


def _counts(shape: Any) -> tuple[int, ...]:
    """Return a number, or one or two of them, as positive whole numbers."""
    try:
        counts = tuple(map(operator.index, np.atleast_1d(np.asarray(shape, dtype=object))))
    except TypeError:
        counts = ()
    if len(counts) not in (1, 2) or min(counts) < 1:
        raise ValueError(f"shape={shape!r}: must be a number of features, or height and width of a picture")
    return counts
