"""What used to be silently wrong: cancellation, broadcasting, fractional steps, ranks, unwhitened problems."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.theories import lazy_active


def exact_crossing(goal: float, start: float, g: float, level: float) -> float:
    """The integral of ds / (2 sqrt(s^2 + g^2) (s* - s)), in digits enough for what its logarithms cancel."""
    with mp.workdps(400):
        goal, start, g, level = (mp.mpf(x) for x in (goal, start, g, level))
        reach = mp.sqrt(goal**2 + g**2)

        def phi(s: mp.mpf) -> mp.mpf:
            return (goal * s + g**2 + reach * mp.sqrt(s**2 + g**2)) / (goal - s)

        return float(mp.log(phi(level) / phi(start)) / (2 * reach))


@pytest.mark.parametrize("threshold", [1e-12, 1e-9, 1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("start", [-5.0, -1e-3, 1e-15])
@pytest.mark.parametrize("unit", [1.0, 1e-150, 1e150])
def test_crossing_times_keep_their_digits(threshold: float, start: float, unit: float) -> None:
    if start >= threshold:
        pytest.skip("has crossed at the start")
    found = lazy_active.crossing_times([2.0 * unit], [start * unit], threshold * unit)
    assert_allclose(found * unit, exact_crossing(2.0, start, threshold, threshold), rtol=1e-12)


def test_crossing_times_of_modes_of_any_sizes_beside_each_other() -> None:
    """Sizes over 1e-150 to 1e150; levels far from start, threshold and target, and within a millionth of them."""
    random = np.random.default_rng(0)
    threshold = 10 ** random.uniform(-100, 100, 30)
    level = threshold * 10 ** random.uniform(-20, 20, 30)
    goal, start = (level * (1 + sign * 10 ** random.uniform(-6, 20, 30)) for sign in (1, -1))
    for t, s, g, aim in zip(goal, start, threshold, level, strict=True):
        found = lazy_active.crossing_times([1.1 * aim, t, 1e150], [aim, s, -1e-150], g, aim)
        assert found[0] == 0.0
        assert_allclose(found[1:], [exact_crossing(t, s, g, aim), exact_crossing(1e150, -1e-150, g, aim)], rtol=1e-12)


def test_the_figure_of_the_report() -> None:
    assert_allclose(lazy_active.crossing_times([1.0], [-5.0], 1e-9), 11.06, rtol=1e-3)


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lazy_active.lazy_flow(np.ones((2, 3)), np.ones((1, 3)), 1.0, [1.0]),
            "`target` and `initial_product` must have one shape",
        ),
        (
            lambda: lazy_active.lazy_descent(EYE, EYE, 1.0, 2.0, [0.5]),
            "`steps` must be whole numbers of steps: got 0.5",
        ),
        (lambda: lazy_active.lazy_error_floor(EYE, np.ones((1, 3)), 0.5), "`truth` and `noise` must have one shape"),
        (
            lambda: lazy_active.alignment_defect(EYE, EYE, 10),
            "`rank` must not exceed the rank of the reference matrix, 3: got 10",
        ),
        (lambda: lazy_active.alignment_bound(EYE, EYE, 4), "`rank` must not exceed"),
        (lambda: lazy_active.alignment_defect(np.ones((2, 2)), EYE, 1), "`product` must be"),
        (
            lambda: lazy_active.integrate(ln.Problem.from_target(EYE), EYE, 1.0, [1.0], rtol=1.0),
            "`rtol` must lie between",
        ),
        (lambda: lazy_active.crossing_times([1.0], [0.0], 0.1, level="a"), "`level` must be a number"),
    ],
)
def test_wrong_arguments_are_told(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_stiff_integration_gives_up_in_words() -> None:
    with pytest.raises(ArithmeticError, match=r"gave up at t = .*: the dynamics is stiff"):
        lazy_active.integrate(ln.Problem.from_target(EYE), 0.5 * EYE, 1e3, [1e6])


def test_a_problem_is_taken_only_if_its_inputs_are_whitened() -> None:
    target = np.diag([2.0, 1.0, 0.5])
    times = [0.1, 1.0]
    plain = lazy_active.self_consistent(target, 0 * EYE, 0.3, times)
    assert_allclose(lazy_active.self_consistent(ln.Problem.from_target(target), 0 * EYE, 0.3, times), plain)
    assert_allclose(lazy_active.self_consistent(ln.Problem.from_moments(EYE, target), 0 * EYE, 0.3, times), plain)
    with pytest.raises(ValueError, match=r"whitened inputs.*this one's is not"):
        lazy_active.self_consistent(ln.Problem.from_moments(2 * EYE, target), 0 * EYE, 0.3, times)


def test_low_precision_input_is_computed_in_double() -> None:
    start = (0.1 * np.arange(9).reshape(3, 3)).astype(np.float16)
    for found, wide in zip(
        lazy_active.self_consistent_layers(start, 0.1),
        lazy_active.self_consistent_layers(start.astype(float), 0.1),
        strict=True,
    ):
        assert found.dtype == np.float64
        assert_allclose(found, wide, rtol=1e-14)
    low = lazy_active.gram_cubic(start, start, start, 0.1)
    assert low.dtype == np.float64
    assert_allclose(low, lazy_active.gram_cubic(*[start.astype(float)] * 3, 0.1), rtol=1e-14)


@pytest.mark.parametrize(("threshold", "follows"), [(1e-12, True), (1e-40, False), (1e-100, False)])
def test_modes_that_wait_below_rounding_are_followed_or_refused(threshold, follows):
    """With thresholds of 1e-40 and 1e-100 it was off by 8e-4 and 0.2, without a word."""
    draw = np.random.default_rng(0)
    basis, U, V = (np.linalg.qr(draw.normal(size=(3, 3)))[0] for _ in range(3))
    cov, cross = basis @ np.diag([1, 0.5, 0.25]) @ basis.T, (U * [1.0, 0.5, 0.25]) @ V.T
    problem = ln.Problem.from_moments(cov=cov, cross=cross)
    weights = ln.inits.orthogonal(in_dim=3, out_dim=3, width=3, scale=threshold, key=0)
    times = -np.log(threshold) * np.linspace(0.5, 4, 8)
    if follows:
        found = lazy_active.integrate(problem, weights.product, threshold, times)
        assert_allclose(found, ln.gradient_flow(problem, weights, times=times).products, atol=1e-6)
    else:
        with pytest.raises(ArithmeticError, match="depends on rounding from t ="):
            lazy_active.integrate(problem, weights.product, threshold, times)
