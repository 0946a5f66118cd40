"""Which memory is read in place, which is copied, and that both give the same codes."""

import numpy as np
import pytest
from sklearn.base import clone

from sparsemble import (
    DictionaryLearning,
    MiniBatchDictionaryLearning,
    SparseCoder,
    WeightedKMeans,
    _native,
    assemble_patches,
    kmeans_parallel,
    sparse_encode,
)


def unaligned(array):
    """The same values at an odd address, as blocks that came over a network can have."""
    buffer = np.empty(array.nbytes + 1, dtype=np.uint8)
    moved = buffer[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def memory_mapped(array, folder):
    np.save(folder / "array.npy", array)
    return np.load(folder / "array.npy", mmap_mode="r")


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "a slice of rows": lambda array: np.repeat(array, 2, axis=0)[::2],
    "a slice of columns": lambda array: np.hstack([array, array])[:, : array.shape[1]],
    "every other column": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
    "backwards": lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": unaligned,
    "read-only": read_only,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "nested lists": lambda array: array.tolist(),
}
IN_PLACE = ["C order", "Fortran order", "read-only"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("method", ["lasso", "one-sparse"])
def test_every_memory_layout_gives_the_same_bits(X, dictionary, layout, method):
    penalty = {"lam": 0.2} if method == "lasso" else {}
    expected = sparse_encode(X, dictionary, method=method, **penalty)
    other = LAYOUTS[layout]
    for samples, atoms in [(other(X), dictionary), (X, other(dictionary)), (other(X), other(dictionary))]:
        codes = sparse_encode(samples, atoms, method=method, **penalty)
        np.testing.assert_array_equal(codes.toarray(), expected.toarray())


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in ("unaligned", "big-endian")])
def test_every_memory_layout_of_a_mask_gives_the_same_bits(X, dictionary, layout):
    mask = np.random.default_rng(3).random(X.shape) < 0.8
    expected = sparse_encode(X, dictionary, lam=0.2, mask=mask)
    codes = sparse_encode(X, dictionary, lam=0.2, mask=LAYOUTS[layout](mask))
    np.testing.assert_array_equal(codes.toarray(), expected.toarray())


def test_any_byte_but_zero_is_true_in_a_mask(X, dictionary):
    mask = np.random.default_rng(3).random(X.shape) < 0.8
    odd = (mask * np.uint8(2)).view(np.bool_)
    expected = sparse_encode(X, dictionary, lam=0.2, mask=mask)
    np.testing.assert_array_equal(
        sparse_encode(X, dictionary, lam=0.2, mask=odd).toarray(), expected.toarray()
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "layout", [layout for layout in LAYOUTS if layout not in ("big-endian", "nested lists")]
)
def test_only_aligned_arrays_in_one_piece_are_read_in_place(X, dtype, layout):
    array = LAYOUTS[layout](X.astype(dtype))
    in_place = _native.address(array) == array.__array_interface__["data"][0]
    assert in_place == (layout in IN_PLACE)


def test_memory_mapped_files_are_read_in_place(X, dictionary, tmp_path):
    mapped = memory_mapped(X, tmp_path)
    assert _native.address(mapped) == mapped.__array_interface__["data"][0]
    expected = sparse_encode(X, dictionary, lam=0.2)
    np.testing.assert_array_equal(sparse_encode(mapped, dictionary, lam=0.2).toarray(), expected.toarray())


@pytest.mark.parametrize(
    ("given", "returned"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (">f4", np.float32),
        (">f8", np.float64),
        (np.float16, np.float64),
        (np.int64, np.float64),
        (np.uint8, np.float64),
        (np.bool_, np.float64),
    ],
)
def test_codes_have_the_dtype_of_the_samples_or_float64(X, dictionary, given, returned):
    X = (10 * abs(X)).astype(given)
    codes = sparse_encode(X, dictionary, relative_lam=0.2)
    assert codes.dtype == returned
    expected = sparse_encode(X.astype(returned), dictionary.astype(returned), relative_lam=0.2)
    np.testing.assert_array_equal(codes.toarray(), expected.toarray())


def test_the_dictionary_takes_the_dtype_of_the_samples(X, dictionary):
    atoms = dictionary.astype(np.float32)
    assert sparse_encode(X.astype(np.float32), dictionary, lam=0.2).dtype == np.float32
    expected = sparse_encode(X, atoms.astype(np.float64), lam=0.2)
    np.testing.assert_array_equal(sparse_encode(X, atoms, lam=0.2).toarray(), expected.toarray())


def test_nothing_given_is_changed(X, dictionary):
    mask = np.random.default_rng(3).random(X.shape) < 0.8
    given = [X, dictionary, mask, np.arange(len(X)) % 48, np.linspace(1, 2, 48)]
    before = [array.copy() for array in given]
    sparse_encode(X, dictionary, lam=0.2, mask=mask, exclude=given[3], atom_weights=given[4])
    for array, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_thin_arrays_are_read_the_right_way_round(order, shape):
    X = np.asarray(np.arange(1.0, 6.0)[: shape[0] * shape[1]].reshape(shape), order=order)
    codes = sparse_encode(X, np.eye(shape[1]), method="omp", n_nonzero_coefs=shape[1])
    np.testing.assert_allclose(codes.toarray(), X)


@pytest.mark.parametrize(
    "estimator",
    [DictionaryLearning(4), MiniBatchDictionaryLearning(4), SparseCoder(relative_lam=0.2), WeightedKMeans(3)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_single_precision_in_the_other_byte_order_stays_single(X, estimator):
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    fit = getattr(estimator, "partial_fit", estimator.fit)
    swapped = fit(X.astype(">f4"))
    found = getattr(swapped, "components_", getattr(swapped, "cluster_centers_", None)).copy()
    fit = getattr(clone(estimator), "partial_fit", clone(estimator).fit)
    native = fit(X.astype("=f4"))
    expected = getattr(native, "components_", getattr(native, "cluster_centers_", None))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def test_patches_and_spams_take_the_other_byte_order(X, dictionary):
    import sparsemble.compat.spams as spams

    swapped = [np.asfortranarray(matrix.T.astype(">f4")) for matrix in (X, dictionary)]
    codes = spams.lasso(*swapped, lambda1=0.1, numThreads=1)
    assert codes.dtype == np.float32
    expected = spams.lasso(*[matrix.astype("=f4") for matrix in swapped], lambda1=0.1, numThreads=1)
    np.testing.assert_array_equal(codes.toarray(), expected.toarray())
    assert kmeans_parallel(X.astype(">f4"), 3, random_state=0).dtype == np.float32
    assert assemble_patches(np.ones((4, 4), ">f4"), (4, 4), stride=2).dtype == np.float64
