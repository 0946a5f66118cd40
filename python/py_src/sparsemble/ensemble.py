"""Ensembles of sparse models: many weak dictionaries, combined by weights."""

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.utils.validation import check_is_fitted

from sparsemble import _native
from sparsemble._run import Progress
from sparsemble._validation import coder_parameters
from sparsemble.coding import SparseCoder
from sparsemble.dictionary import check_method
from sparsemble.model import Callback, TrainedModel


class EnsembleSparseCoder(TrainedModel):
    """Many weak dictionaries D_l whose approximations are combined: x ≈ Σ β_l a_l D_l.

    ========== ============================================== ============================================
    method     dictionaries                                   weights
    ========== ============================================== ============================================
    rand-ex-av samples drawn at random                        all alike
    boost-ex   samples drawn by the errors that are left      by boosting: each round α makes the training
                                                              error least
    boost-km   weighted K-Means‖ centres of the samples, each by boosting, as well
               counting as much as its error that is left
    ========== ============================================== ============================================

    Parameters
    ----------
    n_components : int, optional
        The atoms of each dictionary, at most the number of samples. None is 256, or the number of samples
        if there are fewer.
    n_estimators : int, default=20
        The dictionaries. Boosting makes fewer if no error is left.
    method : {"rand-ex-av", "boost-ex", "boost-km"}, default="boost-km"
        How dictionaries and weights are found, see above.
    coder : {"lasso", "omp", "ormp", "mp", "one-sparse"}, optional
        How samples are coded in each dictionary, in training and after it, see `sparse_encode`. None is
        "omp" if `n_nonzero_coefs` is given, else "lasso".
    lam : float, optional
        λ of the lasso, without ½. It is in the unit of the samples. With nothing else given it is 0.2.
    relative_lam, max_error, max_l1_norm, n_nonzero_coefs, positive
        What to look for instead, as for `sparse_encode`.
    validation_fraction : float, optional
        The fraction of the samples that boosting holds out, to stop early and keep the round that was best
        for them.
    patience : int, default=5
        Stop after this many rounds without a new least error on the samples held out.
    phi : array-like of shape (n_measurements, n_features) or str, optional
        Φ, through which boosting sees the samples when it codes them, as `degraded_by` will: a matrix, or
        the text of an `Operator`. Errors are those of the whole samples. The trained ensemble itself takes
        whole samples.
    coder_tol : float, optional
        The `tol` of `sparse_encode`; None is 1e-6.
    coder_max_iter : int, optional
        The `max_iter` of `sparse_encode`.
    random_state : int, RandomState instance or None, default=None
        The seed of all draws. The command line gives the same model for the same whole number.
    n_threads : int, optional
        Exactly this many threads, as for `sparse_encode`. The model is the same bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar; a function is called with ``(done, total)``, as for `sparse_encode`. The
        samples of all rounds are counted.
    callback : callable, optional
        Called with ``(round, n_estimators, error)`` after each dictionary; the error is None where nothing
        is coded. An exception it raises stops the training.
    checkpoint : str or path-like, optional
        A file that keeps the training after each dictionary. If it is there, `fit` goes on from it to the
        same bits as if it had never stopped; it is removed at the end. Needs a whole number as
        `random_state`.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse array; data frames (`set_output`) need False.

    Attributes
    ----------
    components_ : ndarray of shape (`n_estimators_` * n_components, n_features)
        The atoms of all dictionaries, one after the other: the order of a code.
    estimators_ : list of SparseCoder
        The dictionaries by themselves, each with the coder of the ensemble.
    beta_ : ndarray of shape (`n_estimators_`,)
        β, the weights of the dictionaries.
    alpha_ : ndarray of shape (n_rounds,)
        α of each round of boosting, those beyond the best round of a validation included; empty for
        rand-ex-av.
    training_curve_ : dict of ndarray
        For each round of boosting ``alpha``, the mean squared error of its dictionary alone
        (``member_error``), that of the ensemble so far (``error``), on the samples held out
        (``validation_error``, if there are any), and the samples that did not converge (``unconverged``).
    n_estimators_ : int
        The dictionaries there are.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
        Their names, if `fit` was given names.

    See Also
    --------
    ensemble_weights : The best weights under other constraints.
    MultilevelDictionary : Levels of dictionaries, each for what the ones before leave.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import EnsembleSparseCoder
    >>> X = np.random.default_rng(0).standard_normal((300, 8))
    >>> ensemble = EnsembleSparseCoder(16, n_estimators=5, lam=0.5, random_state=0).fit(X)
    >>> ensemble.transform(X).shape
    (300, 80)
    >>> approximations, spread = ensemble.approximate(X, return_spread=True)
    >>> approximations.shape, spread.shape
    ((300, 8), (300,))
    >>> bool((np.diff(ensemble.training_curve_["error"]) <= 0).all())
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_estimators: int = 20,
        method: Literal["rand-ex-av", "boost-ex", "boost-km"] = "boost-km",
        coder: Literal["lasso", "omp", "ormp", "mp", "one-sparse"] | None = None,
        lam: float | None = None,
        relative_lam: float | None = None,
        max_error: float | None = None,
        max_l1_norm: float | None = None,
        n_nonzero_coefs: int | None = None,
        positive: bool = False,
        validation_fraction: float | None = None,
        patience: int = 5,
        phi: ArrayLike | LinearOperator | str | None = None,
        coder_tol: float | None = None,
        coder_max_iter: int | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        progress: Progress = None,
        callback: Callback = None,
        checkpoint: str | os.PathLike[str] | None = None,
        sparse_output: bool = True,
    ) -> None:
        self.n_components = n_components
        self.n_estimators = n_estimators
        self.method = method
        self.coder = coder
        self.lam = lam
        self.relative_lam = relative_lam
        self.max_error = max_error
        self.max_l1_norm = max_l1_norm
        self.n_nonzero_coefs = n_nonzero_coefs
        self.positive = positive
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.phi = phi
        self.coder_tol = coder_tol
        self.coder_max_iter = coder_max_iter
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.sparse_output = sparse_output

    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "EnsembleSparseCoder":
        """Train the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. float32 and float64 arrays in C or Fortran order, memory-mapped files among them, are
            read in place.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts: its chance to be drawn, and its part in the errors.

        Returns
        -------
        self : EnsembleSparseCoder
            The estimator itself.
        """
        check_method(self.method, ("rand-ex-av", "boost-ex", "boost-km"))
        if self.method == "rand-ex-av" and self.validation_fraction is not None:
            raise ValueError(
                "validation_fraction has no effect with method='rand-ex-av', which never stops early"
            )
        recipe: dict[str, Any] = {
            "method": self.method,
            "n_components": self.n_components,
            "n_estimators": self.n_estimators,
            "coder": coder_parameters(self, self.method),
            "validation_fraction": self.validation_fraction,
            "patience": self.patience,
        }
        self._train(X, sample_weight, recipe, phi=self.phi).warn()
        return self

    def approximate(self, X: ArrayLike, *, return_spread: bool = False) -> Any:
        """Code samples and combine what the dictionaries make of them, without keeping the codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; converted to the dtype the model was trained in.
        return_spread : bool, default=False
            Also return how far the dictionaries are apart; there must be at least two.

        Returns
        -------
        approximations : ndarray of shape (n_samples, n_features)
            Σ β_l a_l D_l for each sample.
        spread : ndarray of shape (n_samples,)
            Only if `return_spread`: the root of ``Σ w_l ‖a_l D_l − x̂‖²`` with ``w_l = |β_l| / Σ|β|``, in
            the unit of the samples. It measures the uncertainty, but sees only where the dictionaries
            differ: it is no bound on the error.
        """
        return self._approximate_with_spread(X) if return_spread else self._approximate(X)[0]

    def with_beta(self, beta: ArrayLike) -> "EnsembleSparseCoder":
        """Return the same dictionaries with other weights, such as those of `ensemble_weights`.

        Parameters
        ----------
        beta : array-like of shape (`n_estimators_`,)
            β.

        Returns
        -------
        weighted : EnsembleSparseCoder
            A fitted copy.
        """
        check_is_fitted(self)
        weights = np.asarray(beta, dtype=np.float64)
        if weights.shape != (self.n_estimators_,):
            raise ValueError(
                f"beta has shape {weights.shape}; it must hold a weight for each of {len(self.beta_)} models"
            )
        return self._with(self._model.with_beta(weights.tolist()))

    @property
    def estimators_(self) -> list[SparseCoder]:
        """The dictionaries by themselves, each with the coder of the ensemble."""
        check_is_fitted(self)
        if self._model.n_inputs != self._model.n_features or self._model.coder is None:
            raise AttributeError("a degraded ensemble has no dictionaries that code by themselves")
        parameters = dict(self._model.coder)
        parameters["transform_max_iter"] = parameters.pop("max_iter", None)
        ends = np.cumsum(self._model.members[0])
        return [SparseCoder(atoms, **parameters) for atoms in np.split(self._model.atoms(), ends[:-1])]

    def _keep(self, model: _native.Model) -> None:
        super()._keep(model)
        levels = model.beta
        self.beta_: NDArray[np.float64] = levels[0] if levels else np.ones(1)
        self.training_curve_ = model.curve
        self.alpha_ = self.training_curve_["alpha"]
        self.n_estimators_ = len(self.beta_)
