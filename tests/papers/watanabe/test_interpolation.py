"""Networks on fewer samples than inputs: where they end, what the start leaves, and refusals. Their law is tested with
Figure 5."""

import numpy as np
import pytest

from linnet_papers.watanabe.training.interpolation import interpolating_network


def data(n=12, d=30, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, X @ random.standard_normal(d)


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1e-5), ("float32", 2e-3)])
def test_ends_at_the_minimum_norm_solution(dtype, limit):
    X, y = data()
    run = interpolating_network(X, y, key=1, width=40, stds=1e-7, loss=1e-11, dtype=dtype)
    wanted = np.linalg.pinv(X) @ y
    assert np.abs(run.min_norm - wanted).max() < limit * np.abs(wanted).max()
    assert np.abs(run.product - wanted).max() < limit * np.abs(wanted).max()
    assert run.product.dtype == np.dtype(dtype)
    assert run.loss <= 1e-11


def test_modes_that_fill_up_a_program_change_nothing(monkeypatch):
    """12 samples are trained as 128 modes, in most of which nothing is to be learned."""
    X, y = data()
    filled = interpolating_network(X, y, key=1, width=40, stds=1e-2)
    monkeypatch.setattr("linnet_papers.watanabe.training.interpolation.FEW_MODES", 0)
    plain = interpolating_network(X, y, key=1, width=40, stds=1e-2)
    np.testing.assert_allclose(filled.product, plain.product, rtol=1e-11, atol=1e-13)
    assert (filled.steps, filled.time) == (plain.steps, pytest.approx(plain.time, rel=1e-10))


def test_what_the_start_leaves_across_the_samples_scales_with_it():
    X, y = data()
    across = np.eye(30) - np.linalg.pinv(X) @ X
    left = []
    for scale in (1e-2, 1e-3, 1e-4):
        run = interpolating_network(X, y, key=1, width=40, stds=scale, loss=1e-13)
        left.append(np.linalg.norm(across @ run.product))
    slope = np.polyfit(np.log([1e-2, 1e-3, 1e-4]), np.log(left), 1)[0]
    assert slope == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("width", [3, 13, 10**9])
def test_any_width(width):
    X, y = data()
    run = interpolating_network(X, y, key=0, width=width, stds=1e-6, loss=1e-10)
    np.testing.assert_allclose(X @ run.product, y, atol=1e-3)


def test_refusals():
    X, y = data()
    options = {"key": 0, "width": 5, "stds": 1e-3}
    with pytest.raises(ValueError, match=r"`inputs` must be \(n, d\) with n < d"):
        interpolating_network(X.T, X.T @ np.ones(12), **options)
    with pytest.raises(ValueError, match="`width` must be at least 1"):
        interpolating_network(X, y, **(options | {"width": 0}))
    with pytest.raises(ValueError, match="`stds` must not be negative"):
        interpolating_network(X, y, **(options | {"stds": -1.0}))
    with pytest.raises(ValueError, match="`inputs` must have rank n, 6: the least eigenvalue"):
        interpolating_network(np.diag(np.arange(13.0))[:6], np.ones(6), **options)
    with pytest.raises(ValueError, match="`labels` must not all be zero"):
        interpolating_network(X, 0 * y, **options)
    with pytest.raises(ArithmeticError, match="rounding stops it there"):
        interpolating_network(X, y, **options, loss=1e-45)
