"""Pictures made larger, as a user of the package does it."""

import numpy as np
import pytest
from PIL import Image

import sparsemble
from sparsemble import SuperResolution


def picture(channels=3):
    """Return a piece of a committed photograph."""
    path = __file__.replace("python/tests/test_super_resolution.py", "data/cc0/chelsea.png")
    pixels = np.asarray(Image.open(path).convert("RGBA"))[60:108, 100:164]
    return pixels[..., 0] if channels == 1 else pixels[..., :channels]


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("scale", [1, 1.5, 2, 3, 4])
def test_the_size_is_exact(scale, channels):
    image = picture(channels)
    larger = SuperResolution(scale).upscale(image)
    assert larger.shape == (round(48 * scale), round(64 * scale), *image.shape[2:])
    assert larger.dtype == np.float64
    assert SuperResolution(scale).upscale(image, size=(50, 70)).shape[:2] == (50, 70)


def test_the_model_is_better_than_interpolation_and_keeps_the_brightness():
    image = picture(1).astype(float)
    small = np.asarray(Image.fromarray(image.astype(np.float32)).resize((32, 24), Image.Resampling.BICUBIC))

    def error(method):
        larger = SuperResolution(method=method).upscale(small)
        assert abs(larger.mean() - small.mean()) < 0.5
        return np.mean((larger - image)[2:-2, 2:-2] ** 2)

    assert error("anchored") < 0.95 * error("bicubic")
    assert error("lanczos") < 1.05 * error("bicubic")


def test_bicubic_is_that_of_the_literature():
    rows, columns = np.indices((20, 24))
    ramp = 3.0 * rows + 2.0 * columns
    larger = SuperResolution(method="bicubic").upscale(ramp)
    # Inside, a ramp stays a ramp, with the centres of pixels where MATLAB has them.
    expected = 3.0 * ((np.arange(40) + 0.5) / 2 - 0.5)[:, None] + 2.0 * ((np.arange(48) + 0.5) / 2 - 0.5)
    assert np.abs(larger - expected)[4:-4, 4:-4].max() < 1e-9


def test_integers_and_floats_are_the_same_grey_levels():
    image = picture()
    enlarger = SuperResolution(n_threads=2)
    larger = enlarger.upscale(image)
    assert (enlarger.upscale(image.astype(float)) == larger).all()
    assert np.abs(enlarger.upscale(image.astype(np.uint16) * 257) - larger).max() < 1e-6
    assert (SuperResolution(n_threads=1).upscale(image) == larger).all()


def test_the_deviation_is_of_the_brightness_and_zero_for_interpolation():
    larger, std = SuperResolution().upscale(picture(), return_std=True)
    assert std.shape == larger.shape[:2]
    assert std.min() >= 0
    assert std.max() > 0
    assert not SuperResolution(method="bicubic").upscale(picture(), return_std=True)[1].any()


def test_a_model_of_ones_own_is_fitted_saved_and_loaded(tmp_path):
    pictures = [picture(), np.roll(picture(), 20, axis=1)[::-1], picture(1).T]
    own = SuperResolution(n_atoms=4, n_estimators=2, random_state=3).fit(pictures)
    larger = own.upscale(picture(1))
    with pytest.raises(ValueError, match="fit one first"):
        SuperResolution().save(tmp_path / "none.safetensors")
    own.save(tmp_path / "own.safetensors")
    again = sparsemble.load(tmp_path / "own.safetensors")
    assert isinstance(again, SuperResolution)
    assert again.scale == 2
    assert (again.upscale(picture(1)) == larger).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": 5}, "from 1 to 4"),
        ({"scale": "2"}, "from 1 to 4"),
        ({"scale": float("nan")}, "from 1 to 4"),
        ({"method": "nearest"}, "anchored, bicubic, lanczos"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SuperResolution(**parameters).upscale(picture())


def test_pictures_and_sizes_that_cannot_be_are_refused():
    enlarger = SuperResolution()
    for size in [(10, 10), (1000, 1000)]:
        with pytest.raises(ValueError, match="size"):
            enlarger.upscale(picture(), size=size)
    with pytest.raises(ValueError, match="height"):
        enlarger.upscale(picture(), size=(96, 0))
    with pytest.raises(ValueError, match="NaN"):
        enlarger.upscale(np.full((9, 9), np.nan))
    with pytest.raises(ValueError, match="shape"):
        enlarger.upscale(np.zeros((4, 4, 2)))
    with pytest.raises(ValueError, match="2, 3 or 4"):
        SuperResolution(2.5).fit([picture()])


def test_progress_is_told():
    told = []
    SuperResolution(progress=lambda done, total: told.append((done, total))).upscale(picture())
    assert told[-1] == (96 * 128, 96 * 128)
