"""The estimators as scikit-learn expects them to be, and SparseCoder in particular."""

import pickle

import numpy as np
import pytest
from estimators import CLUSTERINGS, CODERS, PICTURES, TRAINED
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from sparsemble import (
    DictionaryLearning,
    SparseCoder,
    SparseSubspaceClustering,
    WeightedKMeans,
    sparse_encode,
)
from sparsemble.model import TrainedModel

DRAWN = "the start is drawn at random, and copies of a sample change the draws"
PLANE = "two samples of a plane code every other one without error, so the graph knows nothing of blobs"


def given(*last):
    """Rows to start from, of the length that the check of the weights has, and these."""
    rows = np.random.default_rng(1).random((3, 30))
    return np.vstack([rows, *last])


NEVER_THE_BEST = np.resize([1.0, -1.0], 30)
"""Nearly orthogonal to all samples: an atom that only dies."""

GIVEN_A_START = [
    WeightedKMeans(3, init=given(), tol=0),
    WeightedKMeans(5, init=given(np.full(30, 1e3), np.full(30, 2e3)), tol=0),
    DictionaryLearning(dict_init=given(), coder_tol=1e-11, max_iter=4, tol=0),
    DictionaryLearning(dict_init=given(NEVER_THE_BEST), n_nonzero_coefs=1, max_iter=4, tol=0),
    DictionaryLearning(method="mod", dict_init=given(NEVER_THE_BEST), n_nonzero_coefs=1, max_iter=4, tol=0),
    DictionaryLearning(method="k-svd", dict_init=given(NEVER_THE_BEST), n_nonzero_coefs=1, max_iter=4, tol=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", GIVEN_A_START, ids=lambda estimator: type(estimator).__name__)
def test_from_a_given_start_weights_are_copies_of_samples(estimator):
    check_sample_weight_equivalence_on_dense_data(type(estimator).__name__, estimator)


def expected_failures(estimator):
    """Where atoms are drawn, copies of a sample are other random numbers."""
    if isinstance(estimator, SparseSubspaceClustering) and estimator.method == "omp":
        return {"check_clustering": PLANE}
    drawn = isinstance(estimator, TrainedModel | WeightedKMeans)
    return {"check_sample_weight_equivalence_on_dense_data": DRAWN} if drawn else {}


# The data of some checks is noise that no error bound fits; the warning is right and not what they look at.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [*CODERS, *TRAINED, *CLUSTERINGS, *PICTURES], expected_failed_checks=expected_failures
)
def test_the_common_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


OF_PARAMETERS = [
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
]
"""Those of the common checks that fit no table: scikit-learn leaves them out too where no table is taken.

What the others look for is looked for with pictures in test_picture_estimators.py.
"""


@pytest.mark.parametrize("estimator", PICTURES, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("check", OF_PARAMETERS, ids=lambda check: check.__name__)
def test_estimators_of_pictures_pass_the_checks_that_fit_no_table(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.fixture
def labels(X):
    return (X[:, 0] > 0).astype(int)


def test_transform_is_sparse_encode(X, dictionary):
    parameters = {"lam": 0.2, "positive": True, "atom_weights": np.linspace(1, 2, 48), "tol": 1e-8}
    codes = SparseCoder(dictionary, **parameters).transform(X)
    np.testing.assert_array_equal(codes.toarray(), sparse_encode(X, dictionary, **parameters).toarray())


def test_with_a_dictionary_fit_changes_nothing(X, dictionary):
    coder = SparseCoder(dictionary, lam=0.2)
    before = coder.transform(X).toarray()
    np.testing.assert_array_equal(coder.fit_transform(X).toarray(), before)
    np.testing.assert_array_equal(coder.fit(-X).transform(X).toarray(), before)
    assert coder.n_features_in_ == 16


def test_another_dictionary_counts_from_the_next_transform_on(X, dictionary):
    coder = SparseCoder(dictionary, lam=0.2).fit(X)
    coder.set_params(dictionary=dictionary[::-1])
    np.testing.assert_array_equal(
        coder.transform(X).toarray(), sparse_encode(X, dictionary[::-1], lam=0.2).toarray()
    )


def test_without_a_dictionary_the_normalised_samples_are_the_atoms(X):
    coder = SparseCoder(method="omp", n_nonzero_coefs=1).fit(3 * X)
    np.testing.assert_allclose(coder.components_, X)
    np.testing.assert_allclose(coder.transform(5 * X).toarray(), 5 * np.eye(len(X)), atol=1e-9)


def test_the_samples_kept_as_atoms_are_a_copy(X):
    coder = SparseCoder(relative_lam=0.5).fit(X)
    kept = coder.components_.copy()
    X[:] = 0
    np.testing.assert_array_equal(coder.components_, kept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_approximations_come_back_in_the_same_dtype(X, dictionary, dtype):
    coder = SparseCoder(dictionary, max_error=0.05)
    codes = coder.fit_transform(X.astype(dtype))
    for given in (codes, codes.toarray()):
        approximations = coder.inverse_transform(given)
        assert approximations.dtype == codes.dtype == dtype
        assert ((approximations - X) ** 2).sum(axis=1).max() < 0.0501


def test_output_features_are_named_after_the_class(X, dictionary):
    coder = SparseCoder(dictionary, lam=0.2)
    names = coder.get_feature_names_out()
    assert names.tolist() == [f"sparsecoder{i}" for i in range(48)]


def test_data_frames_come_out_with_dense_output(X, dictionary):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"pixel{i}" for i in range(16)])
    coder = SparseCoder(dictionary, lam=0.2, sparse_output=False).set_output(transform="pandas")
    codes = coder.fit_transform(frame)
    assert codes.columns[0] == "sparsecoder0"
    np.testing.assert_array_equal(codes.to_numpy(), sparse_encode(X, dictionary, lam=0.2).toarray())
    with pytest.raises(ValueError, match="dense array"):
        coder.set_params(sparse_output=True).transform(frame)


@pytest.mark.parametrize("copy", [clone, lambda coder: pickle.loads(pickle.dumps(coder))])
def test_copies_code_alike(X, dictionary, copy):
    coder = SparseCoder(dictionary, lam=0.2)
    np.testing.assert_array_equal(copy(coder).transform(X).toarray(), coder.transform(X).toarray())


def test_a_fitted_coder_survives_pickling(X):
    coder = SparseCoder(relative_lam=0.2).fit(X)
    again = pickle.loads(pickle.dumps(coder))
    np.testing.assert_array_equal(again.transform(X).toarray(), coder.transform(X).toarray())


@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        LinearSVC(),
        KMeans(2, n_init=1, random_state=0),
        make_pipeline(MaxAbsScaler(), TruncatedSVD(3)),
        FeatureUnion([("scaled", MaxAbsScaler()), ("reduced", TruncatedSVD(3))]),
    ],
    ids=lambda last: type(last).__name__,
)
def test_sparse_codes_feed_other_estimators(X, dictionary, labels, last):
    pipeline = make_pipeline(SparseCoder(dictionary, lam=0.1), last).fit(X, labels)
    result = pipeline.predict(X) if hasattr(pipeline, "predict") else pipeline.transform(X)
    assert result.shape[0] == len(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_finds_the_better_penalty(X, dictionary, labels, n_jobs):
    pipeline = make_pipeline(SparseCoder(dictionary), LogisticRegression(C=100))
    grid = {"sparsecoder__relative_lam": [0.05, 0.95]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=n_jobs).fit(X, labels)
    assert search.best_params_ == {"sparsecoder__relative_lam": 0.05}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
