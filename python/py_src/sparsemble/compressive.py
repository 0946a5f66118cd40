"""Compressive sensing of pictures: few measurements of each block, and the picture back from them."""

import math
import numbers
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sparsemble import _native
from sparsemble._pictures import (
    check_count,
    check_finite,
    check_large_enough,
    check_noise,
    check_picture_shape,
    from_planes,
    of_pictures,
    several,
    to_planes,
)
from sparsemble._run import Progress, running
from sparsemble.degradation import Operator
from sparsemble.metrics import psnr

Kind = Literal["orthonormal", "gaussian", "bernoulli"]
_PIXELS = 64
"""The pixels of a block of the photographs that the library was trained on."""


class CompressiveRecovery(TransformerMixin, BaseEstimator):
    """Compressive sensing: few measurements of each block of a picture, and the picture from them.

    `sense` keeps z = Φy of each block y of pixels and nothing else, not even its mean. `recover` needs no
    training: each block is estimated first by local Gaussians of photographs; then a non-local prior,
    Gaussians that learn from the picture, and the measurements take their turns on the whole picture,
    so that the blocks leave no seams.

    ============ ============================================================
    kind         Φ of a block, n_measurements × block_size²
    ============ ============================================================
    orthonormal  orthonormal rows
    gaussian     normal numbers of variance 1/n_measurements
    bernoulli    ±1/√n_measurements with equal chances
    ============ ============================================================

    Parameters
    ----------
    ratio : float, default=0.25
        The number of measurements as a share of the pixels of a block, above 0 and at most 1.
    n_measurements : int, optional
        The number of measurements of a block, if it is not to follow from `ratio`.
    kind : {"orthonormal", "gaussian", "bernoulli"}, default="orthonormal"
        How Φ is drawn, see above.
    block_size : int, default=8
        The side of a block in pixels. The recovery of blocks other than 8 × 8 has no estimate to start from,
        unless `model` has local Gaussians of them: it is twice as many turns of the non-local prior alone.
    phi : array-like of shape (n_measurements, block_size²), optional
        Φ itself, for the pixels of a block row by row. Nothing is drawn then, and the four parameters above
        and `random_state` have no effect.
    random_state : int, default=0
        The seed of Φ. The same number gives the same Φ, which `sense` and `recover` must share.
    model : path or estimator, optional
        A model of blocks of your own, in the place of that of the library: a file of a model, or an
        `EnsembleSparseCoder`, `DictionaryLearning` or `MultilevelDictionary` that was fitted to float32
        patches of `block_size` × `block_size` pixels, best without their means. Local Gaussians (``sparsemble
        train --method gaussians``) are what the recovery starts from; any other model recovers every block on
        its own, as in the paper, coded as in its training, and leaves their seams.
    noise : float, default=0
        The standard deviation of the noise in the measurements, for recoveries with local Gaussians or by
        turns; other models have their penalty for it. Without noise the recovered picture fits them exactly,
        in every block that is whole.
    n_threads, progress
        How to run, as for `denoise`.

    Attributes
    ----------
    phi_ : ndarray of float64 of shape (n_measurements, block_size²)
        Φ of a block. There is nothing to learn.
    shape_ : tuple of int
        The shape of the pictures given to `fit`, which `inverse_transform` recovers.

    See Also
    --------
    restore : Pictures from anything that an `Operator` has left of them.
    EnsembleSparseCoder.degraded_by : The recovery of single blocks by an ensemble of your own.

    Notes
    -----
    To scikit-learn it is a transformer of pictures, as its ``PatchExtractor`` is: a step of pipelines and
    searches, but none of tables, so there are no names of features and no `set_output`. A `clone` forgets
    what an estimator in `model` has learned; a path, or scikit-learn's ``FrozenEstimator`` around it, keeps
    it.

    Pictures are uint8, uint16 (divided by 257) or floats with black 0 and white 255, as for `denoise`; each
    colour is measured by itself. A picture whose sides are no multiples of `block_size` is continued by its
    last row and column.

    What ``sparsemble sense`` has written is read by ``numpy.load``: `phi`, `z`, `size` (height, width and
    number of colours) and, with ``--means``, `means`. In colours `z` has all blocks of red first, then those
    of green and blue: ``z.reshape(3, -1, len(phi))``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import CompressiveRecovery
    >>> rows, columns = np.indices((40, 50))
    >>> image = 128 + 60 * np.sin(0.2 * rows) * np.cos(0.3 * columns)
    >>> camera = CompressiveRecovery(ratio=0.25, random_state=5)
    >>> z = camera.sense(image)  # 5 × 7 blocks
    >>> z.shape
    (35, 16)
    >>> recovered, std = camera.recover(z, image.shape, return_std=True)
    >>> bool(np.abs(recovered - image).mean() < 2)
    True

    Several pictures of one shape, and how near to them the recovery comes.

    >>> images = np.stack([image, image[::-1]])
    >>> z = camera.fit_transform(images)
    >>> z.shape, camera.inverse_transform(z).shape
    ((2, 35, 16), (2, 40, 50))
    >>> camera.score(images) > 35
    True
    """

    def __init__(
        self,
        ratio: float = 0.25,
        *,
        n_measurements: int | None = None,
        kind: Kind = "orthonormal",
        block_size: int = 8,
        phi: ArrayLike | None = None,
        random_state: int = 0,
        model: Any = None,
        noise: float = 0.0,
        n_threads: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.ratio = ratio
        self.n_measurements = n_measurements
        self.kind = kind
        self.block_size = block_size
        self.phi = phi
        self.random_state = random_state
        self.model = model
        self.noise = noise
        self.n_threads = n_threads
        self.progress = progress

    def fit(self, images: Iterable[ArrayLike], y: Any = None) -> "CompressiveRecovery":
        """Learn nothing but the shape of the pictures, for `inverse_transform`, and check the parameters.

        Parameters
        ----------
        images : array-like of shape (n_pictures, height, width) or (n_pictures, height, width, 3)
            Pictures of one shape, each as for `sense`.
        y : ignored
            For pipelines.

        Returns
        -------
        self : CompressiveRecovery
        """
        del y
        _ = self.phi_, self._own_model()
        check_noise("noise", self.noise)
        self.shape_ = np.shape(_of_one_shape(images)[0])
        return self

    def transform(self, images: Iterable[ArrayLike]) -> NDArray[np.float64]:
        """Measure each block of each picture.

        Parameters
        ----------
        images : array-like of shape (n_pictures, height, width) or (n_pictures, height, width, 3)
            Pictures of one shape, each as for `sense`.

        Returns
        -------
        measurements : ndarray of shape (n_pictures, [3,] n_blocks, n_measurements)
            What `sense` returns of each.
        """
        return np.stack([self.sense(image) for image in _of_one_shape(images)])

    def inverse_transform(self, measurements: Iterable[ArrayLike]) -> NDArray[np.float64]:
        """Recover pictures of the shape that `fit` has seen.

        Parameters
        ----------
        measurements : array-like of shape (n_pictures, [3,] n_blocks, n_measurements)
            What `transform` has returned.

        Returns
        -------
        recovered : ndarray of shape (n_pictures, height, width) or (n_pictures, height, width, 3)
            What `recover` returns of each.
        """
        if not hasattr(self, "shape_"):  # nothing else has to be fitted, so `check_is_fitted` does not look
            raise NotFittedError("the shape of the pictures is not known; call fit first, or use recover")
        recovered = [self.recover(z, self.shape_) for z in measurements]
        if not recovered:
            raise ValueError("measurements has none of any picture; give those of one at least")
        return np.stack(recovered)

    def score(self, images: Iterable[ArrayLike], y: Any = None) -> float:
        """Say how near to pictures it comes from its measurements of them.

        Parameters
        ----------
        images : iterable of array-like of shape (height, width) or (height, width, 3)
            The pictures, each as for `sense`.
        y : ignored
            For searches.

        Returns
        -------
        psnr : float
            The mean PSNR in decibels, the more the better.
        """
        del y
        pairs = ((image, self.recover(self.sense(image), np.shape(image))) for image in several(images))
        return float(np.mean([psnr(image, recovered) for image, recovered in pairs]))

    def sense(self, image: ArrayLike) -> NDArray[np.float64]:
        """Measure each block of a picture.

        Parameters
        ----------
        image : array-like of shape (height, width) or (height, width, 3)
            The picture: uint8, uint16 (divided by 257), or floats with black 0 and white 255.

        Returns
        -------
        measurements : ndarray of shape (n_blocks, n_measurements), or (3, n_blocks, n_measurements)
            z of each block, the blocks row by row; of a picture in colours those of each colour.
        """
        measurements = _native.sense(to_planes(image), self.phi_)
        return measurements[0] if np.ndim(image) == 2 else measurements

    def recover(
        self,
        measurements: ArrayLike,
        shape: tuple[int, ...],
        *,
        means: ArrayLike | None = None,
        return_std: bool = False,
    ) -> Any:
        """Recover a picture from the measurements of its blocks.

        Parameters
        ----------
        measurements : array-like of shape (n_blocks, n_measurements), or (3, n_blocks, n_measurements)
            What `sense` has returned, or measurements made elsewhere with the same Φ.
        shape : (height, width) or (height, width, 3)
            The shape of the picture.
        means : array-like of shape (n_blocks,) or (3, n_blocks), optional
            The mean of every block in grey levels, if they were transmitted too. The list of a file of
            ``sparsemble sense --means`` is taken as it is.
        return_std : bool, default=False
            Also return how far from the truth each pixel may be.

        Returns
        -------
        recovered : ndarray of float64 of this shape
            The picture, black 0 and white 255, neither rounded nor clipped.
        std : ndarray of float64 of this shape
            Only if `return_std`: an estimate of the standard deviation of the error around each pixel, in
            grey levels. It is no bound. Of a `model` other than local Gaussians it is how far the members are
            apart in each block.
        """
        model = self._own_model()
        by_block = model is not None and model.kind != "gaussians"
        function = _native.recover_blocks if by_block else _native.recover
        images, deviations = self._call(function, measurements, shape, (means, model))
        if return_std and deviations is None:
            raise ValueError("return_std=True: the model has no members that could differ; leave it out")
        recovered = from_planes(images, tuple(shape))
        return (recovered, from_planes(deviations, tuple(shape))) if return_std else recovered

    def first_estimate(
        self, measurements: ArrayLike, shape: tuple[int, ...], *, means: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Recover every block on its own: what `recover` starts from, in a small part of its time.

        With a `model` other than local Gaussians `recover` does no more than this.

        Parameters
        ----------
        measurements, shape, means
            As for `recover`.

        Returns
        -------
        estimate : ndarray of float64 of this shape
            The picture, with the seams of its blocks.
        """
        model = self._own_model()
        if model is not None and model.kind != "gaussians":
            images, _ = self._call(_native.recover_blocks, measurements, shape, (means, model))
            return from_planes(images, tuple(shape))
        pixels = self.phi_.shape[1]
        if model is None and pixels != _PIXELS:
            raise ValueError(
                f"only blocks of 8 × 8 pixels have a first estimate, not those of {pixels} pixels"
            )
        images = self._call(_native.first_estimate, measurements, shape, (means, model))
        return from_planes(images, tuple(shape))

    def _call(
        self,
        function: Callable[..., Any],
        measurements: ArrayLike,
        shape: tuple[int, ...],
        known: tuple[ArrayLike | None, _native.Model | None],
    ) -> Any:
        """Check all there is to check, and run a function of the compiled code."""
        means, model = known
        noise = check_noise("noise", self.noise)
        phi = self.phi_
        size = tuple(check_count("shape", side) for side in shape)
        check_picture_shape(f"shape={size}", size)
        if phi.shape[1] < _PIXELS:  # larger blocks make any picture large enough
            check_large_enough(size)
        values = _check_measurements(measurements, phi, size)
        means = None if means is None else _check_means(means, values.shape[:2])
        if noise > 0 and function is _native.recover_blocks:
            raise ValueError(f"noise={self.noise}: the model has its penalty for noise; leave it out")
        with running(self.n_threads, self.progress, int(np.prod(size))) as run:
            return function((values, means), phi, size[:2], (noise, model), run)

    def _own_model(self) -> _native.Model | None:
        """Return the model of a file or of an estimator, if one was given that is of use here."""
        if self.model is None:
            return None
        model: _native.Model | None = None
        if isinstance(self.model, str | PathLike):
            model = _native.Model.load(self.model)
        elif isinstance(self.model, BaseEstimator):
            check_is_fitted(self.model)
            model = getattr(self.model, "_model", None)
        if model is None:
            raise TypeError(
                f"model={self.model!r}: must be a model file, or an estimator of sparsemble that was fitted"
            )
        pixels = self.phi_.shape[1]
        if model.n_features != pixels:
            raise ValueError(
                f"model: approximates {model.n_features} features, but a block has {pixels} pixels; use "
                "blocks of that many, or another model"
            )
        return model

    def __sklearn_tags__(self) -> Tags:
        """Pictures are no table, and nothing has to be learned."""
        return of_pictures(super().__sklearn_tags__())

    @property
    def phi_(self) -> NDArray[np.float64]:
        """Φ of a block."""
        if self.phi is None:
            return self._drawn()
        phi = np.asarray(self.phi, dtype=np.float64)
        if phi.ndim != 2 or phi.size == 0 or math.isqrt(phi.shape[1]) ** 2 != phi.shape[1]:
            raise ValueError(
                f"phi has shape {phi.shape}; it must have a row for each measurement and a column for "
                "each pixel of a square block, such as (16, 64)"
            )
        check_finite("phi", phi)
        return phi

    def _drawn(self) -> NDArray[np.float64]:
        pixels = check_count("block_size", self.block_size) ** 2
        if not isinstance(self.random_state, numbers.Integral) or self.random_state < 0:
            raise ValueError(
                f"random_state={self.random_state!r}: must be a whole number, so that Φ can be drawn again"
            )
        if self.kind not in ("orthonormal", "gaussian", "bernoulli"):
            raise ValueError(f"kind={self.kind!r}: must be 'orthonormal', 'gaussian' or 'bernoulli'")
        spec = f"{self.kind}:measurements={self._count(pixels)},seed={self.random_state}"
        return np.ascontiguousarray(Operator(spec, pixels).apply(np.eye(pixels)).T)

    def _count(self, pixels: int) -> int:
        """Return the number of measurements of a block."""
        if self.n_measurements is not None:
            count = check_count("n_measurements", self.n_measurements)
            if self.kind == "orthonormal" and count > pixels:
                raise ValueError(
                    f"n_measurements={count}: a block of {pixels} pixels has at most {pixels} orthonormal "
                    "rows; take fewer, or another kind"
                )
            return count
        if not isinstance(self.ratio, numbers.Real):
            raise TypeError(f"ratio={self.ratio!r}: must be a number")
        if not 0 < self.ratio <= 1:
            raise ValueError(f"ratio={self.ratio}: must be above 0 and at most 1")
        return max(1, round(self.ratio * pixels))


def _of_one_shape(images: Any) -> list[Any]:
    pictures = several(images)
    shapes = {np.shape(picture) for picture in pictures}
    if len(shapes) > 1:
        found = " and ".join(map(str, sorted(shapes)))
        raise ValueError(f"images: expected pictures of one shape, and found {found}; give them in turn")
    (shape,) = shapes
    check_picture_shape(f"images: a picture has shape {shape}", shape)
    return pictures


def _check_means(means: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return means as `(n_planes, n_blocks)`."""
    values = np.ascontiguousarray(means, dtype=np.float64)
    if values.size != math.prod(shape):
        expected = shape if shape[0] > 1 else shape[1:]
        raise ValueError(f"means has shape {values.shape}; a picture with as many blocks has {expected}")
    check_finite("means", values)
    return values.reshape(shape)


def _check_measurements(
    measurements: ArrayLike, phi: NDArray[np.float64], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return measurements as `(n_planes, n_blocks, n_measurements)`."""
    values = np.ascontiguousarray(measurements, dtype=np.float64)
    side = math.isqrt(phi.shape[1])
    expected: tuple[int, ...] = (math.prod(-(-length // side) for length in shape[:2]), len(phi))
    if len(shape) == 3:
        expected = (shape[2], *expected)
    if values.shape != expected:
        raise ValueError(f"measurements has shape {values.shape}; a picture of shape {shape} has {expected}")
    check_finite("measurements", values)
    return values.reshape(-1, *expected[-2:])
