"""Data shared by the tests."""

import numpy as np
import pytest


def unit_rows(rng, shape):
    rows = rng.standard_normal(shape)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


@pytest.fixture
def dictionary():
    return unit_rows(np.random.default_rng(0), (48, 16))


@pytest.fixture
def X():
    return unit_rows(np.random.default_rng(1), (60, 16))


@pytest.fixture
def planted():
    """Samples made of three far-apart atoms each, with the codes that made them."""
    rng = np.random.default_rng(2)
    dictionary = unit_rows(rng, (80, 64))
    codes = np.zeros((40, 80))
    for row in codes:
        row[rng.choice(80, size=3, replace=False)] = rng.choice([-1, 1], size=3) * rng.uniform(1, 2, size=3)
    return codes @ dictionary, dictionary, codes
