"""The functions by SPAMS's names give what SPAMS gives for the same call."""

import inspect
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_matrix

import sparsemble.compat.spams as ours
from sparsemble import sparse_encode

try:
    import spams as theirs
except ImportError:  # there are no wheels for every platform
    theirs = None

needs_spams = pytest.mark.skipif(
    theirs is None, reason="SPAMS (spams-bin) is not installed: nothing to compare with"
)
M, P, N = 16, 40, 60


def columns(seed, shape):
    matrix = np.random.default_rng(seed).standard_normal(shape)
    return np.asfortranarray(matrix / np.sqrt((matrix**2).sum(axis=0)))


@pytest.fixture
def D():
    return columns(0, (M, P))


@pytest.fixture
def X():
    return np.asfortranarray(3 * columns(1, (M, N)))


@pytest.fixture
def B():
    return np.asfortranarray(np.random.default_rng(2).random((M, N)) < 0.8)


def objective(X, D, A, lambda1, lambda2):
    """½‖x − Da‖² + λ₁‖a‖₁ + ½λ₂‖a‖² of each signal."""
    A = A.toarray()
    error = ((X - D @ A) ** 2).sum(axis=0)
    return 0.5 * error + lambda1 * abs(A).sum(axis=0) + 0.5 * lambda2 * (A**2).sum(axis=0)


def assert_same_codes(A, expected, tolerance=1e-5):
    assert type(A) is csc_matrix
    assert A.shape == expected.shape
    assert A.dtype == expected.dtype
    np.testing.assert_allclose(A.toarray(), expected.toarray(), atol=tolerance)


@needs_spams
@pytest.mark.parametrize("pos", [False, True])
@pytest.mark.parametrize(("mode", "lambda1"), [(0, 1.5), (1, 2.0), (2, 0.3)])
def test_the_codes_of_the_lasso_are_theirs_in_every_mode(X, D, mode, lambda1, pos):
    # Not every signal has a positive code within a bound: theirs is then anything.
    call = {"lambda1": 6.0 if pos and mode == 1 else lambda1, "mode": mode, "pos": pos}
    A, expected = ours.lasso(X, D=D, **call), theirs.lasso(X, D=D, **call)
    assert_same_codes(A, expected)
    assert not pos or A.min() >= 0


@needs_spams
@pytest.mark.parametrize("pos", [False, True])
def test_the_elastic_net_is_no_worse_than_theirs(X, D, pos):
    call = {"lambda1": 0.4, "lambda2": 0.3, "pos": pos}
    A, expected = ours.lasso(X, D, **call), theirs.lasso(X, D, **call)
    values = [objective(X, D, codes, 0.4, 0.3) for codes in (A, expected)]
    assert (values[0] <= values[1] + 1e-8).all()
    # They stop at min(m, p) atoms; where that is no bound, the codes are the same.
    free = np.diff(expected.indptr) < M - 1
    assert free.sum() > N / 2
    np.testing.assert_allclose(A[:, free].toarray(), expected[:, free].toarray(), atol=1e-5)


@needs_spams
@pytest.mark.parametrize("pos", [False, True])
@pytest.mark.parametrize(("mode", "lambda1"), [(0, 1.5), (1, 2.0), (2, 0.3), (2, 0.01)])
def test_the_path_of_the_lasso_is_theirs(X, D, mode, lambda1, pos):
    call = {"lambda1": 6.0 if pos and mode == 1 else lambda1, "mode": mode, "pos": pos}
    for signal in range(5):
        alone = X[:, signal : signal + 1].copy(order="F")
        A, path = ours.lasso(alone, D, return_reg_path=True, **call)
        expected, their_path = theirs.lasso(alone, D, return_reg_path=True, **call)
        assert_same_codes(A, expected)
        assert path.shape == their_path.shape
        assert path.flags.f_contiguous
        np.testing.assert_allclose(path, their_path, atol=1e-5)
        used = np.flatnonzero(path.any(axis=0))
        np.testing.assert_allclose(path[:, used[-1]], A.toarray()[:, 0], atol=1e-5)


@needs_spams
def test_single_precision_stays_single(X, D):
    X, D = X.astype(np.float32, order="F"), D.astype(np.float32, order="F")
    assert_same_codes(ours.lasso(X, D, lambda1=0.3), theirs.lasso(X, D, lambda1=0.3), tolerance=2e-3)
    assert ours.omp(X, D, L=3).dtype == np.float32


@needs_spams
@pytest.mark.parametrize("call", [{"L": 1}, {"L": 5}, {"L": 5, "eps": 1.0}, {"eps": 2.0}])
def test_greedy_codes_are_theirs(X, D, call):
    assert_same_codes(ours.omp(X, D, **call), theirs.omp(X, D, **call), tolerance=1e-6)


@needs_spams
@pytest.mark.parametrize("n", [1, 5])
def test_the_greedy_path_is_theirs(X, D, n):
    X = X[:, :n].copy(order="F")
    A, path = ours.omp(X, D, L=6, return_reg_path=True)
    expected, their_path = theirs.omp(X, D, L=6, return_reg_path=True)
    assert_same_codes(A, expected, tolerance=1e-6)
    assert path.shape == their_path.shape
    if n == 1:  # of more signals theirs is that of any
        np.testing.assert_allclose(path, their_path, atol=1e-6)
    np.testing.assert_allclose(path[:, 5], A[:, :1].toarray()[:, 0], atol=1e-12)


@needs_spams
@pytest.mark.parametrize("lambda1", [0.05, 0.2, 0.5, 2.0])
@pytest.mark.parametrize("limits", [{}, {"L": 3}, {"eps": 1.0}, {"L": 4, "eps": 0.0}])
def test_greedy_codes_at_a_price_for_each_atom_are_theirs(X, D, lambda1, limits):
    A, expected = (module.omp(X, D, lambda1=lambda1, **limits) for module in (ours, theirs))
    assert_same_codes(A, expected, tolerance=1e-6)
    np.testing.assert_array_equal(np.diff(A.indptr), np.diff(expected.indptr))


def test_signals_that_no_atom_is_worth_have_no_code(X, D):
    with pytest.warns(UserWarning, match=r"every code is zero: relax min_gain=200\.0"):
        assert ours.omp(X, D, lambda1=100.0).nnz == 0
    with pytest.warns(UserWarning, match="every code is zero"):
        assert ours.omp(X.astype(np.float32), D, lambda1=100.0).dtype == np.float32


@pytest.mark.filterwarnings("ignore:every code is zero")
def test_a_price_and_an_error_for_each_signal_stop_at_what_comes_first(X, D):
    eps = np.linspace(0.5, 30.0, X.shape[1])
    A = ours.omp(X, D, lambda1=0.2, eps=eps)
    alone = [ours.omp(X[:, [i]], D, lambda1=0.2, eps=float(eps[i])) for i in range(X.shape[1])]
    np.testing.assert_allclose(A.toarray(), np.hstack([a.toarray() for a in alone]), atol=1e-10)
    counts = [np.diff(ours.omp(X, D, **limit).indptr) for limit in ({"lambda1": 0.2}, {"eps": eps})]
    assert (counts[0] < counts[1]).any()
    assert (counts[0] > counts[1]).any()
    np.testing.assert_array_equal(np.diff(A.indptr), np.minimum(*counts))


def test_greedy_limits_may_be_given_for_each_signal(X, D):
    limits = 1 + np.arange(N) % 4
    A = ours.omp(X, D, L=limits)
    assert (np.diff(A.indptr) == limits).all()
    np.testing.assert_array_equal(A[:, 5].toarray(), ours.omp(X[:, 5:6], D, L=2).toarray())
    errors = np.linspace(0.5, 4.0, N)
    bounded = ours.omp(X, D, eps=errors)
    assert (((X - D @ bounded.toarray()) ** 2).sum(axis=0) <= errors * (1 + 1e-9)).all()
    one = ours.omp(X[:, 9:10], D, eps=errors[9])
    np.testing.assert_allclose(bounded[:, 9].toarray(), one.toarray(), atol=1e-9)


MASKED = [(0, 1.5, 0.0), (1, 2.0, 0.0), (2, 0.3, 0.0), (2, 0.6, 0.2)]


@needs_spams
@pytest.mark.parametrize(("mode", "lambda1", "lambda2"), MASKED)
def test_masked_codes_are_theirs_in_every_mode(X, D, B, mode, lambda1, lambda2):
    call = {"lambda1": lambda1, "lambda2": lambda2, "mode": mode}
    A, expected = (module.lassoMask(X, D, B, **call) for module in (ours, theirs))
    free = np.diff(expected.indptr) < B.sum(axis=0) - 1  # of atoms they have no more than that
    assert free.sum() > N / 2
    assert_same_codes(A[:, free], expected[:, free], tolerance=1e-4)


@needs_spams
@pytest.mark.parametrize("limits", [{"L": 3}, {"L": 3, "eps": 0.0}, {"L": 3, "eps": 1e-9}])
def test_masked_greedy_codes_are_theirs_by_number(X, D, B, limits):
    A, expected = (module.ompMask(X, D, B, **limits) for module in (ours, theirs))
    np.testing.assert_array_equal(np.diff(A.indptr), np.diff(expected.indptr))
    errors = [((B * (X - D @ codes.toarray())) ** 2).sum(axis=0) for codes in (A, expected)]
    # Theirs compares atoms as if the mask had left them their norms.
    assert errors[0].sum() <= errors[1].sum() + 1e-9


@needs_spams
def test_the_masked_greedy_path_ends_at_the_code(X, D, B):
    (A, path), (_, theirs_is) = (
        module.ompMask(X, D, B, L=4, return_reg_path=True) for module in (ours, theirs)
    )
    assert path.shape == theirs_is.shape
    assert [np.count_nonzero(code) for code in path.T[:5]] == [1, 2, 3, 4, 0]
    np.testing.assert_allclose(path[:, 3], A[:, :1].toarray()[:, 0], atol=1e-12)


def test_masked_greedy_codes_reach_the_share_of_the_error(X, D, B):
    X[~B] = np.nan
    A = ours.ompMask(X, D, B, eps=2.0).toarray()
    errors = (np.where(B, X - D @ A, 0.0) ** 2).sum(axis=0)
    assert (errors <= 2.0 * B.mean(axis=0) * (1 + 1e-9)).all()
    whole = ours.ompMask(np.nan_to_num(X), D, np.ones_like(B), eps=2.0)
    np.testing.assert_allclose(whole.toarray(), ours.omp(np.nan_to_num(X), D, eps=2.0).toarray(), atol=1e-9)


@needs_spams
@pytest.mark.parametrize("pos", [False, True])
@pytest.mark.parametrize(("mode", "lambda1"), [(0, 1.5), (1, 2.0), (2, 0.3)])
def test_weighted_codes_are_theirs_in_every_mode(X, D, mode, lambda1, pos):
    if pos and mode == 1:
        lambda1 = 6.0
    W = np.asfortranarray(np.random.default_rng(3).uniform(0.5, 2.0, (P, N)))
    call = {"lambda1": lambda1, "mode": mode, "pos": pos}
    assert_same_codes(
        ours.lassoWeighted(X, D, W, **call), theirs.lassoWeighted(X, D, W, **call), tolerance=1e-4
    )


@needs_spams
def test_convex_combinations_are_theirs(X, D):
    A, expected = ours.decompSimplex(X, D), theirs.decompSimplex(X, D)
    assert A.shape == expected.shape
    np.testing.assert_allclose(A.sum(axis=0), 1.0, atol=1e-9)
    assert A.min() >= 0
    errors = [((X - D @ codes.toarray()) ** 2).sum(axis=0) for codes in (A, expected)]
    assert (errors[0] <= errors[1] + 1e-9).all()
    np.testing.assert_allclose(A.toarray(), expected.toarray(), atol=1e-3)


@needs_spams
@pytest.mark.parametrize(("shape", "block", "rgb"), [((7, 9), (3, 2), False), ((4, 15), (2, 3), True)])
def test_blocks_are_theirs_in_order(shape, block, rgb):
    picture = np.asfortranarray(np.random.default_rng(4).random(shape))
    blocks, expected = (module.im2col_sliding(picture, *block, RGB=rgb) for module in (ours, theirs))
    np.testing.assert_array_equal(blocks, expected)
    assert blocks.flags.f_contiguous
    whole = (100 * picture).astype(np.int64)
    for other in (picture.astype(np.float32), np.ascontiguousarray(picture), whole):
        expected = theirs.im2col_sliding(np.asfortranarray(other, dtype=np.float64), *block, RGB=rgb)
        blocks = ours.im2col_sliding(other, *block, RGB=rgb)
        np.testing.assert_array_equal(blocks, expected)
        assert blocks.dtype == (np.float32 if other.dtype == np.float32 else np.float64)


def mean_objective(X, D, lambda1, pos=False):
    codes = sparse_encode(X.T, D.T, lam=2 * lambda1, positive=pos, tol=1e-8).toarray()
    return 0.5 * ((X.T - codes @ D.T) ** 2).sum(axis=1).mean() + lambda1 * abs(codes).sum(axis=1).mean()


@pytest.fixture
def signals():
    """Sparse sums of 20 atoms, and noise."""
    rng = np.random.default_rng(5)
    codes = rng.standard_normal((20, 3000)) * (rng.random((20, 3000)) < 0.15)
    return np.asfortranarray(columns(6, (12, 20)) @ codes + 0.05 * rng.standard_normal((12, 3000)))


LEARNED = [
    ("trainDL", {"posAlpha": False, "posD": False}),
    ("trainDL", {"posAlpha": True, "posD": True}),
    ("trainDL", {"posAlpha": True, "posD": False}),
    ("trainDL", {"batch": True, "iter": 20}),
    ("trainDL_Memory", {"posD": False}),
]


@needs_spams
@pytest.mark.parametrize(("function", "call"), LEARNED)
def test_dictionaries_are_no_worse_than_theirs(signals, function, call):
    call = {"K": 20, "lambda1": 0.15, "iter": 100} | call
    quiet = {"verbose": False} if function == "trainDL" else {}
    D, expected = (getattr(module, function)(signals, **call, **quiet) for module in (ours, theirs))
    assert D.shape == expected.shape
    assert D.flags.f_contiguous
    np.testing.assert_allclose((D**2).sum(axis=0), 1.0)
    assert not call.get("posD") or D.min() >= 0
    pos = call.get("posAlpha", False)
    ours_is, theirs_is = (mean_objective(signals, atoms, 0.15, pos) for atoms in (D, expected))
    assert ours_is <= 1.01 * theirs_is


@needs_spams
@pytest.mark.parametrize(("mode", "lambda1", "pos"), [(0, 1.0, False), (0, 1.0, True), (1, 0.3, False)])
def test_dictionaries_within_a_bound_are_no_worse_than_theirs(signals, mode, lambda1, pos):
    call = {"K": 20, "lambda1": lambda1, "mode": mode, "iter": 60, "posAlpha": pos, "verbose": False}
    cost = []
    for module in (ours, theirs):
        D = np.asfortranarray(module.trainDL(signals, **call))
        A = theirs.lasso(signals, D, lambda1=lambda1, mode=mode, pos=pos)
        error = ((signals - D @ A.toarray()) ** 2).sum(axis=0).mean()
        cost.append(error if mode == 0 else error + abs(A).sum() / signals.shape[1])
    assert cost[0] <= 1.05 * cost[1]


@needs_spams
@pytest.mark.parametrize(("mode", "lambda1"), [(3, 3), (4, 0.2)])
def test_greedy_dictionaries_are_no_worse_than_theirs(signals, mode, lambda1):
    call = {"K": 20, "lambda1": lambda1, "mode": mode, "iter": 100, "verbose": False}
    D, expected = ours.trainDL(signals, **call), theirs.trainDL(signals, **call)
    limit = {"L": 3} if mode == 3 else {"eps": 0.2}
    cost = []
    for atoms in (D, expected):
        A = ours.omp(signals, np.asfortranarray(atoms), **limit)
        error = ((signals - atoms @ A.toarray()) ** 2).sum(axis=0).mean()
        cost.append(error if mode == 3 else A.nnz)
    assert cost[0] <= 1.05 * cost[1]


def test_a_training_by_the_clock_ends_when_nothing_changes(signals):
    signals = abs(signals[:3, :400])
    by_clock = ours.trainDL(signals, K=2, lambda1=0.1, iter=-600, posAlpha=True, posD=True)
    long = ours.trainDL(signals, K=2, lambda1=0.1, iter=300, posAlpha=True, posD=True)
    found, best = (mean_objective(signals, D, 0.1, pos=True) for D in (by_clock, long))
    assert found <= 1.001 * best


def test_a_model_goes_on_where_it_was(signals):
    call = {"K": 10, "lambda1": 0.2, "batchsize": 3000}
    whole = ours.trainDL(signals, iter=6, **call)
    D, model = ours.trainDL(signals, iter=4, return_model=True, **call)
    assert model["iter"] == 4
    again, model = ours.trainDL(signals, iter=2, D=D, model=model, return_model=True, **call)
    assert model["iter"] == 6
    # A batch is all signals, in another order.
    np.testing.assert_allclose(again, whole, atol=1e-6)
    with pytest.raises(ValueError, match="D must be the atoms"):
        ours.trainDL(signals, iter=2, D=-D, model=model, **call)
    with pytest.raises(ValueError, match="model must be one that trainDL of this module has returned"):
        ours.trainDL(signals, iter=2, model={"A": 1, "B": 2, "iter": 3}, **call)


def test_a_training_starts_from_the_atoms_it_is_given(signals):
    D = columns(7, (12, 9))
    np.testing.assert_allclose(ours.trainDL(signals, D=D, lambda1=0.2, iter=0), D, atol=1e-12)
    assert ours.trainDL(signals.astype(np.float32), D=D, lambda1=0.2, iter=2).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int64, np.float16])
def test_any_layout_and_any_numbers_are_taken(X, D, dtype):
    whole = (10 * X).astype(dtype)
    expected = ours.lasso(whole.astype(np.float64), D, lambda1=0.3).toarray()
    np.testing.assert_array_equal(ours.lasso(whole, D, lambda1=0.3).toarray(), expected)
    np.testing.assert_array_equal(ours.lasso(np.ascontiguousarray(whole), D, lambda1=0.3).toarray(), expected)
    np.testing.assert_array_equal(ours.lasso(whole, D, lambda1=np.float32(0.3), numThreads=2).shape, (P, N))


@needs_spams
@pytest.mark.parametrize("name", [name for name in ours.__all__ if name[0].islower()])
def test_arguments_and_defaults_are_theirs(name):
    mine, other = (inspect.signature(getattr(module, name)).parameters for module in (ours, theirs))
    assert [(p.name, p.default) for p in mine.values()] == [(p.name, p.default) for p in other.values()]


@needs_spams
def test_modes_have_their_numbers():
    for name in ("L1COEFFS", "L2ERROR", "PENALTY", "SPARSITY", "L2ERROR2", "PENALTY2"):
        assert getattr(ours, name) == getattr(theirs, name)


REFUSED = [
    ("lasso", {"lambda1": 0.1, "ols": True}, "lasso: ols=True is not available; fit the atoms"),
    ("lasso", {"lambda1": 0.1, "Q": np.eye(3)}, "lasso: Q=an array is not available; give D itself"),
    ("lasso", {"lambda1": 0.1, "lambda2": 0.1, "return_reg_path": True}, "reg_path=True .* lambda2 out"),
    ("lasso", {"lambda1": 0.1, "max_length_path": 4}, "max_length_path=4 is not available; leave it out"),
    ("lasso", {"lambda1": 0.1, "lambda2": 0.1, "mode": 1}, "lambda2=0.1 is not available; .* mode=2"),
    ("lasso", {"lambda1": 0.01, "L": 2}, r"L=2: the codes of \d+ of 60 signals have more atoms; .*omp"),
    ("lassoMask", {"lambda1": 0.1, "lambda2": 0.1, "mode": 0}, "lassoMask: lambda2=0.1 is not available"),
    ("ompMask", {"lambda1": 0.1}, "ompMask: lambda1=0.1 is not available; use L or eps"),
    ("trainDL", {"K": 4, "lambda1": 0.1, "lambda2": 0.1}, "trainDL: lambda2=0.1 is not available"),
    ("trainDL", {"K": 4, "lambda1": 0.1, "modeD": 1}, "trainDL: modeD=1 is not available"),
    ("trainDL", {"K": 4, "lambda1": 0.1, "mode": 5}, "trainDL: mode=5 is not available; use 2"),
    ("trainDL", {"K": 4, "lambda1": 3, "mode": 3, "posAlpha": True}, "posAlpha=True is not available"),
    ("trainDL", {"K": 4, "lambda1": 0.1, "rho": 2.0}, "trainDL: rho=2.0 is not available; leave it out"),
    ("trainDL_Memory", {"K": 4, "lambda1": 0.1, "mode": 3}, "trainDL_Memory: mode=3 .* use trainDL"),
]


@pytest.mark.parametrize(("function", "call", "message"), REFUSED)
def test_what_is_not_available_is_named_with_an_alternative(X, D, B, function, call, message):
    arrays = {"trainDL": [X], "trainDL_Memory": [X], "lassoMask": [X, D, B], "ompMask": [X, D, B]}
    with pytest.raises(NotImplementedError, match=message):
        getattr(ours, function)(*arrays.get(function, [X, D]), **call)


WRONG = [
    (lambda X, D: ours.lasso(X, D), "lasso: lambda1 must be given"),
    (lambda X, D: ours.lasso(X, D, lambda1=-1), "lasso: lambda1=-1: must be one positive number"),
    (lambda X, D: ours.lasso(X, lambda1=0.1), "lasso: D must be given"),
    (lambda X, D: ours.lasso(X, D, lambda1=0.1, mode=3), "lasso: mode=3 is not known; use 0, 1 or 2"),
    (lambda X, D: ours.lasso(X, D[1:], lambda1=0.1), r"X has shape \(16, 60\) and D \(15, 40\); .* columns"),
    (lambda X, D: ours.lasso(X[0], D, lambda1=0.1), r"X has shape \(60,\); it must be a matrix"),
    (lambda X, D: ours.lasso(X, D, lambda1=0.1, numThreads=0), "numThreads=0: must be a whole number"),
    (lambda X, D: ours.omp(X, D), "give L, the most atoms, eps, the largest squared error, or both"),
    (lambda X, D: ours.omp(X, D, lambda1=-1), "omp: lambda1=-1: must be one positive number"),
    (lambda X, D: ours.omp(X, D, lambda1=0.1, L=[1, 2]), r"L has shape \(2,\); .* each of 60 signals"),
    (lambda X, D: ours.omp(X, D, lambda1=0.1, L=0), "L=0: must be a whole number, at least 1"),
    (lambda X, D: ours.omp(X, D[0], lambda1=0.1), r"D has shape \(40,\); it must be a matrix"),
    (lambda X, D: ours.omp(X, D, eps=np.arange(N)), "eps must be positive for each signal, or 0 for all"),
    (lambda X, D: ours.omp(X, D, L=[1, 2]), r"L has shape \(2,\); .* each of 60 signals"),
    (lambda X, D: ours.lassoWeighted(X, D, D, lambda1=0.1), r"W has shape \(16, 40\); it must be \(40, 60\)"),
    (lambda X, D: ours.decompSimplex(X, D[1:]), "X has 16 rows and Z 15"),
    (lambda X, D: ours.im2col_sliding(X, 17, 2), r"m=17, n=2: blocks must fit into .* \(16, 60\)"),
    (lambda X, D: ours.im2col_sliding(X, 2.5, 2), "m=2.5: must be a whole number, at least 1"),
    (lambda X, D: ours.im2col_sliding(X, 2, "2"), "n=2: must be a whole number, at least 1"),
    (lambda X, D: ours.lasso(X, D, lambda1="0.1"), "lasso: lambda1=0.1: must be one positive number"),
    (lambda X, D: ours.lassoWeighted(X, D[0], D, lambda1=0.1), r"D has shape \(40,\); it must be a matrix"),
    (lambda X, D: ours.omp(X[0], D, L=5), r"X has shape \(60,\); it must be a matrix"),
    (lambda X, D: ours.omp(X, D, L="5"), "L=5: must be a whole number, at least 1"),
    (lambda X, D: ours.trainDL(X, K="four", lambda1=0.1), "K=four: must be a whole number, at least 1"),
    (
        lambda X, D: ours.trainDL(X, D=D[1:], lambda1=0.1, iter=2),
        r"D has shape \(15, 40\) and X \(16, 60\); signals and atoms are columns",
    ),
    (lambda X, D: ours.trainDL(X, lambda1=0.1), "K=-1: must be a whole number, at least 1"),
    (lambda X, D: ours.trainDL(X, K=61, lambda1=0.1), "K=61: there are only 60 signals to start from"),
    (lambda X, D: ours.trainDL(X, K=4), "trainDL: lambda1 must be given"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_a_wrong_argument_is_named_with_the_fix(X, D, call, message):
    with pytest.raises(ValueError, match=message):
        call(X, D)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, D: ours.lasso(X, D, lambda1=0.1),
        lambda X, D: ours.omp(X, D, L=2),
        lambda X, D: ours.decompSimplex(X, D),
        lambda X, D: ours.trainDL(X, D=D, lambda1=0.1, iter=2),
    ],
)
def test_the_place_of_a_bad_value_is_told_as_columns_are_counted(X, D, call):
    X[3, 41] = np.nan
    with pytest.raises(ValueError, match=r"X\[3, 41\] is NaN or infinite; leave the signal out"):
        call(X, D)


EXAMPLE = Path(__file__).parents[1] / "examples" / "stain_normalisation.py"


@needs_spams
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_the_recipe_of_histology_tools_gives_the_same_picture(monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    pictures = []
    for module in ("sparsemble.compat.spams", "spams"):
        monkeypatch.setenv("SPAMS", module)
        pictures.append(runpy.run_path(str(EXAMPLE))["result"].astype(float))
        assert f"{module}: " in capsys.readouterr().out
    assert abs(pictures[0] - pictures[1]).max() <= 5


def test_a_mask_must_be_one(X, D, B):
    with pytest.raises(TypeError, match="B has dtype float64; it must be bool"):
        ours.lassoMask(X, D, B.astype(float), lambda1=0.1)
    with pytest.raises(ValueError, match=r"B has shape \(16, 59\); it must have that of X, \(16, 60\)"):
        ours.ompMask(X, D, B[:, 1:], L=1)
