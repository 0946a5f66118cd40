"""Clustering: labels, graphs, metrics, K-Means."""

import inspect
import pickle
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse
from sklearn import metrics
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sparsemble import (
    EnsembleSpectralClustering,
    SparseSubspaceClustering,
    WeightedKMeans,
    _native,
    adjusted_rand,
    clustering_accuracy,
    kmeans_parallel,
    nmi,
)

AS_GIVEN = {"centre": "none", "scale": "none"}
ENSEMBLES = ["ensemble", "boost-km", "rand-ex-av", "boost-ex"]
SUBSPACES = ["l1", "elastic-net", "omp", "neighbours"]


@pytest.fixture(scope="module")
def bundles():
    """Samples in four far-apart directions, and which of them."""
    rng = np.random.default_rng(0)
    directions = np.eye(6)[:4] + 0.05 * rng.standard_normal((4, 6))
    classes = np.repeat(np.arange(4), [60, 70, 50, 80])
    noise = 0.05 * rng.standard_normal((len(classes), 6))
    return (directions[classes] + noise) * rng.uniform(1, 5, (len(classes), 1)), classes


@pytest.fixture(scope="module")
def subspaces():
    """Samples next to three subspaces of four dimensions through the origin, and which of them."""
    rng = np.random.default_rng(1)
    classes = np.repeat(np.arange(3), 60)
    samples = [rng.standard_normal((60, 4)) @ rng.standard_normal((4, 20)) for _ in range(3)]
    return np.concatenate(samples) + 0.05 * rng.standard_normal((180, 20)), classes


def normalised(affinity):
    """D^(-1/2) S D^(-1/2) as a dense matrix."""
    dense = affinity.toarray().astype(np.float64)
    roots = np.sqrt(dense.sum(axis=1))
    return dense / roots / roots[:, np.newaxis]


def expect_a_graph(affinity, n_samples):
    assert isinstance(affinity, scipy.sparse.csr_array)
    assert affinity.shape == (n_samples, n_samples)
    assert affinity.dtype == np.float32
    assert abs(affinity - affinity.T).max() == 0
    assert affinity.data.min() > 0
    assert not affinity.diagonal().any()


@pytest.mark.parametrize("method", ENSEMBLES)
def test_every_ensemble_finds_bundles_of_directions(bundles, method):
    X, classes = bundles
    clustering = EnsembleSpectralClustering(4, method=method, random_state=0)
    labels = clustering.fit_predict(X)
    assert clustering_accuracy(classes, labels) == 1
    assert labels.dtype == np.int32
    assert clustering.n_clusters_ == 4
    assert clustering.embedding_.shape == (len(X), 8)
    expect_a_graph(clustering.affinity_matrix_, len(X))


@pytest.mark.parametrize("method", ["l1", "elastic-net", "omp"])
@pytest.mark.parametrize(
    "given", [{}, {"elastic-net": {"lam": 0.1, "ridge": 0.1}, "omp": {"n_nonzero_coefs": 4}}]
)
def test_samples_coded_by_each_other_find_subspaces(subspaces, method, given):
    X, classes = subspaces
    settings = given.get(method, {})
    clustering = SparseSubspaceClustering(3, method=method, **settings, **AS_GIVEN, random_state=0)
    assert clustering_accuracy(classes, clustering.fit_predict(X)) == 1
    expect_a_graph(clustering.affinity_matrix_, len(X))


@pytest.mark.parametrize("scale", [1, 1e-3, 1e4])
def test_the_default_elastic_net_finds_subspaces_of_samples_of_any_size(subspaces, scale):
    X, classes = subspaces
    clustering = SparseSubspaceClustering(
        3, method="elastic-net", unit_norm=False, **AS_GIVEN, random_state=0
    )
    assert clustering_accuracy(classes, clustering.fit_predict(scale * X)) == 1
    assert clustering.affinity_matrix_.nnz > 3 * len(X)


@pytest.mark.parametrize("method", [*ENSEMBLES, "alt-opt", *SUBSPACES])
def test_every_method_clusters_wine_as_it_is(method):
    X, kinds = load_wine(return_X_y=True)
    estimator = SparseSubspaceClustering if method in SUBSPACES else EnsembleSpectralClustering
    labels = estimator(3, method=method, random_state=0).fit_predict(X)
    # Samples that a pursuit codes by each other hang together by chance where there are no subspaces.
    assert clustering_accuracy(kinds, labels) > (0.3 if method == "omp" else 0.6)


def test_digits_are_found_by_the_default():
    X, digits = load_digits(return_X_y=True)
    found = [EnsembleSpectralClustering(10, random_state=seed).fit(X) for seed in range(3)]
    accuracies = [clustering_accuracy(digits, clustering.labels_) for clustering in found]
    assert min(accuracies) >= 0.85, accuracies
    assert list(found[0].stage_seconds_) == ["preparation", "coding", "graph", "eigenvectors", "k-means"]
    assert all(seconds >= 0 for seconds in found[0].stage_seconds_.values())


def test_neighbours_follow_moons_that_directions_do_not():
    X, moons = make_moons(300, noise=0.05, random_state=0)
    near = SparseSubspaceClustering(2, method="neighbours", unit_norm=False, **AS_GIVEN, random_state=0)
    assert clustering_accuracy(moons, near.fit_predict(X)) > 0.99
    assert clustering_accuracy(moons, clone(near).set_params(unit_norm=True).fit_predict(X)) < 0.95


def test_separate_parts_of_a_graph_are_clusters_of_eigenvalue_1(bundles):
    X, classes = bundles
    parts = SparseSubspaceClustering(4, method="neighbours", n_neighbors=5, random_state=0).fit(X)
    n_parts, _ = scipy.sparse.csgraph.connected_components(parts.affinity_matrix_)
    assert n_parts >= 4
    np.testing.assert_allclose(parts.eigenvalues_[:4], 1)
    assert clustering_accuracy(classes, parts.labels_) == 1


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(2).standard_normal((600, 3))


@pytest.mark.parametrize(("n_atoms", "formed"), [(5, False), (100, True)])
def test_the_affinity_matrix_is_what_was_clustered(cloud, n_atoms, formed):
    X = cloud
    clustering = EnsembleSpectralClustering(4, n_atoms=n_atoms, n_estimators=8, random_state=0).fit(X)
    assert clustering._formed == formed
    affinity = clustering.affinity_matrix_
    expect_a_graph(affinity, len(X))
    eigenvalues = scipy.linalg.eigvalsh(normalised(affinity))[::-1]
    np.testing.assert_allclose(
        clustering.eigenvalues_, eigenvalues[: len(clustering.eigenvalues_)], atol=1e-5
    )
    assert clustering.affinity_matrix_ is affinity


def test_equal_samples_are_one_vertex_with_one_label(bundles):
    X, classes = bundles
    copies = np.repeat(np.arange(len(X)), np.arange(len(X)) % 3 + 1)
    clustering = SparseSubspaceClustering(4, **AS_GIVEN, random_state=0).fit(X[copies])
    first = np.flatnonzero(np.diff(copies, prepend=-1))
    np.testing.assert_array_equal(clustering.labels_, clustering.labels_[first][copies])
    np.testing.assert_array_equal(clustering.embedding_, clustering.embedding_[first][copies])
    assert clustering_accuracy(classes[copies], clustering.labels_) == 1
    expect_a_graph(clustering.affinity_matrix_, len(copies))
    once = SparseSubspaceClustering(4, **AS_GIVEN, random_state=0).fit(X)
    of_first = clustering.affinity_matrix_[first][:, first]
    np.testing.assert_allclose(of_first.toarray(), once.affinity_matrix_.toarray(), rtol=1e-6)
    eigenvalues = scipy.linalg.eigvalsh(normalised(clustering.affinity_matrix_))[::-1]
    np.testing.assert_allclose(clustering.eigenvalues_, eigenvalues[:8], atol=1e-5)


WEIGHED = [
    *(EnsembleSpectralClustering(4, method=method) for method in ENSEMBLES),
    EnsembleSpectralClustering(4, method="alt-opt", n_atoms=6),
    EnsembleSpectralClustering(4, scale="deviation"),
    *(SparseSubspaceClustering(4, method=method) for method in SUBSPACES),
]


def method_of(estimator):
    return f"{estimator.method} {estimator.scale}"


@pytest.mark.parametrize("estimator", WEIGHED, ids=method_of)
def test_a_weight_counts_as_so_many_equal_samples(cloud, estimator):
    X = cloud[:150] + np.arange(3)
    times = np.arange(len(X)) % 4 + 1
    copies = np.repeat(np.arange(len(X)), times)
    estimator = clone(estimator).set_params(random_state=0)
    repeated = clone(estimator).fit(X[copies])
    weighed = clone(estimator).fit(X, sample_weight=1e-9 * times)
    np.testing.assert_array_equal(weighed.labels_[copies], repeated.labels_)
    np.testing.assert_allclose(weighed.eigenvalues_, repeated.eigenvalues_, atol=1e-5)
    affinity = weighed.affinity_matrix_
    expect_a_graph(affinity, len(X))
    # It is that of all copies, whatever they count; its unit has no meaning.
    of_copies = affinity[copies][:, copies].toarray() * (repeated.affinity_matrix_.max() / affinity.max())
    np.testing.assert_allclose(of_copies, repeated.affinity_matrix_.toarray(), rtol=1e-3, atol=1e-6)
    plain = clone(estimator).fit(X)
    assert not np.allclose(weighed.eigenvalues_, plain.eigenvalues_, atol=1e-5)


@pytest.mark.parametrize("estimator", WEIGHED, ids=method_of)
def test_a_sample_of_weight_zero_is_left_out(bundles, estimator):
    X, _ = bundles
    counted = np.arange(len(X)) % 5 > 0
    estimator = clone(estimator).set_params(random_state=0)
    without = clone(estimator).fit(X[counted])
    labels = estimator.fit_predict(np.where(counted[:, np.newaxis], X, 1e3), sample_weight=2.0 * counted)
    np.testing.assert_array_equal(labels[counted], without.labels_)
    assert (labels[~counted] == -1).all()
    np.testing.assert_allclose(np.abs(estimator.embedding_[counted]), np.abs(without.embedding_), atol=1e-4)
    assert not estimator.embedding_[~counted].any()
    expect_a_graph(estimator.affinity_matrix_, len(X))
    assert estimator.affinity_matrix_[~counted].nnz == 0


def test_weights_that_make_no_sense_are_refused(bundles):
    X, _ = bundles
    clustering = EnsembleSpectralClustering(2)
    for weights, said in [
        (-np.ones(len(X)), "Negative"),
        (np.eye(len(X))[0], "zero for all but 1"),
        (np.zeros(len(X)), "(?i)sample.weight"),
        (np.ones(3), "sample_weight"),
    ]:
        with pytest.raises(ValueError, match=said):
            clustering.fit(X, sample_weight=weights)


def test_a_sample_without_direction_gets_a_label(bundles):
    X = np.concatenate([bundles[0], np.zeros((1, 6))])
    clustering = EnsembleSpectralClustering(4, **AS_GIVEN, random_state=0).fit(X)
    assert not clustering.embedding_[-1].any()
    assert clustering.affinity_matrix_[[-1]].nnz == 0
    assert 0 <= clustering.labels_[-1] < 4
    assert clustering_accuracy(bundles[1], clustering.labels_[:-1]) == 1


def test_the_number_of_clusters_is_guessed_with_a_warning(subspaces):
    X, classes = subspaces
    guess = SparseSubspaceClustering("auto", **AS_GIVEN, random_state=0)
    with pytest.warns(
        UserWarning, match=r"n_clusters='auto' chose 3 by the widest gap .* a guess \(the next"
    ):
        guess.fit(X)
    assert guess.n_clusters_ == 3
    assert clustering_accuracy(classes, guess.labels_) == 1
    with pytest.warns(UserWarning, match="chose [12] "):
        guess.set_params(max_clusters=2).fit(X)


def test_features_of_different_kinds_are_scaled(bundles):
    X, classes = bundles
    mixed = X * [1, 1000, 1, 0.001, 1, 1]
    clustering = EnsembleSpectralClustering(4, random_state=0).fit(mixed)
    assert clustering.scale_ == "range"
    assert clustering_accuracy(classes, clustering.labels_) == 1


def test_the_usual_spectral_clustering_has_a_coordinate_for_each_cluster(bundles):
    X, classes = bundles
    usual = EnsembleSpectralClustering(4, n_eigenvectors=4, power=0, random_state=0).fit(X)
    assert usual.embedding_.shape == (len(X), 4)
    assert clustering_accuracy(classes, usual.labels_) == 1


@pytest.mark.parametrize(
    "estimator",
    [
        *(EnsembleSpectralClustering(4, method=method, random_state=3) for method in ENSEMBLES),
        *(SparseSubspaceClustering(4, method=name, random_state=3) for name in SUBSPACES),
        WeightedKMeans(20, random_state=3),
    ],
    ids=lambda estimator: getattr(estimator, "method", "k-means"),
)
def test_the_result_is_the_same_bits_for_any_number_of_threads(estimator):
    X = np.random.default_rng(4).standard_normal((1500, 8))
    one, many = (clone(estimator).set_params(n_threads=n).fit(X) for n in (1, 3))
    np.testing.assert_array_equal(one.labels_, many.labels_)
    for name in ("embedding_", "eigenvalues_", "cluster_centers_", "inertia_"):
        np.testing.assert_array_equal(getattr(one, name, 0), getattr(many, name, 0))
    if hasattr(one, "affinity_matrix_"):
        assert abs(one.affinity_matrix_ - many.affinity_matrix_).max() == 0


@pytest.mark.parametrize("estimator", [SparseSubspaceClustering, WeightedKMeans])
@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_is_computed_in_single_precision(bundles, estimator, order):
    X, _ = bundles
    single = np.asarray(X, dtype=np.float32, order=order)
    in_single, in_double = (estimator(4, random_state=0).fit(rows) for rows in (single, X))
    assert clustering_accuracy(in_double.labels_, in_single.labels_) == 1
    again = estimator(4, random_state=0).fit(single.astype(np.float64))
    if estimator is WeightedKMeans:
        assert in_single.cluster_centers_.dtype == np.float32
        assert again.cluster_centers_.dtype == np.float64
    else:
        assert abs(in_single.affinity_matrix_ - again.affinity_matrix_).max() > 0


@pytest.mark.parametrize("n_atoms", [5, 100])
def test_a_fitted_estimator_survives_pickling(cloud, n_atoms):
    clustering = EnsembleSpectralClustering(4, n_atoms=n_atoms, random_state=0).fit(cloud)
    again = pickle.loads(pickle.dumps(clustering))
    np.testing.assert_array_equal(again.labels_, clustering.labels_)
    assert abs(again.affinity_matrix_ - clustering.affinity_matrix_).max() == 0


def test_there_is_no_matrix_before_there_are_labels():
    with pytest.raises(NotFittedError):
        _ = EnsembleSpectralClustering().affinity_matrix_


def test_the_last_step_of_a_pipeline_may_cluster(bundles):
    X, classes = bundles
    pipeline = make_pipeline(MaxAbsScaler(), EnsembleSpectralClustering(4, random_state=0))
    assert clustering_accuracy(classes, pipeline.fit_predict(X)) == 1


def test_data_frames_name_the_features(bundles):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(bundles[0], columns=list("abcdef"))
    assert list(EnsembleSpectralClustering(4, random_state=0).fit(frame).feature_names_in_) == list("abcdef")


def test_progress_rises_and_ends_with_everything_done(bundles):
    calls = []
    EnsembleSpectralClustering(4, progress=lambda *call: calls.append(call)).fit(bundles[0])
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1]


def test_what_does_not_converge_is_told_once_with_the_fix():
    X = np.random.default_rng(5).standard_normal((400, 12))
    hard = {"eigen_tol": 1e-12, "eigen_max_iter": 1, "random_state": 0}
    with pytest.warns(
        ConvergenceWarning, match="eigenvectors have a residual of .*; raise eigen_max_iter, or"
    ):
        EnsembleSpectralClustering(4, **hard).fit(X)
    codes = "the codes of [0-9]+ of 400 samples did not converge; raise coder_max_iter or coder_tol"
    with pytest.warns(ConvergenceWarning, match=codes + ", and the eigenvectors") as told:
        SparseSubspaceClustering(4, lam=0.01, coder_max_iter=2, coder_tol=1e-14, **hard).fit(X)
    assert len(told) == 1


ENSEMBLE_REFUSALS = [
    ({"n_clusters": 0}, ValueError, "n_clusters=0: must be at least 1"),
    ({"n_clusters": "many"}, TypeError, "n_clusters='many': must be a whole number, or 'auto'"),
    ({"n_clusters": 3.0}, TypeError, "n_clusters=3.0: must be a whole number"),
    ({"n_clusters": 261}, ValueError, r"needed 261, found 260; ask for less \(n_clusters\)"),
    ({"method": "l1"}, ValueError, "method='l1' is not known; use one of 'ensemble', 'boost-km'"),
    ({"n_estimators": 0}, ValueError, "n_estimators=0: must be at least 1"),
    ({"n_estimators": 1.5}, TypeError, "n_estimators=1.5: must be a whole number"),
    ({"n_atoms": 1}, ValueError, "n_atoms=1: must be at least 2"),
    ({"n_atoms": 500}, ValueError, r"needed 500, found 260; ask for less \(n_atoms\)"),
    (
        {"n_atoms": 9, "samples_per_atom": 9},
        ValueError,
        "n_atoms is the number itself; leave samples_per_atom",
    ),
    ({"sharpness": 0.5}, ValueError, "sharpness=0.5: must be at least 1"),
    ({"method": "boost-ex", "sharpness": 2}, ValueError, "sharpness has no effect with method='boost-ex'"),
    ({"samples_per_atom": 0.5}, ValueError, "samples_per_atom=0.5: must be at least 1"),
    ({"centre": "mean"}, ValueError, "centre=mean: is not known; write data, sample or none"),
    ({"centre": None}, TypeError, "centre=None: must be the name of a centre, or 'none'"),
    ({"scale": "unit"}, ValueError, "scale=unit: is not known; write auto, range, deviation or none"),
    ({"unit_norm": "yes"}, TypeError, "unit_norm='yes': must be True or False"),
    ({"n_eigenvectors": 0}, ValueError, "n_eigenvectors=0: must be at least 1"),
    ({"power": -1.0}, ValueError, "power=-1: must be zero or more"),
    ({"power": "ten"}, TypeError, "power='ten': must be a number"),
    ({"n_init": 0}, ValueError, "n_init=0: must be at least 1"),
    ({"max_clusters": 0}, ValueError, "max_clusters=0: must be at least 1"),
    ({"eigen_tol": 0.0}, ValueError, "eigen_tol=0: must be between 1e-12 and 1"),
    ({"eigen_max_iter": 0}, ValueError, "eigen_max_iter=0: must be at least 1"),
    ({"n_threads": 0}, ValueError, "n_threads=0: use a positive number"),
]

SUBSPACE_REFUSALS = [
    ({"method": "ensemble"}, ValueError, "method='ensemble' is not known; use one of 'l1', 'elastic-net'"),
    ({"lam": -1.0}, ValueError, "lam=-1: must be positive"),
    ({"lam": "much"}, TypeError, "lam='much': must be a number"),
    ({"coder_tol": 0.0}, ValueError, "coder_tol=0: must be positive"),
    ({"coder_max_iter": 0}, ValueError, "coder_max_iter=0: must be at least 1"),
    (
        {"method": "elastic-net", "lam": 0.1},
        ValueError,
        "method='elastic-net' needs lam and ridge, .* neither",
    ),
    ({"method": "elastic-net", "lam": 0.1, "ridge": -1.0}, ValueError, "ridge=-1: must"),
    ({"method": "omp", "n_nonzero_coefs": 0}, ValueError, "n_nonzero_coefs=0: must be at least 1"),
    ({"method": "omp", "n_nonzero_coefs": 3, "lam": 1}, ValueError, "lam has no effect with method='omp'"),
    ({"ridge": 0.1}, ValueError, "ridge has no effect with method='l1', which takes lam, coder_tol"),
    ({"method": "neighbours", "n_neighbors": 260}, ValueError, r"found 260; ask for less \(n_neighbors\)"),
    ({"n_neighbors": 3}, ValueError, "n_neighbors has no effect with method='l1'"),
]

KMEANS_REFUSALS = [
    ({"n_clusters": 0}, ValueError, "n_clusters=0: must be at least 1"),
    ({"n_clusters": 2.5}, TypeError, "n_clusters=2.5: must be a whole number"),
    ({"n_clusters": 261}, ValueError, r"needed 261, found 260; ask for less \(n_clusters\)"),
    ({"init": "random"}, ValueError, "init=.random. is not known; use 'k-means||', 'k-means[+][+]'"),
    ({"init": np.ones((3, 6))}, ValueError, r"init has shape \(3, 6\); it must be \(8, 6\)"),
    ({"max_iter": 0}, ValueError, "max_iter=0: must be at least 1"),
    ({"tol": -1.0}, ValueError, "tol=-1: must be zero or more"),
    ({"tol": "small"}, TypeError, "tol='small': must be a number"),
]


@pytest.mark.parametrize(
    ("estimator", "arguments", "kind", "message"),
    [
        *((EnsembleSpectralClustering, *refusal) for refusal in ENSEMBLE_REFUSALS),
        *((SparseSubspaceClustering, *refusal) for refusal in SUBSPACE_REFUSALS),
        *((WeightedKMeans, *refusal) for refusal in KMEANS_REFUSALS),
    ],
)
def test_a_wrong_argument_is_named_with_the_fix(bundles, estimator, arguments, kind, message):
    with pytest.raises(kind, match=message):
        estimator(**arguments).fit(bundles[0])


@pytest.mark.parametrize("estimator", [EnsembleSpectralClustering, SparseSubspaceClustering, WeightedKMeans])
def test_the_place_of_a_bad_value_is_told(bundles, estimator):
    X = bundles[0].copy()
    X[41, 3] = np.nan
    with pytest.raises(ValueError, match=re.escape("X[41, 3] is NaN or infinite")):
        estimator(4).fit(X)


def test_more_clusters_than_samples_that_differ_are_refused():
    X = np.repeat(np.random.default_rng(6).standard_normal((5, 3)), 20, axis=0)
    with pytest.raises(ValueError, match=r"samples that differ.*ask for less \(n_clusters\)"):
        EnsembleSpectralClustering(8).fit(X)


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        *((EnsembleSpectralClustering, method) for method in (*ENSEMBLES, "alt-opt")),
        *((SparseSubspaceClustering, method) for method in SUBSPACES),
    ],
)
def test_the_defaults_are_those_of_the_library(estimator, method):
    signature = inspect.signature(estimator).parameters
    documented = {**_documented(EnsembleSpectralClustering), **_documented(estimator)}
    for name, default in _native.clustering_defaults(method).items():
        if name == "most_atoms":
            assert f"at most {default} atoms" in EnsembleSpectralClustering.__doc__
        elif name in ("relative_lam", "relative_ridge", "error"):
            entry = {"relative_lam": "lam", "relative_ridge": "ridge", "error": "n_nonzero_coefs"}[name]
            number = f"{default:g}".replace("e-0", "e-")
            entry = _entries(estimator)[entry]
            assert f"{number} of " in entry or f"of {number}" in entry
        elif name == "sharpness":
            assert f'{default:g} for "{method}"' in EnsembleSpectralClustering.__doc__
        elif signature[name].default is None:
            assert float(documented[name]) == default, name
        else:
            assert signature[name].default == default, name


def _entries(estimator):
    """The documentation of each parameter."""
    return {entry.split(" :")[0]: entry for entry in re.split(r"\n(?=\w+ : )", inspect.getdoc(estimator))}


def _documented(estimator):
    """What the documentation says None is, for each parameter."""
    found = {
        name: re.search(r"None\s+is\s+([0-9][0-9.e-]*[0-9]|[0-9])", entry)
        for name, entry in _entries(estimator).items()
    }
    return {name: match[1] for name, match in found.items() if match}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n_classes", "n_clusters"), [(3, 3), (4, 2), (2, 7), (1, 3), (1, 1)])
def test_the_metrics_are_those_of_scipy_and_scikit_learn(seed, n_classes, n_clusters):
    rng = np.random.default_rng(seed)
    classes, clusters = rng.integers(n_classes, size=50), rng.integers(n_clusters, size=50)
    counts = metrics.cluster.contingency_matrix(classes, clusters)
    matched = counts[scipy.optimize.linear_sum_assignment(counts, maximize=True)].sum() / 50
    assert clustering_accuracy(classes, clusters) == pytest.approx(matched)
    assert nmi(classes, clusters) == pytest.approx(metrics.normalized_mutual_info_score(classes, clusters))
    assert adjusted_rand(classes, clusters) == pytest.approx(metrics.adjusted_rand_score(classes, clusters))
    names = np.array(["owl", "ant", "bee", "elk", "cat", "fox", "dog"])[clusters]
    for metric in (clustering_accuracy, nmi, adjusted_rand):
        assert metric(classes, names) == pytest.approx(metric(classes, clusters), abs=1e-15)


@pytest.mark.parametrize("metric", [clustering_accuracy, nmi, adjusted_rand])
def test_labels_that_do_not_belong_together_are_refused(metric):
    with pytest.raises(ValueError, match="labels_true has 3 labels and labels_pred 2"):
        metric([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match=r"labels_true has shape \(0,\); it must hold a label for each"):
        metric([], [])
    with pytest.raises(ValueError, match=r"labels_pred has shape \(1, 2\)"):
        metric([0, 1], [[0, 1]])


def test_centres_from_the_same_start_are_those_of_scikit_learn():
    rng = np.random.default_rng(7)
    X, weights = rng.standard_normal((500, 5)), rng.uniform(0, 3, 500)
    init = X[:12]
    ours = WeightedKMeans(12, init=init, max_iter=300, tol=0).fit(X, sample_weight=weights)
    theirs = KMeans(12, init=init, n_init=1, max_iter=300, tol=0).fit(X, sample_weight=weights)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


@pytest.mark.parametrize("init", ["k-means||", "k-means++"])
def test_chosen_starts_find_far_apart_clusters(bundles, init):
    X, classes = bundles
    X = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    kmeans = WeightedKMeans(4, init=init, random_state=1)
    assert clustering_accuracy(classes, kmeans.fit_predict(X)) == 1


def test_whole_weights_are_copies():
    rng = np.random.default_rng(8)
    X, copies = rng.standard_normal((200, 3)), rng.integers(0, 4, 200)
    weighted = WeightedKMeans(6, init=X[:6]).fit(X, sample_weight=copies)
    repeated = WeightedKMeans(6, init=X[:6]).fit(np.repeat(X, copies, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, copies), repeated.labels_)


def test_centres_that_still_move_are_told():
    X = np.random.default_rng(9).standard_normal((500, 5))
    with pytest.warns(ConvergenceWarning, match="the last of 1 iterations; raise max_iter or tol"):
        WeightedKMeans(20, max_iter=1, random_state=0).fit(X)


def test_the_first_centres_are_those_that_k_means_starts_from():
    rng = np.random.default_rng(5)
    X, weights = rng.standard_normal((500, 4)), rng.random(500)
    centers = kmeans_parallel(X, 7, sample_weight=weights, random_state=3)
    assert centers.shape == (7, 4)
    np.testing.assert_array_equal(
        kmeans_parallel(X, 7, sample_weight=weights, random_state=3, n_threads=3), centers
    )
    assert kmeans_parallel(X.astype(np.float32), 7, random_state=3).dtype == np.float32
    by_name = WeightedKMeans(7, random_state=3).fit(X, sample_weight=weights)
    by_array = WeightedKMeans(7, init=centers).fit(X, sample_weight=weights)
    np.testing.assert_allclose(by_array.cluster_centers_, by_name.cluster_centers_)
    with pytest.raises(ValueError, match="needed 501, found 500"):
        kmeans_parallel(X, 501)


def test_samples_without_weight_are_no_first_centres():
    X = np.concatenate([np.zeros((50, 2)), np.full((50, 2), 1000.0)])
    weights = np.repeat([1.0, 0.0], 50)
    assert kmeans_parallel(X, 1, sample_weight=weights, random_state=0).max() == 0


def test_one_learned_dictionary_makes_a_graph_too():
    rng = np.random.default_rng(6)
    X = np.repeat(rng.standard_normal((3, 8)), 30, axis=0) + 0.05 * rng.standard_normal((90, 8))
    clustering = EnsembleSpectralClustering(3, method="alt-opt", n_atoms=3, random_state=0).fit(X)
    assert clustering_accuracy(np.repeat([0, 1, 2], 30), clustering.labels_) == 1.0
    assert clustering.affinity_matrix_.shape == (90, 90)
    found = EnsembleSpectralClustering(3, method="alt-opt", random_state=0).fit_predict(X)
    assert clustering_accuracy(np.repeat([0, 1, 2], 30), found) > 0.9
    with pytest.raises(ValueError, match="sharpness has no effect with method='alt-opt'"):
        EnsembleSpectralClustering(3, method="alt-opt", n_atoms=3, sharpness=2.0).fit(X)
