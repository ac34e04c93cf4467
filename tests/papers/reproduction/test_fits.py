"""Fitted lines against SciPy's, and exponents that are known."""

import numpy as np
import pytest
from scipy.stats import linregress, spearmanr

from linnet_papers.reproduction.fits import exponent, highest, line, lowest, rank_correlation


def test_line_and_its_error_are_those_of_scipy():
    random = np.random.default_rng(0)
    x = random.normal(size=12)
    y = 3 - 2 * x + 0.1 * random.normal(size=12)
    wanted = linregress(x, y)
    assert line(x, y) == pytest.approx((wanted.slope, wanted.stderr), rel=1e-12)


def test_exponent():
    assert exponent([1e-3, 1e-2, 1e-1], [2e-6, 2e-4, 2e-2]) == pytest.approx((2, 0), abs=1e-12)


def test_rank_correlation_is_that_of_scipy():
    random = np.random.default_rng(0)
    x, y = random.normal(size=30), random.integers(0, 5, size=30)  # some are equal
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic, rel=1e-12)
    assert np.isnan(rank_correlation([1.0, np.nan, 3.0], [1.0, 2.0, 3.0]))


def test_two_points_have_no_standard_error():
    slope, error = exponent([1.0, 4.0], [1.0, 2.0])
    assert slope == pytest.approx(0.5, abs=1e-12) and np.isnan(error)


def test_extremes_do_not_pass_over_nan():
    assert (highest(1.0, 3.0, 2.0), lowest(iter([1.0, 3.0, 2.0]))) == (3, 1)
    assert max(1.0, np.nan, 0.5) == 1 and np.isnan(highest(1.0, np.nan, 0.5))
    assert min([1.0, np.nan, 2.0]) == 1 and np.isnan(lowest([1.0, np.nan, 2.0]))
