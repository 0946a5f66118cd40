"""Pictures as the compiled code takes them: planes of grey levels, black 0 and white 255."""

import numbers
import operator
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

_CHANNELS = 3
_STEPS_OF_16_BITS = 257.0
"""Stored steps of a 16-bit sample in one grey level."""
_SMALLEST = 8
"""The shorter side of the smallest picture that has the patches of the prior."""
_MOST_NOISE = 1e6
"""More noise than any picture has, as in the compiled code."""


def to_planes(
    image: ArrayLike,
    missing: NDArray[np.bool_] | None = None,
    *,
    any_unit: bool = False,
    name: str = "image",
) -> NDArray[np.float64]:
    """Return a picture as planes of shape `(n_planes, height, width)`; what is `missing` becomes 0.

    `any_unit` is for what does not depend on where white is, `name` that of the argument.
    """
    pixels = np.asarray(image)
    check_picture_shape(f"{name} has shape {pixels.shape}", pixels.shape)
    planes = _to_planes(pixels, missing, name)
    if not any_unit and pixels.dtype.kind == "f":
        warn_of_small_unit([planes], stacklevel=4)
    return planes


def to_picture_planes(image: ArrayLike) -> NDArray[np.float64]:
    """Return a picture that may have alpha as planes of shape `(n_planes, height, width)`."""
    pixels = np.asarray(image)
    has_alpha = pixels.ndim == 3 and pixels.shape[2] == _CHANNELS + 1 and min(pixels.shape) > 0
    planes = _to_planes(pixels, None, "image") if has_alpha else to_planes(pixels, any_unit=True)
    warn_of_small_unit([pixels], stacklevel=4)
    return planes


def _to_planes(pixels: NDArray[Any], missing: NDArray[np.bool_] | None, name: str) -> NDArray[np.float64]:
    if pixels.dtype.kind not in "uif":
        raise TypeError(f"{name} has dtype {pixels.dtype}; it must be uint8, uint16 or floats from 0 to 255")
    planes = np.array(_channels_first(pixels), dtype=np.float64, order="C")
    if pixels.dtype == np.uint16:
        planes /= _STEPS_OF_16_BITS
    if missing is not None:
        planes[missing] = 0.0
    check_finite(name, planes, "replace them first, or let `inpaint` fill them in")
    return planes


def warn_of_small_unit(pictures: list[NDArray[Any]], stacklevel: int) -> None:
    """Warn, once, of pictures whose white is 1."""
    if any(p.dtype.kind == "f" and 0.0 < p.max() <= 1.0 and p.min() >= 0.0 for p in pictures):
        warnings.warn(
            "the values of image lie between 0 and 1, which is next to black: white is 255 for floats too; "
            "multiply by 255",
            UserWarning,
            stacklevel=stacklevel,
        )


def to_missing(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a mask for all channels, or for each, as planes like those of a picture of this shape."""
    missing = np.asarray(mask)
    if missing.dtype != np.bool_:
        raise TypeError(f"mask has dtype {missing.dtype}; it must be bool, True where pixels are missing")
    if missing.shape not in (shape, shape[:2]):
        raise ValueError(f"mask has shape {missing.shape}; it must have that of image, {shape}")
    planes = np.broadcast_to(_channels_first(missing), (_channels(shape), *shape[:2]))
    if planes.all(axis=(1, 2)).any():
        raise ValueError("mask is True everywhere; at least one pixel must be known")
    return np.ascontiguousarray(planes)


def from_planes(planes: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return planes as a picture of this shape."""
    return planes[0] if len(shape) == 2 else np.ascontiguousarray(np.moveaxis(planes, 0, -1))


def check_picture_shape(said: str, shape: tuple[int, ...]) -> None:
    """Refuse what is the shape of no picture, by what was `said` of it."""
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] != _CHANNELS):
        raise ValueError(f"{said}; it must be (height, width), or (height, width, 3) for colours")
    if min(shape) < 1:
        raise ValueError(f"{said}; there must be at least one pixel")


def check_large_enough(shape: tuple[int, ...]) -> None:
    """Refuse a picture that is smaller than a patch."""
    if min(shape[:2]) < _SMALLEST:
        raise ValueError(f"the picture has shape {shape}; both sides must be at least {_SMALLEST} pixels")


def check_finite(name: str, array: NDArray[np.float64], fix: str = "replace them first") -> None:
    """Refuse NaN and infinity."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are NaN or infinite; {fix}")


def check_noise(name: str, value: Any) -> float:
    """Return a standard deviation."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r}: must be a number")
    deviation = float(value)
    if not 0 <= deviation <= _MOST_NOISE:
        raise ValueError(f"{name}={value}: must be zero or more, and at most {_MOST_NOISE:.0f} grey levels")
    return deviation


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number that is not too small."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: must be a whole number") from None
    if count < least:
        raise ValueError(f"{name}={count}: must be at least {least}")
    return count


def several(images: Any) -> list[Any]:
    """Return pictures one by one, or say that it is only one, or none."""
    shape = np.shape(images) if isinstance(images, np.ndarray) else ()
    if len(shape) == 2 or (len(shape) == 3 and shape[2] in (_CHANNELS, _CHANNELS + 1)):
        raise ValueError(
            f"images has shape {shape}, which is that of one picture; give [images], or a list of pictures"
        )
    pictures = list(images)
    if not pictures:
        raise ValueError("images has no picture; give one at least")
    return pictures


def like(given: Any, pictures: list[NDArray[Any]]) -> Any:
    """Return pictures in one array if those given were in one, else in a list."""
    return np.stack(pictures) if isinstance(given, np.ndarray) else pictures


def of_pictures(tags: Tags) -> Tags:
    """Return the tags of an estimator of pictures: they are no table, and nothing has to be learned."""
    tags.input_tags.two_d_array = False
    tags.input_tags.three_d_array = True
    tags.requires_fit = False
    return tags


def _channels(shape: tuple[int, ...]) -> int:
    return shape[2] if len(shape) == 3 else 1


def _channels_first(pixels: NDArray[Any]) -> NDArray[Any]:
    return pixels[np.newaxis] if pixels.ndim == 2 else np.moveaxis(pixels, -1, 0)
