"""One output over time, against DOP853 on full networks that share no code with it."""

import mpmath as mp
import numpy as np
import pytest

import linnet as ln
from linnet.theories import one_output
from linnet.theories.one_output.clock import Clock
from reference import flowing_products

TIMES = np.array([0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0])


def data(samples, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(samples, 6)) * np.array([3, 2, 1, 1, 0.3, 0.1])
    return X, X @ random.normal(size=6) + 0.3 * random.normal(size=samples)


def trained(X, y, first_power, second_power, times):
    """The product of a full network of width d + 3 whose product starts at zero."""
    n, d = X.shape
    width, cov, cross = d + 3, X.T @ X / n, X.T @ y / n
    W, a = np.zeros((width, d)), np.zeros(width)
    W[:d], a[d] = np.sqrt(first_power) * np.eye(d), np.sqrt(second_power)
    return flowing_products(cov, cross[None], (W, a[None]), times, tolerance=1e-12)[:, 0]


@pytest.mark.parametrize("samples", [4, pytest.param(6, marks=pytest.mark.slow), 20])
@pytest.mark.parametrize(("p", "m"), [(0.3, 0.5), (0.01, 2.0), (1.0, 0.0), (1e-4, 1e-4), (20.0, 20.0)])
def test_it_is_the_flow_of_a_full_network(samples, p, m):
    X, y = data(samples)
    found = one_output.product_over_time(ln.Problem.from_data(X, y), (p + m) / 2, TIMES)
    exact = trained(X, y, p, m, TIMES)
    np.testing.assert_allclose(found, exact, atol=1e-9)
    wrong = one_output.product_over_time(ln.Problem.from_data(X, y), 1.05 * (p + m) / 2, TIMES)  # the control
    assert np.abs(wrong - exact).max() > 1e-4


def test_starts_and_ends_where_it_should():
    X, y = data(4)
    problem = ln.Problem.from_data(X, y)
    path = one_output.product_over_time(problem, 0.2, [0.0, 1e9])
    assert not path[0].any()
    np.testing.assert_allclose(path[1], problem.min_norm_solution().ravel(), rtol=1e-8)


def test_times_may_come_one_by_one_and_in_any_number():
    problem = ln.Problem.from_data(*data(20))
    together = one_output.product_over_time(problem, 0.05, TIMES)
    alone = np.concatenate([one_output.product_over_time(problem, 0.05, [time]) for time in TIMES])
    np.testing.assert_allclose(together, alone, atol=1e-9)


def test_it_obeys_its_equation():
    problem, g = ln.Problem.from_data(*data(20)), 0.3
    near = 1e-4
    before, at, after = one_output.product_over_time(problem, g, [0.7 - near, 0.7, 0.7 + near])
    G, q = problem.cross.ravel() - problem.cov @ at, np.hypot(g, np.linalg.norm(at))
    np.testing.assert_allclose(
        (after - before) / (2 * near), (q + g) * G + (q - g) * at * (at @ G) / (at @ at), atol=1e-5
    )


def test_its_limits_are_the_aligned_and_the_lazy_flow():
    problem = ln.Problem.from_moments(np.diag([4.0, 1.0, 0.2]), [[2.0, 1.0, 0.3]])
    g = 1e8
    lazy = one_output.product_over_time(problem, g, np.array([0.1, 1.0]) / g)
    rates = np.diag(problem.cov)
    exact = (1 - np.exp(-2 * np.outer([0.1, 1.0], rates))) * problem.cross / rates
    np.testing.assert_allclose(lazy, exact, rtol=1e-6)
    g = 1e-12
    times = np.linspace(8, 20, 7)
    found = one_output.product_over_time(problem, g, times)
    w = ln.theories.aligned_flow.aligned_flow(problem, 1e-6, np.linspace(0, 40, 40_001))
    aligned = np.linalg.norm(w, axis=1)[:, None] * w
    nearest = [np.abs(aligned - b).max(axis=1).min() for b in found]  # the same path, at a shifted time
    assert max(nearest) < 2e-3


@pytest.mark.parametrize("g", [1e-12, 1.0, 1e12])
def test_one_mode_in_closed_form_at_the_edges(g):
    rate, cross = 2.0, 3.0
    times = np.array([0.3, 1.0]) / max(g, 1.0) if g > 1 else np.array([3.0, 9.5, 10.5])
    found = one_output.product_over_time(ln.Problem.from_moments([[rate]], [[cross]]), g, times)[:, 0]
    with mp.workdps(60):  # b = g sinh x, u = e^x: u' = 2 c u - l g u^2 + l g, a Riccati equation
        for time, value in zip(times, found, strict=True):
            c, scale, t = mp.mpf(cross), mp.mpf(rate) * mp.mpf(g), mp.mpf(float(time))
            r = mp.sqrt(c**2 + scale**2)
            up, down = (c + r) / scale, (c - r) / scale
            share = (1 - up) / (1 - down) * mp.e ** (-2 * r * t)
            u = (up - down * share) / (1 - share)
            np.testing.assert_allclose(value, float(mp.mpf(g) * (u - 1 / u) / 2), rtol=1e-9)


def test_the_learning_curve_is_that_of_the_predictor():
    problem = ln.problems.spiked_covariance(30, spike=5.0, alignment=0.5, samples=20, noise_std=0.5, key=1)
    curve = one_output.error_over_time(problem, 0.02)
    path = one_output.product_over_time(problem, 0.02, curve.times)[:, None]
    np.testing.assert_allclose(curve.loss, problem.loss(path))
    np.testing.assert_allclose(curve.test_loss, problem.test_loss(path))
    assert curve.min_test_loss == curve.test_loss.min() and curve.best_time == curve.times[curve.test_loss.argmin()]
    np.testing.assert_allclose(curve.test_loss[-1], problem.test_loss(problem.min_norm_solution()), rtol=1e-3)
    assert set(curve.to_dataset().data_vars) == {"loss", "test_loss"}


def test_what_it_refuses():
    with pytest.raises(ValueError, match="no scalar clock exists"):
        one_output.product_over_time(ln.Problem.from_target(np.eye(2)), 0.1, [1.0])
    with pytest.raises(ValueError, match="`threshold` must be"):
        one_output.product_over_time(ln.Problem.from_moments([[1.0]], [[1.0]]), 0.0, [1.0])
    curve = one_output.error_over_time(ln.Problem.from_moments([[1.0]], [[1.0]]), 0.1)
    with pytest.raises(ValueError, match="no `truth`"):
        _ = curve.min_test_loss


def test_the_clock_does_not_care_how_stiff_a_mode_is():
    rates = np.array([1e-6, 1.0, 1e9])
    cross = np.array([1e-6, 1.0, 1e3])
    values, _ = Clock(rates, cross**2, 0.5, 1e3).at(np.array([50.0]))
    np.testing.assert_allclose(values[0, 2] * rates[2] / (values[0, 1] * rates[1]), 1.0, rtol=1e-6)


@pytest.mark.parametrize("size", [1e160, 1e200])
def test_moments_whose_squares_are_no_numbers_are_refused(size):
    for problem in (ln.Problem.from_data(size * np.eye(3), np.ones(3)), ln.Problem.from_target([[size, size]])):
        with pytest.raises(ValueError, match="`problem`"):
            one_output.error_over_time(problem, 0.25, [0.0, 1.0])
