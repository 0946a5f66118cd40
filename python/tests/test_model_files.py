"""Models to files and back."""

import json

import numpy as np
import pytest
from sklearn.base import clone

import sparsemble
from sparsemble import (
    DictionaryLearning,
    EnsembleSparseCoder,
    MiniBatchDictionaryLearning,
    MultilevelDictionary,
)

MODELS = {
    "alt-opt": DictionaryLearning(
        6, lam=0.3, positive=True, positive_dict=True, coder_tol=1e-5, random_state=3
    ),
    "k-svd": DictionaryLearning(6, method="k-svd", n_nonzero_coefs=2, max_iter=20, random_state=3),
    "online": MiniBatchDictionaryLearning(6, max_iter=2, random_state=3),
    "rand-ex-av": EnsembleSparseCoder(
        5, method="rand-ex-av", n_estimators=3, relative_lam=0.2, random_state=3
    ),
    "boost-ex": EnsembleSparseCoder(
        5,
        method="boost-ex",
        n_estimators=3,
        coder="ormp",
        max_error=0.5,
        validation_fraction=0.25,
        patience=2,
    ),
    "boost-km": EnsembleSparseCoder(5, n_estimators=3, coder="one-sparse", random_state=3),
    "ex-mld": MultilevelDictionary(4, n_levels=2, n_estimators=3, random_state=3),
    "mld": MultilevelDictionary(4, n_levels=2, examples=False, random_state=3),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def X():
    return np.random.default_rng(3).standard_normal((80, 6))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_same_estimator_with_the_same_bits(X, name, dtype, tmp_path):
    model = clone(MODELS[name]).fit(X.astype(dtype))
    model.save(tmp_path / "model.safetensors")
    again = sparsemble.load(tmp_path / "model.safetensors")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.components_, model.components_)
    assert again.components_.dtype == dtype
    np.testing.assert_array_equal(again.approximate(X), model.approximate(X))
    np.testing.assert_array_equal(again.transform(X).toarray(), model.transform(X).toarray())
    assert again.n_features_in_ == 6
    if model.random_state is not None:
        np.testing.assert_array_equal(clone(again).fit(X.astype(dtype)).components_, model.components_)


@pytest.mark.parametrize("name", MODELS)
def test_what_was_learned_about_the_training_is_in_the_file(X, name, tmp_path):
    model = clone(MODELS[name]).fit(X)
    model.save(tmp_path / "model.safetensors")
    again = sparsemble.load(tmp_path / "model.safetensors")
    for learned in ("objective_curve_", "n_iter_", "error_", "beta_", "alpha_", "error_curve_", "n_levels_"):
        assert hasattr(again, learned) == hasattr(model, learned)
        if hasattr(model, learned):
            np.testing.assert_array_equal(getattr(again, learned), getattr(model, learned))


def test_the_file_tells_the_parameters(X, tmp_path):
    MODELS["boost-ex"].fit(X).save(tmp_path / "model.safetensors")
    found = sparsemble.load(tmp_path / "model.safetensors").get_params()
    for name in (
        "n_components",
        "n_estimators",
        "method",
        "coder",
        "max_error",
        "validation_fraction",
        "patience",
    ):
        assert found[name] == MODELS["boost-ex"].get_params()[name]


def test_the_same_training_gives_the_same_bytes(X, tmp_path):
    for name in ("a", "b"):
        clone(MODELS["boost-km"]).fit(X).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_degraded_model_can_be_saved(X, tmp_path):
    phi = np.random.default_rng(4).standard_normal((4, 6))
    for name in ("alt-opt", "boost-km", "ex-mld"):
        degraded = clone(MODELS[name]).fit(X).degraded_by(phi)
        degraded.save(tmp_path / "model.safetensors")
        again = sparsemble.load(tmp_path / "model.safetensors")
        assert type(again) is type(degraded)
        np.testing.assert_array_equal(again.approximate(X @ phi.T), degraded.approximate(X @ phi.T))


def test_what_is_no_model_is_refused(X, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot read .*missing: .*; check the name and the folder"):
        sparsemble.load(tmp_path / "missing")
    (tmp_path / "garbage").write_bytes(b"no model at all")
    with pytest.raises(ValueError, match=r"garbage: this is not a safetensors file.*; give a model file"):
        sparsemble.load(tmp_path / "garbage")
    clone(MODELS["alt-opt"]).fit(X).save(tmp_path / "model")
    (tmp_path / "cut").write_bytes((tmp_path / "model").read_bytes()[:-8])
    with pytest.raises(ValueError, match="cut"):
        sparsemble.load(tmp_path / "cut")
    with pytest.raises(OSError, match=r"cannot write .*; make its folder first"):
        MODELS["alt-opt"].fit(X).save(tmp_path / "no" / "folder")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("phi", ["mask:missing=0.5,seed=3", "gaussian:measurements=4", "matrix"])
def test_a_loaded_model_knows_what_it_was_trained_through(X, phi, dtype, tmp_path):
    X = X.astype(dtype)
    text, phi = phi, np.random.default_rng(4).standard_normal((4, 6)) if phi == "matrix" else phi
    model = clone(MODELS["boost-km"]).set_params(phi=phi).fit(X)
    model.save(tmp_path / "model")
    again = sparsemble.load(tmp_path / "model")
    if text == "matrix":
        np.testing.assert_array_equal(again.phi, phi.astype(dtype))
        assert again._model.provenance["phi"] == "a matrix"
    else:
        assert again.phi == again._model.provenance["phi"] == text
    np.testing.assert_array_equal(clone(again).fit(X).components_, model.components_)
    plain = clone(again).set_params(phi=None).fit(X)
    assert not np.array_equal(plain.components_, model.components_)
    through, given = again.degraded_by(), model.degraded_by(phi)
    measurements = X[:, : through.n_features_in_]
    np.testing.assert_array_equal(through.approximate(measurements), given.approximate(measurements))


def test_only_a_model_that_was_trained_through_phi_has_one(X, tmp_path):
    model = clone(MODELS["boost-km"]).fit(X)
    model.save(tmp_path / "model")
    again = sparsemble.load(tmp_path / "model")
    assert again.phi is None
    assert "phi" not in again._model.provenance
    with pytest.raises(ValueError, match="phi=None: the model was not trained through"):
        again.degraded_by()


def with_text(path, key, value):
    """The bytes of a model file with another text in its header."""
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    assert key in header["__metadata__"]
    header["__metadata__"][key] = value
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + whole[8 + length :]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("parameter.n_models", "x", "n_models='x' must be a whole number from 1 on"),
        ("parameter.n_models", "-3", "n_models='-3' must be a whole number from 1 on"),
        ("parameter.n_models", "9" * 5000, "n_models='9+ must be a whole number"),
        ("parameter.n_atoms", "0", "n_atoms='0' must be a whole number from 1 on"),
        ("parameter.validation_fraction", "nan", "validation_fraction='nan' must be a number from 0 on"),
        ("method", "nope", "method='nope' is none of a model of this kind; known are alt-opt"),
        ("method", "ex-mld", "method='ex-mld' is none of a model of this kind"),
        ("coder", "zzz", "coder: .*zzz"),
    ],
)
def test_a_file_with_impossible_parameters_is_refused_by_its_name_and_theirs(
    X, key, value, message, tmp_path
):
    clone(MODELS["boost-ex"]).fit(X).save(tmp_path / "model")
    (tmp_path / "hostile").write_bytes(with_text(tmp_path / "model", key, value))
    with pytest.raises(ValueError, match=f"hostile: {message}"):
        sparsemble.load(tmp_path / "hostile")


def test_a_learner_of_the_callers_own_may_have_any_name(X, tmp_path):
    clone(MODELS["boost-ex"]).fit(X).save(tmp_path / "model")
    (tmp_path / "own").write_bytes(with_text(tmp_path / "model", "method", "boost-mine"))
    assert type(sparsemble.load(tmp_path / "own")) is EnsembleSparseCoder


def test_a_checkpoint_loads_with_a_warning(X, tmp_path):
    def stop(number, of, error):
        raise KeyboardInterrupt

    file = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        clone(MODELS["boost-km"]).set_params(checkpoint=file, callback=stop).fit(X)
    with pytest.warns(UserWarning, match="is a checkpoint"):
        assert sparsemble.load(file).n_estimators_ == 1


def test_an_estimator_that_is_not_fitted_has_nothing_to_save(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        DictionaryLearning().save(tmp_path / "model")
