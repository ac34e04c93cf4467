"""The page *Two phases*: its numbers against equations solved and networks fitted without linnet."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from linnet_papers.explorer.computing.two_phases import sampled_errors, two_phases
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages.two_phases import PAGE

from .pages import assert_drawn, assert_script_computes, datasets, edges

DEFAULT = defaults(PAGE.controls)


@pytest.fixture(scope="module")
def found():
    return datasets(PAGE, DEFAULT)


def reduced_path(spike, alignment, start, times):
    """dw/dt = |w| Sigma beta - |w|^2 Sigma w in the plane of spike and target."""
    sigma = np.diag([1 + spike, 1.0])
    beta = np.array([alignment, np.sqrt(1 - alignment**2)])
    v1 = sigma @ beta / np.linalg.norm(sigma @ beta)

    def slope(_, w):
        return np.linalg.norm(w) * sigma @ beta - np.linalg.norm(w) ** 2 * sigma @ w

    return solve_ivp(slope, (0, times[-1]), start * v1, t_eval=times, rtol=1e-10, atol=1e-13).y.T


def test_path_is_that_of_the_equation_and_the_network_follows_it(found):
    ds = found["main"]
    path = reduced_path(20.0, 0.3, ds.attrs["start"], ds.time.values)
    assert_allclose(ds.reduced, path, atol=1e-6)
    assert_allclose(ds.trained, path, atol=1e-4)  # at a start of 1e-5
    assert_allclose(ds.trained[-1], [0.3, np.sqrt(0.91)], atol=1e-4)
    other = reduced_path(19.0, 0.3, ds.attrs["start"], ds.time.values)
    assert np.abs(ds.trained.values - other).max() > 1e-2  # the comparison tells a spike of 19 from one of 20


def test_times_are_those_at_which_the_components_arrive(found):
    ds = found["main"]
    w1, w2 = ds.trained_components.values.T
    time = ds.time.values
    plateau = np.sqrt(np.hypot(21 * 0.3, np.sqrt(0.91)) / (1 + 20 * (6.3 / np.hypot(6.3, np.sqrt(0.91))) ** 2))
    assert time[w1**2 >= plateau**2 / 2][0] == pytest.approx(ds.attrs["first_time_trained"], abs=time[1])
    assert time[w2 >= (1 - np.exp(-3)) * w2[-1]][0] == pytest.approx(ds.attrs["second_time_trained"], abs=time[1])
    assert ds.attrs["first_time"] == pytest.approx(np.log(plateau**2 / 1e-10) / (2 * np.hypot(6.3, np.sqrt(0.91))))


def test_errors_are_those_of_least_norm_fits_and_of_the_formula(found):
    ds = found["error"]
    i, draw = 2, 5
    inputs = np.random.default_rng([0, i]).standard_normal((8, 60, 120))[draw] * np.sqrt([21.0, *[1.0] * 119])
    beta = np.array([0.3, np.sqrt(0.91), *[0.0] * 118])
    miss = np.linalg.pinv(inputs) @ (inputs @ beta) - beta
    expected = np.sum(miss**2 * [21.0, *[1.0] * 119]) / (1 + 20 * 0.09)
    assert float(ds.error_drawn[i, draw]) == pytest.approx(expected, rel=1e-8)
    means, errors = ds.error_drawn.mean("draw"), ds.error_drawn.std("draw", ddof=1) / np.sqrt(8)
    law = np.interp(ds.drawn_ratio, ds.ratio, ds.error)
    assert (np.abs(means - law) < 4 * errors + 0.02).all()
    assert (np.abs(means - np.interp(ds.drawn_ratio, ds.ratio, ds.error_without_spike)) > 0.1).any()
    assert ds.attrs["error_here"] == pytest.approx(0.5 * (1 - 0.09 * (1 - 21 / 121)) / 2.8)


@pytest.mark.parametrize("samples", ["population", "40"])
def test_script_computes_the_same_numbers(samples):
    assert_script_computes(PAGE, DEFAULT | {"samples": samples})


def test_every_bound_is_drawn():
    for state in edges(PAGE):
        assert_drawn(PAGE, state)


def test_without_a_second_phase_there_is_no_second_time():
    ds = two_phases(spike=20.0, alignment=1.0, scale=1e-3, samples="population", seed=0)
    assert np.isnan(ds.attrs["second_time"]) and np.isnan(ds.attrs["second_time_trained"])


def test_errors_do_not_depend_on_who_asked_before():
    twice = [sampled_errors(5.0, 0.5, 3) for _ in range(2)]
    assert_allclose(*twice, rtol=0)
