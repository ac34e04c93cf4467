"""The learning curve at the edges: thresholds from 1e-12 to 1e12, samples at, just below and just above the inputs.

For isotropic inputs one resolvent suffices, so the reference is the flow of the modes of the Marchenko-Pastur law, by
Radau's method from SciPy: neither contours nor the clock of the package.
"""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.theories import one_output
from linnet.theories.one_output import asymptotic, clock, error_over_time

DIM = 100
TIMES = np.array([0.0, 1e-3, 1.0, 1e3, 1e8])
SPECTRA = {
    "isotropic": ([1.0], [1.0], [DIM]),
    "spike": ([21.0, 1.0], [0.5, 0.5], [1, DIM - 1]),
    "power law": (1 / np.arange(1.0, DIM + 1), np.full(DIM, 1 / DIM), np.ones(DIM)),
}
MAX_STEPS = 600  # of the clock, tried; 20 000 did not suffice before its steps were solved by Newton's method


@pytest.fixture
def steps(monkeypatch):
    """How many steps the clock has tried."""
    tried = []
    attempt = clock.Clock._attempt

    def counted(self):
        tried.append(0)
        return attempt(self)

    monkeypatch.setattr(clock.Clock, "_attempt", counted)
    return tried


def marchenko_pastur(ratio, count=400):
    """Eigenvalues and weights of a quadrature that resolves the spectrum's ends, which may be at zero."""
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    x = np.linspace(-40 if low else -70, 40, count)
    share, other = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x))
    values = low + (high - low) * share
    density = (high - low) * np.sqrt(share * other) / (2 * np.pi * ratio * values)
    return values, density * (high - low) * share * other * (x[1] - x[0])


def errors(values, weights, ratio, noise, filters):
    """Test and training loss of filters F (time, mode) of a target of length one."""
    left = 1 - values * filters
    test = left**2 @ weights + max(1 - 1 / ratio, 0) + noise * ratio * (filters**2 @ (values * weights))
    train = left**2 @ (values * weights) + noise * (ratio * (left**2 @ weights) + max(1 - ratio, 0))
    return test / 2, train / 2


def lazy(ratio, noise, threshold):
    """The limit of large thresholds: F = (1 - exp(-2 g l t))/l."""
    values, weights = marchenko_pastur(ratio)
    filters = -np.expm1(-2 * threshold * TIMES[:, None] * values) / values
    return errors(values, weights, ratio, noise, filters)


def integrated(ratio, noise, threshold, count=400):
    """z' = sqrt(a) c - a l z of every mode."""
    values, weights = marchenko_pastur(ratio, count)
    cross = np.sqrt(values**2 + noise * ratio * values)

    def rate(t, z):
        a = 2 * threshold + weights @ z**2
        return np.sqrt(a) * cross - a * values * z

    def jacobian(t, z):
        a = 2 * threshold + weights @ z**2
        return np.outer(cross / (2 * np.sqrt(a)) - values * z, 2 * weights * z) - np.diag(a * values)

    scale, first = np.sqrt(2 * threshold), 1e-9
    span = first, TIMES[-1]
    run = solve_ivp(rate, span, scale * cross * first, "Radau", TIMES[1:], rtol=1e-9, atol=1e-15 * scale, jac=jacobian)
    a = 2 * threshold + weights @ run.y**2
    return errors(values, weights, ratio, noise, np.sqrt(a)[:, None] * run.y.T / cross)


@pytest.mark.parametrize(
    ("samples", "noise"), [(DIM, 0.0), (DIM + 1, 0.1), pytest.param(DIM, 10.0, marks=pytest.mark.slow)]
)
def test_a_large_start_at_the_edge(samples, noise, steps):
    test, train = lazy(DIM / samples, noise, 1e12)
    curve = asymptotic([1.0], [1.0], samples, multiplicities=[DIM], noise_variance=noise, threshold=1e12, times=TIMES)
    # the reference cuts the spectrum at exp(-70)
    assert_allclose(curve.test_loss, test, rtol=1e-6, atol=1e-9)
    assert_allclose(curve.loss, train, rtol=1e-6, atol=1e-12)
    assert len(steps) < MAX_STEPS


def test_a_tiny_start_takes_few_steps_at_the_edge(steps):
    """The modes of n = d without noise: `a` falls in step with z for ever, and the steps must still grow."""
    values, weights = marchenko_pastur(1.0, 80)
    filtered, a = clock.Clock(values, values**2 * weights, 1e-12, 1.0).at(TIMES)
    filters = np.sqrt(a)[:, None] * filtered
    test, train = integrated(1.0, 0.0, 1e-12, 80)
    for own, expected in zip(errors(values, weights, 1.0, 0.0, filters[1:]), (test, train), strict=True):
        assert_allclose(own, expected, rtol=1e-7)
    assert len(steps) < MAX_STEPS


def test_inputs_of_zero_take_one_step_to_any_time(steps):
    """Nothing is learned: `a` stays 2g."""
    problem = ln.Problem.from_data(np.zeros((7, 3)), np.ones(7))
    assert_allclose(one_output.product_over_time(problem, 0.25, [0.0, 1e300]), np.zeros((2, 3)))
    assert len(steps) == 1


def test_a_mode_without_weight_does_not_hinder_the_others(steps):
    """Its filter grows until its square overflows, which times zero is no number."""
    late = np.array([1.0, 1e200])
    alone, expected = clock.Clock(np.array([1.0]), np.array([1.0]), 0.25, 1.0).at(late)
    needed = len(steps)
    both, a = clock.Clock(np.array([1.0, 0.0]), np.array([1.0, 0.0]), 0.25, 1.0).at(late)
    assert_allclose(both[:, :1], alone, rtol=1e-12)
    assert_allclose(a, expected, rtol=1e-12)
    assert len(steps) < 2.1 * needed  # rounding may reject a step more


def test_a_threshold_below_all_numbers_is_refused_at_once(steps):
    """Its inverse overflows, and a step that is shortened again and again is never accurate."""
    with pytest.raises(ValueError, match="`threshold`, `times` is beyond the range of float64"):
        asymptotic([1.0, 0.5], [1.0, 1.0], 4, threshold=5e-324, times=[1.0, 10.0])
    assert len(steps) < 10


def test_times_of_one_step_are_looked_up_together_as_alone():
    """More of them than are looked up at once, some twice and out of order."""
    rates, squares = np.array([3.0, 1.0, 0.1]), np.array([0.5, 0.0, 2.0])
    times = np.concatenate([np.linspace(0.5, 0.6, 150), [0.5, 0.0, 7.0]])
    together, lengths = clock.Clock(rates, squares, 0.1, 1.5).at(times)
    for time, filtered, length in zip(times[::30], together[::30], lengths[::30], strict=True):
        alone, a = clock.Clock(rates, squares, 0.1, 1.5).at(np.array([time]))
        assert_allclose(filtered, alone[0], rtol=1e-13)
        assert_allclose(length, a[0], rtol=1e-13)
    assert_allclose(together[150], together[0], rtol=1e-15)
    assert not together[151].any()


def test_steps_that_no_longer_move_the_time_end_the_run(steps):
    """The filter of a rate of zero overflows when squared: no shorter step helps, and none is tried in vain."""
    with np.errstate(all="ignore"), pytest.raises(clock.ClockError, match=r"no step from t = .* on"):
        clock.Clock(np.zeros(1), np.full(1, 1e-300), 0.25, 1e-150).at(np.array([1e300]))
    assert len(steps) < MAX_STEPS
    with pytest.raises(
        clock.ClockError, match="no step from t = 0 on is accurate"
    ):  # whose length is below all numbers
        clock.Clock(np.full(1, 1e300), np.full(1, 1e300), 1e-300, 1e150).at(np.array([1.0]))
    assert len(steps) < MAX_STEPS


@pytest.mark.slow
def test_nothing_jumps_where_samples_equal_the_inputs():
    below, at, above = (
        asymptotic(*SPECTRA["spike"][:2], DIM + by, multiplicities=SPECTRA["spike"][2], threshold=1.0, times=TIMES[:-1])
        for by in (-1e-6, 0.0, 1e-6)
    )
    for name in ("loss", "test_loss"):
        low, middle, high = (getattr(curve, name) for curve in (below, at, above))
        assert_allclose(low, middle, rtol=1e-5)
        assert_allclose(high, middle, rtol=1e-5)
        assert_allclose((low + high) / 2, middle, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [DIM // 2, DIM - 1, DIM, DIM + 1, 2 * DIM])
def test_isotropic_inputs_against_their_modes(samples):
    for threshold, noise in product((1e-12, 1.0), (0.0, 10.0)):
        test, train = integrated(DIM / samples, noise, threshold)
        curve = asymptotic(
            [1.0], [1.0], samples, multiplicities=[DIM], noise_variance=noise, threshold=threshold, times=TIMES
        )
        assert_allclose(curve.test_loss[1:], test, rtol=2e-9, atol=1e-13)
        assert_allclose(curve.loss[1:], train, rtol=2e-8, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("threshold", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_the_whole_grid(spectrum, threshold, steps):
    eigenvalues, overlaps, counts = SPECTRA[spectrum]
    signal = float(np.dot(eigenvalues, overlaps))
    for samples, noise in product((DIM // 2, DIM - 1, DIM, DIM + 1, 2 * DIM), (0.0, 0.1, 10.0)):
        steps.clear()
        options = {"multiplicities": counts, "noise_variance": noise}
        curve = asymptotic(eigenvalues, overlaps, samples, threshold=threshold, times=TIMES, **options)
        assert len(steps) < MAX_STEPS
        assert np.isfinite(curve.test_loss).all() and (curve.test_loss > -1e-12).all()
        assert_allclose([2 * curve.test_loss[0], 2 * curve.loss[0]], [signal, signal + noise], rtol=1e-10)
        assert (np.diff(curve.loss) <= 1e-12).all()
        if samples != DIM:
            risk = ln.theories.ridge.risk(eigenvalues, overlaps, samples, **options)
            assert_allclose(2 * curve.test_loss[-1], risk, rtol=1e-9, atol=1e-12)
        elif not noise:
            assert (np.diff(curve.test_loss[2:]) < 0).all() and curve.test_loss[-1] < 1e-3 * curve.test_loss[2]
        else:  # without end, as the least eigenvalues are learned
            assert curve.test_loss[-1] > 100 * curve.test_loss[2]


@pytest.mark.slow
@pytest.mark.parametrize("spectrum", ["spike", "power law"])
@pytest.mark.parametrize("threshold", [1e-12, 1e12])
def test_drawn_data_with_as_many_samples_as_inputs(spectrum, threshold):
    """At times that a finite problem shares with the limit: before its least eigenvalue is learned."""
    eigenvalues, overlaps, counts = SPECTRA[spectrum]
    each = np.repeat(eigenvalues, np.asarray(counts, dtype=int))
    shares = np.repeat(np.asarray(overlaps) / counts, np.asarray(counts, dtype=int))
    correlation = np.sqrt(each**2 @ shares + 0.1 * each.sum() / DIM)  # the rate at which a tiny start grows
    times = np.array([40.0, 100.0, 400.0]) / correlation if threshold < 1 else np.array([0.1, 1.0, 10.0]) / threshold
    curves = []
    for seed in range(40):
        random = np.random.default_rng([7, seed])
        X = random.normal(size=(DIM, DIM)) * np.sqrt(each)
        truth = np.sqrt(shares) * random.choice([-1.0, 1.0], size=DIM)
        y = X @ truth + np.sqrt(0.1) * random.normal(size=DIM)
        problem = ln.Problem.from_data(X, y, truth=truth[None], test_cov=np.diag(each))
        curve = error_over_time(problem, threshold, times)
        curves.append([curve.test_loss, curve.loss])
    options = {"multiplicities": counts, "noise_variance": 0.1, "threshold": threshold, "times": times}
    mean, error = np.mean(curves, 0), np.std(curves, 0, ddof=1) / np.sqrt(len(curves))

    def away(samples):
        law = asymptotic(eigenvalues, overlaps, samples, **options)
        both = np.array([law.test_loss, law.loss])
        return (np.abs(mean - both) - 3 * both / DIM) / error  # a finite problem is O(1/n) from its limit

    assert away(DIM).max() < 4
    assert away(1.5 * DIM).max() > 6  # the control: more samples


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"eigenvalues": [1e40, 1.0]}, "`eigenvalues` must lie within a factor of 1e[+]30 of each other"),
        ({"eigenvalues": [1e300, 1e300]}, "`eigenvalues` must lie between 1e-100 and 1e[+]100"),
        ({"eigenvalues": [5e-324, 5e-324]}, "`eigenvalues` must lie between 1e-100 and 1e[+]100"),
        ({"overlaps": [1e308, 1.0]}, "`overlaps` must be at most 1e[+]100"),
        ({"samples": 5e-324}, "`samples` must be within a factor of 1e[+]08 of the number of modes, 2"),
    ],
)
def test_sizes_that_no_contour_resolves_are_refused(changed, message):
    settings = {"eigenvalues": [2.0, 1.0], "overlaps": [0.5, 0.5], "samples": 3.0, "threshold": 0.1, "times": [1.0]}
    with pytest.raises(ValueError, match=message):
        asymptotic(**(settings | changed))
