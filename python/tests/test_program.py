"""The command line and this package read each other's files, and those that NumPy and SciPy write."""

import json

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import load_npz

import sparsemble
from sparsemble import EnsembleSparseCoder, EnsembleSpectralClustering, SparseSubspaceClustering

# What NumPy and SciPy write unless they are told otherwise, and the usual other ways; all keep every bit.
WRITERS = {
    "c-order.npy": np.save,
    "fortran-order.npy": lambda path, X: np.save(path, np.asfortranarray(X)),
    "other-byte-order.npy": lambda path, X: np.save(path, X.astype(X.dtype.newbyteorder())),
    "one-array.npz": np.savez,
    "packed.npz": lambda path, X: np.savez_compressed(path, samples=X),
    "many.npz:train": lambda path, X: np.savez(path, train=X, labels=np.arange(len(X))),
    "one-matrix.mat": lambda path, X: savemat(path, {"X": X}),
    "packed.mat": lambda path, X: savemat(path, {"X": X}, do_compression=True),
    "many.mat:train": lambda path, X: savemat(path, {"train": X, "name": "letters", "rest": X[:5]}),
    "spaces.csv": np.savetxt,
    "commas.csv": lambda path, X: np.savetxt(path, X, delimiter=","),
    "header.csv": lambda path, X: np.savetxt(path, X, delimiter=",", header="made by numpy"),
    "tabs.tsv": lambda path, X: np.savetxt(path, X, delimiter="\t"),
}
TRAIN = "train --method boost-km --atoms 5 --models 3 --lambda 0.5 --seed 3 -o model"


@pytest.fixture
def X():
    return np.random.default_rng(5).standard_normal((80, 6))


@pytest.fixture
def ensemble(X):
    return EnsembleSparseCoder(5, n_estimators=3, lam=0.5, random_state=3).fit(X)


@pytest.mark.parametrize("name", WRITERS)
def test_a_matrix_from_numpy_or_scipy_trains_the_model_of_the_estimator(X, ensemble, program, name, tmp_path):
    WRITERS[name](tmp_path / name.partition(":")[0], X)
    program(f"{TRAIN} {name}")
    model = sparsemble.load(tmp_path / "model")
    np.testing.assert_array_equal(model.components_, ensemble.components_)
    np.testing.assert_array_equal(model.beta_, ensemble.beta_)
    assert model.get_params()["random_state"] == 3


@pytest.mark.parametrize("name", ["c-order.npy", "one-matrix.mat"])
def test_single_precision_stays_single(X, program, name, tmp_path):
    WRITERS[name](tmp_path / name, X.astype(np.float32))
    program(f"{TRAIN} {name}")
    expected = EnsembleSparseCoder(5, n_estimators=3, lam=0.5, random_state=3).fit(X.astype(np.float32))
    found = sparsemble.load(tmp_path / "model").components_
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected.components_)


@pytest.mark.parametrize("name", WRITERS)
def test_codes_and_approximations_of_the_program_are_those_of_the_estimator(
    X, ensemble, program, name, tmp_path
):
    ensemble.save(tmp_path / "model")
    WRITERS[name](tmp_path / name.partition(":")[0], X)
    program(f"encode model {name} -o codes.npz")
    codes = load_npz(tmp_path / "codes.npz")
    np.testing.assert_array_equal(codes.toarray(), ensemble.transform(X).toarray())
    program("reconstruct model codes.npz -o approximations.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "approximations.npy"), ensemble.approximate(X))


@pytest.mark.parametrize("phi", ["phi.npy", "gaussian:measurements=4", "blur:sigma=1"])
def test_measurements_are_coded_by_both_alike(program, phi, tmp_path):
    X = np.random.default_rng(6).standard_normal((80, 9))
    matrix = np.random.default_rng(7).standard_normal((4, 9))
    np.save(tmp_path / "phi.npy", matrix)
    np.save(tmp_path / "X.npy", X)
    program(f"{TRAIN} --phi {phi} X.npy")
    model = sparsemble.load(tmp_path / "model")
    measurements = X @ matrix.T if phi == "phi.npy" else sparsemble.Operator(phi, 9).apply(X)
    np.save(tmp_path / "Z.npy", measurements)
    program("encode model Z.npy --measurements -o codes.npz")
    codes = model.degraded_by(model.phi).transform(measurements)
    np.testing.assert_array_equal(load_npz(tmp_path / "codes.npz").toarray(), codes.toarray())
    assert codes.nnz > 0
    np.testing.assert_array_equal(model.fit(X).components_, sparsemble.load(tmp_path / "model").components_)


def test_the_weights_of_the_program_are_those_of_the_package(X, ensemble, program, tmp_path):
    ensemble.save(tmp_path / "model")
    np.save(tmp_path / "X.npy", X)
    told = json.loads(program("weights model X.npy --constraint affine -o better --json"))
    expected = sparsemble.ensemble_weights(ensemble, X, constraint="affine")
    np.testing.assert_array_equal(sparsemble.load(tmp_path / "better").beta_, expected.beta)
    assert told["holds"]
    assert told["error"] == pytest.approx(expected.residual**2)
    program("weights model X.npy --constraint affine --per-sample -o beta.npy")
    expected = sparsemble.ensemble_weights(ensemble, X, constraint="affine", per_sample=True)
    np.testing.assert_array_equal(np.load(tmp_path / "beta.npy"), expected.beta)


def test_masses_of_the_program_are_sample_weights(X, program, tmp_path):
    weights = np.random.default_rng(6).uniform(size=len(X))
    np.save(tmp_path / "X.npy", X)
    np.savetxt(tmp_path / "weights.csv", weights)
    program(f"{TRAIN} --masses weights.csv X.npy")
    expected = EnsembleSparseCoder(5, n_estimators=3, lam=0.5, random_state=3).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(sparsemble.load(tmp_path / "model").components_, expected.components_)


CLUSTERINGS = {
    "ensemble": EnsembleSpectralClustering(),
    "boost-km:members=5,atoms=9": EnsembleSpectralClustering(method="boost-km", n_estimators=5, n_atoms=9),
    "rand-ex-av:samples_per_atom=4": EnsembleSpectralClustering(method="rand-ex-av", samples_per_atom=4),
    "l1:lambda=0.3": SparseSubspaceClustering(lam=0.3),
    "elastic-net:lambda=0.2,ridge=0.1": SparseSubspaceClustering(method="elastic-net", lam=0.2, ridge=0.1),
    "omp:sparsity=2": SparseSubspaceClustering(method="omp", n_nonzero_coefs=2),
    "neighbours:count=5": SparseSubspaceClustering(method="neighbours", n_neighbors=5),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", CLUSTERINGS)
def test_both_give_the_same_clusters(tmp_path, program, X, method, dtype):
    X = X.astype(dtype)
    np.save(tmp_path / "X.npy", X)
    program(f"cluster X.npy -k 4 --seed 3 --method {method} --save-graph graph.npz -o clusters.csv")
    labels = np.loadtxt(tmp_path / "clusters.csv", skiprows=1, dtype=int)
    clustering = CLUSTERINGS[method].set_params(n_clusters=4, random_state=3).fit(X)
    np.testing.assert_array_equal(labels, clustering.labels_)
    difference = abs(load_npz(tmp_path / "graph.npz") - clustering.affinity_matrix_)
    assert difference.max() <= 1e-6 * clustering.affinity_matrix_.max()


def test_classes_are_an_array_of_one_dimension(tmp_path, program):
    rng = np.random.default_rng(0)
    X = np.eye(3)[np.arange(60) % 3] + 0.1 * rng.standard_normal((60, 3))
    np.savez(tmp_path / "both.npz", X=X, y=np.arange(60) % 3)
    report = json.loads(program("cluster both.npz:X -k 3 --label-column y --json -o c.csv"))
    assert report["accuracy"] == 1
