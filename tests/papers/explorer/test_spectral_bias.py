"""The page *Spectral bias*: its numbers against equations solved and networks trained without linnet."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp

import linnet as ln
from linnet_papers.explorer.computing.spectral_bias import label_noise, spectral_bias
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages.spectral_bias import PAGE

from .pages import assert_drawn, assert_script_computes, datasets, edges

DEFAULT = defaults(PAGE.controls)


@pytest.fixture(scope="module")
def found():
    return datasets(PAGE, DEFAULT)


def test_modes_solve_their_equation_and_training_follows(found):
    ds = found["main"]
    target, gamma = ds.mode.values, 0.01

    def slope(_, s):
        return 2 * np.sqrt(s**2 + gamma**2) * (target - s)

    modes = solve_ivp(slope, (0, ds.time[-1]), 0 * target, t_eval=ds.time, rtol=1e-9, atol=1e-12).y.T
    assert_allclose(ds.predicted, modes, atol=1e-6)
    assert_allclose(ds.trained, modes, atol=1e-5)
    at = [np.interp(time, ds.time, ds.trained[:, k]) for k, time in enumerate(ds.half_times.values)]
    assert_allclose(at, target / 2, rtol=0.02)  # between saved times by straight lines


def test_layers_end_where_their_balance_says(found):
    ds = found["main"]
    balance = np.hypot(ds.mode.values, 0.01)
    ends = np.sqrt([*(balance + 0.01), *[0.02] * 4])
    assert_allclose(ds.first_layer_final, ends)
    assert_allclose(ds.first_layer[-1], ends, rtol=0.02)
    assert_allclose(ds.second_layer_final, np.sqrt(balance - 0.01))


def test_potential_is_the_integral_of_the_mirror(found):
    ds = found["main"]
    top = 4.0
    whole = quad(lambda d: 0.5 * np.arcsinh(d / 0.01), 0, top)[0]
    part = quad(lambda d: 0.5 * np.arcsinh(d / 0.01), 0, 0.5 * top)[0]
    assert float(ds.potential.sel(height=0.5)) == pytest.approx(part / whole, rel=1e-8)
    printed = [0.5 * d * np.arcsinh(d / 0.01) - np.hypot(d, 0.01) for d in (0.0, 0.5 * top, top)]
    assert abs((printed[1] - printed[0]) / (printed[2] - printed[0]) - part / whole) > 0.01  # without the second half


def test_clean_labels_train_as_plain_descent_does(found):
    ds = found["noise"]
    problem = ln.problems.orthogonal_regression(key=0, in_dim=5)
    start = ln.inits.orthogonal(key=0, in_dim=5, out_dim=1, width=200, scale=0.01)
    first, second = start.first.copy(), start.second.copy()
    for _ in range(200):
        residual = problem.cross - second @ first
        first, second = first + 0.05 * second.T @ residual, second + 0.05 * residual @ first.T
    at = int(np.flatnonzero(np.isclose(ds.time, 10.0))[0])
    assert_allclose(ds.clean[at], np.linalg.svd(first, compute_uv=False), rtol=1e-8)
    assert_allclose(ds.clean[-1], ds.final, rtol=0.05)


def test_noise_shrinks_the_small_singular_values_alone(found):
    ds = found["noise"]
    assert (ds.clean[-1, 1:] > 0.99 * np.sqrt(0.02)).all()
    assert (ds.noisy[-1, 1:] < 0.1 * np.sqrt(0.02)).all() and float(ds.noisy[-1, 0]) > 1
    without = label_noise(gamma=0.01, noise=0.0, learning_rate=0.05, seed=0)
    assert_allclose(without.noisy, without.clean, rtol=1e-8)


@pytest.mark.parametrize("clock", ["canonical", "log"])
def test_script_computes_the_same_numbers(clock):
    assert_script_computes(PAGE, DEFAULT | {"clock": clock})


def test_every_bound_is_drawn():
    for state in edges(PAGE):
        assert_drawn(PAGE, state)


def test_jumps_need_a_small_start():
    with pytest.raises(ValueError, match="needs a start γ below 1: got 2"):
        spectral_bias(gamma=2.0, values=(1.0,), clock="log")
    ds = spectral_bias(gamma=1e-8, values=(2.0, 1.0), clock="log")
    late = ds.sel(time=ds.time > 0.6)
    assert_allclose(late.jumps, np.broadcast_to([2.0, 1.0], late.jumps.shape))
    assert (ds.half_times.values > [0.25, 0.5]).all() and (ds.half_times.values < [0.32, 0.57]).all()


def test_divergence_is_said_in_a_sentence():
    with pytest.raises(ValueError, match=r"Descent diverges at η = 0\.5"):
        label_noise(gamma=10.0, noise=2.0, learning_rate=0.5, seed=0)
