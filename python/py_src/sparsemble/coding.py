"""Sparse coding: samples in, sparse coefficients out."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsemble import _native
from sparsemble._report import CodingReport, warn_of_shortfall, warn_of_zeros
from sparsemble._run import Progress, running
from sparsemble._validation import FLOATS, check_parameters, check_samples, native

if TYPE_CHECKING:
    from sparsemble._parameters import Parameters

Method = Literal["lasso", "elastic-net", "omp", "ormp", "mp", "one-sparse", "fista"]


def sparse_encode(
    X: ArrayLike,
    dictionary: ArrayLike,
    *,
    method: Method = "lasso",
    lam: float | None = None,
    relative_lam: float | None = None,
    ridge: float | None = None,
    max_error: float | None = None,
    max_l1_norm: float | None = None,
    min_gain: float | None = None,
    n_nonzero_coefs: int | None = None,
    positive: bool = False,
    atom_weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    n_threads: int | None = None,
    progress: Progress = None,
    return_report: bool = False,
) -> Any:
    """Find sparse codes of samples in a dictionary.

    =========== ================================================= =========================================
    method      finds                                             takes
    =========== ================================================= =========================================
    lasso       the minimum of ‖x − aD‖² + λ Σ w|a|, or one of    one of `lam`, `relative_lam`, `max_error`,
                its constrained forms                             `max_l1_norm`; `positive`, `atom_weights`
    elastic-net the minimum of ‖x − aD‖² + λ‖a‖₁ + ρ‖a‖²          `lam`, `ridge`; `positive`
    fista       the minimum of ‖x − aD‖² + λ‖a‖₁, by gradient     `lam`; `positive`
                steps: slower, for comparison
    omp         greedily chosen atoms, their coefficients always  `n_nonzero_coefs`, `max_error`, `min_gain`
                the best together (orthogonal matching pursuit)   or several of them
    ormp        the same, each choice the one that then leaves    as omp
                the least error (order-recursive)
    mp          greedily chosen atoms, never corrected later      as omp
                (matching pursuit)
    one-sparse  the best atom, or the best ones each on its own   `n_nonzero_coefs` (1); `positive`
    =========== ================================================= =========================================

    Every method takes any dictionary: atoms need not have unit norm, may repeat and may be zero.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples. float32 and float64 arrays in C or Fortran order are read in place, others are copied
        first; integers become float64.
    dictionary : array-like of shape (n_atoms, n_features)
        The atoms; converted to the dtype of `X`.
    method : {"lasso", "elastic-net", "omp", "ormp", "mp", "one-sparse", "fista"}, default="lasso"
        What to look for, see above.
    lam : float, optional
        λ. There is no ½ in front of the error: scikit-learn's `alpha` is `lam / 2`.
    relative_lam : float, optional
        λ as a fraction of each sample's own `lambda_max`, so that the scale of the data does not matter.
    ridge : float, optional
        ρ of the elastic net, without ½: it spreads the code over atoms that are alike.
    max_error : float, optional
        The largest squared error ‖x − aD‖² of a sample: the sparsest code the method finds within it.
    max_l1_norm : float, optional
        The largest Σ w|a| of a sample: the code of least error within it.
    min_gain : float, optional
        The price of an atom: choices end where the next would lower ‖x − aD‖² by this or less.
    n_nonzero_coefs : int, optional
        The most atoms in one code.
    positive : bool, default=False
        Allow only positive coefficients.
    atom_weights : array-like of shape (n_atoms,) or (n_samples, n_atoms), optional
        The price w of each atom, for all samples or for each: 1 is usual, 0 is free, infinity forbids it.
    mask : bool array of shape (n_samples, n_features), optional
        True where `X` was observed. The other entries play no part and may be NaN.
    exclude : int array of shape (n_samples,), optional
        An atom each sample must not use, -1 for none. Samples coded by each other need
        ``exclude=np.arange(len(X))``.
    tol : float, default=1e-6
        The largest duality gap of a finished sample as a fraction of ‖x‖² (lasso, elastic net and fista).
    max_iter : int, optional
        The most passes over the dictionary for one sample (lasso, elastic net and fista). None is the
        method's own limit: 10,000 for fista, else 100.
    n_threads : int, optional
        Exactly this many threads; -1 is all cores, -2 all but one. None is all cores, or as many as
        ``OMP_NUM_THREADS`` says, and no more than its share in a worker of joblib. The codes are the same
        bits for any number.
    progress : bool or callable, optional
        True draws a tqdm bar. A function is called with ``(done, total)`` several times a second and once at
        the end; an exception it raises stops the call.
    return_report : bool, default=False
        Also return how it went.

    Returns
    -------
    codes : scipy.sparse.csr_array of shape (n_samples, n_atoms)
        The coefficients, in the dtype of `X`; ``codes @ dictionary`` approximates `X`.
    report : CodingReport
        Only if `return_report`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        Once, if samples did not reach what was asked for.
    UserWarning
        Once, if every code is zero although `X` is not: the penalty is too large.

    Examples
    --------
    Each correlation shrinks by λ/2: 3.0 to 2.8, and 0.1 to nothing.

    >>> import numpy as np
    >>> from sparsemble import sparse_encode
    >>> dictionary = np.eye(2)
    >>> sparse_encode([[3.0, 0.1]], dictionary, lam=0.4).toarray().round(6)
    array([[2.8, 0. ]])

    The fewest atoms within an error, and how it went.

    >>> codes, report = sparse_encode(
    ...     [[3.0, 0.1]], dictionary, method="omp", max_error=0.1, return_report=True
    ... )
    >>> codes.toarray()
    array([[3., 0.]])
    >>> report.converged, report.iterations
    (True, 1)
    """
    samples, atoms, weights = check_samples(X, dictionary, mask, exclude, atom_weights)
    n_samples, n_atoms = len(samples[0]), len(atoms)
    parameters: Parameters = {
        "argument": "method",
        "method": method,
        "lam": lam,
        "relative_lam": relative_lam,
        "ridge": ridge,
        "max_error": max_error,
        "max_l1_norm": max_l1_norm,
        "min_gain": min_gain,
        "n_nonzero_coefs": n_nonzero_coefs,
        "positive": positive,
        "atom_weights": weights,
        "tol": tol,
        "max_iter": max_iter,
    }
    check_parameters(parameters)
    with running(n_threads, progress, n_samples) as run:
        csr, outcome = _native.encode(samples, atoms, parameters, run)
    # An array, not a matrix: `*` means what it means in NumPy, SciPy advises it for new code, and the
    # estimators of scikit-learn that take one take the other.
    codes = csr_array(csr, shape=(n_samples, n_atoms))
    report = CodingReport(*outcome)
    if not report.converged:
        warn_of_shortfall(report, parameters, codes.dtype)
    if codes.nnz == 0:
        warn_of_zeros(samples, atoms, parameters)
    return (codes, report) if return_report else codes


def lambda_max(
    X: ArrayLike,
    dictionary: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Find the smallest `lam` that gives each sample the zero code, ``2·max |⟨x, atom⟩|``.

    Parameters
    ----------
    X, dictionary, mask, exclude, n_threads
        As for `sparse_encode`.

    Returns
    -------
    largest : ndarray of float64 of shape (n_samples,)
        A lasso with `lam` at or above it has the zero code for that sample; `positive` and `atom_weights` are
        not taken into account.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import lambda_max
    >>> lambda_max([[3.0, 0.1], [0.0, -2.0]], np.eye(2))
    array([6., 4.])
    """
    samples, atoms, _ = check_samples(X, dictionary, mask, exclude)
    with running(n_threads, None, len(samples[0])) as run:
        return _native.lambda_max(samples, atoms, run)


class SparseCoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sparse coding against a fixed dictionary, as a scikit-learn transformer.

    With a dictionary, `fit` learns nothing and may be left out. Without one, the training samples themselves
    are the dictionary: `fit` keeps them, scaled to unit norm (an example dictionary).

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_features), optional
        The atoms. None takes the samples given to `fit`, scaled to unit norm.
    method, lam, relative_lam, ridge, max_error, max_l1_norm, min_gain, n_nonzero_coefs, positive, \
atom_weights, tol
        What to look for, as for `sparse_encode`.
    transform_max_iter : int, optional
        The `max_iter` of `sparse_encode`. In scikit-learn `max_iter` itself is about `fit`, which has no
        iterations here.
    n_threads, progress
        How to run, as for `sparse_encode`.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse array; data frames (`set_output`) need False.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms that are coded against.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of str of shape (`n_features_in_`,)
        Their names, if `fit` was given names.

    See Also
    --------
    sparse_encode : The same as a function, with masks, excluded atoms and a report.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemble import SparseCoder
    >>> coder = SparseCoder(np.eye(3), method="omp", n_nonzero_coefs=1)
    >>> codes = coder.transform([[0.0, 2.0, 0.1]])
    >>> codes.toarray()
    array([[0., 2., 0.]])
    >>> coder.inverse_transform(codes)
    array([[0., 2., 0.]])
    """

    def __init__(
        self,
        dictionary: ArrayLike | None = None,
        *,
        method: Method = "lasso",
        lam: float | None = None,
        relative_lam: float | None = None,
        ridge: float | None = None,
        max_error: float | None = None,
        max_l1_norm: float | None = None,
        min_gain: float | None = None,
        n_nonzero_coefs: int | None = None,
        positive: bool = False,
        atom_weights: ArrayLike | None = None,
        tol: float = 1e-6,
        transform_max_iter: int | None = None,
        n_threads: int | None = None,
        progress: Progress = None,
        sparse_output: bool = True,
    ) -> None:
        self.dictionary = dictionary
        self.method = method
        self.lam = lam
        self.relative_lam = relative_lam
        self.ridge = ridge
        self.max_error = max_error
        self.max_l1_norm = max_l1_norm
        self.min_gain = min_gain
        self.n_nonzero_coefs = n_nonzero_coefs
        self.positive = positive
        self.atom_weights = atom_weights
        self.tol = tol
        self.transform_max_iter = transform_max_iter
        self.n_threads = n_threads
        self.progress = progress
        self.sparse_output = sparse_output

    def fit(self, X: ArrayLike, y: Any = None) -> "SparseCoder":
        """Check the parameters and, without a dictionary, keep the samples as atoms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
            For pipelines.

        Returns
        -------
        self : SparseCoder
            The estimator itself.
        """
        samples: NDArray[Any] = validate_data(self, native(X), dtype=FLOATS)
        if self.dictionary is None:
            self._examples: NDArray[Any] = normalize(samples)
        self._encode(samples[:0], progress=None)  # no sample, but every check
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Find the sparse codes of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        codes : csr_array of shape (n_samples, n_atoms), or ndarray if not `sparse_output`
            The coefficients, in the dtype of `X`.
        """
        check_is_fitted(self)
        # The compiled code looks for NaN as it reads.
        samples: NDArray[Any] = validate_data(
            self, native(X), dtype=FLOATS, reset=False, ensure_all_finite=False
        )
        codes = self._encode(samples, progress=self.progress)
        return codes if self.sparse_output else codes.toarray()

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Approximate samples by their codes: ``X @ components_``.

        Parameters
        ----------
        X : sparse or dense array of shape (n_samples, n_atoms)
            Codes.

        Returns
        -------
        approximations : ndarray of shape (n_samples, n_features)
            The samples the codes stand for.
        """
        check_is_fitted(self)
        codes = check_array(native(X), accept_sparse="csr", dtype=FLOATS)
        atoms = self.components_
        if codes.shape[1] != len(atoms):
            raise ValueError(
                f"X has {codes.shape[1]} columns; codes for this dictionary have {len(atoms)}, one an atom"
            )
        return codes @ atoms.astype(codes.dtype, copy=False)

    @property
    def components_(self) -> NDArray[Any]:
        """The atoms that are coded against."""
        if self.dictionary is None:
            return self._examples
        return check_array(native(self.dictionary), dtype=FLOATS, input_name="dictionary")

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _encode(self, X: NDArray[Any], progress: Progress) -> csr_array:
        return sparse_encode(
            X,
            self.components_,
            method=self.method,
            lam=self.lam,
            relative_lam=self.relative_lam,
            ridge=self.ridge,
            max_error=self.max_error,
            max_l1_norm=self.max_l1_norm,
            min_gain=self.min_gain,
            n_nonzero_coefs=self.n_nonzero_coefs,
            positive=self.positive,
            atom_weights=self.atom_weights,
            tol=self.tol,
            max_iter=self.transform_max_iter,
            n_threads=self.n_threads,
            progress=progress,
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are atoms to code against."""
        return self.dictionary is not None or hasattr(self, "_examples")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.dictionary is None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
