"""The printed formulas, written out step by step; and that they are not the right ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.problems.subgaussian import gaussian_teacher, subgaussian_regression
from linnet.theories.feature_learning import Stages
from linnet_papers.huang import misprints

WIDTH = 12


def small_stages(**changes: float) -> Stages:
    random = np.random.default_rng(0)
    scales: dict[str, Any] = {"learning_rate": 0.002, "first_std": 0.02, "magnitude": 0.03, **changes}
    return Stages(random.standard_normal((4, 7)), random.standard_normal(4), width=WIDTH, **scales)


def test_the_linear_stage_lacks_a_factor():
    stages, random = small_stages(), np.random.default_rng(1)
    c, v = random.standard_normal(WIDTH), random.standard_normal(WIDTH)
    rho, second, step = np.zeros(WIDTH), v, stages.learning_rate / 4
    for _ in range(20):
        rho, second = rho + step * stages.gamma * second, second + rho + step * c
    got = misprints.linear(stages, c, v, [0, 20])
    assert_allclose(got[0][1], rho, rtol=1e-12)
    assert_allclose(got[1][1], second, rtol=1e-12)
    assert_allclose(got[1][0], v)
    assert np.abs(stages.linear(c, v, [20])[1] - second).max() > np.abs(second).max() / 4  # the control


def test_the_plane_and_the_cubic_take_each_neuron_alone():
    stages = small_stages(learning_rate=0.05)
    rho = np.array([0.5, -1.0, 2.0])
    v = rho / np.sqrt(stages.gamma)
    got = misprints.plane(stages, rho, v, [0, 300])
    assert_allclose(misprints.scalar(stages, rho, [300])[0], got[0][1], rtol=1e-9)
    for each in range(3):  # a neuron alone is its own mean: there the right system gives the same
        assert_allclose(stages.two_variable(rho[[each]], v[[each]], [300])[0][0], got[0][1][[each]], rtol=1e-9)
    assert_allclose(misprints.scalar(stages, rho, [30_000])[0] ** 2, stages.limit, rtol=1e-9)  # all end at one size
    assert np.ptp(stages.one_variable(rho, [30_000])[0] ** 2) > stages.limit  # the control


def test_proxies_of_single_neurons_cease_to_exist():
    got = misprints.appendix_proxy([3.0, 6.0], gamma=16.0, trace=2.0)
    assert_allclose(got[0], 3 / np.sqrt(1 - 9 * 2 / 64))
    assert np.isnan(got[1])  # 36 is above the limit of the mean, 64/2


def test_the_stated_times():
    stages = small_stages(magnitude=1e-3)
    scale = 2.0 / (np.sqrt(stages.trace) * stages.signal)
    data: Any = {"samples": 4, "signal": stages.signal, "trace": stages.trace}
    assert_allclose(misprints.first_time(1e-3, **data), np.log(1e3) * scale, rtol=1e-12)
    assert_allclose(misprints.second_time(1e-3, **data), scale * np.log(4 * stages.signal * stages.trace * 1e3))
    with pytest.raises(ValueError, match=r"`magnitude` must be between 0 and 1 for the printed time.*got 10"):
        misprints.first_time(10.0, **data)
    with pytest.raises(ValueError, match=r"`loss` must be below .* for the printed time to be positive"):
        misprints.second_time(1e6, **data)


def test_the_printed_end_of_the_proxy_has_the_share_for_its_root():
    stages = small_stages()
    loss = 0.01 * (stages.outputs**2).mean() / 2
    share = 2 * loss / (stages.outputs**2).mean()
    right = np.sqrt((1 - np.sqrt(share)) / np.sqrt(share) * stages.limit)
    assert misprints.final_proxy(stages, loss) > 2 * right


def test_the_printed_assumption():
    start: dict[str, Any] = {"width": 1024, "learning_rate": 0.1 / 1024, "first_std": 0.01, "magnitude": 0.001}
    checked = misprints.assumption(gaussian_teacher(key=0), **start, epsilon=0.01)
    assert checked.broken == ("2", "3", "4") and len(checked.conditions) == 7
    data = subgaussian_regression(
        key=0, samples=6, covariance=[4.0, 1.0, 1.0], teacher=[1.0, 0.0, 0.0], noise_variance=0.5
    )
    sides = {c.number: c for c in misprints.assumption(data, **start, epsilon=0.04).conditions}
    assert_allclose(sides["4"].right, np.sqrt(6 * 1024) / (np.sqrt(6.0) * 2.0))
    assert_allclose(sides["6a"].right, max(1.0, 0.2 * 2.0) * (6 * 4.0 + np.sqrt(6) * np.sqrt(18.0)))
