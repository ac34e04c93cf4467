"""Closed forms of the two phases against matrices written out, integrals by SciPy and least squares on drawn data."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from linnet.theories.spiked import TwoPhase, generalization_error, late_rate

MODELS = [(20.0, 0.3, 1.0), (1.0, 0.5, 2.0), (50.0, 0.9, 0.5), (-0.6, 0.4, 1.0), (0.5, 0.05, 1.0)]


def written_out(spike, alignment, variance, dim=4, seed=0):
    """Sigma, mu, mu_perp and beta in a random frame of `dim` dimensions."""
    frame = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))[0]
    mu, across = frame[:, 0], frame[:, 1]
    sigma = variance * (np.eye(dim) + spike * np.outer(mu, mu))
    return sigma, mu, across, alignment * mu + np.sqrt(1 - alignment**2) * across


@pytest.mark.parametrize("model", MODELS)
def test_constants_are_those_of_the_matrices(model):
    sigma, mu, across, beta = written_out(*model)
    theory = TwoPhase(*model)
    v1 = sigma @ beta / np.linalg.norm(sigma @ beta)
    v2 = beta - v1 * (v1 @ beta)
    v2 /= np.linalg.norm(v2)
    v2 *= -np.sign(v1 @ sigma @ v2)
    assert theory.nu > 0
    assert_allclose(theory.correlation, np.linalg.norm(sigma @ beta), rtol=1e-13)
    assert_allclose([theory.lambda1, theory.lambda2], [v1 @ sigma @ v1, v2 @ sigma @ v2], rtol=1e-12)
    assert_allclose(theory.nu, -(v1 @ sigma @ v2), rtol=1e-12)
    assert_allclose(theory.basis @ np.stack([mu, across]), [v1, v2], atol=1e-12)
    assert_allclose(theory.fixed_point, [beta @ v1, beta @ v2], atol=1e-12)


@pytest.mark.parametrize(("spike", "alignment"), [(0.0, 0.5), (20.0, 0.0), (20.0, 1.0), (-0.5, 0.0)])
def test_parallel_cases_have_no_second_phase(spike, alignment):
    theory = TwoPhase(spike, alignment, 1.5)
    assert not theory.has_second_phase
    assert_allclose(theory.basis @ theory.basis.T, np.eye(2), atol=1e-14)
    assert_allclose(theory.fixed_point, [1, 0])
    assert_allclose(theory.reduced(1e-5, [50.0]), [[1, 0]], atol=1e-9)
    with pytest.raises(ValueError, match="there is no later phase"):
        theory.later_bound()


def test_printed_times():
    theory = TwoPhase(spike=20, alignment=0.3)
    assert_allclose(theory.early_time(1e-5), 1.71496, atol=5e-6)
    assert_allclose(theory.later_time(1e-5), 5.87200, atol=5e-6)


@pytest.mark.parametrize("model", MODELS)
def test_bound_is_the_integral_it_comes_from(model):
    theory = TwoPhase(*model)
    w1, w2 = theory.fixed_point
    for delta in (0.5, 3.0):
        reach = (1 - np.exp(-delta)) * w2
        integral = quad(lambda w: 1 / ((w1**2 + w**2) * (theory.nu * w1 - theory.lambda2 * w)), 0, reach, epsrel=1e-11)[
            0
        ]
        assert_allclose(theory.later_bound(delta), integral, rtol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_early_phase_solves_its_equation(model):
    theory, times = TwoPhase(*model), np.linspace(0, 30 / TwoPhase(*model).correlation, 40)

    def slope(_, u):
        return theory.correlation * u - theory.lambda1 * u**3

    run = solve_ivp(slope, (0, times[-1]), [1e-4], method="DOP853", t_eval=times, rtol=1e-11, atol=1e-16)
    assert_allclose(theory.early(1e-4, times), run.y[0], rtol=1e-8)
    assert_allclose(theory.early(1e-4, times)[-1], np.sqrt(theory.correlation / theory.lambda1), rtol=1e-8)
    assert_allclose(theory.early(1e-4, [0.0]), [1e-4], rtol=1e-12)
    early = theory.early(1e-9, times[:5])
    assert_allclose(theory.growth(1e-9, times[:5]), early, rtol=1e-10)
    half = theory.early(1e-6, [theory.early_time(1e-6)])[0] ** 2
    assert_allclose(half, 0.5 * theory.correlation / theory.lambda1, rtol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_reduced_battery(model):
    theory = TwoPhase(*model)
    times = np.linspace(0, 40 / theory.lambda2 + 20 / theory.correlation, 30)
    run = theory.reduced(1e-5, times)
    assert run.shape == (30, 2)
    assert_allclose(run[0], [1e-5, 0], atol=1e-18)
    assert_allclose(run[-1], theory.fixed_point, atol=1e-8)
    assert_allclose(theory.reduced(run[8], times[8:] - times[8])[5], run[13], atol=1e-9)
    assert_allclose(theory.vector_field(theory.fixed_point), 0, atol=1e-12 * theory.lambda1)
    reference = solve_ivp(
        lambda _, w: theory.vector_field(w),
        (0, times[-1]),
        run[0],
        method="DOP853",
        t_eval=times,
        rtol=1e-11,
        atol=1e-16,
    )
    assert_allclose(run, reference.y.T, atol=1e-8)


@pytest.mark.parametrize(("spike", "alignment"), [(20.0, 0.0), (5.0, 1.0), (0.0, 0.3)])
def test_without_a_second_phase_the_reduced_dynamics_end_at_the_plateau(spike, alignment):
    model = TwoPhase(spike, alignment)
    end = model.reduced(1e-3, [40.0])[0]
    assert_allclose(end, [model.plateau, 0.0], atol=1e-9)
    assert_allclose(model.early(1e-3, [40.0])[0], model.plateau, rtol=1e-9)


def test_reduced_without_a_spike_is_the_early_phase():
    times = np.linspace(0, 20, 20)
    run = TwoPhase(0.0, 0.5, 2.0).reduced(1e-3, times)
    assert_allclose(run[:, 0], TwoPhase(0.0, 0.5, 2.0).early(1e-3, times), rtol=1e-8)
    assert_allclose(run[:, 1], 0, atol=1e-15)


@pytest.mark.parametrize("model", MODELS)
def test_nullclines_are_where_one_component_stands_still(model):
    theory = TwoPhase(*model)
    first, second = theory.nullclines(points=50, radius=3.0)
    scale = theory.lambda1
    assert np.abs(theory.vector_field(first)[:, 0]).max() < 1e-9 * scale * 27
    assert np.abs(theory.vector_field(second)[:, 1]).max() < 1e-12 * scale * 27
    assert np.linalg.norm(first, axis=1).max() == pytest.approx(3.0)
    assert np.abs(theory.vector_field(first)[:, 1]).max() > 1e-3  # the other component moves there


def test_error_at_one_point_and_on_arrays():
    assert_allclose(generalization_error(20, 0.5, 2.0, normalized=True), 0.066116, atol=5e-7)
    assert_allclose(generalization_error(20, 0.5, 2.0, variance=3.0), 3.0 * 6 * 0.0661157, rtol=1e-6)
    assert generalization_error([0, 20], 0.5, [[2.0], [3.0]]).shape == (2, 2)
    assert_allclose(generalization_error(0, 0.5, 4.0), 0.75)


@pytest.mark.parametrize(
    ("spike", "alignment", "ratio"), [(20.0, 0.5, 2.0), (5.0, 0.8, 4.0), (-0.5, 0.9, 2.0), (50.0, 0.8, 3.0)]
)
def test_error_against_least_squares(spike, alignment, ratio):
    dim, trials = 300, 60
    random, n = np.random.default_rng(5), round(dim / ratio)
    scale = np.ones(dim)
    scale[0] = np.sqrt(1 + spike)
    beta = np.zeros(dim)
    beta[:2] = alignment, np.sqrt(1 - alignment**2)
    errors = []
    for _ in range(trials):
        X = random.standard_normal((n, dim)) * scale
        fit = X.T @ np.linalg.solve(X @ X.T, X @ beta)
        errors.append(((scale * (fit - beta)) ** 2).sum())
    mean, error = np.mean(errors), np.std(errors, ddof=1) / np.sqrt(trials)
    predicted = generalization_error(spike, alignment, ratio)
    assert abs(mean - predicted) < 3 * error + 3 / dim * predicted
    if spike >= 20:  # the control: the bracket as printed, which is close by chance for small spikes
        kappa = ratio - 1
        printed = (1 - 1 / ratio) * (1 - alignment**2 * (1 - (1 + kappa) / (1 + kappa / ratio) ** 2))
        assert abs(mean - printed) > 5 * error + 3 / dim * printed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TwoPhase(spike=-1.0, alignment=0.5), "`spike` must exceed -1"),
        (lambda: TwoPhase(spike=1.0, alignment=1.5), r"`alignment` must lie in \[0, 1\].*1.5"),
        (lambda: TwoPhase(spike=1.0, alignment=-0.5), r"`alignment` must lie in \[0, 1\]"),
        (lambda: TwoPhase(spike=1.0, alignment=0.5, variance=0.0), "`variance` must be positive"),
        (lambda: TwoPhase(*np.array([[1.0, 2.0], [0.5, 0.5]])), "must be single numbers"),
        (lambda: TwoPhase(20, 0.3).early_time(3.0), "`scale` must be small"),
        (lambda: TwoPhase(20, 0.3).early(0.0, [0.0]), "`u0` must be positive"),
        (lambda: TwoPhase(1e50, 0.3).reduced(1e-3, [0.0, 30.0]), "`times` must end before 1e-32"),
        (lambda: TwoPhase(20, 0.3).growth(1e-3, [0.0, 1e3]), "`times` must end before 112.*`early` saturates"),
        (lambda: TwoPhase(20, 0.3).reduced([0.0, 0.0], [0.0]), "`u0` must be a positive number or a pair"),
        (lambda: TwoPhase(20, 0.3).reduced(0.1, [-1.0]), "`times` must not be negative"),
        (lambda: TwoPhase(20, 0.3).later_time(1e-5, delta=0.0), "`delta` must be positive"),
        (lambda: TwoPhase(20, 0.3).vector_field([1.0, 2.0, 3.0]), "`w` must hold pairs"),
        (lambda: TwoPhase(20, 0.3).nullclines(radius=0.1), "`radius` must reach"),
        (lambda: generalization_error(20, 0.5, 1.0), "`ratio` must exceed 1"),
        (lambda: generalization_error(20, 1.5, 2.0), r"`alignment` must lie in \[0, 1\]"),
        (lambda: generalization_error(-2, 0.5, 2.0), "`spike` must exceed -1"),
        (lambda: generalization_error([1, 2], 0.5, [2, 3, 4]), "`spike`, `alignment`, `ratio` must have one shape"),
        (lambda: late_rate([[2.0, 1.0], [0.0, 1.0]], [1.0, 0.5]), "`covariance` must be symmetric: .* up to 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_constants_of_a_spike_whose_square_overflows():
    theory, ratio = TwoPhase(1e160, 0.3), np.sqrt(1 - 0.09) / 0.3
    assert_allclose([theory.lambda1, theory.lambda2, theory.nu], [1e160, 1.0, ratio], rtol=1e-12)
    assert_allclose(theory.fixed_point, [0.3, np.sqrt(1 - 0.09)], rtol=1e-12)
    assert_allclose(generalization_error(1e160, 0.3, 2.0), 0.5 * (1 - 0.09), rtol=1e-12)


def test_a_spike_of_1e12_is_followed_through_both_phases():
    theory = TwoPhase(1e12, 0.3)
    assert_allclose(theory.reduced(1e-3, [0.0, 30.0])[1], theory.fixed_point, atol=1e-8)


def full_flow(sigma, beta, start, until, hidden=3):
    """The two layers themselves by SciPy, from a = |w| r, W = r w^T: a function of time to the predictor a^T W."""
    dim = beta.size
    r = np.ones(hidden) / np.sqrt(hidden)
    weights = np.concatenate([np.linalg.norm(start) * r, np.outer(r, start).ravel()])

    def rate(_, state):
        a, w = state[:hidden], state[hidden:].reshape(hidden, dim)
        miss = sigma @ (beta - a @ w)
        return np.concatenate([w @ miss, np.outer(a, miss).ravel()])

    run = solve_ivp(rate, (0, until), weights, method="DOP853", rtol=1e-12, atol=1e-16, dense_output=True)

    def predictor(t):
        state = run.sol(t)
        return state[:hidden] @ state[hidden:].reshape(hidden, dim)

    return predictor


@pytest.mark.parametrize("model", [(20.0, 0.3, 1.0), (100.0, 0.5, 1.0), (2.0, 0.9, 1.0), (5.0, 0.5, 2.0)])
def test_late_rate_is_that_of_the_last_approach(model):
    sigma, _, _, beta = written_out(*model)
    theory = TwoPhase(*model)
    predictor = full_flow(sigma, beta, 0.05 * sigma @ beta, 14 / theory.late_rate)
    misses = [np.linalg.norm(predictor(t / theory.late_rate) - beta) for t in (10.0, 13.0)]
    assert_allclose(np.log(misses[0] / misses[1]) / 3, 1, rtol=1e-3)
    assert abs(theory.late_rate / theory.lambda2 - 1) > 0.02  # the control: lambda2 is another number
    assert_allclose(theory.late_rate, late_rate(sigma, beta), rtol=1e-12)


def test_late_rate_of_any_covariance_and_size_of_the_target():
    random = np.random.default_rng(3)
    root = random.standard_normal((4, 4))
    sigma, beta = root @ root.T + np.eye(4), 1.7 * random.standard_normal(4)
    size = np.linalg.norm(beta)
    wanted = np.linalg.eigvals(size * sigma @ (np.eye(4) + np.outer(beta, beta) / size**2)).real.min()
    assert_allclose(late_rate(sigma, beta), wanted, rtol=1e-10)
    predictor = full_flow(sigma, beta, 0.1 * sigma @ beta / np.linalg.norm(sigma @ beta), 16 / wanted)
    misses = [np.linalg.norm(predictor(t / wanted) - beta) for t in (12.0, 14.0)]
    assert_allclose(np.log(misses[0] / misses[1]) / 2, 1, rtol=5e-3)


def test_late_rate_leaves_out_directions_that_the_target_does_not_have():
    assert_allclose(late_rate(np.diag([4.0, 1.0, 0.01]), [1.0, 1.0, 0.0]), late_rate(np.diag([4.0, 1.0]), [1.0, 1.0]))
    with pytest.raises(ValueError, match="`target` must correlate"):
        late_rate(np.diag([4.0, 0.0]), [0.0, 1.0])


@pytest.mark.parametrize("alignment", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("delta", [1.0, 3.0])
def test_length_of_the_later_phase_for_a_strong_spike(alignment, delta):
    spike = 1e4
    theory = TwoPhase(spike, alignment)
    sigma, beta = np.diag([1 + spike, 1.0]), np.array([alignment, np.sqrt(1 - alignment**2)])
    v1, v2 = theory.basis

    def rate(_, q):
        size, miss = np.linalg.norm(q), sigma @ (beta - q)
        return size * miss + q * (q @ miss) / size

    times = np.unique(np.concatenate([np.linspace(0, 30 / theory.correlation, 4000), np.linspace(0.01, 8, 8000)]))
    run = solve_ivp(rate, (0, 8), 1e-6 * v1, t_eval=times, method="Radau", rtol=1e-9, atol=1e-12)
    w = (run.y / np.sqrt(np.linalg.norm(run.y, axis=0))).T
    begin = times[np.argmax((w @ v1) ** 2 > 0.5 * theory.correlation / theory.lambda1)]
    second = w @ v2
    end = times[np.argmax(second > -np.expm1(-delta) * (beta @ v2))]
    assert_allclose(theory.strong_spike_length(delta), end - begin, rtol=3e-3)
    B = np.sqrt(1 - alignment**2)
    share = -np.expm1(-delta) * B
    reach = brentq(lambda x: x - share * (alignment**2 + x**2) ** 0.25, 0, B, xtol=1e-14)

    def integrand(x):
        return (alignment**2 + x**2 / 2) / ((B - x) * (alignment**2 + x**2) ** 1.5)

    assert_allclose(theory.strong_spike_length(delta), quad(integrand, 0, reach, epsrel=1e-12)[0], rtol=1e-9)
    assert theory.later_bound(delta) > 1.05 * theory.strong_spike_length(delta)  # the bound is another number


@pytest.mark.parametrize("model", [(20.0, 0.3, 1.0), (100.0, 0.5, 2.0)])
def test_second_component_of_the_early_phase(model):
    theory, u0 = TwoPhase(*model), 1e-7
    plateau = np.sqrt(theory.correlation / theory.lambda1)

    def rate(_, w):  # the flow with what w2 does to w1 left out
        return [theory.correlation * w[0] - theory.lambda1 * w[0] ** 3, theory.nu * w[0] ** 3]

    until = np.log(plateau / u0) / theory.correlation * 1.1
    times = np.linspace(0, until, 50)
    run = solve_ivp(rate, (0, until), [u0, 0.0], t_eval=times, method="DOP853", rtol=1e-12, atol=1e-20)
    assert_allclose(theory.early_second(u0, times), run.y[1], rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_loss_that_the_early_phase_leaves(model):
    sigma, _, _, beta = written_out(*model)
    v1 = sigma @ beta
    best = (v1 @ sigma @ beta) / (v1 @ sigma @ v1)  # least squares along v1 alone
    miss = best * v1 - beta
    assert_allclose(TwoPhase(*model).early_loss, miss @ sigma @ miss / (beta @ sigma @ beta), rtol=1e-10)


def test_the_error_near_a_ratio_of_one_keeps_its_digits():
    """1 - 1/ratio cancels there: the error was off by 2.6e-9."""
    for rho, A, gamma in ((0.034, 0.54, 1 + 1.2e-8), (-1 + 1e-9, 1.0, 1 + 1e-9), (20.0, 0.5, 1 + 2e-16 * 3)):
        with mp.workdps(40):
            r, a, g = map(mp.mpf, (rho, A, gamma))
            exact = float((1 - 1 / g) * (1 - a**2 * (1 - (1 + r) / (1 + r / g) ** 2)))
        assert abs(generalization_error(rho, A, gamma) / exact - 1) < 1e-13
