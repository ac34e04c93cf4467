"""The end of training for any inputs and the lazy-feature crossover, against descent of full width in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.theories.feature_learning import final_state, lazy_feature_ratio, target_aligned_kernel


def descent(X, y, W, v, *, rate, until, steps=400_000):
    """A network of full width, f = mean_r v_r w_r.x, by gradient descent until `until` of its loss is left."""
    n, m, first, losses = len(y), len(v), W, []
    for _ in range(steps):
        residual = y - X @ (W.T @ v) / m
        losses.append(residual @ residual)
        if losses[-1] <= until * losses[0]:
            return W, v, (W - first) @ X.T @ y, losses[-1] / losses[0]
        pull = X.T @ residual
        W, v = W + rate / n * np.outer(v, pull), v + rate / n * W @ pull
    raise AssertionError(f"the loss has only fallen to {losses[-1] / losses[0]:.2g}")


def small_data(samples=4, dim=9, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((samples, dim)) * np.linspace(2.5, 0.8, dim), random.standard_normal(samples) + 1


def test_training_ends_where_the_closed_form_says():
    X, y = small_data()
    random = np.random.default_rng(1)
    W, v = 1e-6 * random.standard_normal((30, 9)), 1e-4 * random.choice([-1.0, 1.0], 30)
    W, v, rho, _ = descent(X, y, W, v, rate=2e-3, until=1e-16)
    found = final_state(X @ X.T, y)
    assert_allclose((v**2).mean(), found.square, rtol=1e-3)
    assert_allclose(rho / v, found.ratio, rtol=1e-3)
    assert_allclose((rho**2).mean(), found.alignment_square, rtol=1e-3)
    kernel = (v**2).mean() * X @ X.T + (X @ W.T) @ (W @ X.T) / 30
    assert_allclose(kernel, found.kernel, atol=1e-3 * np.abs(kernel).max())
    gamma = y @ X @ X.T @ y
    assert found.settled == pytest.approx(found.ratio / np.sqrt(gamma), rel=1e-12)
    assert found.settled < 0.99  # so that the check tells it from the printed sqrt(gamma)


def test_the_end_of_more_samples_than_inputs():
    """K is singular: the part of y that no predictor reaches stays."""
    X, y = small_data(samples=7, dim=4, seed=3)
    random = np.random.default_rng(2)
    W, v = 1e-6 * random.standard_normal((20, 4)), 1e-4 * random.choice([-1.0, 1.0], 20)
    best = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    first = W
    for _ in range(60_000):
        pull = X.T @ (y - X @ (W.T @ v) / 20)
        W, v = W + 2e-3 / 7 * np.outer(v, pull), v + 2e-3 / 7 * W @ pull
    found = final_state(X @ X.T, y)
    assert_allclose(X @ (W.T @ v) / 20, best, atol=1e-8)
    assert_allclose((v**2).mean(), found.square, rtol=1e-3)
    assert_allclose((W - first) @ X.T @ y / v, found.ratio, rtol=1e-3)


def test_a_multiple_of_the_identity_keeps_the_feature():
    y = np.array([1.0, -2.0, 0.5])
    found = final_state(3 * np.eye(3), y)
    assert_allclose(found.settled, 1.0, rtol=1e-14)
    assert_allclose(found.kernel, found.square * target_aligned_kernel(3 * np.eye(3), y), rtol=1e-14)
    assert_allclose(found.alignment_square, (3 * y @ y) ** 2.5 / (9 * y @ y), rtol=1e-14)  # gamma^(5/2)/phi


@pytest.mark.parametrize("size", [0.03, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.95, 0.5, 0.1])
def test_the_crossover_on_orthogonal_inputs(size, share):
    random = np.random.default_rng(4)
    X = 2 * np.linalg.qr(random.standard_normal((8, 3)))[0].T
    y = np.array([1.0, 2.0, -1.5])
    gamma, trace = y @ X @ X.T @ y, 4.0
    v0 = size * np.sqrt(np.sqrt(gamma) / trace)
    W, v = np.zeros((16, 8)), v0 * random.choice([-1.0, 1.0], 16)
    _, v, rho, share = descent(X, y, W, v, rate=3e-3 / (1 + v0**2), until=share)
    ratio = np.median(rho / (v * np.sqrt(gamma)))
    assert_allclose(ratio, lazy_feature_ratio(size**2, share), rtol=0.01)
    assert abs(ratio / lazy_feature_ratio(size, share) - 1) > 0.02 or size == 1.0  # the control: v_0 for its square


def test_the_crossover_takes_arrays_and_its_ends():
    assert lazy_feature_ratio([1.0, 2.0], [[0.5], [0.25]]).shape == (2, 2)
    assert lazy_feature_ratio(1.0, 1.0) == 0.0
    assert lazy_feature_ratio(1e-300, 0.0) == 1.0


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="`outputs` must have one value per row of `gram`, 2: got 3"):
        final_state(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="`gram` must be positive semi-definite"):
        final_state(-np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match="`outputs` must have a part in the range of `gram`"):
        final_state(np.diag([1.0, 0.0]), [0.0, 1.0])
    with pytest.raises(ValueError, match="`initial_ratio` must be positive"):
        lazy_feature_ratio(0.0, 0.5)
    with pytest.raises(ValueError, match="`share` must be from 0 to 1"):
        lazy_feature_ratio(1.0, 1.5)
