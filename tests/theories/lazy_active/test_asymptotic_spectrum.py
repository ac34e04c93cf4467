"""Outliers, overlaps and bulk of a low-rank matrix in noise, against SVDs of drawn ones, in standard errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.theories import lazy_active

DRAWS = 24


def smooth(s, scale):
    return s**3 / (s**2 + scale**2)  # odd, between cubic and linear: what a filter does


def drawn(shape, strength, seed, draws=DRAWS):
    """Largest value, its overlap, sum f(s) overlap and sum f(s)^2 of `draws` matrices with one signal."""
    draw, rows = np.random.default_rng(seed), []
    for _ in range(draws):
        u, v = (x / np.linalg.norm(x) for x in (draw.normal(size=n) for n in shape))
        truth = strength * np.outer(u, v)
        left, values, right = np.linalg.svd(truth + draw.normal(size=shape), full_matrices=False)
        overlaps = np.einsum("im,im->m", left, truth @ right.T)
        f = smooth(values, np.sqrt(max(shape)))
        rows.append((values[0], overlaps[0], f @ overlaps, f @ f))
    found = np.array(rows)
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(draws)


def predicted(shape, strength, scale):
    found = lazy_active.asymptotic_spectrum([strength], shape, 1.0)
    f, often = smooth(found.values, np.sqrt(max(shape))), found.multiplicities
    return np.array([found.values[0], found.overlaps[0], often @ (f * found.overlaps), often @ (f * f)]) * scale


@pytest.mark.parametrize("shape", [(200, 200), (120, 360), (300, 150)])
@pytest.mark.parametrize("size", [2.5, 1.4])
def test_above_the_threshold(shape, size):
    strength = size * np.sqrt(max(shape))
    mean, error = drawn(shape, strength, seed=7)
    assert (np.abs(predicted(shape, strength, 1.0) - mean) < 4 * error).all()


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "draws"), [((1000, 1000), 6), ((500, 1500), 6), ((2000, 2000), 4)])
def test_above_the_threshold_at_large_sizes(shape, draws):
    """Few draws: the standard errors are those of Student's t, of which 4 draws leave 3 degrees of freedom."""
    strength = 1.4 * np.sqrt(max(shape))
    mean, error = drawn(shape, strength, seed=11, draws=draws)
    limit = {6: 6.9, 4: 12.9}[draws]  # 0.1% of Student's t, two-sided
    assert (np.abs(predicted(shape, strength, 1.0) - mean) < limit * error).all()
    assert (np.abs(predicted(shape, strength, 1.0) / mean - 1) < 0.02).all()


def test_below_the_threshold():
    """No outlier; what the bulk holds of the truth is known all the same."""
    strength = 0.6 * np.sqrt(250)
    mean, error = drawn((250, 250), strength, seed=2)
    found = predicted((250, 250), strength, 1.0)
    assert lazy_active.asymptotic_spectrum([strength], 250, 1.0).num_outliers == 0
    assert (np.abs(found - mean)[2:] < 4 * error[2:]).all()
    assert abs(found[0] - mean[0]) < 3 * 250 ** (-2 / 3) * mean[0]  # the edge, with its fluctuations


def test_a_wrong_aspect_ratio_is_caught():
    strength = 1.4 * np.sqrt(360)
    mean, error = drawn((120, 360), strength, seed=7)
    assert (np.abs(predicted((360, 360), strength, 1.0) - mean) > 6 * error).any()


def test_sums_are_exact():
    """All modes are counted, and |Y|^2 and <Y, A*> are |A*|^2 + k d noise^2 and |A*|^2."""
    strengths = np.array([200.0, 90.0, 12.0, 5.0])
    found = lazy_active.asymptotic_spectrum(strengths, (100, 250), 1.5)
    assert_allclose(found.multiplicities.sum(), 100, rtol=1e-12)
    assert_allclose(found.multiplicities @ found.values**2, (strengths**2).sum() + 100 * 250 * 1.5**2, rtol=1e-12)
    assert_allclose((found.multiplicities * found.values) @ found.overlaps, (strengths**2).sum(), rtol=5e-3)
    assert (found.multiplicities > 0).all() and (found.overlaps > 0).all()


def test_without_noise_it_is_the_truth():
    found = lazy_active.asymptotic_spectrum([3.0, 2.0], 10, 0.0)
    assert found.values.tolist() == found.overlaps.tolist() == [3.0, 2.0, 0.0]
    assert found.multiplicities.tolist() == [1, 1, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1.0], 10, 1.0), "`strengths` must not be negative"),
        (([1.0] * 4, (3, 8), 1.0), "`strengths` must be at most 3"),
        (([1.0], 10, -1.0), "`noise_std` must not be negative"),
        (([1.0], 0, 1.0), "`dim` must be at least 1"),
        (([np.inf], 10, 1.0), "`strengths` must be finite"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        lazy_active.asymptotic_spectrum(*arguments)
