"""Models from files, whoever wrote them: this package, the library or the command line."""

import os
import warnings
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
    "dictionary": DictionaryLearning,
    "ensemble": EnsembleSparseCoder,
    "multilevel": MultilevelDictionary,
}
_NAMES = {
    "n_components": ("n_atoms", int),
    "n_estimators": ("n_models", int),
    "n_levels": ("n_levels", int),
    "max_iter": ("max_iterations", int),
    "tol": ("tolerance", float),
    "positive_dict": ("nonnegative_atoms", bool),
    "validation_fraction": ("validation_fraction", float),
    "patience": ("validation_patience", int),
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
        If it is no model file, is damaged, or was written by a newer version.

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
        enlarger = SuperResolution(int(told["scale"]), random_state=int(told["seed"]))
        enlarger._keep(model)
        return enlarger
    cls = _CLASSES.get(told["method"]) or _CLASSES[model.kind]
    known = cls().get_params()
    parameters: dict[str, Any] = {
        name: read(told[key]) for name, (key, read) in _NAMES.items() if name in known and told.get(key)
    }
    if cls is MultilevelDictionary:
        parameters["examples"] = told["method"] != "mld"
    else:
        prefix = {"method": "coder", "tol": "coder_tol", "max_iter": "coder_max_iter"}
        coder = {prefix.get(name, name): value for name, value in (model.coder or {}).items()}
        parameters |= {name: value for name, value in coder.items() if name in known}
    estimator = cls(**parameters)
    estimator._keep(model)
    estimator.n_features_in_ = model.n_inputs
    return estimator
