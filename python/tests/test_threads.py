"""Threads, interruption, progress and processes."""

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsemble import (
    DictionaryLearning,
    EnsembleSparseCoder,
    EnsembleSpectralClustering,
    denoise,
    lambda_max,
    sparse_encode,
)
from sparsemble._run import thread_count

METHODS = {
    "lasso": {"lam": 0.1},
    "fista": {"lam": 0.2, "tol": 1e-3},
    "omp": {"n_nonzero_coefs": 4},
    "ormp": {"n_nonzero_coefs": 4},
    "mp": {"n_nonzero_coefs": 4},
    "one-sparse": {},
}


def random_rows(seed, shape):
    rows = np.random.default_rng(seed).standard_normal(shape)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def dictionary():
    return random_rows(0, (128, 32))


@pytest.fixture(scope="module")
def X():
    """Enough for many blocks, so that every thread has work."""
    return random_rows(1, (5000, 32))


@pytest.mark.parametrize("method", METHODS)
def test_codes_are_the_same_bits_for_any_number_of_threads(X, dictionary, method):
    X = X[:1500]
    one = sparse_encode(X, dictionary, method=method, n_threads=1, **METHODS[method])
    assert one.nnz > 0
    for n_threads in (2, 5):
        many = sparse_encode(X, dictionary, method=method, n_threads=n_threads, **METHODS[method])
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(one, part), getattr(many, part))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted through Linux's /proc")
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_call_uses_exactly_the_threads_it_was_given(X, dictionary, n_threads):
    before = set(os.listdir("/proc/self/task"))
    new = []

    def look(done, total):
        new.append(set(os.listdir("/proc/self/task")) - before)

    sparse_encode(X, dictionary, lam=0.05, n_threads=n_threads, progress=look)
    assert len(set().union(*new)) == n_threads - 1  # the calling thread is one of them


def test_numbers_of_threads_are_read_as_joblib_reads_them(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = joblib.cpu_count()
    assert thread_count(3) == 3
    assert thread_count(None) == thread_count(-1) == cores
    assert thread_count(-2) == max(1, cores - 1)
    assert thread_count(-1000) == 1
    assert thread_count(np.int64(2)) == 2


@pytest.mark.parametrize(
    ("limit", "threads"), [("1", 1), ("100000", None), ("", None), ("0", None), ("x", None)]
)
def test_the_environment_limits_only_the_default(monkeypatch, limit, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert thread_count(None) == (threads or joblib.cpu_count())
    assert thread_count(7) == 7
    assert thread_count(-1) == joblib.cpu_count()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_the_workers_of_joblib_share_the_cores(monkeypatch, backend):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    jobs = joblib.Parallel(n_jobs=2, backend=backend)
    shares = jobs(joblib.delayed(thread_count)(None) for _ in range(4))
    assert sum(shares[:2]) <= max(2, joblib.cpu_count())
    assert set(jobs(joblib.delayed(thread_count)(3) for _ in range(2))) == {3}  # what is asked for is done
    assert joblib.Parallel(n_jobs=1)([joblib.delayed(thread_count)(None)]) == [joblib.cpu_count()]


def test_progress_rises_and_ends_once_with_everything_done(X, dictionary):
    calls = []
    sparse_encode(X, dictionary, lam=0.1, n_threads=2, progress=lambda *call: calls.append(call))
    done, totals = zip(*calls, strict=True)
    assert set(totals) == {len(X)}
    assert list(done) == sorted(done)
    assert done.count(len(X)) == 1
    assert done[-1] == len(X)
    assert len(done) > 1


def test_a_bar_is_drawn_and_closed(X, dictionary, capsys):
    sparse_encode(X, dictionary, lam=0.1, progress=True)
    drawn = capsys.readouterr().err
    assert f"{len(X)}/{len(X)}" in drawn
    assert "100%" in drawn


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_exception_in_the_callback_stops_the_call(X, dictionary, n_threads):
    class Stop(Exception):
        pass

    told = []

    def stop(done, total):
        told.append(done)
        raise Stop

    with pytest.raises(Stop):
        sparse_encode(X, dictionary, lam=0.05, n_threads=n_threads, progress=stop)
    assert len(told) == 1
    assert told[0] < len(X)


def test_other_python_threads_run_during_a_call(X, dictionary):
    ticks = 0
    finished = threading.Event()

    def tick():
        nonlocal ticks
        while not finished.is_set():
            ticks += 1
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    sparse_encode(X, dictionary, lam=0.05, n_threads=1)
    ticks_during_call = ticks
    finished.set()
    ticker.join()
    assert ticks_during_call > 20


def test_several_python_threads_may_code_at_once(X, dictionary):
    X = X[:1000]
    expected = sparse_encode(X, dictionary, lam=0.1).toarray()
    found = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(sparse_encode)(X, dictionary, lam=0.1, n_threads=2) for _ in range(8)
    )
    for codes in found:
        np.testing.assert_array_equal(codes.toarray(), expected)


@pytest.mark.parametrize(
    "learn",
    [
        lambda X: DictionaryLearning(16, lam=0.2, max_iter=3, random_state=0, n_threads=2).fit(X).components_,
        lambda X: EnsembleSparseCoder(16, n_estimators=3, random_state=0, n_threads=2).fit(X).approximate(X),
        lambda X: EnsembleSpectralClustering(4, random_state=0, n_threads=2).fit(X).labels_,
        lambda X: denoise(128 + 20 * X[:32], 5.0, n_threads=2),
    ],
    ids=["dictionary", "ensemble", "clustering", "picture"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_several_python_threads_may_learn_at_once(X, learn):
    X = X[:300]
    expected = learn(X)
    found = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(learn)(X) for _ in range(4))
    for one in found:
        np.testing.assert_array_equal(one, expected)


def test_one_model_may_be_used_by_several_python_threads(X):
    model = DictionaryLearning(16, lam=0.2, max_iter=2, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[:500])
    expected = model.transform(X).toarray()
    found = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(model.transform)(X) for _ in range(8)
    )
    for codes in found:
        np.testing.assert_array_equal(codes.toarray(), expected)


LONG_CALL = """
import faulthandler, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)   # a shell's background job would ignore it
faulthandler.dump_traceback_later(120, exit=True)       # a call that cannot be stopped must not hang
import numpy as np
import sparsemble

rng = np.random.default_rng(0)
dictionary, X = rng.standard_normal((256, 64)), rng.standard_normal((100_000, 64))
inside = threading.Event()

def announce():
    inside.wait()
    time.sleep(0.5)                 # by now the main thread is in the compiled code
    print("working", flush=True)

threading.Thread(target=announce, daemon=True).start()
inside.set()
# Hours of work: the tolerance is out of reach.
run = dict(n_threads={n_threads}, progress={progress})
sparsemble.sparse_encode(X, dictionary, method="fista", lam=1.0, tol=1e-30, max_iter=1000, **run)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("progress", ["None", "lambda done, total: None"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_control_c_stops_a_long_call(n_threads, progress):
    script = LONG_CALL.format(n_threads=n_threads, progress=progress)
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "working\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate()
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_code(X, dictionary):
    expected = sparse_encode(X, dictionary, lam=0.1, n_threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Python 3.12: NumPy's own threads make fork risky
        child = os.fork()
    if child == 0:
        same = False
        try:
            codes = sparse_encode(X, dictionary, lam=0.1, n_threads=2)
            same = np.array_equal(codes.toarray(), expected.toarray())
        finally:
            os._exit(0 if same else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_lambda_max_is_the_same_for_any_number_of_threads(X, dictionary):
    one = lambda_max(X, dictionary, n_threads=1)
    np.testing.assert_array_equal(one, lambda_max(X, dictionary, n_threads=3))


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has its lock")
def test_a_python_without_the_lock_stays_without_it():
    program = "import sys, sparsemble._native; print(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (found.stdout.strip(), found.stderr) == ("False", "")
