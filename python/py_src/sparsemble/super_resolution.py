"""Super-resolution: pictures made larger than they were taken."""

import functools
import math
import numbers
import os
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from sparsemble import _native
from sparsemble._pictures import from_planes, like, of_pictures, several, to_picture_planes
from sparsemble._run import Progress, running
from sparsemble.image import imresize
from sparsemble.metrics import psnr
from sparsemble.model import seed_of

Method = Literal["anchored", "bicubic", "lanczos"]
_METHODS = ("anchored", "bicubic", "lanczos")
_SCALES = (2, 3, 4)


class SuperResolution(TransformerMixin, BaseEstimator):
    """Make pictures larger.

    The brightness is enlarged by stages of anchored ensembles: dictionaries of examples, each atom of which
    carries a linear map. A model for photographs is part of the package, so nothing need be fitted. Colours
    and alpha are enlarged by bicubic interpolation.

    Parameters
    ----------
    scale : float, default=2
        How many times as wide and as high, from 1 to 4. What is not 2, 3 or 4 is reached by the next larger
        of these and an antialiased reduction.
    method : {"anchored", "bicubic", "lanczos"}, default="anchored"
        How the brightness is enlarged. The interpolations are those of MATLAB's ``imresize``.
    n_atoms, n_estimators : int, optional
        For `fit`: the atoms of each dictionary and the dictionaries of each stage, an even number.
    random_state : int, RandomState instance or None, default=0
        For `fit`: the seed.
    n_threads : int, optional
        Exactly this many threads; -1 is all cores. The result is the same bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar. A function is called with ``(done, total)``.

    Notes
    -----
    To scikit-learn it is a transformer of pictures, as its ``PatchExtractor`` is: a step of pipelines and
    searches, but none of tables, so there are no names of features and no `set_output`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import SuperResolution
    >>> rows, columns = np.indices((24, 32))
    >>> image = 128 + 60 * np.sin(0.5 * rows + 0.3 * columns)
    >>> SuperResolution(scale=3).upscale(image).shape
    (72, 96)
    >>> SuperResolution().upscale(image, size=(40, 60)).shape
    (40, 60)

    Several at once, and how near it comes to them from pictures of half their size.

    >>> SuperResolution().transform([image, image.T])[1].shape
    (64, 48)
    >>> SuperResolution().score([image, image.T]) > 30
    True
    """

    def __init__(
        self,
        scale: float = 2,
        *,
        method: Method = "anchored",
        n_atoms: int | None = None,
        n_estimators: int | None = None,
        random_state: Any = 0,
        n_threads: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.scale = scale
        self.method = method
        self.n_atoms = n_atoms
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress

    def fit(self, images: Iterable[ArrayLike], y: Any = None) -> "SuperResolution":
        """Learn from pictures of your own instead of using the model in the package.

        Parameters
        ----------
        images : iterable of arrays of shape (height, width) or (height, width, 3)
            The pictures, uint8, uint16 or floats with black 0 and white 255; of colours, the brightness.
        y : ignored

        Returns
        -------
        self : SuperResolution
        """
        del y
        scale = self._check_scale()
        if scale not in _SCALES:
            raise ValueError(f"scale={self.scale}; to learn it must be 2, 3 or 4")
        pictures = [to_picture_planes(image) for image in several(images)]
        n_atoms, n_models = (0 if size is None else int(size) for size in (self.n_atoms, self.n_estimators))
        settings = (int(scale), n_atoms, n_models, seed_of(self.random_state))
        with running(self.n_threads, self.progress, sum(picture.size for picture in pictures)) as run:
            self._model = _native.train_upscaler(pictures, settings, run)
        return self

    def transform(self, images: Iterable[ArrayLike]) -> Any:
        """Make pictures larger.

        Parameters
        ----------
        images : array-like of shape (n_pictures, height, width[, channels]), or iterable of pictures
            The pictures, each as for `upscale`.

        Returns
        -------
        larger : ndarray of shape (n_pictures, height, width[, channels]), or list of ndarray
            The pictures, in an array if they were in one.
        """
        return like(images, [self.upscale(image) for image in several(images)])

    def score(self, images: Iterable[ArrayLike], y: Any = None) -> float:
        """Say how near to pictures it comes from smaller ones, made by `imresize`.

        Rows and columns beyond a multiple of `scale` do not count.

        Parameters
        ----------
        images : array-like of shape (n_pictures, height, width[, channels]), or iterable of pictures
            The pictures.
        y : ignored
            For searches.

        Returns
        -------
        psnr : float
            The mean PSNR in decibels, the more the better.
        """
        del y
        scale = self._check_scale()
        nearness = []
        for image in several(images):
            small = [int(side // scale) for side in np.shape(image)[:2]]
            if min(small, default=1) < 1:
                raise ValueError(
                    f"images has a picture of shape {np.shape(image)}; "
                    f"both sides must be at least scale={scale:g} pixels"
                )
            height, width = (int(side * scale) for side in small)
            truth = from_planes(to_picture_planes(image), np.shape(image))[:height, :width]
            reduced = imresize(truth, (small[0], small[1]), n_threads=self.n_threads)
            nearness.append(psnr(truth, self.upscale(reduced, size=(height, width))))
        return float(np.mean(nearness))

    def upscale(
        self, image: ArrayLike, *, size: tuple[int, int] | None = None, return_std: bool = False
    ) -> Any:
        """Make a picture larger.

        Parameters
        ----------
        image : array-like of shape (height, width), (height, width, 3) or (height, width, 4)
            The picture, uint8, uint16 or floats with black 0 and white 255; the fourth channel is alpha.
        size : (height, width), optional
            The size to reach instead of `scale` times the old one.
        return_std : bool, default=False
            Also return how far from the truth the brightness of each pixel may be.

        Returns
        -------
        larger : ndarray of float64 of shape (height, width) or (height, width, channels)
            The picture, black 0 and white 255, neither rounded nor clipped.
        std : ndarray of float64 of shape (height, width)
            Only if `return_std`: an estimate of the standard deviation of the error of the brightness, from
            how far the members of the ensemble are apart. It is no bound; zero for interpolation.
        """
        planes = to_picture_planes(image)
        height, width = planes.shape[1:]
        scale = self._check_scale()
        shape = (round(height * scale), round(width * scale)) if size is None else _check_size(size)
        times = max(math.ceil(shape[0] / height), math.ceil(shape[1] / width), _SCALES[0])
        with running(self.n_threads, self.progress, shape[0] * shape[1]) as run:
            larger, std = _native.enlarge(planes, self._method(times), shape, run)
        larger = from_planes(larger, np.shape(image))
        return (larger, std[0]) if return_std else larger

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, for `sparsemble.load` and ``sparsemble upscale --model``.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        if not hasattr(self, "_model"):
            raise ValueError("there is no model of your own to save; fit one first")
        self._model.save(os.fspath(path))

    def _keep(self, model: "_native.Model") -> None:
        self._model = model

    def __sklearn_tags__(self) -> Tags:
        """Pictures are no table, and the package has a model."""
        return of_pictures(super().__sklearn_tags__())

    def _method(self, times: int) -> "str | _native.Model":
        if self.method not in _METHODS:
            raise ValueError(f"method={self.method!r}; it must be one of {', '.join(_METHODS)}")
        if self.method != "anchored":
            return self.method
        if hasattr(self, "_model"):
            return self._model
        return _natural(min(times, _SCALES[-1]))

    def _check_scale(self) -> float:
        if not isinstance(self.scale, numbers.Real) or not 1 <= self.scale <= _SCALES[-1]:
            raise ValueError(f"scale={self.scale!r}; it must be from 1 to {_SCALES[-1]}")
        return float(self.scale)


@functools.cache
def _natural(scale: int) -> "_native.Model":
    """Read the model of the package once."""
    return _native.natural(scale)


def _check_size(size: Any) -> tuple[int, int]:
    if len(size) != 2 or any(not isinstance(side, numbers.Integral) or side < 1 for side in size):
        raise ValueError(f"size={size!r}; it must be (height, width)")
    return (int(size[0]), int(size[1]))
