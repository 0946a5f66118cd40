"""The laws of all estimators, over one list of them."""

import inspect
import os
import pickle
import threading
import time

import numpy as np
import pytest
from estimators import CLUSTERINGS, CODERS, PICTURES, TRAINED
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

import sparsemble
from sparsemble import _run

SAMPLED = [*CODERS, *TRAINED, *CLUSTERINGS]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
COUNTED = pytest.mark.skipif(
    not os.path.isdir("/proc/self/task"), reason="threads are counted through Linux's /proc"
)


def name_of(estimator):
    method = getattr(estimator, "method", "")
    return f"{type(estimator).__name__} {method}"


@pytest.fixture
def X():
    """Three groups of samples."""
    rng = np.random.default_rng(3)
    return np.repeat(rng.standard_normal((3, 6)), 20, axis=0) + 0.3 * rng.standard_normal((60, 6))


@pytest.fixture(params=SAMPLED, ids=name_of)
def estimator(request):
    estimator = clone(request.param)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def result_of(estimator, X):
    """What an estimator makes of samples, as an array."""
    made = estimator.transform(X) if hasattr(estimator, "transform") else estimator.labels_
    return made.toarray() if issparse(made) else made


def test_the_list_is_complete():
    exported = [getattr(sparsemble, name) for name in sparsemble.__all__]
    classes = {item for item in exported if inspect.isclass(item) and issubclass(item, BaseEstimator)}
    assert {type(estimator) for estimator in [*SAMPLED, *PICTURES]} == classes


@pytest.mark.parametrize("estimator", [*SAMPLED, *PICTURES], ids=name_of)
def test_parameters_are_kept_as_they_are_given(estimator):
    parameters = estimator.get_params()
    assert {"n_threads", "progress"} <= parameters.keys()
    again = clone(estimator)
    assert again.get_params() == parameters
    assert pickle.loads(pickle.dumps(estimator)).get_params() == parameters
    assert again.set_params(n_threads=2).n_threads == 2


def test_a_fitted_estimator_survives_pickling(estimator, X):
    expected = result_of(estimator.fit(X), X)
    np.testing.assert_array_equal(result_of(pickle.loads(pickle.dumps(estimator)), X), expected)


def test_fitting_and_using_are_the_same_at_once_or_in_turn(estimator, X):
    expected = result_of(clone(estimator).fit(X), X)
    together = estimator.fit_transform(X) if hasattr(estimator, "transform") else estimator.fit_predict(X)
    np.testing.assert_array_equal(together.toarray() if issparse(together) else together, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_the_samples_is_that_of_the_result(estimator, X, dtype):
    X = X.astype(dtype)
    estimator.fit(X)
    for attribute in ("components_", "cluster_centers_"):
        assert getattr(estimator, attribute, X).dtype == dtype
    if hasattr(estimator, "transform"):
        codes = estimator.transform(X)
        assert codes.dtype == estimator.inverse_transform(codes).dtype == dtype


def test_the_result_is_the_same_for_any_number_of_threads(estimator, X):
    one = result_of(clone(estimator).set_params(n_threads=1).fit(X), X)
    np.testing.assert_array_equal(result_of(estimator.set_params(n_threads=3).fit(X), X), one)


def test_it_is_a_step_of_a_pipeline(estimator, X):
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).fit(X)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(result_of(pipeline[-1], scaled), result_of(estimator.fit(scaled), scaled))


def test_a_search_goes_over_its_parameters(estimator, X):
    def score(fitted, X, y=None):
        return float(np.abs(result_of(fitted, X)).sum())

    parameter = "n_components" if "n_components" in estimator.get_params() else "n_clusters"
    grid = {parameter: [2, 3]} if parameter in estimator.get_params() else {"tol": [1e-3, 1e-2]}
    search = GridSearchCV(estimator, grid, cv=2, scoring=score).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    "estimator", [item for item in SAMPLED if has_fit_parameter(item, "sample_weight")], ids=name_of
)
def test_weights_are_routed_where_they_are_taken(estimator, X):
    estimator = clone(estimator).set_params(random_state=0)
    weights = np.random.default_rng(6).random(len(X))
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(clone(estimator).set_fit_request(sample_weight=True))
        pipeline.fit(X, sample_weight=weights)
    expected = result_of(estimator.fit(X, sample_weight=weights), X)
    np.testing.assert_array_equal(result_of(pipeline[-1], X), expected)


def other_threads(work):
    """The most threads there were during work beside the one that did it."""
    stop, most = threading.Event(), 0

    def look():
        nonlocal most
        before.add(str(threading.get_native_id()))
        while not stop.is_set():
            most = max(most, len(set(os.listdir("/proc/self/task")) - before))
            time.sleep(0.0002)

    before = set(os.listdir("/proc/self/task"))
    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        work()
    finally:
        stop.set()
        watcher.join()
    return most


def use(estimator, X):
    estimator.fit(X)
    if hasattr(estimator, "transform"):
        estimator.inverse_transform(estimator.transform(X))


PICTURE_CALLS = {
    "SuperResolution": lambda picture, n: sparsemble.SuperResolution(2, n_threads=n).upscale(picture),
    "CompressiveRecovery": lambda picture, n: sparsemble.CompressiveRecovery(0.5, n_threads=n).recover(
        sparsemble.CompressiveRecovery(0.5).sense(picture), picture.shape
    ),
    "imresize": lambda picture, n: sparsemble.imresize(picture, 4.0, n_threads=n),
    "ssim": lambda picture, n: sparsemble.ssim(picture, picture, n_threads=n),
}


@pytest.fixture
def picture():
    rows, columns = np.indices((128, 128))
    return 128 + 60 * np.sin(0.2 * rows) * np.cos(0.3 * columns)


@COUNTED
def test_with_one_thread_there_is_no_other(estimator, X):
    X = np.tile(X, (10, 1)) + 0.1 * np.random.default_rng(7).standard_normal((600, 6))
    assert other_threads(lambda: use(estimator.set_params(n_threads=1), X)) == 0


@COUNTED
@pytest.mark.parametrize("name", PICTURE_CALLS)
def test_with_one_thread_there_is_no_other_for_pictures(picture, name):
    assert other_threads(lambda: PICTURE_CALLS[name](picture, 1)) == 0


@pytest.fixture
def told(monkeypatch):
    """How many threads the compiled code was told to use; test_threads.py counts those it makes of them."""
    numbers, count = [], _run.thread_count

    def tell(n_threads):
        numbers.append(count(n_threads))
        return numbers[-1]

    monkeypatch.setattr(_run, "thread_count", tell)
    return numbers


def test_the_compiled_code_is_told_the_number_of_threads(estimator, X, told):
    use(estimator.set_params(n_threads=3), X)
    assert set(told) == {3}


@pytest.mark.parametrize("name", PICTURE_CALLS)
def test_the_compiled_code_is_told_the_number_of_threads_for_pictures(picture, name, told):
    PICTURE_CALLS[name](picture, 3)
    assert 3 in told
