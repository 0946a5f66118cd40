"""Restoration of pictures: laws, gains on parts of photographs, and what is refused."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sparsemble import (
    CompressiveRecovery,
    DictionaryLearning,
    EnsembleSparseCoder,
    Operator,
    deblur,
    denoise,
    extract_patches,
    inpaint,
    restore,
)

PHOTOGRAPHS = Path(__file__).parents[2] / "data" / "cc0"


def psnr(truth, picture):
    return 10 * np.log10(255**2 / np.mean((np.asarray(truth, dtype=float) - picture) ** 2))


@pytest.fixture(scope="module")
def camera():
    """A part of a photograph: coat, face and sky."""
    return np.asarray(Image.open(PHOTOGRAPHS / "camera.png"))[90:154, 200:280].astype(np.uint8)


@pytest.fixture(scope="module")
def colours():
    return np.asarray(Image.open(PHOTOGRAPHS / "astronaut.png"))[100:140, 200:248].astype(np.uint8)


@pytest.fixture(scope="module")
def noisy(camera):
    return camera + np.random.default_rng(1).normal(0, 25, camera.shape)


@pytest.fixture(scope="module")
def holes(camera):
    return np.random.default_rng(2).random(camera.shape) < 0.5


CALLS = {
    "denoise": lambda image, **options: denoise(image, 25, **options),
    "inpaint": lambda image, **options: inpaint(
        image, np.indices(image.shape[:2]).sum(0) % 3 == 0, **options
    ),
    "deblur": lambda image, **options: deblur(image, 1.6, 2, **options),
    "recover": lambda image, n_threads=None, progress=None, **options: (
        lambda camera: camera.recover(camera.sense(image), image.shape, **options)
    )(CompressiveRecovery(n_threads=n_threads, progress=progress)),
    "restore": lambda image, **options: (
        lambda operator: restore(operator.apply(image), operator, 2, **options)
    )(Operator("blur:sigma=1,decimate=2", image.shape)),
}


def test_denoising_gains_more_than_four_decibels(camera, noisy):
    assert psnr(camera, denoise(noisy, 25)) > psnr(camera, noisy) + 4


def test_inpainting_keeps_what_is_known_and_fills_in_the_rest(camera, holes):
    image = np.where(holes, np.nan, camera)
    restored = inpaint(image, holes)
    np.testing.assert_array_equal(restored[~holes], camera[~holes])
    nearest = ndimage.distance_transform_edt(holes, return_distances=False, return_indices=True)
    assert psnr(camera[holes], restored[holes]) > psnr(camera[holes], camera[tuple(nearest)][holes]) + 4


def test_inpainting_with_noise_restores_what_is_known_too(camera, noisy, holes):
    restored = inpaint(noisy, holes, noise=25)
    assert psnr(camera[~holes], restored[~holes]) > psnr(camera[~holes], noisy[~holes]) + 3


@pytest.mark.parametrize("gaussian", [True, False], ids=["gaussian", "kernel"])
def test_deblurring_is_nearer_to_the_truth(camera, gaussian):
    # Not symmetric, so that a kernel turned round would be noticed.
    kernel = 1.2 if gaussian else np.array([[0.1, 0.2, 0.1, 0, 0], [0, 0.3, 0.1, 0.1, 0.1], [0] * 5])
    exact = camera.astype(float)
    blurred = ndimage.gaussian_filter(exact, 1.2) if gaussian else ndimage.convolve(exact, kernel)
    blurred += np.random.default_rng(3).normal(0, 1, camera.shape)
    assert psnr(camera, deblur(blurred, kernel, 1)) > psnr(camera, blurred) + 2


@pytest.mark.parametrize("kind", ["orthonormal", "gaussian", "bernoulli"])
def test_measurements_of_the_recovered_picture_are_the_given_ones(camera, kind):
    image = camera[:44, :53]  # no multiples of the block
    sensor = CompressiveRecovery(n_measurements=24, kind=kind, random_state=3)
    z = sensor.sense(image)
    assert z.shape == (6 * 7, 24)
    recovered = sensor.recover(z, image.shape)
    # Whole blocks only: of the others the recovery also knows pixels beyond the border.
    whole = np.zeros((6, 7), dtype=bool)
    whole[:5, :6] = True
    np.testing.assert_allclose(sensor.sense(recovered)[whole.ravel()], z[whole.ravel()], atol=1e-6)
    assert psnr(image, recovered) > 25


def test_the_whole_picture_is_better_than_its_blocks_alone(camera):
    sensor = CompressiveRecovery(n_measurements=16)
    z = sensor.sense(camera)
    blocks = sensor.first_estimate(z, camera.shape)
    assert blocks.shape == camera.shape
    assert psnr(camera, sensor.recover(z, camera.shape)) > psnr(camera, blocks) + 1


def test_measurements_are_phi_of_the_blocks(camera):
    phi = np.random.default_rng(0).standard_normal((5, 64))
    blocks = camera.reshape(8, 8, 10, 8).swapaxes(1, 2).reshape(80, 64)
    np.testing.assert_allclose(CompressiveRecovery(phi=phi).sense(camera), blocks @ phi.T, atol=1e-9)


@pytest.fixture(scope="module")
def own_model(camera):
    """Learned from the blocks of the picture turned upside down, without their means."""
    patches = extract_patches(camera[::-1], 8, stride=2).astype(np.float32)
    patches -= patches.mean(axis=1, keepdims=True)
    model = EnsembleSparseCoder(32, n_estimators=4, method="rand-ex-av", lam=30.0, random_state=0)
    return model.fit(patches)


def test_a_model_of_ones_own_recovers_every_block(camera, own_model, tmp_path):
    sensor = CompressiveRecovery(n_measurements=24, model=own_model)
    z = sensor.sense(camera)
    recovered, spread = sensor.recover(z, camera.shape, return_std=True)
    assert psnr(camera, recovered) > 20
    assert spread.shape == camera.shape
    assert (spread > 0).any()
    np.testing.assert_array_equal(sensor.first_estimate(z, camera.shape), recovered)
    own_model.save(tmp_path / "model.safetensors")
    for same in (tmp_path / "model.safetensors", str(tmp_path / "model.safetensors")):
        again = clone(sensor).set_params(model=same).recover(z, camera.shape)
        np.testing.assert_array_equal(again, recovered)
    # With the means known, only the rest is to be found.
    means = camera.reshape(8, 8, 10, 8).swapaxes(1, 2).reshape(80, 64).mean(axis=1)
    assert psnr(camera, sensor.recover(z, camera.shape, means=means)) > psnr(camera, recovered) - 0.5


def test_a_single_dictionary_of_ones_own_has_no_spread(camera):
    patches = extract_patches(camera, 8, stride=2).astype(np.float32)
    patches -= patches.mean(axis=1, keepdims=True)
    sensor = CompressiveRecovery(0.5, model=DictionaryLearning(32, lam=30.0, max_iter=2, random_state=0))
    with pytest.raises(NotFittedError):
        sensor.recover(np.ones((80, 32)), camera.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sensor.model.fit(patches)
    z = sensor.sense(camera)
    assert psnr(camera, sensor.recover(z, camera.shape)) > 20
    with pytest.raises(ValueError, match="return_std=True: the model has no members"):
        sensor.recover(z, camera.shape, return_std=True)
    with pytest.raises(ValueError, match="noise=3: the model has its penalty for noise"):
        sensor.set_params(noise=3).recover(z, camera.shape)


def test_a_model_that_cannot_be_of_use_is_refused(camera, own_model, tmp_path):
    z = CompressiveRecovery(0.5).sense(camera)
    for model, kind, message in [
        (5, TypeError, "model=5: must be a model file, or an estimator"),
        (tmp_path / "missing", FileNotFoundError, "check the name"),
        (nine_features(tmp_path), ValueError, "model: approximates"),
        (clone(own_model).fit(np.random.default_rng(0).random((99, 64))), ValueError, "train it on float32"),
    ]:
        with pytest.raises(kind, match=message):
            CompressiveRecovery(0.5, model=model).recover(z, camera.shape)


def nine_features(folder):
    """A file of a model for samples of nine features."""
    model = DictionaryLearning(4, max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.random.default_rng(0).random((50, 9), np.float32)).save(folder / "nine")
    return folder / "nine"


def test_a_phi_of_ones_own_recovers_the_same_picture(camera):
    drawn = CompressiveRecovery(ratio=0.25, random_state=5)
    given = CompressiveRecovery(phi=drawn.phi_.tolist())
    assert drawn.phi_.shape == (16, 64)
    image = camera[:24, :32]
    np.testing.assert_array_equal(
        drawn.recover(drawn.sense(image), image.shape), given.recover(given.sense(image), image.shape)
    )


def test_the_seed_decides_and_parameters_can_be_cloned(camera):
    sensor = CompressiveRecovery(0.5, kind="gaussian", random_state=4)
    np.testing.assert_array_equal(clone(sensor).sense(camera), sensor.sense(camera))
    assert not np.allclose(
        sensor.set_params(random_state=5).phi_, clone(sensor).set_params(random_state=4).phi_
    )


def test_noise_in_measurements_is_not_taken_for_the_picture(camera):
    sensor = CompressiveRecovery(0.5, noise=10.0)
    z = sensor.sense(camera) + np.random.default_rng(4).normal(0, 10, (80, 32))
    careful = sensor.recover(z, camera.shape)
    trusting = sensor.set_params(noise=0).recover(z, camera.shape)
    assert psnr(camera, careful) > psnr(camera, trusting) + 1


@pytest.mark.parametrize(
    ("spec", "gain"),
    [
        ("identity", 4),
        ("mask:missing=0.4,seed=1", 4),
        ("blur:sigma=1.2", 2),
        ("blur:sigma=0.8,decimate=2", 2),
        ("orthonormal:measurements=16,seed=2", 4),
    ],
)
def test_whatever_an_operator_does_is_undone(camera, spec, gain):
    operator = Operator(spec, camera.shape)
    noise = 25.0 if spec == "identity" else 1.0
    z = operator.apply(camera)
    z += np.random.default_rng(5).normal(0, noise, z.shape)
    # What one would look at without a restoration.
    before = operator.adjoint(z)
    if spec.startswith("mask"):
        before[before == 0] = before[before != 0].mean()
    if "decimate" in spec:
        before = ndimage.zoom(z, 2, order=1, mode="nearest", grid_mode=True)
    assert psnr(camera, restore(z, operator, noise)) > psnr(camera, before) + gain


def test_blocks_of_other_sizes_are_recovered_too(camera):
    image = camera[:, :75]  # no multiple of the block
    sensor = CompressiveRecovery(0.5, kind="gaussian", block_size=16)
    z = sensor.sense(image)
    assert z.shape == (4 * 5, 128)
    recovered = sensor.recover(z, image.shape)
    whole = np.arange(20) % 5 < 4
    np.testing.assert_allclose(sensor.sense(recovered)[whole], z[whole], atol=1e-6)
    assert psnr(image, recovered) > 28
    operator = Operator("gaussian:measurements=128", camera.shape, block_size=16)
    z = sensor.sense(camera)
    np.testing.assert_array_equal(restore(z.ravel(), operator), sensor.recover(z, camera.shape))


def test_the_functions_are_what_restore_calls(camera, noisy):
    np.testing.assert_array_equal(restore(noisy, Operator("identity", camera.shape), 25), denoise(noisy, 25))
    blur = Operator("blur:sigma=1.2", camera.shape)
    np.testing.assert_array_equal(restore(blur.apply(camera), blur, 1), deblur(blur.apply(camera), 1.2, 1))


@pytest.mark.parametrize("call", ["denoise", "inpaint", "deblur", "recover"])
def test_colours_are_restored_one_by_one(colours, call):
    restored, std = CALLS[call](colours, return_std=True)
    assert restored.shape == std.shape == colours.shape
    green, green_std = CALLS[call](np.ascontiguousarray(colours[..., 1]), return_std=True)
    np.testing.assert_array_equal(restored[..., 1], green)
    np.testing.assert_array_equal(std[..., 1], green_std)


def test_restore_takes_channels_last(colours):
    operator = Operator("identity", colours.shape[:2])
    restored, std = restore(colours, operator, 9, return_std=True)
    assert restored.shape == std.shape == colours.shape
    np.testing.assert_array_equal(restored, denoise(colours, 9))
    mask = Operator("mask:missing=0.3,seed=2", colours.shape[:2])
    filled = restore(mask.apply(colours), mask)
    np.testing.assert_array_equal(mask.apply(filled), mask.apply(colours))


def test_restore_takes_operators_of_your_own_numbers(camera, holes):
    mask = Operator.from_mask(holes)
    np.testing.assert_array_equal(restore(mask.apply(camera), mask), inpaint(camera, holes))
    kernel = np.array([[0.1, 0.2, 0.1, 0, 0], [0, 0.3, 0.1, 0.1, 0.1], [0] * 5])
    blur = Operator.from_kernel(kernel, camera.shape)
    np.testing.assert_array_equal(restore(blur.apply(camera), blur, 1), deblur(blur.apply(camera), kernel, 1))
    sensor = CompressiveRecovery(0.25, random_state=2)
    image = camera[:37, :45]
    blocks = Operator.from_matrix(sensor.phi_, image.shape)
    expected = sensor.recover(sensor.sense(image), image.shape)
    np.testing.assert_allclose(restore(blocks.apply(image), blocks), expected, atol=1e-6)


def test_restore_takes_any_linear_operator_of_scipy(camera):
    image = camera[:32, :40].astype(float)
    ours = Operator("blur:sigma=1,decimate=2", image.shape)
    theirs = LinearOperator(ours.shape, matvec=ours.matvec, rmatvec=ours.rmatvec, dtype=np.float64)
    z = ours @ image.ravel()
    found = restore(z, theirs, 0.5, shape=image.shape)
    np.testing.assert_allclose(found, restore(z.reshape(ours.output_shape), ours, 0.5), atol=0.5)
    with pytest.raises(ValueError, match="give the height and width"):
        restore(z, theirs)
    with pytest.raises(ValueError, match="measures 1280 pixels"):
        restore(z, theirs, shape=(10, 10))

    def broken(y):
        raise RuntimeError("the camera is off")

    with pytest.raises(RuntimeError, match="the camera is off"):
        restore(z, LinearOperator(ours.shape, matvec=ours.matvec, rmatvec=broken), shape=image.shape)


def test_means_of_blocks_are_worth_something(camera):
    sensor = CompressiveRecovery(n_measurements=8)
    z = sensor.sense(camera)
    means = camera.reshape(8, 8, 10, 8).swapaxes(1, 2).reshape(80, 64).mean(1)
    without = psnr(camera, sensor.recover(z, camera.shape))
    known = sensor.recover(z, camera.shape, means=means)
    assert psnr(camera, known) > without + 0.1
    # The list of a file of `sparsemble sense --means`.
    np.testing.assert_array_equal(sensor.recover(z, camera.shape, means=means[:, np.newaxis]), known)
    blocks = sensor.first_estimate(z, camera.shape, means=means)
    assert psnr(camera, blocks) > psnr(camera, sensor.first_estimate(z, camera.shape))
    with pytest.raises(ValueError, match=r"means has shape \(79,\)"):
        sensor.recover(z, camera.shape, means=means[1:])


def test_a_kernel_that_changes_the_brightness_is_scaled_with_a_warning(camera):
    blurred = ndimage.uniform_filter(camera.astype(float), 3)
    expected = deblur(blurred, np.full((3, 3), 1 / 9))
    with pytest.warns(UserWarning, match="kernel sums to 9") as record:
        np.testing.assert_allclose(deblur(blurred, np.ones((3, 3))), expected, atol=1e-6)
    assert record[0].filename == __file__


def test_every_colour_may_miss_other_pixels(colours):
    missing = np.random.default_rng(6).random(colours.shape) < 0.3
    restored = inpaint(colours, missing)
    np.testing.assert_array_equal(restored[~missing], colours[~missing])


@pytest.mark.parametrize("call", CALLS)
def test_threads_and_memory_layout_do_not_change_a_bit(camera, call):
    one = CALLS[call](camera, n_threads=1, return_std=True)
    for image, n_threads in (
        (camera, 3),
        (np.asfortranarray(camera), 2),
        (camera[:, ::-1].copy()[:, ::-1], 1),
    ):
        for a, b in zip(one, CALLS[call](image, n_threads=n_threads, return_std=True), strict=True):
            np.testing.assert_array_equal(a, b)


def test_eight_and_sixteen_bits_and_floats_are_the_same_picture(camera):
    expected = denoise(camera, 10)
    assert expected.dtype == np.float64
    for image in (camera.astype(np.uint16) * 257, camera.astype(np.float32), camera.astype(int).tolist()):
        np.testing.assert_array_equal(denoise(image, 10), expected)


@pytest.mark.parametrize("call", ["denoise", "inpaint", "recover"])
def test_errors_are_larger_where_the_deviation_is(camera, call):
    restored, std = CALLS[call](camera, return_std=True)
    assert (std >= 0).all()
    error = np.abs(restored - camera)
    unsure = std > np.median(std)
    assert error[unsure].mean() > 1.3 * error[~unsure].mean()


@pytest.mark.parametrize("call", CALLS)
def test_progress_is_told_in_pixels_and_can_stop_the_call(camera, call):
    told, camera = [], camera[:40]
    restored = CALLS[call](camera, progress=lambda done, total: told.append((done, total)))
    done, totals = zip(*told, strict=True)
    assert set(totals) == {restored.size}
    assert list(done) == sorted(done)
    assert done[-1] == restored.size

    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        CALLS[call](camera, progress=stop)


LONG_CALL = """
import faulthandler, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)   # a shell's background job would ignore it
faulthandler.dump_traceback_later(120, exit=True)       # a call that cannot be stopped must not hang
import numpy as np
import sparsemble

def announce():
    time.sleep(0.5)                 # by now the main thread is in the compiled code
    print("working", flush=True)

picture = np.random.default_rng(0).uniform(0, 255, (1000, 1000))
threading.Thread(target=announce, daemon=True).start()
sparsemble.deblur(picture, 2.0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_control_c_stops_a_long_restoration():
    with subprocess.Popen(
        [sys.executable, "-c", LONG_CALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as child:
        try:
            assert child.stdout.readline() == "working\n"
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate()
        finally:
            child.kill()
    assert "KeyboardInterrupt" in errors


Sensor = CompressiveRecovery
PICTURE = np.full((16, 16), 100.0)
SPOILT = np.where(np.eye(16) > 0, np.nan, PICTURE)
HOLES = np.eye(16) > 0
IDENTITY = Operator("identity", (16, 16))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: denoise(PICTURE[0], 5), r"image has shape \(16,\); it must be \(height, width\)"),
        (lambda: denoise(np.ones((9, 9, 4)), 5), r"image has shape \(9, 9, 4\)"),
        (lambda: denoise(np.ones((0, 9)), 5), "at least one pixel"),
        (lambda: denoise(PICTURE[:7], 5), "at least 8 pixels"),
        (lambda: denoise(SPOILT, 5), "image has values that are NaN or infinite.*inpaint"),
        (lambda: denoise(PICTURE, -1), "sigma=-1: must be zero or more"),
        (lambda: denoise(PICTURE, np.nan), "sigma=nan"),
        (lambda: inpaint(PICTURE, HOLES, noise=1e155), "noise=1e\\+155.*at most 1000000 grey levels"),
        (lambda: Operator("mask:missing=0.5", 10**15), "at most 268435456"),
        (lambda: Operator("blur:sigma=1", (2**33, 2**33)), "larger than any picture"),
        (lambda: inpaint(PICTURE, HOLES[1:]), r"mask has shape \(15, 16\)"),
        (lambda: inpaint(PICTURE, np.ones_like(HOLES)), "at least one pixel must be known"),
        (lambda: inpaint(SPOILT, HOLES[::-1]), "NaN or infinite"),
        (lambda: inpaint(PICTURE, HOLES, noise=-2), "noise=-2"),
        (lambda: deblur(PICTURE, 0.0), "sigma=0"),
        (lambda: deblur(PICTURE, np.ones(3)), r"kernel has shape \(3,\)"),
        (lambda: deblur(PICTURE, np.full((3, 2), 1 / 6)), "kernel width=2: must be odd"),
        (lambda: deblur(PICTURE, np.zeros((3, 3))), "kernel sums to 0; a blur keeps the brightness"),
        (lambda: deblur(PICTURE, np.full((3, 3), np.inf)), "kernel has values that are NaN"),
        (lambda: restore(PICTURE[1:], IDENTITY), r"shape \(15, 16\); what .* measures has \(16, 16\)"),
        (lambda: restore(SPOILT, IDENTITY), "measurements has values that are NaN"),
        (lambda: restore(PICTURE[0], Operator("identity", 16)), "is for samples"),
        (lambda: Sensor(0.0).sense(PICTURE), "ratio=0.0: must be above 0"),
        (lambda: Sensor(n_measurements=65).sense(PICTURE), "n_measurements=65"),
        (lambda: Sensor(n_measurements=0).sense(PICTURE), "n_measurements=0"),
        (lambda: Sensor(kind="haar").sense(PICTURE), "kind='haar'"),
        (lambda: Sensor(random_state=None).sense(PICTURE), "random_state=None"),
        (lambda: Sensor(phi=np.ones((3, 60))).sense(PICTURE), r"phi has shape \(3, 60\)"),
        (lambda: Sensor(phi=np.full((3, 64), np.nan)).sense(PICTURE), "phi has values"),
        (lambda: Sensor().sense(SPOILT), "image has values that are NaN"),
        (lambda: Sensor().recover(np.ones((3, 16)), (16, 16)), r"\(3, 16\); .* has \(4, 16\)"),
        (
            lambda: Sensor().recover(np.ones((4, 16)), (16,)),
            r"shape=\(16,\); it must be \(height",
        ),
        (
            lambda: Sensor().recover(np.full((4, 16), np.nan), (16, 16)),
            "measurements has values",
        ),
        (lambda: Sensor(block_size=2).recover(np.ones((9, 1)), (6, 6)), "at least 8 pixels"),
        (lambda: Sensor(noise=-1).recover(np.ones((4, 16)), (16, 16)), "noise=-1"),
        (lambda: Sensor(block_size=4).first_estimate(np.ones((16, 4)), (16, 16)), "not those of 16 pixels"),
    ],
)
def test_what_cannot_be_is_refused_in_the_words_of_the_caller(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: denoise(PICTURE > 3, 5), "image has dtype bool"),
        (lambda: denoise(PICTURE, "much"), "sigma='much'"),
        (lambda: inpaint(PICTURE, PICTURE), "mask has dtype float64; it must be bool"),
        (lambda: restore(PICTURE, np.eye(256)), "operator is of type ndarray"),
        (lambda: Sensor("few").sense(PICTURE), "ratio='few'"),
        (lambda: Sensor().recover(np.ones((4, 16)), (16.5, 16)), "shape=16.5"),
    ],
)
def test_other_types_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_floats_from_0_to_1_are_warned_of():
    with pytest.warns(UserWarning, match="multiply by 255") as record:
        denoise(PICTURE / 255, 0.1)
    assert record[0].filename == __file__
