"""Models from files, whoever wrote them: this package, the library or the command line."""

import math
import os
import warnings
from collections.abc import Callable
from typing import Any

from sparsemble import _native
from sparsemble.dictionary import DictionaryLearning, MiniBatchDictionaryLearning
from sparsemble.ensemble import EnsembleSparseCoder
from sparsemble.model import TrainedModel
from sparsemble.multilevel import MultilevelDictionary
from sparsemble.super_resolution import SuperResolution

_CLASSES: dict[str, type[TrainedModel]] = {
    "alt-opt": DictionaryLearning,
    "mod": DictionaryLearning,
    "k-svd": DictionaryLearning,
    "online": MiniBatchDictionaryLearning,
    "rand-ex-av": EnsembleSparseCoder,
    "boost-ex": EnsembleSparseCoder,
    "boost-km": EnsembleSparseCoder,
    "ex-mld": MultilevelDictionary,
    "mld": MultilevelDictionary,
}
"""By the method of the training."""

_KINDS: dict[str, type[TrainedModel]] = {
    "dictionary": DictionaryLearning,
    "online": MiniBatchDictionaryLearning,
    "ensemble": EnsembleSparseCoder,
    "multilevel": MultilevelDictionary,
}
"""By what a model is, where the library was not told a method or had a learner of the caller."""


def _whole(text: str, least: int = 0) -> int:
    if not (text.isdecimal() and len(text) <= 20 and int(text) >= least):
        raise ValueError(f"a whole number from {least} on")
    return int(text)


def _count(text: str) -> int:
    return _whole(text, 1)


def _real(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError("a number from 0 on")
    return value


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


_NAMES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "n_components": ("n_atoms", _count),
    "n_estimators": ("n_models", _count),
    "n_levels": ("n_levels", _count),
    "max_iter": ("max_iterations", _whole),
    "tol": ("tolerance", _real),
    "positive_dict": ("nonnegative_atoms", _truth),
    "validation_fraction": ("validation_fraction", _real),
    "patience": ("validation_patience", _count),
    "random_state": ("seed", int),
    "method": ("method", str),
}


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file that an estimator, the library or the command line has written.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : DictionaryLearning, MiniBatchDictionaryLearning, EnsembleSparseCoder, ...
        A fitted estimator of the class whose model it is, with the parameters that the file tells. It
        computes the same bits as the one that was written.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no model file, is damaged, was written by a newer version, or tells a parameter that cannot
        be one.

    Warns
    -----
    UserWarning
        If the file is the checkpoint of a training that has not ended.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import sparsemble
    >>> X = np.random.default_rng(0).standard_normal((100, 4))
    >>> learner = sparsemble.DictionaryLearning(8, n_nonzero_coefs=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learner.save(f"{folder}/model.safetensors")
    ...     again = sparsemble.load(f"{folder}/model.safetensors")
    >>> bool((again.components_ == learner.components_).all())
    True
    """
    model = _native.Model.load(os.fspath(path))
    if not model.is_complete:
        warnings.warn(f"{path} is a checkpoint: its training has not ended", UserWarning, stacklevel=2)
    told = model.provenance
    if model.kind == "upscaler":
        scale = _told(path, told, "scale", _count)
        enlarger = SuperResolution(scale, random_state=int(told["seed"]))
        enlarger._keep(model)
        return enlarger
    cls = _class_of(path, model)
    known = cls().get_params()
    parameters: dict[str, Any] = {
        name: _told(path, told, key, read)
        for name, (key, read) in _NAMES.items()
        if name in known and told.get(key)
    }
    if cls is MultilevelDictionary:
        parameters["examples"] = told["method"] != "mld"
    else:
        prefix = {"method": "coder", "tol": "coder_tol", "max_iter": "coder_max_iter"}
        coder = {prefix.get(name, name): value for name, value in (model.coder or {}).items()}
        coder["phi"] = model.phi
        parameters |= {name: value for name, value in coder.items() if name in known}
    estimator = cls(**parameters)
    estimator._keep(model)
    estimator.n_features_in_ = model.n_inputs
    return estimator


def _class_of(path: str | os.PathLike[str], model: _native.Model) -> type[TrainedModel]:
    method, cls = model.provenance["method"], _KINDS.get(model.kind)
    if cls is None:
        raise ValueError(f"{path}: there is no estimator for a model of the kind {model.kind!r}")
    # A dictionary that was degraded is an ensemble of one; learners of a caller's own have names of his own.
    fits = method in _CLASSES and (model.kind == "multilevel") == (_CLASSES[method] is MultilevelDictionary)
    if not (fits or method == "" or (model.kind == "ensemble" and method.startswith(("boost-", "rand-")))):
        known = ", ".join(_CLASSES)
        raise ValueError(f"{path}: method={method!r} is none of a model of this kind; known are {known}")
    return _CLASSES.get(method, cls)


def _told(path: str | os.PathLike[str], told: dict[str, str], key: str, read: Callable[[str], Any]) -> Any:
    """Read a parameter of the file, which anyone may have written."""
    try:
        return read(told.get(key, ""))
    except ValueError as expected:
        raise ValueError(f"{path}: {key}={told.get(key)!r:.40} must be {expected}") from None
