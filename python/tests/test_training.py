"""What holds for every estimator that trains a model."""

import inspect
import os
import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sparsemble import (
    DictionaryLearning,
    EnsembleSparseCoder,
    MiniBatchDictionaryLearning,
    MultilevelDictionary,
    _native,
)

ESTIMATORS = {
    "alt-opt": DictionaryLearning(12, lam=0.2, tol=1e-2, random_state=0),
    "mod": DictionaryLearning(12, method="mod", n_nonzero_coefs=3, tol=1e-2, random_state=0),
    "k-svd": DictionaryLearning(12, method="k-svd", n_nonzero_coefs=3, tol=1e-2, random_state=0),
    "online": MiniBatchDictionaryLearning(12, lam=0.2, max_iter=4, random_state=0),
    "rand-ex-av": EnsembleSparseCoder(10, method="rand-ex-av", n_estimators=3, lam=0.2, random_state=0),
    "boost-ex": EnsembleSparseCoder(10, method="boost-ex", n_estimators=3, n_nonzero_coefs=2, random_state=0),
    "boost-km": EnsembleSparseCoder(10, n_estimators=3, coder="one-sparse", random_state=0),
    "ex-mld": MultilevelDictionary(6, n_levels=3, n_estimators=4, random_state=0),
    "mld": MultilevelDictionary(6, n_levels=3, examples=False, random_state=0),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


@pytest.fixture
def X():
    """Sparse sums of a few atoms, and a little noise."""
    rng = np.random.default_rng(3)
    atoms = rng.standard_normal((10, 12))
    codes = rng.standard_normal((150, 10)) * (rng.random((150, 10)) < 0.3)
    return codes @ atoms + 0.01 * rng.standard_normal((150, 12))


def same(a, b):
    np.testing.assert_array_equal(a.toarray() if issparse(a) else a, b.toarray() if issparse(b) else b)


def test_fit_transform_is_fit_then_transform(estimator, X):
    same(clone(estimator).fit_transform(X), estimator.fit(X).transform(X))


def test_approximations_are_those_of_the_codes(estimator, X):
    codes = estimator.fit(X).transform(X)
    approximations = estimator.approximate(X)
    assert approximations.shape == X.shape
    for given in (codes, codes.toarray(), codes.tocsc(), csr_array(codes[:, ::-1])[:, ::-1]):
        same(estimator.inverse_transform(given), approximations)
    error = ((X - approximations) ** 2).sum()
    assert error < 0.6 * (X**2).sum()


def test_codes_have_a_column_for_each_atom(estimator, X):
    codes = estimator.fit(X).transform(X)
    assert codes.format == "csr"
    assert codes.shape == (len(X), len(estimator.components_))
    names = estimator.get_feature_names_out()
    assert names[0] == f"{type(estimator).__name__.lower()}0"
    assert len(names) == len(estimator.components_)
    np.testing.assert_allclose((estimator.components_**2).sum(axis=1), 1, rtol=1e-6)


def test_the_model_is_the_same_bits_for_any_number_of_threads(estimator, X):
    X = np.tile(X, (5, 1)) + 0.1 * np.random.default_rng(5).standard_normal((750, 12))  # several blocks
    one = estimator.set_params(n_threads=1).fit(X)
    for n_threads in (2, 5):
        many = clone(estimator).set_params(n_threads=n_threads).fit(X)
        same(many.components_, one.components_)
        same(many.transform(X), one.transform(X))


def test_another_seed_is_another_model_and_the_same_one_is_not(estimator, X):
    first = estimator.fit(X).components_
    same(clone(estimator).fit(X).components_, first)
    assert not np.array_equal(clone(estimator).set_params(random_state=1).fit(X).components_, first)
    same(
        clone(estimator).set_params(random_state=np.random.RandomState(4)).fit(X).components_,
        clone(estimator).set_params(random_state=np.random.RandomState(4)).fit(X).components_,
    )


def test_single_precision_stays_single(estimator, X):
    single = clone(estimator).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    codes = single.transform(X.astype(np.float32))
    assert codes.dtype == np.float32
    assert single.inverse_transform(codes).dtype == np.float32
    double = estimator.fit(X)
    assert double.transform(X.astype(np.float32)).dtype == np.float64
    errors = [((X - model.approximate(X)) ** 2).sum() for model in (single, double)]
    assert errors[0] == pytest.approx(errors[1], rel=0.3)


def test_whole_numbers_and_lists_are_taken(estimator, X):
    rounded = (10 * X).astype(int)
    same(estimator.fit(rounded.tolist()).components_, clone(estimator).fit(rounded.astype(float)).components_)


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_memory_order_gives_the_same_bits(estimator, X, order):
    expected = clone(estimator).fit(X)
    other = estimator.fit(np.asarray(X, order=order))
    same(other.components_, expected.components_)
    same(other.transform(np.asarray(X[::2], order=order)), expected.transform(X[::2]))


def test_a_memory_mapped_file_is_trained_on_in_place(estimator, X, tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    seen = []
    native = _native.train

    def train(arrays, *rest):
        seen.append(_native.address(arrays[0]))
        return native(arrays, *rest)

    monkeypatch.setattr(_native, "train", train)
    estimator.fit(mapped)
    assert seen == [mapped.__array_interface__["data"][0]]
    same(estimator.components_, clone(estimator).fit(X).components_)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_holds_the_same_bits(estimator, X, protocol):
    again = pickle.loads(pickle.dumps(estimator.fit(X), protocol=protocol))
    same(again.components_, estimator.components_)
    same(again.transform(X), estimator.transform(X))
    assert again.get_params().keys() == estimator.get_params().keys()


def test_a_clone_is_not_fitted(estimator, X):
    copy = clone(estimator.fit(X))
    assert not hasattr(copy, "components_")
    same(copy.fit(X).components_, estimator.components_)


def test_weights_count_by_their_ratios_and_zero_is_left_out(estimator, X):
    weights = np.random.default_rng(6).integers(0, 3, len(X)).astype(float)
    weighted = clone(estimator).fit(X, sample_weight=weights)
    same(clone(estimator).fit(X, sample_weight=4 * weights).components_, weighted.components_)
    ignored = np.where(weights[:, None] > 0, X, 100.0)
    same(clone(estimator).fit(ignored, sample_weight=weights).components_, weighted.components_)
    equal = clone(estimator).fit(X, sample_weight=np.ones(len(X)))
    same(equal.components_, clone(estimator).fit(X).components_)
    assert not np.array_equal(equal.components_, weighted.components_)


def test_weights_are_routed_through_a_pipeline(estimator, X):
    weights = np.random.default_rng(6).random(len(X))
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(clone(estimator).set_fit_request(sample_weight=True))
        pipeline.fit(X, sample_weight=weights)
    same(pipeline[-1].components_, estimator.fit(X, sample_weight=weights).components_)


def test_codes_feed_a_classifier_in_a_grid_search(estimator, X):
    labels = (X[:, 0] > 0).astype(int)
    pipeline = make_pipeline(estimator, LogisticRegression(max_iter=1000))
    name = type(estimator).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__n_components": [2, 6]}, cv=2).fit(X, labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_data_frames_come_out_with_dense_output(estimator, X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"pixel{i}" for i in range(12)])
    estimator.set_params(sparse_output=False).set_output(transform="pandas")
    codes = estimator.fit_transform(frame)
    assert codes.columns.tolist() == estimator.get_feature_names_out().tolist()
    assert estimator.feature_names_in_.tolist() == frame.columns.tolist()


def test_a_degraded_copy_takes_measurements_and_gives_whole_samples(estimator, X):
    phi = np.random.default_rng(7).standard_normal((8, 12))
    degraded = estimator.fit(X).degraded_by(phi)
    assert degraded.n_features_in_ == 8
    restored = degraded.approximate(X @ phi.T)
    assert restored.shape == X.shape
    same(degraded.inverse_transform(degraded.transform(X @ phi.T)), restored)
    assert estimator.n_features_in_ == 12  # the estimator itself is as it was
    identity = estimator.degraded_by(np.eye(12))
    np.testing.assert_allclose(identity.approximate(X), estimator.approximate(X), atol=1e-5)
    with pytest.raises(ValueError, match=r"has 12 features, but .* is expecting 8"):
        degraded.transform(X)
    with pytest.raises(ValueError, match=r"phi|features"):
        estimator.degraded_by(phi[:, 1:])


def test_progress_rises_to_all_that_there_is_to_do(estimator, X):
    calls = []
    estimator.set_params(progress=lambda *call: calls.append(call), n_threads=1).fit(X)
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1]
    assert len(set(totals)) == 1


def test_a_bar_is_drawn_to_its_end(estimator, X, capsys):
    estimator.set_params(progress=True).fit(X)
    assert "100%" in capsys.readouterr().err


def test_every_step_is_told_of_and_can_stop_the_training(estimator, X):
    steps = []
    estimator.set_params(callback=lambda *step: steps.append(step)).fit(X)
    numbers, totals, errors = zip(*steps, strict=True)
    assert list(numbers) == list(range(1, len(steps) + 1))
    assert set(totals) == {getattr(estimator, "max_iter", 3) or 50}
    assert all(error is None or error > 0 for error in errors)

    class Stop(Exception):
        pass

    def stop(number, of, error):
        raise Stop

    with pytest.raises(Stop):
        clone(estimator).set_params(callback=stop).fit(X)


def test_a_training_that_was_stopped_goes_on_to_the_same_bits(estimator, X, tmp_path):
    file = tmp_path / "training.checkpoint"
    expected = clone(estimator).fit(X)

    def stop(number, of, error):
        if number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clone(estimator).set_params(checkpoint=file, callback=stop).fit(X)
    assert file.exists()
    steps = []
    resumed = clone(estimator).set_params(checkpoint=file, callback=lambda *step: steps.append(step))
    same(resumed.fit(X).components_, expected.components_)
    assert not file.exists()
    assert all(number > 2 for number, _, _ in steps)


def test_a_checkpoint_of_other_data_is_refused(estimator, X, tmp_path):
    file = tmp_path / "training.checkpoint"

    def stop(number, of, error):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clone(estimator).set_params(checkpoint=file, callback=stop).fit(X)
    with pytest.raises(ValueError, match="not that of the checkpoint"):
        clone(estimator).set_params(checkpoint=file).fit(X + 1)
    with pytest.raises(ValueError, match="not that of the checkpoint"):
        clone(estimator).set_params(checkpoint=file, random_state=9).fit(X)


def test_a_checkpoint_needs_a_seed_to_go_on_with(estimator, X, tmp_path):
    with pytest.raises(
        ValueError, match="random_state=None: a training with a checkpoint needs a whole number"
    ):
        estimator.set_params(checkpoint=tmp_path / "file", random_state=None).fit(X)


LONG_TRAINING = """
import faulthandler, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
faulthandler.dump_traceback_later(120, exit=True)       # a training that cannot be stopped must not hang
import numpy as np
from sparsemble import EnsembleSparseCoder

X = np.random.default_rng(0).standard_normal((100_000, 64))

def announce():
    time.sleep(0.7)
    print("working", flush=True)

threading.Thread(target=announce, daemon=True).start()
EnsembleSparseCoder(256, n_estimators=1000, lam=0.5, n_threads=2).fit(X)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_control_c_stops_a_long_training():
    child = subprocess.Popen(
        [sys.executable, "-c", LONG_TRAINING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "working\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate()
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_train(X):
    learner = clone(ESTIMATORS["boost-km"]).set_params(n_threads=2)
    expected = learner.fit(X).components_
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Python 3.12: NumPy's own threads make fork risky
        child = os.fork()
    if child == 0:
        equal = False
        try:
            equal = np.array_equal(clone(learner).fit(X).components_, expected)
        finally:
            os._exit(0 if equal else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_defaults_are_those_of_the_library(name):
    signature = inspect.signature(type(ESTIMATORS[name])).parameters
    for parameter, default in _native.defaults(name).items():
        if parameter in signature and signature[parameter].default is not None:
            assert signature[parameter].default == default, parameter


@pytest.mark.parametrize(("name", "most"), [("alt-opt", 256), ("boost-km", 256), ("ex-mld", 16)])
def test_the_default_number_of_atoms_is_the_librarys_or_that_of_the_samples(name, most):
    X = np.random.default_rng(8).standard_normal((300, 4))
    estimator = clone(ESTIMATORS[name]).set_params(n_components=None)
    sizes = estimator.fit(X)._model.members or [[len(estimator.components_)]]
    assert sizes[0][0] == most == _native.defaults(name)["n_components"]
    sizes = estimator.fit(X[:9])._model.members or [[len(estimator.components_)]]
    assert sizes[0][0] == 9
