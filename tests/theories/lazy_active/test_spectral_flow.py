"""The spectral flow against 50-digit arithmetic, SciPy's integrator and the closed form of the whole equation."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from linnet.theories import lazy_active, spectral_bias

RATIOS = [1e-300, 1e-150, 1e-30, 1e-8, 1e-3, 0.3, 1.0, 7.0, 1e3, 1e8, 1e30, 1e150, 1e300]


def exact(value, threshold, time, digits=50):
    """The Riccati form of the mode's equation, in `digits` digits beyond those that its cancellations cost."""
    with mpmath.workdps(digits + 650):
        S, g = mpmath.mpf(value), mpmath.mpf(threshold)
        rho = mpmath.sqrt(S * S + g * g)
        high, low = (S + rho) / g, -g / (S + rho)
        e = (1 - high) / (1 - low) * mpmath.exp(-2 * rho * mpmath.mpf(time))
        u = (high - low * e) / (1 - e)
        return g * (u - 1 / u) / 2


def interesting_times(value, threshold):
    """Before, during and after the mode's rise, which ends at about ln((S + rho)/g) in units of 1/(2 rho)."""
    rho = float(mpmath.hypot(value, threshold))
    rise = float(mpmath.log((mpmath.mpf(value) + rho) / threshold))
    return [
        t / (2 * rho)
        for t in sorted({1e-12, 1e-3, 0.7, 3.0, 0.4 * rise, rise - 1e-3, rise, rise + 2, rise + 30})
        if t > 0
    ]


@pytest.mark.parametrize("value", [1.0, 3.7e-2, 812.5])
@pytest.mark.parametrize("ratio", RATIOS)
def test_modes_to_thirteen_digits(value, ratio):
    threshold = value * ratio
    times = interesting_times(value, threshold)
    found, slopes = (
        lazy_active.mode_values([value], threshold, times),
        lazy_active.mode_slopes([value], threshold, times),
    )
    for time, s, slope in zip(times, found[:, 0], slopes[:, 0], strict=True):
        right = exact(value, threshold, time)
        if abs(right) < 1e-290:  # float64 itself has lost digits there
            continue
        assert abs(s - right) <= 1e-13 * abs(right)
        with mpmath.workdps(700):
            nudge = mpmath.mpf(value) * mpmath.mpf(10) ** -30
            tangent = (
                exact(mpmath.mpf(value) + nudge, threshold, time) - exact(mpmath.mpf(value) - nudge, threshold, time)
            ) / (2 * nudge)
        assert abs(slope - tangent) <= 1e-9 * abs(tangent) + 1e-300


def test_ends_and_zeros():
    values = np.array([0.0, 1e-300, 0.5, 1e300])
    ends = lazy_active.mode_values(values, 2.0, [0.0, np.inf])
    assert_allclose(ends[0], 0, atol=0)
    assert_allclose(ends[1], values, rtol=1e-15)
    assert (
        lazy_active.mode_values(values, 0.0, [0.0, 1.0, np.inf]) == 0
    ).all()  # balanced and zero: nothing moves, ever
    assert_allclose(lazy_active.mode_slopes([0.0], 2.0, [0.0, 0.3, np.inf])[:, 0], [0, -np.expm1(-1.2), 1], rtol=1e-14)
    assert (lazy_active.mode_slopes([0.0, 1.0], 0.0, [0.5, np.inf]) == 0).all()
    tiny = np.nextafter(0, 1)
    assert np.isfinite(lazy_active.mode_values([tiny, 1e300], 1e300, [tiny, 1e-300, 1e300])).all()


@pytest.mark.parametrize("threshold", [1e-6, 0.2, 5.0])
def test_the_equation_itself(threshold):
    """DOP853 on ds/dt = 2 sqrt(s^2 + g^2)(S - s)."""
    values, times = np.array([0.3, 1.0, 4.0]), np.array([0.05, 0.5, 3.0, 20.0])
    rate = lambda _, s: 2 * np.hypot(s, threshold) * (values - s)  # noqa: E731
    run = solve_ivp(rate, (0, times[-1]), np.zeros(3), "DOP853", t_eval=times, rtol=1e-12, atol=1e-16)
    assert_allclose(lazy_active.mode_values(values, threshold, times), run.y.T, rtol=2e-8)


def test_restarting_is_one_run():
    """From s(t1) on, the self-consistent equation of a 1 x 1 matrix goes where the formula goes."""
    first, second = 0.4, 0.9
    middle = lazy_active.mode_values([2.0], 0.1, [first])[0, 0]
    onward = lazy_active.self_consistent([[2.0]], [[middle]], 0.1, [second - first])[0, 0, 0]
    assert_allclose(lazy_active.mode_values([2.0], 0.1, [second])[0, 0], onward, rtol=1e-12)


@pytest.mark.parametrize("shape", [(5, 5), (4, 7), (6, 3)])
@pytest.mark.parametrize("threshold", [1e-3, 0.4, 30.0])
def test_it_is_the_self_consistent_dynamics_from_zero(shape, threshold):
    target = np.random.default_rng(3).normal(size=shape)
    times = np.array([0.0, 0.1, 1.0, 8.0])
    left, values, right = np.linalg.svd(target, full_matrices=False)
    found = (left * lazy_active.mode_values(values, threshold, times)[:, None]) @ right
    assert_allclose(found, lazy_active.self_consistent(target, np.zeros(shape), threshold, times), atol=1e-12)
    assert_allclose(lazy_active.mode_values(values, threshold, [np.inf])[0], values, atol=1e-13)


def test_it_is_theorem_c12():
    values, times = np.array([0.2, 1.5, 9.0]), np.array([0.1, 0.6, 4.0])
    assert_allclose(
        lazy_active.mode_values(values, 0.3, times), spectral_bias.singular_values(values, 0.3, times), rtol=1e-13
    )


def test_small_and_large_thresholds_are_the_two_limits():
    times = np.array([0.2, 1.0])
    lazy = lazy_active.lazy_flow([[1.5]], [[0.0]], 1e6, times / 1e6)[:, 0, 0]
    assert_allclose(lazy_active.mode_values([1.5], 1e6, times / 1e6)[:, 0], lazy, rtol=1e-6)
    late = np.array([10.0, 11.0])  # a balanced mode from s = g/2, where the seed's exponential has shed its other half
    start = lazy_active.mode_values([1.5], 1e-9, [5.0])[0, 0]
    grown = lazy_active.balanced_modes([1.5], [start], late - 5.0)[:, 0]
    assert_allclose(lazy_active.mode_values([1.5], 1e-9, late)[:, 0], grown, rtol=1e-6)


def test_a_wrong_rate_is_caught():
    """The control: the equation without its factor 2 is another one."""
    wrong = lazy_active.mode_values([2.0], 0.1, [0.5])[0, 0]
    assert abs(wrong - float(exact(2.0, 0.1, 1.0))) > 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1.0], 0.1, [1.0]), "`values` must not be negative"),
        (([[1.0]], 0.1, [1.0]), "`values` must have 0 or 1 axes"),
        (([np.nan], 0.1, [1.0]), "`values` must be finite"),
        (([1.0], -0.1, [1.0]), "`threshold` must not be negative"),
        (([1.0], np.inf, [1.0]), "`threshold` must be finite"),
        (([1.0], 0.1, [-1.0]), "`times` must not be negative or NaN"),
        (([1.0], 0.1, [np.nan]), "`times` must not be negative or NaN"),
        (([1.0], 0.1, [1.0, 1.0]), "`times` must be strictly increasing"),
        (([1.0], 0.1, []), "`times` is empty"),
        (([1.0], 0.1, "soon"), "`times` must be an array of real numbers"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        lazy_active.mode_values(*arguments)
