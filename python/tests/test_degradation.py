"""Degradations by their text: laws, and NumPy and SciPy as the oracle."""

import pickle

import numpy as np
import pytest
from scipy import ndimage
from scipy.sparse.linalg import LinearOperator, lsqr

from sparsemble import EnsembleSparseCoder, Operator, load

SPECS = [
    "identity",
    "gaussian:measurements=5,seed=2",
    "orthonormal:measurements=9",
    "bernoulli:measurements=3",
    "mask:missing=0.4,seed=1",
    "blur:sigma=1.3",
    "blur:sigma=0.7,decimate=3",
]
SHAPES = [16, (12, 20)]


@pytest.fixture
def picture():
    return np.random.default_rng(0).uniform(0, 255, (21, 34))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_every_operator_has_its_adjoint_and_keeps_the_dtype(spec, shape, dtype):
    phi = Operator(spec, shape, block_size=4, dtype=dtype)
    rng = np.random.default_rng(3)
    y, z = rng.standard_normal(phi.input_shape), rng.standard_normal(phi.output_shape)
    measured, back = phi.apply(y), phi.adjoint(z)
    assert (measured.shape, back.shape) == (phi.output_shape, phi.input_shape)
    assert measured.dtype == back.dtype == dtype
    assert phi.shape == (measured.size, back.size)
    assert np.vdot(measured, z) == pytest.approx(np.vdot(y, back), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("spec", SPECS)
def test_arrays_of_samples_are_degraded_one_by_one(spec):
    phi = Operator(spec, 16)
    samples = np.random.default_rng(4).standard_normal((2, 3, 16))
    measured = phi.apply(samples)
    assert measured.shape == (2, 3, phi.shape[0])
    np.testing.assert_array_equal(measured[1, 2], phi.apply(samples[1, 2]))
    np.testing.assert_array_equal(phi.adjoint(measured)[0, 1], phi.adjoint(measured[0, 1]))


def test_blur_and_decimation_are_those_of_scipy(picture):
    expected = ndimage.gaussian_filter(picture, 1.6, mode="reflect", truncate=4.0)
    np.testing.assert_allclose(Operator("blur:sigma=1.6", picture.shape).apply(picture), expected, rtol=1e-12)
    small = Operator("blur:sigma=1.6,decimate=3", picture.shape).apply(picture)
    np.testing.assert_allclose(small, expected[::3, ::3], rtol=1e-12)
    # A blur that reaches beyond the opposite border.
    wide = Operator("blur:sigma=12", picture.shape).apply(picture)
    np.testing.assert_allclose(wide, ndimage.gaussian_filter(picture, 12, mode="reflect"), rtol=1e-12)


def test_a_mask_keeps_what_is_seen(picture):
    mask = Operator("mask:missing=0.8,seed=7", picture.shape)
    seen = mask.adjoint(np.ones(mask.output_shape)).astype(bool)
    assert seen.sum() == picture.size - int(0.8 * picture.size)
    np.testing.assert_array_equal(mask.apply(picture), picture[seen])


def test_a_projection_measures_each_block_of_a_picture():
    spec = "orthonormal:measurements=6,seed=5"
    picture = np.random.default_rng(1).standard_normal((16, 24))
    patch = Operator(spec, 64)
    matrix = patch.apply(np.eye(64)).T
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(6), atol=1e-12)
    blocks = picture.reshape(2, 8, 3, 8).swapaxes(1, 2).reshape(6, 64)
    measured = Operator(spec, picture.shape).apply(picture)
    np.testing.assert_allclose(measured.reshape(6, 6), blocks @ matrix.T, atol=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_scipy_solves_with_it(spec):
    phi = Operator(spec, (8, 12), block_size=4)
    linear = phi.aslinearoperator()
    assert isinstance(linear, LinearOperator)
    y, z = np.random.default_rng(2).standard_normal(phi.shape[1]), np.ones(phi.shape[0])
    np.testing.assert_array_equal(linear.matvec(y), phi.apply(y.reshape(8, 12)).ravel())
    np.testing.assert_array_equal(linear.rmatvec(z), phi.adjoint(z.reshape(phi.output_shape)).ravel())
    measured = linear @ y
    found = lsqr(linear, measured, iter_lim=2000)[0]
    np.testing.assert_allclose(linear @ found, measured, atol=1e-4)


def test_an_operator_is_what_it_was_made_from():
    phi = Operator("gaussian:seed=0,measurements=4", (8, 16), block_size=4, dtype="float32")
    again = pickle.loads(pickle.dumps(phi))
    assert phi.spec == again.spec == "gaussian:measurements=4"
    assert repr(again) == "Operator('gaussian:measurements=4', (8, 16))"
    picture = np.ones((8, 16))
    np.testing.assert_array_equal(phi.apply(picture), again.apply(picture))
    assert again.apply(picture).dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("haar", 16), {}, "haar: is not known; write identity"),
        (("mask:seed=3", 16), {}, "needs missing"),
        (("mask:missing=1.5", 16), {}, "missing=1.5"),
        (("blur:sigma=1", 15), {}, "square patches, and 15 features are none"),
        (("gaussian:measurements=4", (16, 20)), {}, "multiples of the block side, 8"),
        (("identity", (2, 3, 4)), {}, "height and width"),
        (("identity", 0), {}, "height and width"),
        (("identity", "big"), {}, "height and width"),
        (("identity", 4), {"dtype": "int64"}, "must be float64 or float32"),
        (("identity", 4), {"block_size": 0}, "block_size=0"),
    ],
)
def test_what_cannot_be_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Operator(*arguments, **options)


def test_arrays_of_other_shapes_are_refused():
    phi = Operator("blur:sigma=1,decimate=2", (6, 8))
    with pytest.raises(ValueError, match=r"y has shape \(8, 6\); it must end in \(6, 8\)"):
        phi.apply(np.ones((8, 6)))
    with pytest.raises(ValueError, match=r"z has shape \(12,\); it must end in \(3, 4\)"):
        phi.adjoint(np.ones(12))


@pytest.mark.parametrize("spec", SPECS)
def test_a_training_takes_the_text_for_its_matrix(spec, X, tmp_path):
    matrix = Operator(spec, 16).apply(np.eye(16)).T
    ensembles = [
        EnsembleSparseCoder(
            8, n_estimators=3, method="boost-ex", coder="one-sparse", phi=phi, random_state=1
        ).fit(X)
        for phi in (spec, matrix)
    ]
    by_text, by_matrix = (
        ensemble.degraded_by(phi) for ensemble, phi in zip(ensembles, (spec, matrix), strict=True)
    )
    Z = X @ matrix.T
    np.testing.assert_array_equal(by_text.approximate(Z), by_matrix.approximate(Z))
    ensembles[0].save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").beta_, ensembles[0].beta_)
