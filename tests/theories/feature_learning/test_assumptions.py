"""Assumption 4.1 with both sides evaluated by hand, and the lemmas' quantities against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.problems.subgaussian import gaussian_teacher, subgaussian_regression
from linnet.theories.feature_learning import assumptions as fa

START: dict[str, Any] = {"width": 1024, "learning_rate": 0.1 / 1024, "first_std": 0.01, "magnitude": 0.001}


def test_section_6_breaks_the_conditions_on_its_start():
    checked = fa.assumption(gaussian_teacher(key=0), **START, epsilon=0.01)
    assert checked.broken == ("2", "3", "6a", "7") and not checked.holds
    lines = str(checked).splitlines()
    assert len(lines) == 9 and "FAILS" in lines[1] and "holds" in lines[0] and "0.01 <=" in lines[1]


def test_both_sides_are_what_the_paper_writes():
    data = subgaussian_regression(
        key=0, samples=6, covariance=[4.0, 1.0, 1.0], teacher=[1.0, 0.0, 0.0], noise_variance=0.5
    )
    eps, n, beta, trace = 0.04, 6, 2.0, 6.0
    sides = {c.number: c for c in fa.assumption(data, **START, epsilon=eps).conditions}
    assert_allclose(sides["1"].right, np.log(12))
    assert_allclose(
        sides["2"].right, min(1 / np.sqrt(n * 3 * beta**2 * trace), 0.2 / (n**0.25 * beta**0.5 * trace**0.25))
    )
    assert_allclose(sides["3"].right, 1 / np.sqrt(n * beta**2 * trace))
    assert_allclose([sides["4"].left, sides["4"].right], [0.1, np.sqrt(n) * 1024 / (np.sqrt(trace) * beta)])
    assert_allclose([sides["5"].left, sides["5"].right], [0.5, 8 * n * beta**2])
    spread = n * 4.0 + np.sqrt(n) * np.sqrt(18.0)
    assert_allclose([sides["6a"].left, sides["6a"].right], [trace, 10.0 * spread])
    assert_allclose(sides["6b"].left, trace * beta**2)
    assert_allclose([sides["7"].left, sides["7"].right], [0.001, 0.01 * np.sqrt(np.log(1024))])
    assert_allclose([sides["8"].left, sides["8"].right], [1e-6, beta * np.sqrt(n / trace)])
    scaled = {c.number: c for c in fa.assumption(data, **START, epsilon=eps, constants={"magnitude": 3.0}).conditions}
    assert_allclose(scaled["3"].right, 3 * sides["3"].right)


def test_admissible_scales_satisfy_everything_on_unit_signal_data():
    data = gaussian_teacher(key=1, dim=10_000, signal=1.0)
    scales: dict[str, Any] = fa.admissible(data, width=1024, epsilon=0.1)
    assert fa.assumption(data, width=1024, epsilon=0.1, **scales).holds
    louder = {**scales, "magnitude": 100 * scales["magnitude"]}
    assert fa.assumption(data, width=1024, epsilon=0.1, **louder).broken == ("3",)


def test_admissible_scales_are_those_of_feature_learning_at_small_signals_too():
    """There (3) alone would let training be lazy: the small-signal corner of the assumption."""
    data = gaussian_teacher(key=1, dim=10_000, signal=0.03)
    scales: dict[str, Any] = fa.admissible(data, width=1024, epsilon=0.01)
    assert fa.assumption(data, width=1024, epsilon=0.01, **scales).holds
    lazy = {**scales, "magnitude": 1 / np.sqrt(10 * 0.03**2 * 1e4)}
    assert fa.assumption(data, width=1024, epsilon=0.01, **lazy).broken == ("8",)


def test_unknown_constants_are_refused():
    with pytest.raises(ValueError, match="`constants` must be among width, first"):
        fa.assumption(gaussian_teacher(key=0, dim=20), **START, epsilon=0.1, constants={"C9": 1.0})
