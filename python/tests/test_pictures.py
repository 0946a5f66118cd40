"""Pictures as arrays: other sizes, patches, and how near two of them are."""

import numpy as np
import pytest

from sparsemble import assemble_patches, extract_patches, imresize, psnr, ssim


@pytest.fixture(params=["grey", "colours"])
def picture(request):
    rng = np.random.default_rng(0)
    return rng.uniform(0, 255, (21, 34) if request.param == "grey" else (21, 34, 3))


@pytest.mark.parametrize("stride", [1, 3, 5])
def test_assembling_undoes_extracting_to_the_bit(picture, stride):
    patches = extract_patches(picture, 5, stride=stride)
    np.testing.assert_array_equal(assemble_patches(patches, picture.shape, stride=stride), picture)


def test_patches_are_those_of_scikit_learn_at_stride_one(picture):
    from sklearn.feature_extraction.image import extract_patches_2d

    expected = extract_patches_2d(picture, (6, 6)).reshape(-1, 36 * (picture.size // (21 * 34)))
    np.testing.assert_array_equal(extract_patches(picture, 6), expected)


def test_overlapping_patches_are_averaged_as_scikit_learn_does(picture):
    from sklearn.feature_extraction.image import reconstruct_from_patches_2d

    patches = extract_patches(picture, 4)
    patches = patches + np.random.default_rng(1).standard_normal(patches.shape)
    shape = (-1, 4, 4) if picture.ndim == 2 else (-1, 4, 4, 3)
    expected = reconstruct_from_patches_2d(patches.reshape(shape), picture.shape)
    np.testing.assert_allclose(assemble_patches(patches, picture.shape), expected)


def test_the_dtype_of_patches_is_that_of_the_picture(picture):
    single = picture.astype(np.float32)
    assert extract_patches(single, 4).dtype == np.float32
    np.testing.assert_array_equal(assemble_patches(extract_patches(single, 4), picture.shape), single)
    assert extract_patches(picture.astype(np.uint8), 4).dtype == np.float64
    assert extract_patches(picture / 255, 4).max() <= 1  # any unit, without a warning


def test_the_peak_signal_to_noise_ratio_is_its_definition(picture):
    noisy = picture + np.random.default_rng(2).normal(0, 5, picture.shape)
    expected = 10 * np.log10(255**2 / ((noisy - picture) ** 2).mean())
    assert psnr(picture, noisy) == pytest.approx(expected)
    inner = 10 * np.log10(255**2 / ((noisy - picture)[2:-2, 2:-2] ** 2).mean())
    assert psnr(picture, noisy, shave=2) == pytest.approx(inner)
    assert psnr(picture, picture) == np.inf
    assert 0.5 < ssim(picture, noisy) < 1
    assert ssim(picture, picture) == pytest.approx(1)


@pytest.mark.parametrize("compare", [psnr, ssim, lambda a, b: psnr(a, b, shave=1)])
def test_pictures_whose_white_is_1_are_warned_of_once(picture, compare):
    with pytest.warns(UserWarning, match="multiply by 255") as record:
        compare(picture / 255, picture / 256)
    assert len(record) == 1
    assert record[0].filename == __file__


@pytest.mark.parametrize("options", [{}, {"shave": 1}])
def test_the_picture_that_is_not_finite_is_named(picture, options):
    bad = picture.copy()
    bad[3, 4] = np.nan
    for pair, name in (((bad, picture), "reference"), ((picture, bad), "image")):
        with pytest.raises(ValueError, match=f"{name} has values that are NaN or infinite; replace them"):
            psnr(*pair, **options)


@pytest.mark.parametrize("shape", [(9, 14), (9, 14, 3)])
def test_bytes_are_compared_as_the_floats_they_stand_for(shape):
    rng = np.random.default_rng(3)
    picture, other = rng.integers(0, 256, (2, *shape)).astype(np.uint8)
    expected = psnr(picture.astype(float), other.astype(float))
    assert psnr(picture, other) == pytest.approx(expected)
    assert psnr(np.asfortranarray(picture), other) == pytest.approx(expected)
    few, others = picture[::2, ::3], other[::2, ::3]
    assert psnr(few, others) == pytest.approx(psnr(few.astype(float), others.astype(float)))
    with pytest.raises(ValueError, match=r"image has shape \(9,\); it must be \(height, width\)"):
        psnr(picture[:, 0].ravel()[:9], other[:, 0].ravel()[:9])


def test_the_brightness_of_colours_is_in_studio_range():
    black, white = np.zeros((12, 12, 3)), np.full((12, 12, 3), 255.0)
    # 16 and 235 are 219 levels apart.
    assert psnr(black, white, brightness=True) == pytest.approx(20 * np.log10(255 / 219))
    assert psnr(black, white) == pytest.approx(0)


def test_similarity_is_that_of_a_plain_computation():
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0, 255, (2, 15, 17))
    window = np.exp(-0.5 * (np.arange(-5, 6) / 1.5) ** 2)
    window = np.outer(window, window) / window.sum() ** 2

    def mean(picture):
        return (np.lib.stride_tricks.sliding_window_view(picture, (11, 11)) * window).sum(axis=(2, 3))

    variance_a, variance_b = mean(a * a) - mean(a) ** 2, mean(b * b) - mean(b) ** 2
    covariance = mean(a * b) - mean(a) * mean(b)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    expected = (2 * mean(a) * mean(b) + c1) * (2 * covariance + c2)
    expected /= (mean(a) ** 2 + mean(b) ** 2 + c1) * (variance_a + variance_b + c2)
    assert ssim(a, b) == pytest.approx(expected.mean())


@pytest.mark.parametrize("method", ["bicubic", "lanczos3"])
def test_a_ramp_stays_one_in_every_size(method):
    ramp = np.tile(np.arange(40.0), (20, 1))
    for size in (2, 1.5, (30, 60), (20, 41)):
        large = imresize(ramp, size, method=method)
        steps = np.diff(large[:, 8:-8], axis=1)
        np.testing.assert_allclose(steps, 40 / large.shape[1], rtol=0.1)
    assert imresize(ramp, 0.3).shape == (6, 12)
    assert imresize(np.stack([ramp] * 3, axis=-1), (10, 10)).shape == (10, 10, 3)


PICTURE = np.zeros((12, 14))
REFUSED = [
    (lambda: extract_patches(PICTURE, 13), ValueError, r"patches of 13 pixels do not fit into .* \(12, 14\)"),
    (lambda: extract_patches(PICTURE, 4, stride=5), ValueError, "stride=5: must be at most 4"),
    (lambda: extract_patches(PICTURE, 0), ValueError, "patch_size=0: must be at least 1"),
    (lambda: extract_patches(PICTURE[0], 2), ValueError, r"image has shape \(14,\)"),
    (
        lambda: assemble_patches(np.ones((3, 5)), (12, 14)),
        ValueError,
        "patches has 5 columns, which is no square",
    ),
    (lambda: assemble_patches(np.ones((3, 16)), (12, 14)), ValueError, "number of patches"),
    (lambda: psnr(PICTURE, PICTURE.T), ValueError, r"reference has shape \(12, 14\) and image \(14, 12\)"),
    (lambda: psnr(PICTURE, PICTURE, shave=6), ValueError, "shave=6: leaves nothing"),
    (lambda: ssim(PICTURE, PICTURE, shave=1), ValueError, "11×11"),
    (lambda: imresize(PICTURE, 0.0), ValueError, "size=0.0: a factor must be positive"),
    (lambda: imresize(PICTURE, (3, 0)), ValueError, "size=0: must be at least 1"),
    (
        lambda: imresize(PICTURE, "large"),
        TypeError,
        "size='large': must be a factor, or a height and a width",
    ),
    (lambda: imresize(PICTURE, 2, method="nearest"), ValueError, "method='nearest' is not known"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_a_wrong_argument_is_named_with_the_fix(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
