"""Degradations: what happened to samples or pictures before we saw them, z = Φy."""

import inspect
import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse.linalg import LinearOperator

from sparsemble import _native


class Operator(LinearOperator):  # type: ignore[misc]
    """A linear degradation z = Φy of samples or of pictures, described by a text.

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

    `from_matrix`, `from_mask` and `from_kernel` make one of your own numbers. Projections measure each block
    of a picture by itself; its measurements are those of the first block, then those of the next, row by row.

    It is a `scipy.sparse.linalg.LinearOperator`: solvers of SciPy take it, and ``phi @ y`` works. To SciPy a
    picture is a vector, row by row; `apply` and `adjoint` take and give pictures.

    Parameters
    ----------
    spec : str
        What Φ is, see above; a seed that is not given is 0.
    shape : int or (int, int)
        The number of features of samples, or height and width of pictures.
    block_size : int, default=8
        The side of the blocks of a picture that projections measure. A picture that ends within a block is
        continued by its last row and column. The others have no use for it.
    dtype : {float64, float32}, default=float64
        The dtype of what goes in and comes out.

    Attributes
    ----------
    spec : str or None
        The text, without what is a default; None if it was made of numbers.
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
    >>> found, *_ = lsqr(mask, mask @ y)
    >>> bool(np.allclose(mask @ found, mask @ y))
    True
    >>> Operator.from_kernel(np.full((3, 3), 1 / 9), (48, 64)).apply(np.ones((48, 64, 3))).shape
    (48, 64, 3)
    """

    def __init__(
        self, spec: str, shape: int | tuple[int, int], *, block_size: int = 8, dtype: DTypeLike = np.float64
    ) -> None:
        whole, is_single = _counts(shape), _is_single(dtype)
        side = operator.index(block_size)
        if side < 1:
            raise ValueError(f"block_size={block_size}: must be at least 1")
        built = _native.Operator(spec, list(whole), side, is_single)
        self._keep(built, whole, (_again, (spec, whole, side, dtype)))

    @classmethod
    def from_matrix(
        cls, matrix: ArrayLike, shape: tuple[int, int] | None = None, *, dtype: DTypeLike = np.float64
    ) -> "Operator":
        """Φ as a matrix of your own.

        Parameters
        ----------
        matrix : array-like of shape (n_measurements, n_features)
            A measurement a row. Without `shape` the features are those of samples; with it they are the
            pixels of a picture, row by row, or of each square block of it.
        shape : (int, int), optional
            Height and width of pictures.
        dtype : {float64, float32}, default=float64
            The dtype of what goes in and comes out.

        Returns
        -------
        operator : Operator
            Φ.
        """
        phi = _matrix("matrix", matrix)
        whole = phi.shape[1:] if shape is None else _counts(shape)
        if len(whole) == 2 and math.isqrt(phi.shape[1]) ** 2 != phi.shape[1] != math.prod(whole):
            raise ValueError(
                f"matrix has shape {phi.shape}; it must have a column for each pixel of a picture of shape "
                f"{whole}, or of a square block"
            )
        built = _native.Operator.of_matrix(phi, list(whole), _is_single(dtype))
        return cls._of(built, whole, (_of_matrix, (phi, whole if len(whole) == 2 else None, dtype)))

    @classmethod
    def from_mask(cls, mask: ArrayLike, *, dtype: DTypeLike = np.float64) -> "Operator":
        """Some features are missing, and the others are seen as they are.

        Parameters
        ----------
        mask : bool array of shape (n_features,) or (height, width)
            True where they are missing, as for `inpaint`.
        dtype : {float64, float32}, default=float64
            The dtype of what goes in and comes out.

        Returns
        -------
        operator : Operator
            Φ, which keeps what is seen, in its order.
        """
        missing = np.asarray(mask)
        if missing.dtype != np.bool_:
            raise TypeError(
                f"mask has dtype {missing.dtype}; it must be bool, True where features are missing"
            )
        whole = _counts(missing.shape)
        seen = np.ascontiguousarray(~missing).reshape(-1).view(np.uint8)
        built = _native.Operator.of_mask(seen, _is_single(dtype))
        return cls._of(built, whole, (_of_mask, (missing, dtype)))

    @classmethod
    def from_kernel(
        cls,
        kernel: ArrayLike,
        shape: tuple[int, int],
        *,
        decimate: int = 1,
        dtype: DTypeLike = np.float64,
    ) -> "Operator":
        """A blur by a kernel of your own.

        Parameters
        ----------
        kernel : array-like of shape (odd, odd)
            What a picture is convolved with, the pixel itself in its middle, as by
            ``scipy.ndimage.convolve``. It is taken as it is: one that does not sum to 1 changes the
            brightness.
        shape : (int, int)
            Height and width of pictures.
        decimate : int, default=1
            Every how many pixels one is kept, in both directions.
        dtype : {float64, float32}, default=float64
            The dtype of what goes in and comes out.

        Returns
        -------
        operator : Operator
            Φ.
        """
        taps, whole, step = _matrix("kernel", kernel), _counts(shape), operator.index(decimate)
        if len(whole) != 2 or step < 1:
            raise ValueError(
                f"shape={shape!r}, decimate={decimate}: must be height and width, and at least 1"
            )
        built = _native.Operator.of_kernel(taps, (whole[0], whole[1]), step, _is_single(dtype))
        return cls._of(built, whole, (_of_kernel, (taps, whole, step, dtype)))

    @classmethod
    def _of(cls, built: "_native.Operator", shape: tuple[int, ...], again: Any) -> "Operator":
        made = cls.__new__(cls)
        made._keep(built, shape, again)
        return made

    def _keep(self, built: "_native.Operator", shape: tuple[int, ...], again: Any) -> None:
        """Take what was built, and how to build it again."""
        self._phi, self._made_by = built, again
        self.spec = built.text
        self.input_shape = shape
        super().__init__(np.dtype(again[1][-1]), built.shape)
        self.output_shape: tuple[int, ...] = built.measured or built.shape[:1]

    def apply(self, y: ArrayLike) -> NDArray[Any]:
        """Degrade: z = Φy.

        Parameters
        ----------
        y : array-like of shape ``(..., *input_shape)``, or ``(*input_shape, 3)``
            A sample or a picture, or any array of them; or a picture in colours, each of which is degraded.

        Returns
        -------
        z : ndarray of shape ``(..., *output_shape)``, or ``(*output_shape, 3)``
            What is measured.
        """
        return self._each(self._phi.apply, y, (self.input_shape, self.output_shape), "y")

    def adjoint(self, z: ArrayLike | None = None) -> Any:
        """Apply the adjoint: Φᵀz.

        Parameters
        ----------
        z : array-like of shape ``(..., *output_shape)``, or ``(*output_shape, 3)``, optional
            Measurements, or any array of them; or those of a picture in colours.

        Returns
        -------
        y : ndarray of shape ``(..., *input_shape)``, or ``(*input_shape, 3)``
            Each measurement given back to the features it came from. Without `z`, Φᵀ as SciPy's
            `LinearOperator`.
        """
        if z is None:
            return super().adjoint()
        return self._each(self._phi.adjoint, z, (self.output_shape, self.input_shape), "z")

    def aslinearoperator(self) -> LinearOperator:
        """Return itself: it is a `LinearOperator` of SciPy.

        Returns
        -------
        operator : Operator
            Itself.
        """
        return self

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._matmat(np.reshape(x, (-1, 1))).reshape(-1)

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._rmatmat(np.reshape(x, (-1, 1))).reshape(-1)

    def _matmat(self, X: NDArray[Any]) -> NDArray[Any]:
        return self._phi.apply(np.ascontiguousarray(X.T, dtype=self.dtype)).T

    def _rmatmat(self, X: NDArray[Any]) -> NDArray[Any]:
        return self._phi.adjoint(np.ascontiguousarray(X.T, dtype=self.dtype)).T

    def _each(
        self, work: Any, array: ArrayLike, shapes: tuple[tuple[int, ...], tuple[int, ...]], name: str
    ) -> NDArray[Any]:
        """Do the work on every part of the first shape, which becomes one of the second."""
        whole = np.asarray(array, dtype=self.dtype)
        given, made = shapes
        before = whole.ndim - len(given)
        if before >= 0 and whole.shape[before:] == given:
            rows = whole.reshape(-1, math.prod(given))
            return work(rows).reshape(whole.shape[:before] + made)
        if len(self.input_shape) == 2 and whole.shape == (*given, _COLOURS):
            return np.moveaxis(self._each(work, np.moveaxis(whole, -1, 0), shapes, name), 0, -1)
        raise ValueError(f"{name} has shape {whole.shape}; it must end in {given}")

    def __repr__(self) -> str:
        """Show how it was made."""
        shape = self.input_shape if len(self.input_shape) > 1 else self.input_shape[0]
        what = (
            f"of {self._made_by[0].__name__.removeprefix('_of_')}" if self.spec is None else repr(self.spec)
        )
        return f"Operator({what}, {shape})"

    def __reduce__(self) -> Any:
        """Pickle what it was made from."""
        return self._made_by


# Otherwise `help` shows the `*args` of SciPy's class. The docstring has the types.
Operator.__signature__ = inspect.Signature(
    [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in list(inspect.signature(Operator.__init__).parameters.values())[1:]
    ]
)


_COLOURS = 3


def _again(spec: str, shape: tuple[int, ...], block_size: int, dtype: Any) -> Operator:
    return Operator(spec, shape, block_size=block_size, dtype=dtype)  # type: ignore[arg-type]


def _of_matrix(matrix: NDArray[Any], shape: tuple[int, int] | None, dtype: Any) -> Operator:
    return Operator.from_matrix(matrix, shape, dtype=dtype)


def _of_mask(mask: NDArray[Any], dtype: Any) -> Operator:
    return Operator.from_mask(mask, dtype=dtype)


def _of_kernel(kernel: NDArray[Any], shape: tuple[int, int], decimate: int, dtype: Any) -> Operator:
    return Operator.from_kernel(kernel, shape, decimate=decimate, dtype=dtype)


def _is_single(dtype: DTypeLike) -> bool:
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r}: must be float64 or float32")
    return np.dtype(dtype) == np.float32


def _matrix(name: str, array: ArrayLike) -> NDArray[np.float64]:
    matrix = np.ascontiguousarray(array, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} has shape {matrix.shape}; it must be a matrix")
    return matrix


def _counts(shape: Any) -> tuple[int, ...]:
    """Return a number, or one or two of them, as positive whole numbers."""
    try:
        counts = tuple(map(operator.index, np.atleast_1d(np.asarray(shape, dtype=object))))
    except TypeError:
        counts = ()
    if len(counts) not in (1, 2) or min(counts) < 1:
        raise ValueError(f"shape={shape!r}: must be a number of features, or height and width of a picture")
    return counts
