"""What all estimators with a trained model share: training, coding, approximating, saving."""

import copy
import numbers
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsemble import _native
from sparsemble._report import CodingReport, help_for_codes, warn_of_shortfall, warn_of_zeros
from sparsemble._run import running
from sparsemble._validation import FLOATS, check_parameters, check_phi, check_weights, native

if TYPE_CHECKING:
    from sparsemble._parameters import RecipeParameters

RECIPE = (
    "method",
    "n_components",
    "n_estimators",
    "n_levels",
    "coder",
    "max_iter",
    "tol",
    "positive_dict",
    "validation_fraction",
    "patience",
)
"""What the compiled code is told; what an estimator does not say is the default of the method."""

Callback = Callable[[int, int, float | None], Any] | None
Estimator = TypeVar("Estimator", bound="TrainedModel")


class TrainedModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator whose fit trains a model of the compiled library; use one of its subclasses."""

    _model: _native.Model

    def transform(self, X: ArrayLike) -> Any:
        """Find the sparse codes of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; converted to the dtype the model was trained in.

        Returns
        -------
        codes : csr_array of shape (n_samples, n_components), or ndarray if not `sparse_output`
            The coefficients, in the order of `components_`.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            Once, if samples did not reach what was asked of the coder.
        UserWarning
            Once, if every code is zero although `X` is not: the penalty is too large.
        """
        samples = self._check_samples(X)
        with running(self.n_threads, self.progress, len(samples)) as run:
            csr, outcome = self._model.transform(samples, run)
        codes = csr_array(csr, shape=(len(samples), self._model.n_atoms))
        report = CodingReport(*outcome)
        coder = self._model.coder
        if coder is not None and not report.converged:
            warn_of_shortfall(report, coder, codes.dtype, prefix="coder_")
        if coder is not None and codes.nnz == 0 and self._model.n_inputs == self._model.n_features:
            warn_of_zeros((samples, None, None, None), self._model.atoms(), coder)
        return codes if self.sparse_output else codes.toarray()

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Approximate samples by their codes.

        The result is that of `approximate`, bit for bit, for the codes of `transform`.

        Parameters
        ----------
        X : sparse or dense array of shape (n_samples, n_components)
            Codes.

        Returns
        -------
        approximations : ndarray of shape (n_samples, n_features)
            The samples the codes stand for.
        """
        check_is_fitted(self)
        codes = csr_array(check_array(X, accept_sparse="csr", dtype=self._dtype, ensure_min_samples=0))
        if codes.shape[1] != self._model.n_atoms:
            raise ValueError(
                f"X has {codes.shape[1]} columns; codes of this model have {self._model.n_atoms}, one an atom"
            )
        if not codes.has_canonical_format:
            codes = codes.copy()
            codes.sum_duplicates()
        arrays = codes.data, codes.indices.astype(np.uint32), codes.indptr.astype(np.uint64)
        with running(self.n_threads, None, codes.shape[0]) as run:
            return self._model.reconstruct(arrays, run)

    def approximate(self, X: ArrayLike) -> NDArray[Any]:
        """Code samples and put them together again, without keeping the codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; converted to the dtype the model was trained in.

        Returns
        -------
        approximations : ndarray of shape (n_samples, n_features)
            What the model makes of the samples.
        """
        return self._approximate(X)[0]

    def degraded_by(self: Estimator, phi: ArrayLike | LinearOperator | str | None = None) -> Estimator:
        """Return the model for samples that are seen through Φ.

        The copy takes measurements z = Φx where this estimator takes samples x. It codes them in the atoms
        seen through Φ, and approximates the whole samples.

        Parameters
        ----------
        phi : array-like of shape (n_measurements, n_features), or str, optional
            Φ, as a matrix or as the text of an `Operator`, such as ``"mask:missing=0.5,seed=3"``. None is the
            Φ that the model was trained through.

        Returns
        -------
        degraded : estimator of the same class
            A fitted copy.
        """
        check_is_fitted(self)
        phi = self._model.phi if phi is None else phi
        if phi is None:
            raise ValueError(
                "phi=None: the model was not trained through Φ; say what its samples are seen through"
            )
        return self._with(self._model.degraded_by(check_phi(phi, self._dtype)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which `load` and the command line read.

        Parameters
        ----------
        path : str or path-like
            The file, usually ``*.safetensors``; one of that name is replaced at once.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @property
    def components_(self) -> NDArray[Any]:
        """The atoms, one a row."""
        check_is_fitted(self)
        return self._model.atoms()

    def _train(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None,
        recipe: dict[str, Any],
        *,
        phi: ArrayLike | LinearOperator | str | None = None,
        dict_init: ArrayLike | None = None,
    ) -> "Training":
        # The compiled code looks for NaN as it reads.
        samples: NDArray[Any] = validate_data(self, native(X), dtype=FLOATS, ensure_all_finite=False)
        weights = check_weights(sample_weight, samples)
        seen_through = None if phi is None else check_phi(phi, samples.dtype)
        start = _check_start(dict_init, samples)
        whole = self._whole(recipe)
        checkpoint = None if self.checkpoint is None else Path(self.checkpoint)
        if checkpoint is not None and not isinstance(self.random_state, numbers.Integral):
            raise ValueError(
                f"random_state={self.random_state!r}: a training with a checkpoint needs a whole number, "
                "or it could not go on with the same draws"
            )
        resume = checkpoint is not None and checkpoint.exists()
        with running(self.n_threads, self.progress, len(samples)) as run:
            model, outcome = _native.train(
                (samples, weights, seen_through, start), whole, (self.callback, checkpoint, resume), run
            )
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
        self._keep(model)
        return Training(*outcome, n_samples=len(samples), recipe=whole)

    def _begin(
        self,
        samples: NDArray[Any],
        weights: NDArray[np.float64] | None,
        recipe: dict[str, Any],
        start: ArrayLike | None,
    ) -> None:
        """Take a model that has seen nothing yet and goes on learning."""
        atoms = _check_start(start, samples)
        with running(self.n_threads, None, len(samples)) as run:
            self._keep(_native.begin((samples, weights, None, atoms), self._whole(recipe), run))

    def _whole(self, recipe: dict[str, Any]) -> "RecipeParameters":
        whole: RecipeParameters = dict.fromkeys(RECIPE) | recipe  # type: ignore[assignment]
        check_parameters(whole)
        whole["seed"] = seed_of(self.random_state)
        return whole

    def _approximate(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        samples = self._check_samples(X)
        with running(self.n_threads, self.progress, len(samples)) as run:
            approximations, spread, unconverged = self._model.approximate(samples, run)
        coder = self._model.coder
        if unconverged and coder is not None:
            message = f"the codes of {unconverged} of {len(samples)} samples did not converge"
            advice = help_for_codes(coder)
            warnings.warn(f"{message}; {advice}", ConvergenceWarning, stacklevel=3)
        return approximations, spread

    def _approximate_with_spread(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64]]:
        approximations, spread = self._approximate(X)
        if spread is None:
            raise ValueError("return_spread=True: one dictionary has no other that it can differ from")
        return approximations, spread

    def _check_samples(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        # The compiled code looks for NaN as it reads.
        return validate_data(self, X, dtype=self._dtype, reset=False, ensure_all_finite=False)

    def _keep(self, model: _native.Model) -> None:
        """Take a trained model, and what it tells of its training."""
        self._model = model

    def _with(self: Estimator, model: _native.Model) -> Estimator:
        """Return a copy of this estimator with another model."""
        other = copy.copy(self)
        other._keep(model)
        other.n_features_in_ = model.n_inputs
        if model.n_inputs != self._model.n_inputs and hasattr(other, "feature_names_in_"):
            del other.feature_names_in_
        return other

    @property
    def _dtype(self) -> type[np.floating[Any]]:
        return np.float32 if self._model.is_single else np.float64

    @property
    def _n_features_out(self) -> int:
        return self._model.n_atoms

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Training:
    """How a training went, and the warning made from it."""

    def __init__(
        self,
        converged: bool,
        unconverged: int,
        usage: NDArray[np.float64],
        *,
        n_samples: int,
        recipe: "RecipeParameters",
    ) -> None:
        self.converged = converged
        self.usage = usage
        self._shortfalls = []
        if not converged:
            limit = f"tol={recipe['tol']} of itself in the last of all iterations"
            self._shortfalls.append(
                f"the objective still changed by more than {limit}; raise max_iter or tol"
            )
        if unconverged and recipe["coder"] is not None:
            codes = f"the codes of {unconverged} of {n_samples} samples did not converge"
            self._shortfalls.append(f"{codes}; {help_for_codes(recipe['coder'])}")

    def warn(self) -> None:
        """Say once what did not converge, and what would help."""
        if self._shortfalls:
            warnings.warn(", and ".join(self._shortfalls), ConvergenceWarning, stacklevel=3)


def _check_start(dict_init: ArrayLike | None, samples: NDArray[Any]) -> NDArray[Any] | None:
    """Return atoms to start from, if there are any, in the dtype of the samples."""
    if dict_init is None:
        return None
    atoms: NDArray[Any] = check_array(dict_init, dtype=samples.dtype, input_name="dict_init")
    if atoms.shape[1] != samples.shape[1]:
        raise ValueError(
            f"dict_init has shape {atoms.shape} and X {samples.shape}; samples and atoms are rows, so both "
            "arrays need the same number of columns"
        )
    return atoms


def seed_of(random_state: Any) -> int:
    """Read `random_state` as scikit-learn does; a whole number is the library's own seed."""
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**64:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
