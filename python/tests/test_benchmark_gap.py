"""The certificate by which the benchmark judges every contender, against problems solved by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from shared.gap import lasso_certificate, residual_energy

LAM = 0.4
X = np.array([[1.0, 0.0]])
D = np.eye(2)


def test_the_optimum_by_soft_thresholding_has_no_gap():
    certificate = lasso_certificate(X, D, csr_array([[0.8, 0.0]]), LAM)
    assert certificate.objective == pytest.approx(0.2**2 + LAM * 0.8)
    assert certificate.gap == pytest.approx(0.0, abs=1e-15)


# The residual is a multiple of x, so the best dual point is 0.2·x whatever the code: its bound,
# 1 − 0.8² = 0.36, is the minimum itself.
@pytest.mark.parametrize(("coefficient", "objective"), [(0.0, 1.0), (0.5, 0.45), (0.7, 0.37), (0.9, 0.37)])
def test_the_gap_of_a_poor_code_is_its_distance_from_the_minimum(coefficient, objective):
    certificate = lasso_certificate(X, D, csr_array([[coefficient, 0.0]]), LAM)
    assert certificate.objective == pytest.approx(objective)
    assert certificate.gap == pytest.approx(objective - 0.36)


def test_a_code_without_residual_proves_nothing():
    certificate = lasso_certificate(X, D, csr_array([[1.0, 0.0]]), LAM)
    assert certificate.gap == pytest.approx(LAM)


def test_the_gap_is_a_fraction_of_the_energy_of_the_sample():
    scaled = lasso_certificate(10 * X, D, csr_array([[5.0, 0.0]]), 10 * LAM)
    assert scaled.objective == pytest.approx(45.0)
    assert scaled.gap == pytest.approx(0.09)


def test_an_excluded_atom_does_not_loosen_the_bound():
    atoms = np.array([[1.0, 0.0], [0.6, 0.8]])
    # Without the first atom: the correlation 0.6 shrinks to 0.4.
    codes = csr_array([[0.0, 0.4]])
    assert lasso_certificate(X, atoms, codes, LAM, np.array([0])).gap == pytest.approx(0.0, abs=1e-15)
    assert lasso_certificate(X, atoms, codes, LAM).gap > 0.1


def test_the_gap_bounds_the_distance_from_the_minimum_for_correlated_atoms():
    rng = np.random.default_rng(3)
    atoms, samples = rng.normal(size=(12, 5)), rng.normal(size=(40, 5))
    energy = (samples**2).sum(axis=1)
    codes = np.zeros((40, 12))
    step = 1 / np.linalg.eigvalsh(atoms @ atoms.T).max()
    certificates = []
    for iteration in range(4001):
        if iteration in (0, 1, 10, 100, 1000, 4000):
            certificates.append(lasso_certificate(samples, atoms, csr_array(codes), LAM))
        codes += step * (samples - codes @ atoms) @ atoms.T
        codes = np.sign(codes) * np.maximum(np.abs(codes) - step * LAM / 2, 0)
    minimum = certificates[-1].objective
    for certificate in certificates:
        assert (certificate.gap * energy >= certificate.objective - minimum - 1e-12).all()
    assert certificates[-1].gap.max() < 1e-3


def test_many_blocks_of_samples_are_judged_as_one(monkeypatch):
    rng = np.random.default_rng(4)
    samples, atoms = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    codes = csr_array(rng.normal(size=(7, 4)))
    excluded = np.array([0, 1, 2, 3, 0, 1, 2])
    whole = lasso_certificate(samples, atoms, codes, LAM, excluded)
    monkeypatch.setattr("shared.gap.BLOCK", 3)
    blocks = lasso_certificate(samples, atoms, codes, LAM, excluded)
    np.testing.assert_allclose(blocks, whole, rtol=1e-12)


def test_residual_energy_is_the_squared_error():
    codes = csr_array([[0.7, 0.1]])
    assert residual_energy(X, D, codes) == pytest.approx(0.3**2 + 0.1**2)
