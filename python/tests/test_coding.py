"""What the coders find, against scikit-learn and against the definitions."""

import numpy as np
import pytest
from sklearn.decomposition import sparse_encode as sklearn_encode
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, orthogonal_mp

from sparsemble import SampleStatus, _native, lambda_max, sparse_encode

LAM = 0.2
GREEDY = ["mp", "omp", "ormp"]
EVERY_METHOD = {
    "lasso": {"lam": LAM},
    "elastic-net": {"lam": LAM, "ridge": 0.1},
    "fista": {"lam": LAM},
    "omp": {"n_nonzero_coefs": 4},
    "ormp": {"n_nonzero_coefs": 4},
    "mp": {"n_nonzero_coefs": 4},
    "one-sparse": {},
}


def errors(X, codes, dictionary):
    return ((X - codes @ dictionary) ** 2).sum(axis=1)


def objectives(X, codes, dictionary, lam):
    codes = np.asarray(codes)
    return errors(X, codes, dictionary) + lam * abs(codes).sum(axis=1)


@pytest.mark.parametrize("method", ["lasso", "fista"])
@pytest.mark.parametrize("positive", [False, True])
def test_the_lasso_objective_is_that_of_scikit_learn_at_half_the_penalty(X, dictionary, method, positive):
    codes, report = sparse_encode(
        X, dictionary, method=method, lam=LAM, positive=positive, return_report=True
    )
    theirs = sklearn_encode(
        X, dictionary, algorithm="lasso_cd", alpha=LAM / 2, positive=positive, max_iter=10_000
    )
    ours = objectives(X, codes.toarray(), dictionary, LAM)
    theirs = objectives(X, theirs, dictionary, LAM)
    assert report.converged
    assert report.worst_gap <= 1e-6
    assert (ours <= theirs + 1e-6).all()  # unit samples: the gap is the tolerance
    assert (ours - report.worst_gap <= theirs + 1e-9).all()  # the certificate is a true bound


def test_the_lasso_codes_are_those_of_scikit_learn(X, dictionary):
    codes = sparse_encode(X, dictionary, lam=LAM, tol=1e-12).toarray()
    theirs = sklearn_encode(X, dictionary, algorithm="lasso_lars", alpha=LAM / 2)
    np.testing.assert_allclose(codes, theirs, atol=1e-5)


def test_a_relative_penalty_is_a_fraction_of_each_lambda_max(X, dictionary):
    scaled = X * np.geomspace(1e-3, 1e3, len(X))[:, None]
    codes = sparse_encode(scaled, dictionary, relative_lam=0.3, tol=1e-12).toarray()
    largest = lambda_max(scaled, dictionary)
    for x, code, lam in zip(scaled, codes, 0.3 * largest, strict=True):
        expected = sparse_encode(x[None], dictionary, lam=lam, tol=1e-12).toarray()[0]
        np.testing.assert_allclose(code, expected, rtol=1e-6, atol=1e-9 * lam)


def test_the_error_bound_and_the_norm_bound_meet(X, dictionary):
    codes = sparse_encode(X, dictionary, max_error=0.2).toarray()
    found = errors(X, codes, dictionary)
    assert (found <= 0.2 * (1 + 1e-4)).all()
    assert found.max() > 0.19  # no better than needed, or the norm would not be the least
    for x, code, error in zip(X[:10], codes, found, strict=False):
        norm = abs(code).sum()
        back = sparse_encode(x[None], dictionary, max_l1_norm=norm).toarray()
        assert abs(back).sum() <= norm * (1 + 1e-4)
        assert errors(x[None], back, dictionary)[0] == pytest.approx(error, abs=1e-3)


def test_atom_weights_act_as_a_change_of_scale(X, dictionary):
    weights = np.linspace(0.5, 2.0, len(dictionary))
    codes = sparse_encode(X, dictionary, lam=LAM, atom_weights=weights, tol=1e-12).toarray()
    scaled = sparse_encode(X, dictionary / weights[:, None], lam=LAM, tol=1e-12).toarray()
    np.testing.assert_allclose(codes * weights, scaled, atol=1e-6)


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_an_atom_of_no_length_is_never_used(X, dictionary, method):
    dictionary[5] = 0.0
    codes = sparse_encode(X, dictionary, method=method, **EVERY_METHOD[method]).toarray()
    assert np.isfinite(codes).all()
    assert not codes[:, 5].any()


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_masked_entries_play_no_part(X, dictionary, method):
    mask = np.ones(X.shape, dtype=bool)
    mask[:, [2, 7, 11]] = False
    holes = np.where(mask, X, np.nan)
    codes = sparse_encode(holes, dictionary, method=method, mask=mask, **EVERY_METHOD[method])
    seen = mask[0]
    expected = sparse_encode(X[:, seen], dictionary[:, seen], method=method, **EVERY_METHOD[method])
    assert codes.nnz > 0
    np.testing.assert_allclose(codes.toarray(), expected.toarray(), atol=1e-4)


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_no_sample_uses_the_atom_it_excludes(dictionary, method):
    own = np.arange(len(dictionary))
    codes = sparse_encode(dictionary, dictionary, method=method, exclude=own, **EVERY_METHOD[method])
    assert codes.nnz > 0
    assert not codes.diagonal().any()
    without = np.delete(dictionary, 3, axis=0)
    expected = sparse_encode(dictionary[3:4], without, method=method, **EVERY_METHOD[method])
    np.testing.assert_allclose(np.delete(codes.toarray()[3], 3), expected.toarray()[0], atol=1e-4)


@pytest.mark.parametrize("positive", [False, True])
def test_the_elastic_net_is_that_of_scikit_learn(X, dictionary, positive):
    lam, ridge, n = 0.1, 0.2, X.shape[1]
    codes = sparse_encode(
        X, dictionary, method="elastic-net", lam=lam, ridge=ridge, positive=positive, tol=1e-9
    )
    # Theirs is 1/2n ‖x − Da‖² + alpha (l1_ratio ‖a‖₁ + (1 − l1_ratio)/2 ‖a‖²).
    alpha = lam / (2 * n) + ridge / n
    theirs = ElasticNet(
        alpha,
        l1_ratio=lam / (2 * n) / alpha,
        fit_intercept=False,
        positive=positive,
        tol=1e-10,
        max_iter=10**5,
    ).fit(dictionary.T, X.T)
    np.testing.assert_allclose(codes.toarray(), theirs.coef_, atol=1e-4)


def test_weights_may_be_given_for_each_sample(X, dictionary):
    weights = np.random.default_rng(4).uniform(0.5, 2.0, (len(X), len(dictionary)))
    codes = sparse_encode(X, dictionary, lam=LAM, atom_weights=weights, positive=True).toarray()
    for i in (0, 17, 59):
        alone = sparse_encode(X[i : i + 1], dictionary, lam=LAM, atom_weights=weights[i], positive=True)
        np.testing.assert_allclose(codes[i], alone.toarray()[0], atol=1e-9)
    with pytest.raises(ValueError, match="atom_weights=one for each sample: only the lasso has them"):
        sparse_encode(X, dictionary, method="omp", n_nonzero_coefs=2, atom_weights=weights)


def test_minus_one_excludes_nothing(X, dictionary):
    free = sparse_encode(X, dictionary, lam=LAM)
    none = sparse_encode(X, dictionary, lam=LAM, exclude=np.full(len(X), -1))
    np.testing.assert_array_equal(free.toarray(), none.toarray())


def test_omp_finds_the_codes_scikit_learn_finds(planted):
    X, dictionary, true_codes = planted
    codes = sparse_encode(X, dictionary, method="omp", n_nonzero_coefs=3).toarray()
    theirs = sklearn_encode(X, dictionary, algorithm="omp", n_nonzero_coefs=3)
    np.testing.assert_allclose(codes, theirs, atol=1e-9)
    np.testing.assert_allclose(codes, true_codes, atol=1e-9)


def test_order_recursive_pursuit_finds_planted_atoms(planted):
    X, dictionary, true_codes = planted
    codes = sparse_encode(X, dictionary, method="ormp", n_nonzero_coefs=3).toarray()
    np.testing.assert_allclose(codes, true_codes, atol=1e-9)


@pytest.mark.parametrize("method", GREEDY)
def test_pursuit_by_error_stops_as_soon_as_it_can(X, dictionary, method):
    codes, report = sparse_encode(X, dictionary, method=method, max_error=0.1, return_report=True)
    assert report.converged
    assert (errors(X, codes.toarray(), dictionary) <= 0.1 + 1e-9).all()
    if method == "omp":
        theirs = orthogonal_mp(dictionary.T, X.T, tol=0.1)
        np.testing.assert_allclose(codes.toarray(), theirs.T, atol=1e-9)


@pytest.mark.parametrize("method", GREEDY)
def test_pursuit_by_gain_pays_for_no_atom_more_than_it_is_worth(X, dictionary, method):
    codes, report = sparse_encode(X, dictionary, method=method, min_gain=0.02, return_report=True)
    assert report.converged
    left = errors(X, codes.toarray(), dictionary)
    # Each atom has taken more than its price off the energy, and (omp, ormp) the best other one would not.
    assert (1.0 - left > 0.02 * np.diff(codes.indptr) - 1e-9).all()
    if method != "mp":
        correlations = (X - codes @ dictionary) @ (dictionary / np.linalg.norm(dictionary, axis=1)[:, None]).T
        assert (correlations**2).max() <= 0.02 + 1e-9


def test_the_residual_of_omp_is_orthogonal_to_its_atoms(X, dictionary):
    codes = sparse_encode(X, dictionary, method="omp", n_nonzero_coefs=5).toarray()
    correlations = (X - codes @ dictionary) @ dictionary.T
    assert np.count_nonzero(codes, axis=1).tolist() == [5] * len(X)
    assert abs(correlations[codes != 0]).max() < 1e-9


@pytest.mark.parametrize("method", GREEDY)
def test_one_sparse_coding_is_pursuit_of_one_atom(X, dictionary, method):
    dictionary = dictionary * np.geomspace(0.1, 10, len(dictionary))[:, None]
    single = sparse_encode(X, dictionary, method="one-sparse").toarray()
    pursued = sparse_encode(X, dictionary, method=method, n_nonzero_coefs=1).toarray()
    np.testing.assert_allclose(single, pursued, rtol=1e-9)


def test_one_sparse_coding_finds_the_best_atom_of_any_norm(X, dictionary):
    norms = np.geomspace(0.1, 10, len(dictionary))
    codes = sparse_encode(X, dictionary * norms[:, None], method="one-sparse")
    correlations = X @ dictionary.T
    best = abs(correlations).argmax(axis=1)
    np.testing.assert_array_equal(codes.indices, best)
    np.testing.assert_allclose(codes.data, correlations[np.arange(len(X)), best] / norms[best])


@pytest.mark.parametrize("method", EVERY_METHOD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_are_a_canonical_csr_array(X, dictionary, method, dtype):
    codes = sparse_encode(X.astype(dtype), dictionary, method=method, **EVERY_METHOD[method])
    assert codes.format == "csr"
    assert codes.shape == (len(X), len(dictionary))
    assert codes.dtype == dtype
    assert codes.indices.dtype == codes.indptr.dtype == np.int32
    assert codes.has_canonical_format
    assert codes.data.all()


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_single_precision_finds_nearly_the_same_codes(X, dictionary, method):
    double = sparse_encode(X, dictionary, method=method, **EVERY_METHOD[method])
    single = sparse_encode(X.astype(np.float32), dictionary, method=method, **EVERY_METHOD[method])
    np.testing.assert_allclose(single.toarray(), double.toarray(), atol=2e-3)


@pytest.mark.parametrize("lam", [0.05, 0.02, 0.01])
def test_single_precision_certifies_codes_with_as_many_atoms_as_features(X, dictionary, lam):
    codes, report = sparse_encode(X.astype(np.float32), dictionary, lam=lam, return_report=True)
    best = sparse_encode(X, dictionary, lam=lam, tol=1e-10)
    assert report.converged
    np.testing.assert_allclose(
        objectives(X, codes.toarray(), dictionary, lam),
        objectives(X, best.toarray(), dictionary, lam),
        atol=2e-6,
    )


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_zero_samples_get_the_zero_code_without_a_warning(dictionary, method):
    X = np.zeros((3, 16))
    codes, report = sparse_encode(X, dictionary, method=method, return_report=True, **EVERY_METHOD[method])
    assert codes.nnz == 0
    assert report.converged


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_no_samples_give_no_codes(dictionary, method):
    codes = sparse_encode(np.empty((0, 16)), dictionary, method=method, **EVERY_METHOD[method])
    assert codes.shape == (0, 48)


def test_lambda_max_is_where_the_codes_vanish(X, dictionary):
    largest = lambda_max(X, dictionary)
    np.testing.assert_allclose(largest, 2 * abs(X @ dictionary.T).max(axis=1))
    assert sparse_encode(X, dictionary, lam=largest.max() * 0.999).nnz == 1
    with pytest.warns(UserWarning, match="every code is zero"):
        assert sparse_encode(X, dictionary, lam=largest.max() * 1.001).nnz == 0


def test_lambda_max_knows_masks_and_exclusions(X, dictionary):
    mask = np.arange(16) % 2 == 0
    found = lambda_max(X, dictionary, mask=np.broadcast_to(mask, X.shape))
    np.testing.assert_allclose(found, 2 * abs(X[:, mask] @ dictionary[:, mask].T).max(axis=1))
    correlations = 2 * abs(dictionary @ dictionary.T)
    np.fill_diagonal(correlations, 0)
    found = lambda_max(dictionary, dictionary, exclude=np.arange(48))
    np.testing.assert_allclose(found, correlations.max(axis=1))


def test_the_report_counts_and_certifies(X, dictionary):
    _, report = sparse_encode(X, dictionary, lam=LAM, return_report=True)
    assert report.converged is True
    assert 1 <= report.iterations <= 100
    assert 0 <= report.worst_gap <= 1e-6
    assert report.status.tolist() == [SampleStatus.CONVERGED] * len(X)


def test_one_warning_counts_the_samples_that_ran_out_of_iterations(X, dictionary):
    with pytest.warns(ConvergenceWarning, match="60 of 60 .*raise max_iter.*gap.*tol is 1.0e-06") as caught:
        _, report = sparse_encode(X, dictionary, lam=1e-3, max_iter=1, return_report=True)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not report.converged
    assert report.status.tolist() == [SampleStatus.ITERATION_LIMIT] * len(X)


def test_one_warning_names_the_penalty_that_left_nothing(X, dictionary):
    with pytest.warns(
        UserWarning, match=r"every code is zero: relax lam=50.0; the largest lambda_max .* is 1\."
    ) as caught:
        sparse_encode(X, dictionary, lam=50.0)
    assert len(caught) == 1


def test_an_error_out_of_reach_is_reported(dictionary):
    X = np.eye(16)[:2]
    atoms = np.eye(16)[1:4]  # spans the second sample, not the first
    with pytest.warns(ConvergenceWarning, match=r"1 of 2 .* cannot reach max_error=0.01"):
        codes, report = sparse_encode(X, atoms, method="omp", max_error=0.01, return_report=True)
    assert report.status.tolist() == [SampleStatus.UNREACHABLE, SampleStatus.CONVERGED]
    np.testing.assert_allclose(codes.toarray(), [[0, 0, 0], [1, 0, 0]])


def test_the_default_tolerance_is_that_of_the_library():
    assert sparse_encode.__kwdefaults__["tol"] == _native.TOLERANCE
