"""The sub-Gaussian data model: moments against their definitions, and what section 6's sizes give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linnet.problems.subgaussian import ENTRIES, gaussian_teacher, subgaussian_regression


def correlated(dim: int) -> np.ndarray:
    mixing = np.random.default_rng(7).standard_normal((dim, dim)) / np.sqrt(dim)
    return mixing @ mixing.T + 0.1 * np.eye(dim)


@pytest.mark.parametrize("entries", ENTRIES)
def test_inputs_have_the_covariance_asked_for(entries):
    sigma, n = correlated(4), 40_000
    data = subgaussian_regression(key=0, samples=n, covariance=sigma, teacher=np.arange(4.0), entries=entries)
    measured = data.inputs.T @ data.inputs / n
    # a generous standard error of each entry: fourth moments are at most 3 for these laws
    error = np.sqrt(2 * np.outer(np.diag(sigma), np.diag(sigma)) / n)
    assert (np.abs(measured - sigma) < 5 * error).all()
    assert (
        np.abs(measured - np.diag(np.diag(sigma))) > 5 * error
    ).any()  # the control: a diagonal covariance is caught
    assert_allclose(data.trace, np.trace(sigma), rtol=1e-12)
    assert_allclose(data.operator_norm, np.linalg.norm(sigma, 2), rtol=1e-12)
    assert_allclose(data.frobenius_norm, np.linalg.norm(sigma), rtol=1e-12)


@pytest.mark.parametrize("entries", ENTRIES)
def test_entries_are_subgaussian_with_unit_proxy(entries):
    data = subgaussian_regression(key=1, samples=200_000, covariance=[1.0], teacher=[0.0], entries=entries)
    for s in (0.3, 1.0, 2.0):
        moments = np.exp(s * data.inputs[:, 0])
        assert moments.mean() < np.exp(s**2 / 2) + 4 * moments.std() / np.sqrt(moments.size)


def test_signal_is_the_teacher_s_norm_under_the_covariance():
    sigma, beta = correlated(5), np.linspace(-1, 2, 5)
    data = subgaussian_regression(key=2, samples=3, covariance=sigma, teacher=beta)
    assert_allclose(data.signal, np.sqrt(beta @ sigma @ beta), rtol=1e-12)
    assert_allclose(data.outputs, data.inputs @ beta, rtol=1e-12)  # no noise asked for


def test_a_diagonal_covariance_is_its_eigenvalues():
    values = np.array([3.0, 0.5, 0.0])
    vector = subgaussian_regression(key=3, samples=6, covariance=values, teacher=np.ones(3))
    assert_array_equal(vector.inputs[:, 2], 0.0)
    assert_allclose(vector.signal, np.sqrt(3.5))


def test_noise_has_its_variance():
    data = subgaussian_regression(key=4, samples=50_000, covariance=[1.0], teacher=[2.0], noise_variance=0.25)
    noise = data.outputs - 2.0 * data.inputs[:, 0]
    assert abs(noise.var() - 0.25) < 5 * 0.25 * np.sqrt(2 / 50_000)


def test_section_6_sizes_and_the_unit_signal_version():
    data = gaussian_teacher(key=0)
    assert data.inputs.shape == (10, 10_000) and data.trace == 10_000 and data.noise_variance == 0.01
    assert data.signal == pytest.approx(100.0, rel=0.05)
    unit = gaussian_teacher(key=0, dim=300, signal=1.0)
    assert unit.signal == pytest.approx(1.0, rel=1e-12)
    assert_array_equal(gaussian_teacher(key=0, dim=300, signal=1.0).inputs, unit.inputs)
    assert np.abs(gaussian_teacher(key=1, dim=300, signal=1.0).inputs - unit.inputs).max() > 0.1


def test_wrong_arguments_are_refused():
    good: dict[str, Any] = {"samples": 3, "covariance": np.eye(2), "teacher": np.ones(2)}
    with pytest.raises(ValueError, match="10 samples of 1000000000000 inputs and 1 outputs would take"):
        gaussian_teacher(key=0, dim=10**12)
    with pytest.raises(ValueError, match="1000000000000 samples of 2 inputs and 1 outputs would take"):
        subgaussian_regression(key=0, **{**good, "samples": 10**12})
    with pytest.raises(ValueError, match="one entry per input, 2: got 3"):
        subgaussian_regression(key=0, **{**good, "teacher": np.ones(3)})
    with pytest.raises(ValueError, match="`covariance` must be positive"):
        subgaussian_regression(key=0, **{**good, "covariance": np.diag([1.0, -1.0])})
    with pytest.raises(ValueError, match="`covariance` must be symmetric"):
        subgaussian_regression(key=0, **{**good, "covariance": np.array([[1.0, 0.5], [0.0, 1.0]])})
    with pytest.raises(ValueError, match="`entries` must be one of gaussian, rademacher, uniform: got 'cauchy'"):
        subgaussian_regression(key=0, **good, entries="cauchy")
    with pytest.raises(ValueError, match="`noise_variance` must not be negative"):
        subgaussian_regression(key=0, **good, noise_variance=-1.0)
