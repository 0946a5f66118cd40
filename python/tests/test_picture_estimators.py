"""What scikit-learn's checks look for, of the estimators that take pictures in the place of a table."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from sparsemble import CompressiveRecovery, SuperResolution, imresize, psnr

SMALL = [
    CompressiveRecovery(0.5),
    CompressiveRecovery(0.5, kind="gaussian", noise=1.0),
    SuperResolution(n_atoms=4, n_estimators=2),
    SuperResolution(3, n_atoms=4, n_estimators=2),
]


@pytest.fixture(params=SMALL, ids=lambda estimator: f"{type(estimator).__name__}")
def estimator(request):
    return clone(request.param)


@pytest.fixture
def images():
    rows, columns = np.indices((32, 40))
    return np.stack([128 + 60 * np.sin(0.2 * rows + k) * np.cos(0.1 * (k + 2) * columns) for k in range(5)])


def test_the_tags_say_that_pictures_are_no_table(estimator):
    tags = get_tags(estimator)
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array
    assert not tags.requires_fit
    assert tags.transformer_tags is not None


def test_fitting_returns_itself_takes_a_y_and_changes_no_parameter(estimator, images):
    before = copy.deepcopy(estimator.get_params())
    assert estimator.fit(images, np.arange(5)) is estimator
    assert joblib.hash(estimator.get_params()) == joblib.hash(before)
    own = {name for name in vars(estimator) if not name.startswith("_") and not name.endswith("_")}
    assert own == set(before)


def test_fitting_twice_is_fitting_once(estimator, images):
    expected = estimator.fit(images).transform(images)
    np.testing.assert_array_equal(estimator.fit(images[::-1]).fit(images).transform(images), expected)


def test_fit_transform_is_fit_and_transform(estimator, images):
    expected = clone(estimator).fit(images).transform(images)
    np.testing.assert_array_equal(estimator.fit_transform(images), expected)


def test_using_it_changes_nothing(estimator, images):
    estimator.fit(images)
    given, before = images.copy(), dict(vars(estimator))
    estimator.transform(images)
    estimator.score(images)
    assert vars(estimator) == before
    np.testing.assert_array_equal(images, given)


def test_pictures_may_be_read_only_and_mapped(estimator, images, tmp_path):
    expected = clone(estimator).fit(images).transform(images)
    np.save(tmp_path / "images.npy", images)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    np.testing.assert_array_equal(estimator.fit(mapped).transform(mapped), expected)


def test_every_picture_is_transformed_by_itself(estimator, images):
    together = estimator.fit(images).transform(images)
    np.testing.assert_array_equal(estimator.transform(images[[3, 0]]), together[[3, 0]])
    np.testing.assert_array_equal(estimator.transform(images[2:3]), together[2:3])


def test_a_list_of_pictures_is_as_good_as_an_array(estimator, images):
    expected = clone(estimator).fit(images).transform(images)
    for made, of_array in zip(estimator.fit(list(images)).transform(list(images)), expected, strict=True):
        np.testing.assert_array_equal(made, of_array)


def test_what_was_fitted_survives_pickling(estimator, images):
    estimator.fit(images)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(images), estimator.transform(images))
    assert again.score(images) == estimator.score(images)


def test_a_clone_knows_nothing_of_what_was_fitted(estimator, images):
    assert set(vars(clone(estimator.fit(images)))) == set(estimator.get_params())


def test_it_is_a_step_of_a_pipeline_and_goes_through_a_search(estimator, images):
    pipeline = make_pipeline(FunctionTransformer(lambda images: 0.5 * images), estimator).fit(images)
    np.testing.assert_array_equal(pipeline.transform(images), pipeline[-1].transform(0.5 * images))
    step = type(estimator).__name__.lower()
    grid = {
        "compressiverecovery": {f"{step}__ratio": [0.1, 0.9]},
        "superresolution": {f"{step}__method": ["bicubic", "anchored"]},
    }[step]
    search = GridSearchCV(pipeline, grid, cv=2).fit(images)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[0] < scores[1]


def test_the_score_is_the_mean_psnr():
    images = 255 * np.random.default_rng(0).random((2, 16, 24))
    camera = CompressiveRecovery(0.5)
    expected = [psnr(image, camera.recover(camera.sense(image), image.shape)) for image in images]
    assert camera.score(images) == pytest.approx(np.mean(expected))
    enlarger = SuperResolution(method="bicubic")
    expected = [psnr(image, enlarger.upscale(imresize(image, 0.5))) for image in images]
    assert enlarger.score(images) == pytest.approx(np.mean(expected))
    assert enlarger.score(images.round().astype(np.uint8)) == pytest.approx(enlarger.score(images), abs=0.1)


@pytest.mark.parametrize("channels", [(), (3,)])
def test_measuring_and_recovering_are_inverse_to_each_other(channels):
    images = 255 * np.random.default_rng(1).random((2, 16, 24, *channels))
    camera = CompressiveRecovery(1.0)
    recovered = camera.inverse_transform(camera.fit_transform(images))
    assert camera.shape_ == images.shape[1:]
    np.testing.assert_allclose(recovered, images, atol=1e-6)


def test_pictures_of_any_shapes_are_enlarged():
    shapes = [(16, 24), (24, 16, 3)]
    larger = SuperResolution(2).transform([np.zeros(shape) for shape in shapes])
    assert [picture.shape for picture in larger] == [(32, 48), (48, 32, 3)]


def test_errors_say_what_is_missing():
    with pytest.raises(NotFittedError, match="call fit first"):
        CompressiveRecovery().inverse_transform(np.zeros((1, 6, 16)))
    with pytest.raises(ValueError, match=r"pictures of one shape, and found \(16, 24\) and \(24, 16\)"):
        CompressiveRecovery().fit([np.zeros((16, 24)), np.zeros((24, 16))])
    with pytest.raises(ValueError, match=r"a picture has shape \(24,\)"):
        CompressiveRecovery().fit([np.zeros(24)])
    with pytest.raises(ValueError, match=r"found \(16, 24\) and \(24, 16\)"):
        CompressiveRecovery().transform([np.zeros((16, 24)), np.zeros((24, 16))])
    with pytest.raises(ValueError, match="ratio=2: must be above 0"):
        CompressiveRecovery(2).fit(np.zeros((1, 16, 24)))


@pytest.mark.parametrize("shape", [(16, 24), (16, 24, 3)])
def test_a_single_picture_is_not_taken_for_several(estimator, shape):
    for method in (estimator.fit, estimator.transform, estimator.score):
        with pytest.raises(ValueError, match=r"that of one picture; give \[images\]"):
            method(np.zeros(shape))
        with pytest.raises(ValueError, match="no picture"):
            method([])
