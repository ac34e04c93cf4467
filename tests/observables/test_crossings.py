"""Crossing times of known curves."""

import numpy as np
import pytest

from linnet.observables import crossing_time


def test_between_saved_times():
    times = np.array([0.0, 1.0, 2.5, 4.0])
    assert crossing_time(times, [0.0, 2.0, 5.0, 1.0], 3.5) == pytest.approx(1.75)
    assert crossing_time(times, [0.0, 2.0, 5.0, 1.0], 2.0) == 1.0
    assert crossing_time(times, [3.0, 2.0, 5.0, 1.0], 2.5) == 0.0
    assert np.isnan(crossing_time(times, [0.0, 2.0, 5.0, 1.0], 6.0))


def test_error_of_the_straight_line_is_of_second_order():
    errors = []
    for count in (41, 81, 161):
        times = np.linspace(0, 2, count)
        errors.append(abs(crossing_time(times, np.exp(times), 2.0) - np.log(2)))
    assert errors[0] < 2e-3
    assert errors[2] < errors[0] / 4


def test_refuses_values_of_another_length():
    with pytest.raises(ValueError, match="`values` must have one entry for each of the 2 times"):
        crossing_time([0.0, 1.0], [1.0], 0.5)
