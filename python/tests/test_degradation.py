"""Degradations by their text: laws, and NumPy and SciPy as the oracle."""

import pickle

import numpy as np
import pytest
from scipy import ndimage
from scipy.sparse.linalg import LinearOperator, aslinearoperator, lsqr

from sparsemble import CompressiveRecovery, EnsembleSparseCoder, Operator, load

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


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_a_linear_operator_itself(spec):
    phi = Operator(spec, (8, 12), block_size=4)
    assert isinstance(phi, LinearOperator)
    assert aslinearoperator(phi) is phi
    y = np.random.default_rng(2).standard_normal(96)
    np.testing.assert_array_equal(phi @ y, phi.apply(y.reshape(8, 12)).ravel())
    found = lsqr(phi, phi @ y, iter_lim=2000)[0]
    np.testing.assert_allclose(phi @ found, phi @ y, atol=1e-4)
    matrix = phi @ np.eye(96)
    assert matrix.shape == phi.shape
    np.testing.assert_allclose(phi.T @ np.eye(phi.shape[0]), matrix.T, atol=1e-12)
    np.testing.assert_allclose(phi.adjoint() @ np.ones(phi.shape[0]), matrix.sum(0), atol=1e-12)


def test_numbers_of_your_own_make_operators(picture):
    rng = np.random.default_rng(6)
    matrix = rng.standard_normal((5, 16))
    samples = rng.standard_normal((7, 16))
    np.testing.assert_allclose(Operator.from_matrix(matrix).apply(samples), samples @ matrix.T, atol=1e-12)
    small = picture[:8, :12]
    blocks = Operator.from_matrix(matrix, small.shape)
    expected = small.reshape(2, 4, 3, 4).swapaxes(1, 2).reshape(6, 16) @ matrix.T
    np.testing.assert_allclose(blocks.apply(small), expected.ravel(), atol=1e-9)
    whole = rng.standard_normal((9, 96))
    np.testing.assert_allclose(
        Operator.from_matrix(whole, small.shape).apply(small), whole @ small.ravel(), atol=1e-9
    )
    missing = rng.random(picture.shape) < 0.3
    np.testing.assert_array_equal(Operator.from_mask(missing).apply(picture), picture[~missing])
    kernel = rng.random((3, 5))
    blur = Operator.from_kernel(kernel, picture.shape, decimate=2)
    np.testing.assert_allclose(
        blur.apply(picture), ndimage.convolve(picture, kernel, mode="reflect")[::2, ::2], rtol=1e-9
    )
    for phi in (blocks, Operator.from_mask(missing), blur):
        again = pickle.loads(pickle.dumps(phi))
        y = rng.standard_normal(phi.input_shape)
        np.testing.assert_array_equal(again.apply(y), phi.apply(y))
        assert phi.spec is None
        assert repr(phi).startswith("Operator(of ")
    with pytest.raises(ValueError, match=r"matrix has shape \(5, 15\)"):
        Operator.from_matrix(np.ones((5, 15)), (8, 12))
    with pytest.raises(TypeError, match="mask has dtype"):
        Operator.from_mask(np.ones(4))
    with pytest.raises(ValueError, match="must be odd"):
        Operator.from_kernel(np.ones((2, 3)), (8, 12))


def test_colours_are_degraded_with_channels_last(picture):
    colours = np.stack([picture, picture + 1, picture[::-1]], axis=-1)
    for spec in ("blur:sigma=1,decimate=2", "mask:missing=0.3", "gaussian:measurements=3"):
        phi = Operator(spec, picture.shape)
        measured = phi.apply(colours)
        assert measured.shape == (*phi.output_shape, 3)
        np.testing.assert_array_equal(measured[..., 2], phi.apply(picture[::-1]))
        np.testing.assert_array_equal(phi.adjoint(measured)[..., 1], phi.adjoint(phi.apply(picture + 1)))


def test_pictures_that_end_within_a_block_are_continued_as_by_sense():
    picture = np.random.default_rng(1).uniform(0, 255, (37, 45))
    sensor = CompressiveRecovery(n_measurements=6, random_state=5)
    phi = Operator("orthonormal:measurements=6,seed=5", picture.shape)
    np.testing.assert_allclose(phi.apply(picture), sensor.sense(picture).ravel(), atol=1e-9)
    own = Operator.from_matrix(sensor.phi_, picture.shape)
    np.testing.assert_allclose(own.apply(picture), phi.apply(picture), atol=1e-9)
    z = np.random.default_rng(2).standard_normal(phi.shape[0])
    assert np.vdot(phi.apply(picture), z) == pytest.approx(np.vdot(picture, phi.adjoint(z)))


def test_a_training_takes_an_operator(X):
    phi = Operator("orthonormal:measurements=9,seed=1", 16)
    coders = [
        EnsembleSparseCoder(
            8, n_estimators=2, method="boost-ex", coder="one-sparse", phi=given, random_state=1
        ).fit(X)
        for given in (phi, phi.spec, aslinearoperator(phi @ np.eye(16)))
    ]
    for other in coders[1:]:
        np.testing.assert_allclose(coders[0].beta_, other.beta_)
    Z = phi.apply(X)
    np.testing.assert_array_equal(
        coders[0].degraded_by(phi).approximate(Z), coders[0].degraded_by(phi.spec).approximate(Z)
    )


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
