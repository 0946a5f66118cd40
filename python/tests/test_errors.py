"""Every refusal names the argument and says what to do."""

import builtins
import re

import numpy as np
import pytest
import scipy.sparse

from sparsemble import SparseCoder, lambda_max, sparse_encode

SHAPED = np.ones((60, 16))

REFUSED = [
    (
        {},
        ValueError,
        "method='lasso' needs exactly one of lam, relative_lam, max_error and max_l1_norm; 0 were given",
    ),
    ({"lam": 0.1, "max_error": 0.1}, ValueError, r"exactly one of lam, .*; 2 were given"),
    ({"method": "lars", "lam": 0.1}, ValueError, "method=.lars. is not known; use one of 'lasso', 'omp'"),
    ({"method": 3, "lam": 0.1}, TypeError, "method=3: must be the name"),
    ({"method": "omp"}, ValueError, "method='omp' needs n_nonzero_coefs, max_error, min_gain or several"),
    ({"method": "fista"}, ValueError, "method='fista' needs lam"),
    ({"method": "elastic-net", "lam": 0.1}, ValueError, "method='elastic-net' needs lam and ridge"),
    ({"method": "elastic-net", "lam": 0.1, "ridge": 0.0}, ValueError, "ridge=0: must be positive"),
    ({"lam": 0.1, "ridge": 0.1}, ValueError, "ridge has no effect with method='lasso'"),
    (
        {"lam": 0.1, "atom_weights": np.ones((59, 48))},
        ValueError,
        r"atom_weights has shape \(59, 48\); .* a row of them for each of 60 samples",
    ),
    (
        {"method": "omp", "lam": 0.1},
        ValueError,
        "lam has no effect with method='omp', which takes n_nonzero_coefs",
    ),
    (
        {"method": "mp", "max_error": 0.1, "positive": True},
        ValueError,
        "positive has no effect with method='mp'",
    ),
    ({"method": "fista", "lam": 1, "atom_weights": np.ones(48)}, ValueError, "atom_weights has no effect"),
    ({"method": "one-sparse", "max_error": 1.0}, ValueError, "max_error has no effect"),
    ({"lam": 0.1, "n_nonzero_coefs": 3}, ValueError, "n_nonzero_coefs has no effect with method='lasso'"),
    ({"lam": -1.0}, ValueError, "lam=-1: must be positive"),
    ({"lam": float("nan")}, ValueError, "lam=NaN: must be positive"),
    ({"lam": "much"}, TypeError, "lam='much': must be a number"),
    ({"relative_lam": 0.0}, ValueError, "relative_lam=0: must be positive"),
    ({"max_error": -0.5}, ValueError, "max_error=-0.5: must"),
    ({"max_l1_norm": 0.0}, ValueError, "max_l1_norm=0: must be positive"),
    ({"method": "omp", "n_nonzero_coefs": 0}, ValueError, "n_nonzero_coefs=0: must be at least 1"),
    ({"method": "omp", "n_nonzero_coefs": -3}, ValueError, "n_nonzero_coefs=-3: must be at least 1"),
    ({"method": "omp", "n_nonzero_coefs": 2.0}, TypeError, "n_nonzero_coefs=2.0: must be a whole number"),
    ({"method": "omp", "max_error": -1.0}, ValueError, "max_error=-1: must"),
    ({"method": "omp", "min_gain": -1.0}, ValueError, "min_gain=-1: must"),
    ({"method": "omp", "min_gain": "much"}, TypeError, "min_gain='much': must be a number"),
    ({"lam": 0.1, "min_gain": 0.1}, ValueError, "min_gain has no effect with method='lasso'"),
    ({"method": "fista", "lam": -1.0}, ValueError, "lam=-1: must"),
    ({"lam": 0.1, "positive": "yes"}, TypeError, "positive='yes': must be True or False"),
    ({"lam": 0.1, "tol": 0.0}, ValueError, "tol=0: must be positive"),
    ({"lam": 0.1, "tol": None}, TypeError, "tol=None: must be a number"),
    ({"lam": 0.1, "max_iter": 0}, ValueError, "max_iter=0: must be at least 1"),
    (
        {"lam": 0.1, "atom_weights": np.ones(47)},
        ValueError,
        r"atom_weights has shape \(47,\); .* each of 48 atoms",
    ),
    ({"lam": 0.1, "atom_weights": -np.ones(48)}, ValueError, "atom_weights=-1: must not be negative"),
    ({"lam": 0.1, "mask": SHAPED}, TypeError, "mask has dtype float64; it must be bool"),
    (
        {"lam": 0.1, "mask": SHAPED[1:] > 0},
        ValueError,
        r"mask has shape \(59, 16\); .* that of X, \(60, 16\)",
    ),
    (
        {"lam": 0.1, "exclude": np.ones(60)},
        TypeError,
        "exclude has dtype float64; it must hold whole numbers",
    ),
    (
        {"lam": 0.1, "exclude": np.ones(59, int)},
        ValueError,
        r"exclude has shape \(59,\); .* each of 60 samples",
    ),
    ({"lam": 0.1, "exclude": np.full(60, 48)}, ValueError, "exclude=48: must be below the number of atoms"),
    ({"lam": 0.1, "exclude": np.full(60, -2)}, ValueError, "exclude=-2: must be an atom, or -1 for none"),
    ({"lam": 0.1, "n_threads": 0}, ValueError, "n_threads=0: use a positive number"),
    ({"lam": 0.1, "n_threads": 1.5}, TypeError, "n_threads=1.5: use a whole number"),
    ({"lam": 0.1, "progress": "yes"}, TypeError, "progress='yes': use True for a bar, or a function"),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), REFUSED)
def test_a_wrong_argument_is_named_with_the_fix(X, dictionary, arguments, kind, message):
    with pytest.raises(kind, match=message):
        sparse_encode(X, dictionary, **arguments)


@pytest.mark.parametrize("call", [lambda X, D: sparse_encode(X, D, lam=0.1), lambda_max])
def test_disagreeing_numbers_of_features_are_named(X, dictionary, call):
    with pytest.raises(
        ValueError, match=r"X has 16 features and the atoms of dictionary have 15; .* same number"
    ):
        call(X, dictionary[:, 1:])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_place_of_a_bad_value_is_told_as_numpy_counts(X, dictionary, bad, order):
    X[41, 3] = bad
    with pytest.raises(ValueError, match=re.escape("X[41, 3] is NaN or infinite") + ".*mask"):
        sparse_encode(np.asarray(X, order=order), dictionary, lam=0.1)
    dictionary[7, 2] = bad
    with pytest.raises(ValueError, match=re.escape("dictionary[7, 2] is NaN or infinite")):
        sparse_encode(X, np.asarray(dictionary, order=order), lam=0.1)


def test_a_dictionary_without_atoms_is_refused(X):
    with pytest.raises(ValueError, match="dictionary is empty; give at least one atom"):
        sparse_encode(X, np.empty((0, 16)), lam=0.1)


@pytest.mark.parametrize("sample", [np.ones(16), np.ones((1, 1, 16))])
def test_samples_must_be_rows_of_a_matrix(dictionary, sample):
    with pytest.raises(ValueError, match=r"Expected 2D array|dim 3"):
        sparse_encode(sample, dictionary, lam=0.1)


def test_sparse_samples_are_refused_with_the_fix(X, dictionary):
    with pytest.raises(TypeError, match="toarray"):
        sparse_encode(scipy.sparse.csr_array(X), dictionary, lam=0.1)


def test_a_bar_without_tqdm_says_what_to_install(X, dictionary, monkeypatch):
    importing = builtins.__import__

    def without_tqdm(name, *rest):
        if name.startswith("tqdm"):
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_tqdm)
    with pytest.raises(ImportError, match=re.escape("pip install 'sparsemble[progress]'")):
        sparse_encode(X, dictionary, lam=0.1, progress=True)


def test_codes_of_another_dictionary_are_refused(X, dictionary):
    coder = SparseCoder(dictionary, lam=0.1)
    with pytest.raises(ValueError, match="X has 47 columns; codes for this dictionary have 48"):
        coder.inverse_transform(np.ones((2, 47)))


@pytest.mark.parametrize("arguments", [{}, {"method": "omp"}, {"lam": -1.0}, {"lam": 0.1, "tol": 0.0}])
def test_fit_refuses_what_transform_would(X, dictionary, arguments):
    with pytest.raises(ValueError, match=r"needs|must"):
        SparseCoder(dictionary, **arguments).fit(X)
