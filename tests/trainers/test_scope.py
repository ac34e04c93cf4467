"""What linnet does not have is refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

PROBLEM = ln.Problem.from_data(np.eye(3), np.ones((3, 1)))
START = ln.Weights(np.ones((2, 3)), np.ones((1, 2)))


def test_an_update_by_the_name_of_an_optimizer_is_refused():
    with pytest.raises(ValueError, match=r"`update` must be one of .* got 'adam'"):
        ln.gradient_descent(PROBLEM, START, learning_rate=0.1, steps=1, update="adam")


@pytest.mark.parametrize("matrix", [1j * np.ones((2, 2)), [[1.0, 2j], [0.0, 1.0]]])
def test_complex_numbers_are_refused_by_their_name(matrix):
    with pytest.raises(ValueError, match=r"`W1` must be .* real numbers: got complex numbers"):
        ln.Weights(matrix, np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"`target` must be .* real numbers: got complex numbers"):
        ln.Problem.from_target(matrix)
