"""What linnet does not have is refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln


@pytest.mark.parametrize("matrix", [1j * np.ones((2, 2)), [[1.0, 2j], [0.0, 1.0]]])
def test_complex_numbers_are_refused_by_their_name(matrix):
    with pytest.raises(ValueError, match=r"`W1` must be .* real numbers: got complex numbers"):
        ln.Weights(matrix, np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"`target` must be .* real numbers: got complex numbers"):
        ln.Problem.from_target(matrix)
