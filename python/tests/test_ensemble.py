"""What ensembles find, against the definitions of the paper."""

import numpy as np
import pytest

from sparsemble import EnsembleSparseCoder, MultilevelDictionary, ensemble_weights

BOOSTED = ["boost-ex", "boost-km"]
METHODS = ["rand-ex-av", *BOOSTED]


@pytest.fixture
def X():
    return np.random.default_rng(3).standard_normal((200, 10))


def make(method="boost-km", **parameters):
    defaults = {"n_estimators": 5, "lam": 0.3, "random_state": 0}
    return EnsembleSparseCoder(12, method=method, **(defaults | parameters))


def mean_error(X, approximations):
    return ((X - approximations) ** 2).sum(axis=1).mean()


@pytest.mark.parametrize("method", METHODS)
def test_the_ensemble_is_the_weighted_sum_of_its_members(X, method):
    ensemble = make(method).fit(X)
    members = [member.inverse_transform(member.transform(X)) for member in ensemble.estimators_]
    assert len(members) == ensemble.n_estimators_ == 5
    combined = sum(beta * member for beta, member in zip(ensemble.beta_, members, strict=True))
    approximations, spread = ensemble.approximate(X, return_spread=True)
    np.testing.assert_allclose(approximations, combined, atol=1e-6)
    shares = abs(ensemble.beta_) / abs(ensemble.beta_).sum()
    distances = [((member - approximations) ** 2).sum(axis=1) for member in members]
    np.testing.assert_allclose(spread, np.sqrt(shares @ np.array(distances)), atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_codes_are_those_of_the_members_side_by_side(X, method):
    ensemble = make(method).fit(X)
    stacked = np.hstack([member.transform(X).toarray() for member in ensemble.estimators_])
    np.testing.assert_array_equal(ensemble.transform(X).toarray(), stacked)
    assert ensemble.components_.shape == (60, 10)


@pytest.mark.parametrize("method", BOOSTED)
def test_alpha_and_beta_are_those_of_equations_10_and_12(X, method):
    ensemble = make(method).fit(X)
    alpha, curve = ensemble.alpha_, ensemble.training_curve_
    assert alpha[0] == 1
    expected = [alpha[i] * np.prod(1 - alpha[i + 1 :]) for i in range(5)]
    np.testing.assert_allclose(ensemble.beta_, expected)
    assert ensemble.beta_.sum() == pytest.approx(1)
    assert (np.diff(curve["error"]) <= 0).all()
    assert curve["error"][-1] == pytest.approx(mean_error(X, ensemble.approximate(X)), rel=1e-4)
    assert (curve["error"] <= curve["member_error"] + 1e-12).all()
    assert "validation_error" not in curve
    assert curve["unconverged"].tolist() == [0] * 5


def test_an_average_has_no_rounds_and_equal_weights(X):
    ensemble = make("rand-ex-av").fit(X)
    np.testing.assert_allclose(ensemble.beta_, 0.2)
    assert len(ensemble.alpha_) == 0


def test_examples_are_samples(X):
    ensemble = make("boost-ex").fit(X)
    samples = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    nearest = abs(ensemble.components_ @ samples.T).max(axis=1)
    np.testing.assert_allclose(nearest, 1)


def test_boosting_beats_its_members_and_an_average(X):
    boosted, averaged = make().fit(X), make("rand-ex-av").fit(X)
    alone = [mean_error(X, member.inverse_transform(member.transform(X))) for member in boosted.estimators_]
    assert mean_error(X, boosted.approximate(X)) < min(alone)
    assert mean_error(X, boosted.approximate(X)) < mean_error(X, averaged.approximate(X))


def test_a_validation_keeps_the_best_round(X):
    ensemble = make(n_estimators=30, coder="one-sparse", lam=None, validation_fraction=0.3, patience=2).fit(X)
    held_out = ensemble.training_curve_["validation_error"]
    assert ensemble.n_estimators_ == held_out.argmin() + 1
    assert len(held_out) < 30 or held_out.argmin() >= 27


def test_training_through_phi_is_better_for_what_is_seen_through_phi(X):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 4)) @ rng.standard_normal((4, 12)) + 0.05 * rng.standard_normal((400, 12))
    phi = rng.standard_normal((5, 12))
    Z = X @ phi.T
    plain = make(n_estimators=10).fit(X).degraded_by(phi)
    aware = make(n_estimators=10, phi=phi).fit(X)
    assert aware.n_features_in_ == 12
    assert aware.training_curve_["error"][-1] == pytest.approx(
        mean_error(X, aware.degraded_by(phi).approximate(Z)), rel=1e-3
    )
    assert mean_error(X, aware.degraded_by(phi).approximate(Z)) < mean_error(X, plain.approximate(Z))
    with pytest.raises(AttributeError, match="degraded"):
        plain.estimators_  # noqa: B018


def test_other_weights_are_another_ensemble(X):
    ensemble = make().fit(X)
    first = ensemble.with_beta([1, 0, 0, 0, 0])
    member = ensemble.estimators_[0]
    np.testing.assert_allclose(first.approximate(X), member.inverse_transform(member.transform(X)), atol=1e-9)
    assert ensemble.beta_.tolist() != first.beta_.tolist()
    with pytest.raises(ValueError, match=r"beta has shape \(4,\); .* each of 5 models"):
        ensemble.with_beta(np.ones(4))


REFUSED = [
    ({"method": "alt-opt"}, ValueError, "method='alt-opt' is not known; use one of 'rand-ex-av'"),
    ({"n_estimators": 0}, ValueError, "n_estimators=0: must be at least 1"),
    ({"n_components": 201}, ValueError, "needed 201, found 200"),
    ({"validation_fraction": 1.5}, ValueError, "validation_fraction=1.5: must be between 0 and 1"),
    ({"validation_fraction": 0.2, "patience": 0}, ValueError, "patience=0: must be at least 1"),
    ({"method": "rand-ex-av", "validation_fraction": 0.2}, ValueError, "validation_fraction has no effect"),
    ({"method": "rand-ex-av", "phi": np.eye(10)}, ValueError, "method=rand-ex-av: has no degradation"),
    ({"phi": np.eye(9)}, ValueError, "phi: number of features.* expected 10, found 9"),
    ({"lam": 0.1, "relative_lam": 0.1}, ValueError, "exactly one of lam"),
    (
        {"n_nonzero_coefs": 2, "coder": "lasso"},
        ValueError,
        "n_nonzero_coefs has no effect with coder='lasso'",
    ),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), REFUSED)
def test_a_wrong_argument_is_named_with_the_fix(X, arguments, kind, message):
    with pytest.raises(kind, match=message):
        EnsembleSparseCoder(**arguments).fit(X)


@pytest.mark.parametrize(
    "coder", [{"relative_lam": 0.2}, {"max_l1_norm": 2.0}, {"coder": "omp", "max_error": 5.0}]
)
def test_any_coder_can_be_in_an_ensemble(X, coder):
    ensemble = EnsembleSparseCoder(12, n_estimators=3, random_state=0, **coder).fit(X)
    assert mean_error(X, ensemble.approximate(X)) < (X**2).sum(axis=1).mean()


CASES = ["unconstrained", "non-negative", "affine", "simplex"]


def test_the_four_cases_obey_their_constraints_their_order_and_the_bound(X):
    ensemble = make("rand-ex-av").fit(X)
    for per_sample in (False, True):
        found = {
            case: ensemble_weights(ensemble, X, constraint=case, per_sample=per_sample) for case in CASES
        }
        for case, weights in found.items():
            assert weights.holds
            assert np.max(weights.optimality) < 1e-6
            if case in ("affine", "simplex"):
                np.testing.assert_allclose(weights.beta.sum(axis=-1), 1)
            if case in ("non-negative", "simplex"):
                assert (weights.beta >= 0).all()
        one, two, three, four = (np.asarray(found[case].residual) for case in CASES)
        slack = 1e-7
        for better, worse in [(one, two), (one, three), (two, four), (three, four)]:
            assert (better <= worse + slack).all()


def test_residuals_are_those_of_the_weights(X):
    ensemble = make("rand-ex-av").fit(X)
    members = np.array([member.inverse_transform(member.transform(X)) for member in ensemble.estimators_])
    oracle = ensemble_weights(ensemble, X, constraint="affine", per_sample=True)
    assert oracle.beta.shape == (200, 5)
    combined = np.einsum("il,lim->im", oracle.beta, members)
    np.testing.assert_allclose(oracle.residual, np.sqrt(((X - combined) ** 2).sum(axis=1)), atol=1e-6)
    weights = np.random.default_rng(4).random(200)
    shared = ensemble_weights(ensemble, X, constraint="affine", sample_weight=weights)
    errors = ((X - ensemble.with_beta(shared.beta).approximate(X)) ** 2).sum(axis=1)
    assert shared.residual == pytest.approx(np.sqrt(np.average(errors, weights=weights)), rel=1e-6)


def test_a_degraded_ensemble_is_weighed_by_the_whole_samples(X):
    phi = np.random.default_rng(5).standard_normal((6, 10))
    degraded = make("rand-ex-av").fit(X).degraded_by(phi)
    with pytest.raises(ValueError, match="needs y"):
        ensemble_weights(degraded, X @ phi.T)
    weights = ensemble_weights(degraded, X @ phi.T, X, constraint="unconstrained")
    error = mean_error(X, degraded.with_beta(weights.beta).approximate(X @ phi.T))
    assert weights.residual == pytest.approx(np.sqrt(error), rel=1e-6)


def test_wrong_weighing_is_named(X):
    ensemble = make("rand-ex-av").fit(X)
    with pytest.raises(ValueError, match="constraint=convex: is not known; use one of unconstrained"):
        ensemble_weights(ensemble, X, constraint="convex")
    with pytest.raises(ValueError, match="sample_weight has no effect with per_sample=True"):
        ensemble_weights(ensemble, X, per_sample=True, sample_weight=np.ones(200))


@pytest.mark.parametrize("examples", [True, False])
def test_each_level_codes_what_the_ones_before_leave(X, examples):
    n_estimators = 4 if examples else None
    levels = MultilevelDictionary(8, n_levels=3, n_estimators=n_estimators, examples=examples, random_state=0)
    levels.fit(X)
    assert levels.n_levels_ == len(levels.levels_) == 3
    assert len(levels.levels_[0]) == (4 if examples else 1)
    np.testing.assert_array_equal(
        np.concatenate([np.concatenate(level) for level in levels.levels_]), levels.components_
    )
    curve = levels.error_curve_
    assert curve[0] == pytest.approx(mean_error(X, 0))
    assert (np.diff(curve) < 0).all()
    assert curve[-1] == pytest.approx(mean_error(X, levels.approximate(X)), rel=1e-6)
    # The first level: the best atom of each dictionary, and the mean of what they make.
    residual = X.copy()
    for level in levels.levels_[:1]:
        made = []
        for atoms in level:
            products = residual @ atoms.T
            best = abs(products).argmax(axis=1)
            made.append(products[np.arange(len(X)), best][:, None] * atoms[best])
        residual = residual - np.mean(made, axis=0)
    assert curve[1] == pytest.approx(mean_error(residual, 0), rel=0.05)


def test_levels_without_examples_have_one_dictionary(X):
    with pytest.raises(ValueError, match="n_estimators has no effect with examples=False"):
        MultilevelDictionary(8, n_estimators=3, examples=False).fit(X)
    with pytest.raises(ValueError, match="n_levels=0: must be at least 1"):
        MultilevelDictionary(8, n_levels=0).fit(X)
