"""What dictionary learning finds, against scikit-learn and against the definitions."""

import pickle

import numpy as np
import pytest
from sklearn.decomposition import DictionaryLearning as TheirLearning
from sklearn.exceptions import ConvergenceWarning

import sparsemble
from sparsemble import DictionaryLearning, MiniBatchDictionaryLearning, sparse_encode

LAM = 0.2


@pytest.fixture
def X():
    """Sparse sums of a few atoms, and a little noise."""
    rng = np.random.default_rng(3)
    atoms = rng.standard_normal((16, 12))
    atoms /= np.sqrt((atoms**2).sum(axis=1, keepdims=True))
    codes = rng.standard_normal((200, 16)) * (rng.random((200, 16)) < 0.2)
    return codes @ atoms + 0.01 * rng.standard_normal((200, 12))


def objective(X, dictionary, weights=None):
    codes = sparse_encode(X, dictionary, lam=LAM, tol=1e-9).toarray()
    values = ((X - codes @ dictionary) ** 2).sum(axis=1) + LAM * abs(codes).sum(axis=1)
    return np.average(values, weights=weights)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # theirs
def test_the_objective_is_no_worse_than_that_of_scikit_learn(X):
    ours = DictionaryLearning(16, lam=LAM, max_iter=200, tol=1e-6, random_state=0).fit(X)
    theirs = TheirLearning(16, alpha=LAM / 2, max_iter=200, tol=1e-8, fit_algorithm="cd", random_state=0).fit(
        X
    )
    assert objective(X, ours.components_) <= objective(X, theirs.components_)


def test_the_curve_falls_to_the_objective_of_the_atoms(X):
    weights = np.random.default_rng(4).random(len(X))
    learner = DictionaryLearning(16, lam=LAM, tol=1e-3, random_state=0).fit(X, sample_weight=weights)
    curve = learner.objective_curve_
    assert (np.diff(curve) <= 1e-6 * curve[0]).all()
    assert learner.n_iter_ == len(curve) - 1
    assert learner.error_ == curve[-1]
    assert learner.error_ == pytest.approx(objective(X, learner.components_, weights), rel=1e-4)


def test_a_whole_weight_is_as_many_copies(X):
    weights = np.random.default_rng(5).integers(0, 4, len(X))
    repeated = np.repeat(X, weights, axis=0)
    for parameters in (
        {"lam": LAM},
        {"method": "mod", "n_nonzero_coefs": 3},
        {"method": "k-svd", "n_nonzero_coefs": 3},
    ):
        learner = DictionaryLearning(dict_init=X[:8], max_iter=3, tol=0.0, **parameters)
        with pytest.warns(ConvergenceWarning):
            copies = learner.fit(repeated).components_
        with pytest.warns(ConvergenceWarning):
            weighted = learner.fit(X, sample_weight=weights).components_
        np.testing.assert_allclose(weighted, copies, atol=1e-4)


def test_a_warm_start_goes_on_where_the_atoms_were(X):
    first = DictionaryLearning(16, lam=LAM, max_iter=500, random_state=0).fit(X)
    again = DictionaryLearning(lam=LAM, dict_init=first.components_).fit(X)
    assert again.objective_curve_[0] == pytest.approx(first.error_, rel=1e-6)
    assert again.n_iter_ <= 2
    assert again.components_.shape == first.components_.shape
    scaled = DictionaryLearning(lam=LAM, dict_init=7.0 * first.components_).fit(X)
    np.testing.assert_allclose(scaled.components_, again.components_, atol=1e-6)


def test_k_svd_codes_by_omp_with_five_atoms(X):
    learner = DictionaryLearning(16, method="k-svd", tol=0.05, random_state=0)
    codes = learner.fit_transform(X)
    assert codes.nnz == 5 * len(X)
    expected = sparse_encode(X, learner.components_, method="omp", n_nonzero_coefs=5)
    np.testing.assert_array_equal(codes.toarray(), expected.toarray())
    assert ((X - learner.approximate(X)) ** 2).sum() < 0.05 * (X**2).sum()


def test_atoms_nobody_uses_are_replaced(X):
    useless = np.tile(X[0], (10, 1))
    learner = DictionaryLearning(lam=LAM, dict_init=useless, tol=1e-2).fit(X)
    assert (learner.atom_usage_ > 0).sum() >= 9
    assert len(np.unique(learner.components_.round(6), axis=0)) == 10


def test_usage_is_the_part_of_the_samples_that_use_an_atom(X):
    learner = DictionaryLearning(10, lam=LAM, tol=1e-2, random_state=0).fit(X)
    used = (learner.transform(X).toarray() != 0).mean(axis=0)
    np.testing.assert_allclose(learner.atom_usage_, used, atol=1e-9)


def test_one_warning_says_that_the_iterations_were_too_few(X):
    learner = DictionaryLearning(16, lam=LAM, max_iter=2, tol=1e-9, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"more than tol=1e-09 of itself .*; raise max_iter"
    ) as caught:
        learner.fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert learner.converged_ is False
    assert learner.n_iter_ == 2


def test_one_warning_says_that_every_code_is_zero(X):
    learner = DictionaryLearning(8, lam=1000.0, random_state=0)
    with pytest.warns(UserWarning, match=r"every code of the training is zero: relax lam=1000.0") as caught:
        learner.fit(X)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match=r"every code is zero: relax lam=1000.0; the largest lambda_max"):
        learner.transform(X)


def test_coders_are_chosen_by_what_is_given(X):
    def coder(**parameters):
        return DictionaryLearning(4, max_iter=1, tol=1.0, random_state=0, **parameters).fit(X)._model.coder

    assert coder()["lam"] == 0.2
    assert coder(method="k-svd")["n_nonzero_coefs"] == 5
    assert coder(n_nonzero_coefs=2)["method"] == "omp"
    greedy = {"method": "ormp", "n_nonzero_coefs": 2, "max_error": None, "min_gain": None}
    assert coder(coder="ormp", n_nonzero_coefs=2) == greedy
    assert coder(lam=0.3, positive=True)["positive"] is True
    assert coder(lam=0.3, coder_tol=1e-3, coder_max_iter=7)["max_iter"] == 7
    assert coder(coder="one-sparse")["method"] == "one-sparse"


def test_online_learning_is_portions_of_one_whole(X):
    start = X[:10]  # and one batch is all samples
    whole = MiniBatchDictionaryLearning(lam=LAM, dict_init=start, max_iter=3, random_state=0).fit(X)
    assert whole.n_iter_ == 3
    learner = MiniBatchDictionaryLearning(lam=LAM, dict_init=start)
    for _ in range(3):
        learner.partial_fit(X)
    np.testing.assert_allclose(learner.components_, whole.components_, atol=1e-6)
    np.testing.assert_allclose(learner.objective_curve_, whole.objective_curve_)
    assert learner.n_iter_ == 3
    assert learner.objective_curve_[-1] < learner.objective_curve_[0]


def test_portions_go_on_after_a_pickle_a_file_and_a_fit(X, tmp_path):
    learner = MiniBatchDictionaryLearning(10, lam=LAM, random_state=0).partial_fit(X[:100])
    learner.save(tmp_path / "learner")
    copies = [pickle.loads(pickle.dumps(learner)), sparsemble.load(tmp_path / "learner")]
    learner.partial_fit(X[100:])
    for copy in copies:
        np.testing.assert_array_equal(copy.partial_fit(X[100:]).components_, learner.components_)
    fitted = MiniBatchDictionaryLearning(10, lam=LAM, random_state=0).fit(X)
    before = fitted.components_
    after = fitted.partial_fit(X).components_
    assert not np.array_equal(before, after)
    assert objective(X, after) < objective(X, before)


def test_weights_of_portions_are_compared_with_each_other(X):
    def learned(first, second):
        learner = MiniBatchDictionaryLearning(lam=LAM, dict_init=X[:10])
        learner.partial_fit(X[:100], sample_weight=np.full(100, first))
        return learner.partial_fit(X[100:], sample_weight=np.full(100, second)).components_

    np.testing.assert_allclose(learned(2.0, 2.0), learned(1.0, 1.0), atol=1e-9)
    assert not np.allclose(learned(1.0, 3.0), learned(1.0, 1.0))


def test_only_online_learning_goes_in_portions(X):
    assert not hasattr(DictionaryLearning(), "partial_fit")
    with pytest.raises(ValueError, match=r"has 11 features, but .* expecting 12"):
        MiniBatchDictionaryLearning(4).partial_fit(X).partial_fit(X[:, 1:])
    with pytest.raises(ValueError, match="needed 5, found 3"):
        MiniBatchDictionaryLearning(5).partial_fit(X[:3])


@pytest.mark.parametrize("learner", [DictionaryLearning, MiniBatchDictionaryLearning])
def test_atoms_may_be_kept_positive(X, learner):
    options = {"lam": LAM, "max_iter": 20, "positive_dict": True, "random_state": 0}
    if learner is DictionaryLearning:
        options |= {"tol": 1e-2, "max_iter": 100}
    found = learner(12, **options).fit(X)
    assert found.components_.min() >= 0
    np.testing.assert_allclose((found.components_**2).sum(axis=1), 1)
    assert found.objective_curve_[-1] < found.objective_curve_[0]
    if learner is MiniBatchDictionaryLearning:
        assert found.partial_fit(-X).components_.min() >= 0


REFUSED = [
    (
        {"method": "mod", "positive_dict": True},
        ValueError,
        "positive_dict=true: mod .* use alt-opt or online",
    ),
    ({"positive_dict": "yes"}, TypeError, "positive_dict='yes': must be True or False"),
    (
        {"n_components": 201},
        ValueError,
        r"needed 201, found 200; ask for less \(n_components\) or give more samples",
    ),
    ({"n_components": 0}, ValueError, "n_components=0: must be at least 1"),
    ({"n_components": 2.5}, TypeError, "n_components=2.5: must be a whole number"),
    (
        {"method": "boost-km"},
        ValueError,
        "method='boost-km' is not known; use one of 'alt-opt', 'mod', 'k-svd'",
    ),
    ({"lam": 0.1, "n_nonzero_coefs": 2}, ValueError, "lam has no effect with coder='omp'"),
    ({"method": "k-svd", "lam": 0.1}, ValueError, "lam has no effect with coder='omp'"),
    ({"method": "k-svd", "coder": "lasso"}, ValueError, "needs exactly one of lam"),
    ({"coder": "lars"}, ValueError, "coder=.lars. is not known; use one of 'lasso'"),
    ({"coder": "fista", "lam": 0.1}, ValueError, "coder=.fista. is not known"),
    ({"lam": -1.0}, ValueError, "lam=-1: must be positive"),
    ({"lam": "much"}, TypeError, "lam='much': must be a number"),
    ({"max_iter": 0}, ValueError, "max_iter=0: must be at least 1"),
    ({"tol": -1.0}, ValueError, "tol=-1: must be finite and not negative"),
    ({"coder_tol": "small"}, TypeError, "coder_tol='small': must be a number"),
    ({"dict_init": np.ones((3, 11))}, ValueError, r"dict_init has shape \(3, 11\) and X \(200, 12\)"),
    ({"dict_init": np.zeros((3, 12))}, ValueError, "this atom is zero"),
    (
        {"dict_init": np.ones((3, 12)), "n_components": 4},
        ValueError,
        "n_components=4, and dict_init has 3 atoms",
    ),
    ({"random_state": -1}, ValueError, "-1|[Ss]eed"),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), REFUSED)
def test_a_wrong_argument_is_named_with_the_fix(X, arguments, kind, message):
    with pytest.raises(kind, match=message):
        DictionaryLearning(**arguments).fit(X)


def test_the_place_of_a_bad_value_is_told_unless_it_has_no_weight(X):
    X[41, 3] = np.nan
    with pytest.raises(ValueError, match=r"X\[41, 3\] is NaN or infinite"):
        DictionaryLearning(4, dict_init=X[:4]).fit(X)
    weights = np.ones(len(X))
    weights[41] = 0
    assert np.isfinite(DictionaryLearning(4, dict_init=X[:4]).fit(X, sample_weight=weights).components_).all()


def test_codes_of_another_model_are_refused(X):
    learner = DictionaryLearning(4, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 5 columns; codes of this model have 4"):
        learner.inverse_transform(np.ones((2, 5)))
