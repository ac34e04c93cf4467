"""Fitted lines against SciPy's, and exponents that are known."""

import numpy as np
import pytest
from scipy.stats import linregress

from linnet.claims.fits import exponent, line, within


def test_line_and_its_error_are_those_of_scipy():
    random = np.random.default_rng(0)
    x = random.normal(size=12)
    y = 3 - 2 * x + 0.1 * random.normal(size=12)
    wanted = linregress(x, y)
    assert line(x, y) == pytest.approx((wanted.slope, wanted.stderr), rel=1e-12)
    assert within((1.25, 0.0312)) == "1.250 ± 0.031"


def test_exponent():
    assert exponent([1e-3, 1e-2, 1e-1], [2e-6, 2e-4, 2e-2]) == pytest.approx((2, 0), abs=1e-12)
    assert exponent([1.0, 4.0], [1.0, 2.0]) == pytest.approx((0.5, 0), abs=1e-12)
