"""What the tests share: data, the program, a browser."""

import os
import subprocess

import numpy as np
import pytest
from browser import Browser, programs


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


@pytest.fixture(scope="session")
def run_program():
    """Runs the program, which `cargo xtask ci --only pytest` builds and names, and returns what it prints."""
    program = os.environ.get("SPARSEMBLE_PROGRAM")
    if program is None:
        pytest.skip("SPARSEMBLE_PROGRAM does not name the program")

    def run(words, folder):
        done = subprocess.run([program, *words.split()], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def program(run_program, tmp_path):
    """The same in the test's own folder."""
    return lambda words: run_program(words, tmp_path)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Headless Chromium (see browser.py); the tests that ask for it are skipped where it is not installed."""
    found = programs()
    if isinstance(found, str):
        pytest.skip(found)
    pytest.importorskip("selenium")
    browser = Browser(*found, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.quit()
