"""Spectral descent by formula, against SciPy and against trained networks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.theories import spectral_descent
from linnet.trainers.updates import Muon, SpectralDescent

TIMES = np.array([0.0, 1e-3, 0.1, 1.0, 8.0])


@pytest.mark.parametrize("g", [1e-5, 0.3, 40.0])
def test_the_level_obeys_its_equation(g):
    found = solve_ivp(
        lambda t, s: 2 * (s**2 + g**2) ** 0.25, (0, 8), [0.0], "DOP853", t_eval=TIMES, rtol=1e-13, atol=1e-20
    )
    assert_allclose(spectral_descent.level(g, TIMES), found.y[0], rtol=1e-11)


def test_the_level_at_the_ends():
    assert_allclose(spectral_descent.level(0.0, TIMES), TIMES**2, rtol=1e-15)
    assert_allclose(spectral_descent.level(1e-300, TIMES), TIMES**2, rtol=1e-12)
    assert_allclose(spectral_descent.level(1e8, TIMES), 2e4 * TIMES, rtol=1e-6)
    for g in (0.0, 0.1):
        assert np.isinf(spectral_descent.level(g, [1.0, np.inf])[1])
    near = spectral_descent.level(1.0, spectral_descent.time_of_level(np.array([0.999e9, 1.001e9]), 1.0))
    assert_allclose(near, [0.999e9, 1.001e9], rtol=1e-14)  # on both sides of where the series is left


def test_the_product_is_clipped_and_ends_at_the_target():
    target = np.random.default_rng(0).standard_normal((4, 6))
    got = spectral_descent.product(target, 0.2, [0.0, 0.8, np.inf])
    left, values, right = np.linalg.svd(target, full_matrices=False)
    s = spectral_descent.level(0.2, [0.8])[0]
    assert values[-1] < s < values[0]  # the control: some modes have arrived
    assert_allclose(got, [np.zeros((4, 6)), left * np.minimum(values, s) @ right, target], atol=1e-13)
    assert_allclose(spectral_descent.product(ln.Problem.from_target(target), 0.2, [0.0, 0.8, np.inf]), got)


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_the_least_over_all_levels(seed):
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5)) * (1, 5, -1, 0.1)[seed]
    problem = ln.Problem.from_target(abs((1, 1, 1, 0)[seed]) * truth + rng.standard_normal((6, 5)), truth=truth)
    best = spectral_descent.minimum(problem, 0.3)
    times = np.linspace(0, 6, 20_001)
    losses = 0.5 * ((spectral_descent.product(problem, 0.3, times) - truth) ** 2).sum(axis=(1, 2))
    assert_allclose(best.test_loss, losses.min(), rtol=1e-6)
    assert best.test_loss <= losses.min() + 1e-12
    assert_allclose(best.time, times[np.argmin(losses)], atol=2e-3)
    assert_allclose(best.level, spectral_descent.level(0.3, [best.time])[0] if best.time else 0.0, rtol=1e-12)
    assert best.uncertainty == 0.0


def test_there_is_no_formula_for_narrow_networks():
    task = ln.problems.low_rank_plus_noise(20, rank=3, key=0)
    assert np.isfinite(spectral_descent.minimum(task, 0.1, width=20).uncertainty)
    narrow = spectral_descent.minimum(task, 0.1, width=19)
    assert np.isnan([narrow.test_loss, narrow.time, narrow.level]).all() and narrow.uncertainty == np.inf
    with pytest.raises(ValueError, match="`problem` must have a `truth`"):
        spectral_descent.minimum(ln.Problem.from_target(np.eye(2)), 0.1)


def gap(update, width, threshold, *, rate=1e-3, d=12):
    """The largest distance from clipping along a run, relative to the norm of the target, and the run."""
    target = 4 * np.random.default_rng(1).standard_normal((d, d))
    start = ln.inits.reduced_gaussian(key=0, in_dim=d, out_dim=d, width=width, stds=np.sqrt(threshold / width))
    run = ln.gradient_descent(
        ln.Problem.from_target(target), start, learning_rate=rate, steps=6000, save_every=500, update=update
    )
    theory = spectral_descent.product(target, threshold, run.times)
    return np.linalg.norm(run.products - theory, axis=(1, 2)).max() / np.linalg.norm(target)


def test_wide_networks_are_clipped():
    assert gap(SpectralDescent(), 10**8, 0.1) < 2e-3
    assert gap(SpectralDescent(), 300, 0.1) < 3e-2
    assert gap(Muon(scaling=None), 10**8, 0.1) < 0.2  # its singular values are not all 1
    descent = gap("simultaneous", 10**8, 0.1)
    assert descent > 0.3  # the control: gradient descent selects


def test_levels_of_unequal_layers_solve_the_equations_of_both():
    """Three numbers of one mode, |p|, |q| and s, with steps of their own, integrated by themselves."""
    from scipy.integrate import solve_ivp

    rates, times = (3.0, 0.5), np.array([0.0, 0.3, 1.0, 2.0])

    def slope(_, state):
        a, b, s = state
        return rates[0] * s / (a * b), rates[1] * s / (a * b), rates[0] * b + rates[1] * a

    run = solve_ivp(slope, (0, 2), [0.4, 0.9, 0.1], "DOP853", t_eval=times, rtol=1e-11, atol=1e-12)
    found = spectral_descent.unequal_levels([0.4], [0.9], rates, times, initial=0.1)
    np.testing.assert_allclose(found[:, 0], run.y[2], rtol=1e-8)
