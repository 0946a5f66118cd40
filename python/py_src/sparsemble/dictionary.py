"""Dictionary learning: one dictionary by turns of coding and updating, all samples at a time or a few."""

import os
import warnings
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from sparsemble import _native
from sparsemble._report import limits_of
from sparsemble._run import Progress, running
from sparsemble._validation import FLOATS, check_weights, coder_parameters, native
from sparsemble.model import Callback, TrainedModel


class SingleDictionary(TrainedModel):
    """What the estimators that learn one dictionary share; not to be used itself."""

    method: str

    def _recipe(self, start: Any) -> dict[str, Any]:
        recipe = {
            "method": self.method,
            "n_components": self.n_components,
            "coder": coder_parameters(self, self.method),
            "max_iter": self.max_iter,
            "positive_dict": self.positive_dict,
        }
        if start is not None:
            if self.n_components not in (None, len(start)):
                raise ValueError(
                    f"n_components={self.n_components}, and dict_init has {len(start)} atoms; leave one out"
                )
            recipe["n_components"] = len(start)
        return recipe

    def _keep(self, model: _native.Model) -> None:
        super()._keep(model)
        self.objective_curve_ = model.objective
        batches = model.provenance["method"] == "online"
        self.n_iter_ = max(len(self.objective_curve_) - (0 if batches else 1), 0)
        self.error_ = float(self.objective_curve_[-1]) if len(self.objective_curve_) else float("nan")


class DictionaryLearning(SingleDictionary):
    """Learn a dictionary in which samples have sparse codes (Alt-Opt, MOD, K-SVD).

    It minimises the mean of ‖x − aD‖² + λ‖a‖₁ over the codes a and the atoms D, which have unit norm, by
    turns; with a greedy coder, or a bound on error or norm, the error ‖x − aD‖² alone. It starts from the
    centres of a weighted K-Means‖. Atoms that no sample uses are replaced by the samples that are represented
    worst. `fit` and `transform` use the same coder, so that ``fit_transform(X)`` is ``fit(X).transform(X)``.

    ======= ==================================================== ==========================
    method  how atoms follow from codes                          coder by default
    ======= ==================================================== ==========================
    alt-opt block coordinate descent; the objective never rises  lasso with ``lam=0.2``
    mod     the method of optimal directions: least squares      lasso with ``lam=0.2``
    k-svd   approximate K-SVD: each atom with its coefficients   omp, 5 atoms a sample
    ======= ==================================================== ==========================

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, at most that of the samples (of positive weight). None is 256, or the number of
        samples if there are fewer; with `dict_init` it is the number of its atoms.
    method : {"alt-opt", "mod", "k-svd"}, default="alt-opt"
        How atoms are updated, see above.
    coder : {"lasso", "omp", "ormp", "mp", "one-sparse"}, optional
        How samples are coded, see `sparse_encode`. None is "omp" if `n_nonzero_coefs` is given, else that of
        the method.
    lam : float, optional
        λ of the lasso. There is no ½ in front of the error: scikit-learn's `alpha` is `lam / 2`. It is in
        the unit of the samples: at `lambda_max` and above every code is zero.
    n_nonzero_coefs : int, optional
        The most atoms in a code, for the greedy coders.
    max_error : float, optional
        The largest squared error of a sample, for the greedy coders and, without `lam`, for the lasso.
    max_l1_norm : float, optional
        The largest ‖a‖₁ of a code, for the lasso without `lam`.
    positive : bool, default=False
        Allow only positive coefficients (lasso and one-sparse).
    positive_dict : bool, default=False
        Allow no negative entry of an atom ("alt-opt"). The atoms to start from lose their signs.
    max_iter : int, optional
        The most updates of the atoms; None is 50.
    tol : float, default=1e-4
        Stop when an iteration changes the objective by less than this fraction of it.
    coder_tol : float, optional
        The `tol` of `sparse_encode`: the duality gap at which the code of a sample is finished. None is
        1e-6.
    coder_max_iter : int, optional
        The `max_iter` of `sparse_encode`: the most passes over the dictionary for the code of a sample.
    dict_init : array-like of shape (n_components, n_features), optional
        The atoms to start from (warm start), scaled to unit norm.
    random_state : int, RandomState instance or None, default=None
        The seed of the start. The command line gives the same model for the same whole number.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`. The model is the same bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar; a function is called with ``(done, total)``, as for `sparse_encode`. The
        samples of all iterations are counted.
    callback : callable, optional
        Called with ``(iteration, max_iter, objective)`` after each iteration, where the objective is that
        before its update. An exception it raises stops the training.
    checkpoint : str or path-like, optional
        A file that keeps the training after each iteration. If it is there, `fit` goes on from it to the
        same bits as if it had never stopped; it is removed at the end. Needs a whole number as
        `random_state`.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse array; data frames (`set_output`) need False.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, in the dtype of the samples.
    objective_curve_ : ndarray of shape (`n_iter_` + 1,)
        The objective of the start and after each iteration.
    error_ : float
        The last of the curve: the objective of `components_`.
    n_iter_ : int
        The updates of the atoms that were done.
    converged_ : bool
        Whether `tol` was reached; there is a `ConvergenceWarning` if not.
    atom_usage_ : ndarray of shape (n_components,)
        The part of the samples, by weight, that use each atom.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
        Their names, if `fit` was given names.

    See Also
    --------
    MiniBatchDictionaryLearning : The same for data that is large or comes in portions.
    EnsembleSparseCoder : Many weak dictionaries, combined.
    sparse_encode : Coding against a dictionary that is known.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import DictionaryLearning
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.standard_normal((5, 8))
    >>> X = rng.choice([0.0, 0.0, 1.0], size=(200, 5)) @ atoms
    >>> learner = DictionaryLearning(5, lam=0.1, tol=1e-3, random_state=0)
    >>> codes = learner.fit_transform(X)
    >>> codes.shape, learner.components_.shape
    ((200, 5), (5, 8))
    >>> bool(learner.objective_curve_[-1] < learner.objective_curve_[0])
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: Literal["alt-opt", "mod", "k-svd"] = "alt-opt",
        coder: Literal["lasso", "omp", "ormp", "mp", "one-sparse"] | None = None,
        lam: float | None = None,
        n_nonzero_coefs: int | None = None,
        max_error: float | None = None,
        max_l1_norm: float | None = None,
        positive: bool = False,
        positive_dict: bool = False,
        max_iter: int | None = None,
        tol: float = 1e-4,
        coder_tol: float | None = None,
        coder_max_iter: int | None = None,
        dict_init: ArrayLike | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
        callback: Callback = None,
        checkpoint: str | os.PathLike[str] | None = None,
        sparse_output: bool = True,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.coder = coder
        self.lam = lam
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_error = max_error
        self.max_l1_norm = max_l1_norm
        self.positive = positive
        self.positive_dict = positive_dict
        self.max_iter = max_iter
        self.tol = tol
        self.coder_tol = coder_tol
        self.coder_max_iter = coder_max_iter
        self.dict_init = dict_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.sparse_output = sparse_output

    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "DictionaryLearning":
        """Learn the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts in the objective. From the same `dict_init` a weight of n is the
            same as n copies of the sample.

        Returns
        -------
        self : DictionaryLearning
            The estimator itself.
        """
        check_method(self.method, ("alt-opt", "mod", "k-svd"))
        recipe = self._recipe(self.dict_init) | {"tol": self.tol}
        training = self._train(X, sample_weight, recipe, dict_init=self.dict_init)
        self.converged_ = training.converged
        training.warn()
        self.atom_usage_ = training.usage
        coder = self._model.coder
        if coder is not None and not training.usage.any() and self.error_ > 0.0:
            limits = limits_of(coder)
            message = f"every code of the training is zero: relax {limits}"
            warnings.warn(message, UserWarning, stacklevel=2)
        return self


class MiniBatchDictionaryLearning(SingleDictionary):
    """Learn a dictionary from a few samples at a time, for data that is large or never ends.

    The objective is that of `DictionaryLearning`. After each 512 samples, in a random order, the atoms move
    by block coordinate descent; `partial_fit` takes the samples it is given as one such batch. Batches count
    the less the older they are.

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, as for `DictionaryLearning`.
    coder, lam, n_nonzero_coefs, max_error, max_l1_norm, positive
        How samples are coded, as for `DictionaryLearning`; by default the lasso with ``lam=0.2``.
    positive_dict : bool, default=False
        Allow no negative entry of an atom. The atoms to start from lose their signs.
    max_iter : int, optional
        How often `fit` sees every sample. None is 1.
    coder_tol : float, optional
        The duality gap at which the code of a sample is finished. None is 1e-3: a code is used once, for
        atoms that are about to change.
    coder_max_iter : int, optional
        The most passes over the dictionary for the code of a sample.
    dict_init : array-like of shape (n_components, n_features), optional
        The atoms to start from, scaled to unit norm. None is the centres of a weighted K-Means‖.
    random_state : int, RandomState instance or None, default=None
        The seed of the start and of the order of the samples.
    n_threads, progress
        How to run, as for `sparse_encode`.
    callback : callable, optional
        Called with ``(portion, of, objective)`` after each twentieth of the samples.
    checkpoint : str or path-like, optional
        A file that keeps the training, as for `DictionaryLearning`.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse array; data frames (`set_output`) need False.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, in the dtype of the samples.
    objective_curve_ : ndarray of shape (`n_iter_`,)
        The objective of each batch before it was learned from.
    error_ : float
        The last of the curve.
    n_iter_ : int
        The batches that were learned from.
    converged_ : bool
        True: there is always more to learn, and nothing to wait for.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
        Their names, if `fit` was given names.

    See Also
    --------
    DictionaryLearning : The same with all samples at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import MiniBatchDictionaryLearning
    >>> rng = np.random.default_rng(0)
    >>> learner = MiniBatchDictionaryLearning(16, lam=0.1, random_state=0)
    >>> for _ in range(3):
    ...     learner = learner.partial_fit(rng.standard_normal((200, 8)))
    >>> learner.n_iter_, learner.components_.shape
    (3, (16, 8))
    """

    method = "online"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        coder: Literal["lasso", "omp", "ormp", "mp", "one-sparse"] | None = None,
        lam: float | None = None,
        n_nonzero_coefs: int | None = None,
        max_error: float | None = None,
        max_l1_norm: float | None = None,
        positive: bool = False,
        positive_dict: bool = False,
        max_iter: int | None = None,
        coder_tol: float | None = None,
        coder_max_iter: int | None = None,
        dict_init: ArrayLike | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
        callback: Callback = None,
        checkpoint: str | os.PathLike[str] | None = None,
        sparse_output: bool = True,
    ) -> None:
        self.n_components = n_components
        self.coder = coder
        self.lam = lam
        self.n_nonzero_coefs = n_nonzero_coefs
        self.max_error = max_error
        self.max_l1_norm = max_l1_norm
        self.positive = positive
        self.positive_dict = positive_dict
        self.max_iter = max_iter
        self.coder_tol = coder_tol
        self.coder_max_iter = coder_max_iter
        self.dict_init = dict_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.sparse_output = sparse_output

    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "MiniBatchDictionaryLearning":
        """Learn the dictionary, forgetting what was learned before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts in the objective.

        Returns
        -------
        self : MiniBatchDictionaryLearning
            The estimator itself.
        """
        training = self._train(X, sample_weight, self._recipe(self.dict_init), dict_init=self.dict_init)
        self.converged_ = True
        training.warn()
        return self

    def partial_fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "MiniBatchDictionaryLearning":
        """Go on learning with these samples as one mini-batch.

        The first call chooses the atoms to start from: `dict_init`, or the cluster centres of its samples.
        After `fit` it goes on from the atoms of that, without a memory of its samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; better not many fewer than there are atoms.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts; weights of different calls are compared with each other.

        Returns
        -------
        self : MiniBatchDictionaryLearning
            The estimator itself.
        """
        fitted = hasattr(self, "_model")
        start = self._model.atoms() if fitted else self.dict_init
        dtype = self._dtype if fitted else FLOATS
        samples = validate_data(self, native(X), dtype=dtype, reset=not fitted, ensure_all_finite=False)
        weights = check_weights(sample_weight, samples)
        if not fitted or self._model.kind != "online":
            self._begin(samples, weights, self._recipe(start), start)
        with running(self.n_threads, self.progress, len(samples)) as run:
            self._keep(self._model.partial_fit(samples, weights, run))
        self.converged_ = True
        return self


def check_method(method: str, known: tuple[str, ...]) -> None:
    """Refuse a method that another estimator has, or none."""
    if method not in known:
        raise ValueError(f"method={method!r} is not known; use one of {', '.join(map(repr, known))}")
