"""Multilevel dictionaries: each level codes what the ones before it left over."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from sparsemble import _native
from sparsemble._run import Progress
from sparsemble.model import Callback, TrainedModel


class MultilevelDictionary(TrainedModel):
    """Levels of small dictionaries, each learned from and coding what the levels before leave (MLD, Ex-MLD).

    At each level a sample is coded with one atom of each dictionary of that level, and the mean of these
    approximations is taken away from it. The sum over all levels approximates the sample.

    Parameters
    ----------
    n_components : int, optional
        The atoms of each dictionary, at most the number of samples. None is 16, or the number of samples if
        there are fewer.
    n_levels : int, default=16
        The most levels; there are fewer if too few samples have something left to learn from.
    n_estimators : int, optional
        The dictionaries that are averaged at each level. None is 50. Without `examples` there is one.
    examples : bool, default=True
        True draws the atoms from the samples and what is left of them, at random (Ex-MLD). False clusters
        these around lines through the origin (MLD).
    random_state : int, RandomState instance or None, default=None
        The seed of all draws. The command line gives the same model for the same whole number.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`. The model is the same bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar; a function is called with ``(done, total)``, as for `sparse_encode`. The
        samples of all levels are counted.
    callback : callable, optional
        Called with ``(level, n_levels, error)`` after each level; an exception it raises stops the training.
    checkpoint : str or path-like, optional
        A file that keeps the training after each level. If it is there, `fit` goes on from it to the same
        bits as if it had never stopped; it is removed at the end. Needs a whole number as `random_state`.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse array; data frames (`set_output`) need False.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms of all dictionaries of all levels, one after the other: the order of a code.
    levels_ : list of list of ndarray of shape (n_components, n_features)
        The dictionaries of each level.
    n_levels_ : int
        The levels there are.
    error_curve_ : ndarray of shape (`n_levels_` + 1,)
        The mean energy of the samples, by weight, and of what is left of them after each level.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
        Their names, if `fit` was given names.

    See Also
    --------
    EnsembleSparseCoder : Many dictionaries at one level, with any coder.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import MultilevelDictionary
    >>> X = np.random.default_rng(0).standard_normal((300, 8))
    >>> levels = MultilevelDictionary(16, n_levels=4, n_estimators=10, random_state=0).fit(X)
    >>> levels.transform(X).shape
    (300, 640)
    >>> bool((np.diff(levels.error_curve_) < 0).all())
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_levels: int = 16,
        n_estimators: int | None = None,
        examples: bool = True,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
        callback: Callback = None,
        checkpoint: str | os.PathLike[str] | None = None,
        sparse_output: bool = True,
    ) -> None:
        self.n_components = n_components
        self.n_levels = n_levels
        self.n_estimators = n_estimators
        self.examples = examples
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.sparse_output = sparse_output

    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "MultilevelDictionary":
        """Learn all levels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place; what is left of the samples is kept in memory.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts: its chance to be drawn or its part in the lines, and in the errors.

        Returns
        -------
        self : MultilevelDictionary
            The estimator itself.
        """
        if not self.examples and self.n_estimators is not None:
            raise ValueError(
                "n_estimators has no effect with examples=False, which has one dictionary a level"
            )
        recipe: dict[str, Any] = {
            "method": "ex-mld" if self.examples else "mld",
            "n_components": self.n_components,
            "n_estimators": self.n_estimators,
            "n_levels": self.n_levels,
        }
        self._train(X, sample_weight, recipe).warn()
        return self

    def approximate(self, X: ArrayLike, *, return_spread: bool = False) -> Any:
        """Code samples and add up what the levels make of them, without keeping the codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; converted to the dtype the model was trained in.
        return_spread : bool, default=False
            Also return how far the dictionaries of the levels are apart; there must be at least two a level.

        Returns
        -------
        approximations : ndarray of shape (n_samples, n_features)
            The sum over all levels for each sample.
        spread : ndarray of shape (n_samples,)
            Only if `return_spread`: the root of ``Σ_s mean_l ‖c_sl − c_s‖²``, where ``c_sl`` is what
            dictionary l of level s makes of what was left and ``c_s`` the mean of these, in the unit of the
            samples. It measures the uncertainty, but sees only where the dictionaries differ: it is no bound
            on the error.
        """
        return self._approximate_with_spread(X) if return_spread else self._approximate(X)[0]

    @property
    def levels_(self) -> list[list[NDArray[Any]]]:
        """The dictionaries of each level."""
        check_is_fitted(self)
        sizes = self._model.members
        atoms = np.split(self._model.atoms(), np.cumsum([sum(level) for level in sizes])[:-1])
        return [np.split(part, np.cumsum(level)[:-1]) for part, level in zip(atoms, sizes, strict=True)]

    def _keep(self, model: _native.Model) -> None:
        super()._keep(model)
        self.n_levels_ = len(model.members)
        self.error_curve_ = model.objective
