"""The self-consistent dynamics under weight decay, against SciPy: scalar equations and the full matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.theories import lazy_active
from reference import flowing_products

VALUES = np.array([0.0, 0.03, 0.2, 1.0, 7.0])


def scalar_modes(values, g, times, decay):
    """s(t) by DOP853 on the equation of the docstring."""

    def slope(t, s):
        return 2 * np.sqrt(s**2 + (g * np.exp(-2 * decay * t)) ** 2) * (values - s) - 2 * decay * s

    found = solve_ivp(slope, (0, times[-1]), np.zeros(len(values)), "DOP853", t_eval=times, rtol=1e-13, atol=1e-24)
    return found.y.T


@pytest.mark.parametrize("decay", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("g", [1e-6, 0.05, 5.0, 300.0])
def test_modes_obey_their_equation(g, decay):
    times = np.array([0.0, 0.01, 0.3, 2.0, 9.0])
    got = lazy_active.mode_values(VALUES, g, times, weight_decay=decay)
    assert_allclose(got, scalar_modes(VALUES, g, times, decay), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("g", [1e-300, 1e-8, 0.1, 1e8])
def test_a_negligible_decay_is_the_formula(g):
    times = np.array([0.0, 0.1, 3.0, 100.0])
    got = lazy_active.mode_values(VALUES, g, times, weight_decay=1e-17)
    assert_allclose(got, lazy_active.mode_values(VALUES, g, times), rtol=4e-13, atol=1e-300)


def test_modes_end_at_the_soft_threshold():
    times = [1e3, 1e5, np.inf]
    got = lazy_active.mode_values(VALUES, 0.1, times, weight_decay=0.15)
    assert_allclose(got, np.tile(np.maximum(VALUES - 0.15, 0), (3, 1)), rtol=1e-12, atol=1e-40)


def test_modes_that_decay_are_never_nan():
    """Of a weak mode both the strength and its threshold underflow."""
    times = np.append(np.geomspace(1e-2, 1e3, 40), np.inf)
    for g in (1e-3, 1.0, 30.0):
        got = lazy_active.mode_values([0.05, 1.7, 19.0, 25.0], g, times, weight_decay=20.0)
        assert np.isfinite(got).all() and (got[-2] == got[-1]).sum() >= 2


def narrow_network(rng, k, d, g):
    """Layers of width min(k, d) with the imbalance of the equation, from a random product, by its definition."""
    product = 0.3 * rng.standard_normal((k, d))
    left, values, right = np.linalg.svd(product, full_matrices=False)
    large = np.sqrt(g + np.sqrt(values**2 + g**2))
    first, second = (large, values / large) if k >= d else (values / large, large)
    return product, first[:, None] * right, left * second


@pytest.mark.parametrize(("k", "d"), [(4, 3), (2, 5)])
def test_products_are_those_of_the_full_matrices(k, d):
    rng, g, decay = np.random.default_rng(0), 0.4, 0.25
    target, root = 2 * rng.standard_normal((k, d)), np.eye(d) + 0.3 * rng.standard_normal((d, d))
    product, first, second = narrow_network(rng, k, d, g)
    times = np.array([0.0, 0.2, 1.0, 6.0])

    def flow(cov):
        return flowing_products(cov, target @ cov, (first, second), times, decay=decay, tolerance=1e-12)

    got = lazy_active.self_consistent(target, product, g, times, weight_decay=decay)
    assert_allclose(got, flow(np.eye(d)), atol=2e-9)
    cov = root @ root.T
    problem = ln.Problem.from_moments(cov, target @ cov)
    got = lazy_active.integrate(problem, product, g, times, weight_decay=decay)
    assert_allclose(got, flow(cov), atol=2e-8)


def test_the_flow_of_a_wide_network_under_decay():
    target = np.diag([3.0, 1.0, 0.2])
    start = ln.inits.reduced_gaussian(key=0, in_dim=3, out_dim=3, width=10**9, stds=1e-4)  # threshold 10: lazy
    times = [0.1, 1.0, 5.0, 20.0]
    run = ln.gradient_flow(ln.Problem.from_target(target), start, times=times, weight_decay=0.3)
    theory = lazy_active.self_consistent(target, start.product, 10.0, times, weight_decay=0.3)
    assert np.abs(run.products - theory).max() < 1e-3  # of the order of the initial product
    lazy = lazy_active.self_consistent(target, start.product, 10.0, times)
    assert np.abs(run.products - lazy).max() > 0.1  # the control


@pytest.mark.parametrize("call", [
    lambda: lazy_active.mode_values([1.0], 0.1, [1.0], weight_decay=-0.1),
    lambda: lazy_active.self_consistent([[1.0]], [[0.0]], 0.1, [1.0], weight_decay=-0.1),
])  # fmt: skip
def test_a_negative_decay_is_refused(call):
    with pytest.raises(ValueError, match="`weight_decay` must not be negative"):
        call()
