"""Spectral bias from the orthogonal start, against SciPy's integrator on the full network."""

import math
from decimal import Decimal, localcontext

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp

from linnet.theories import noise_process
from linnet.theories import spectral_bias as sb
from reference import flow


def orthogonal_network(rng, *, d, h, k, gamma):
    frame, _ = np.linalg.qr(rng.standard_normal((h, d)))
    return np.sqrt(2 * gamma) * frame, np.zeros((k, h))


def regression(rng, *, n=3, d=5, k=2):
    x = rng.standard_normal((n, d)) / np.sqrt(n)
    truth = rng.standard_normal((k, d))
    return x.T @ x, truth @ x.T @ x


def predictor_gradient(a, cov, cross):
    return a @ cov - cross


# --- Theorem C.12 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1.0, 1e-2, 1e-6, 1e-12])
def test_singular_values_against_the_full_network(gamma):
    rng = np.random.default_rng(0)
    u, v = np.linalg.qr(rng.standard_normal((2, 2)))[0], np.linalg.qr(rng.standard_normal((3, 3)))[0]
    values = np.array([3.0, 1.2])
    target = u * values @ v[:2]
    times = np.linspace(0, max(1.0, -np.log(gamma)) / 1.2, 40)
    first, second = orthogonal_network(rng, d=3, h=4, k=2, gamma=gamma)
    w1, w2 = flow(np.eye(3), target, (first, second), times, tolerance=1e-12)
    measured = np.linalg.svd(w2 @ w1, compute_uv=False)
    assert_allclose(measured, np.sort(sb.singular_values(values, gamma, times))[:, ::-1], atol=1e-9, rtol=0)


def test_the_printed_formula_is_the_stable_one_where_it_can_be_evaluated():
    gamma, s, t = 0.05, 1.7, np.linspace(0.01, 3, 20)
    rho, e = math.hypot(s, gamma), np.exp(-2 * math.hypot(s, gamma) * t)
    bracket = (gamma + rho - e * (rho - gamma)) / (gamma + rho + e * (rho - gamma))
    a = math.sqrt(1 + (gamma / s) ** 2) * bracket - gamma / s
    assert_allclose(sb.singular_values([s], gamma, t)[:, 0], 2 * gamma * a / (1 - a**2), rtol=1e-11)


@pytest.mark.parametrize("gamma", [1e-300, 1e-150, 1e-8, 1.0, 1e3])
@pytest.mark.parametrize("time", [1e-3, 1.0, 114.9, 1e6])
def test_the_printed_formula_with_a_thousand_digits(gamma, time):
    value = 3.0
    with localcontext() as context:
        context.prec = 1000
        g, s, t = Decimal(gamma), Decimal(value), Decimal(time)
        rho = (s * s + g * g).sqrt()
        e = (-2 * t * rho).exp()
        bracket = (g + rho - e * (rho - g)) / (g + rho + e * (rho - g))
        a = (1 + (g / s) ** 2).sqrt() * bracket - g / s
        exact = float(2 * g * a / (1 - a * a))
    assert_allclose(sb.singular_values([value], gamma, [time])[0, 0], exact, rtol=1e-12)


@settings(max_examples=60)
@given(st.floats(-300, 2), st.floats(0, 6), st.floats(-3, 3))
def test_singular_values_neither_overflow_nor_leave_their_range(log_gamma, log_time, log_value):
    gamma, s = 10.0**log_gamma, 10.0**log_value
    at = sb.singular_values([s], gamma, [0.0, 10.0**log_time, 2e6])[:, 0]
    assert np.isfinite(at).all()
    assert at[0] == 0
    assert 0 <= at[1] <= s * (1 + 1e-14)
    assert at[1] <= at[2] * (1 + 1e-14)


def test_singular_values_solve_their_own_equation_to_relative_accuracy():
    # (d/dt) ln(value) = 2 (s - value) sqrt(1 + (gamma/value)^2), tried where the value is 1e-290
    gamma, s = 1e-300, 2.0
    for t in (1e-3, 5.0, 150.0, 172.0, 173.0, 180.0):
        h = 1e-5 * min(1.0, t)
        before, here, after = sb.singular_values([s], gamma, [t - h, t, t + h])[:, 0]
        slope = (np.log(after) - np.log(before)) / (2 * h)
        expected = 2 * (s - here) * np.hypot(1, gamma / here)
        assert abs(slope - expected) < 2e-6 * (2 * s + 1 / t)


def test_restart_equals_one_run():
    # both closed forms begin at zero: the flow that goes on from where they stand at t = 0.4 is integrated
    gamma, s = 0.1, 1.5
    for formula, velocity in ((sb.singular_values, lambda _, x: 2 * (s - x) * np.hypot(x, gamma)),):
        halfway, end = formula([s], gamma, [0.4, 1.1])[:, 0]
        run = solve_ivp(velocity, (0.4, 1.1), [halfway], method="DOP853", rtol=1e-12, atol=1e-14)
        assert_allclose(end, run.y[0, -1], rtol=1e-10)
        assert_allclose(formula([s, 0.3], gamma, [0.0, 1e4])[0], 0, atol=0)


@pytest.mark.parametrize("s", [0.7, 3.0])
def test_half_times_and_their_constant(s):
    for gamma in (5.0, 1e-2, 1e-100, 1e-300):
        at = sb.half_times([s], gamma)
        assert_allclose(sb.singular_values([s], gamma, at)[0, 0], s / 2, rtol=1e-11)
    delay = sb.half_times([s], 1e-200) - sb.activation_times([s], 1e-200)
    assert_allclose(delay, np.log(2 * s) / (2 * s), atol=1e-12)


def test_the_constant_for_s_3_and_the_value_at_the_jump():
    gamma, s = 1e-120, 3.0
    assert_allclose(sb.half_times([s], gamma) - sb.activation_times([s], gamma), 0.298627, atol=1e-6)
    at_jump = sb.singular_values([s], gamma, sb.activation_times([s], gamma))[0, 0]
    assert_allclose(at_jump, s / (1 + 2 * s), rtol=1e-12)


def test_modes_jump_in_the_limit_of_small_initializations():
    values, gamma = np.array([3.0, 1.0, 0.5]), 1e-250
    times = -np.log(gamma) * np.array([0.1, 0.3, 0.7, 1.2])
    jumps = np.where(times[:, None] < sb.activation_times(values, gamma), 0.0, values)
    assert_allclose(sb.singular_values(values, gamma, times), jumps, atol=1e-10)


# --- limits of both layers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 10.0])
def test_limit_is_where_training_ends(gamma):
    rng = np.random.default_rng(1)
    cov, cross = regression(rng)
    first, second = orthogonal_network(rng, d=5, h=7, k=2, gamma=gamma)
    end = 60.0 / np.linalg.eigvalsh(cov)[-3] / max(gamma, 0.3)
    w1, w2 = flow(cov, cross, (first, second), [0.0, end], tolerance=1e-12)
    solution = cross @ np.linalg.pinv(cov, rcond=1e-10, hermitian=True)
    assert_allclose(w2[-1] @ w1[-1], solution, atol=1e-8)
    of_first, of_second = sb.final_singular_values(np.linalg.svd(solution, compute_uv=False), gamma, 5)
    assert_allclose(np.linalg.svd(w1[-1], compute_uv=False), of_first, atol=1e-8)
    assert_allclose(np.linalg.svd(w2[-1], compute_uv=False), of_second, atol=1e-8)
    # Theorem 3.1 (iii): stationary, and a global minimum
    assert sb.kkt_residual(w1[-1], w2[-1], cov, cross, gamma) < 1e-7
    assert abs(sb.duality_gap(w1[-1], w2[-1], cov, cross, gamma)) < 1e-7


def test_limit_keeps_small_modes_accurate():
    first, second = sb.final_singular_values([1e-200, 1e-9], 1.0, 3)
    assert_allclose(second, [1e-200 / math.sqrt(2), 1e-9 / math.sqrt(2)], rtol=1e-12)
    assert_allclose(first, math.sqrt(2), rtol=1e-12)


def test_other_interpolators_are_not_stationary_and_cost_more():
    rng = np.random.default_rng(2)
    cov, cross = regression(rng)
    gamma = 0.2
    u, s, vt = np.linalg.svd(cross @ np.linalg.pinv(cov, rcond=1e-10, hermitian=True), full_matrices=True)
    of_first, of_second = sb.final_singular_values(s, gamma, 5)
    best = (of_first[:, None] * vt, u @ np.diag(of_second) @ np.eye(2, 5))
    assert abs(sb.duality_gap(*best, cov, cross, gamma)) < 1e-10
    for scale in (0.8, 1.3):  # same predictor, other layers
        other = (scale * best[0], best[1] / scale)
        assert sb.kkt_residual(*other, cov, cross, gamma) > 1e-2
        assert sb.duality_gap(*other, cov, cross, gamma) > 1e-2
        assert sb.variational_potential(*other, gamma) > sb.variational_potential(*best, gamma)


# --- alpha and its Riccati equation ---------------------------------------------------------------------------------


def test_alpha_follows_its_riccati_equation_along_a_flow():
    rng = np.random.default_rng(3)
    cov, cross = regression(rng)
    gamma = 0.05
    first, second = orthogonal_network(rng, d=5, h=6, k=2, gamma=gamma)
    t, h = np.array([0.3, 1.0, 2.5]), 1e-4
    grid = np.unique(np.concatenate([[0.0], t - h, t, t + h]))
    w1, w2 = flow(cov, cross, (first, second), grid, tolerance=1e-12)
    a = np.array([sb.alpha(p, gamma) for p in w2 @ w1])
    direct = w2 @ w1 @ np.linalg.inv(np.swapaxes(w1, 1, 2) @ w1)  # the definition
    assert_allclose(a, direct, atol=1e-9)
    for i in (2, 5, 8):
        slope = (a[i + 1] - a[i - 1]) / (2 * h)
        assert_allclose(slope, sb.alpha_velocity(a[i], cov, cross, gamma), atol=1e-6)
        printed = 2 * gamma  # Lemma 3.3 without its factor: beta would be off by it
        assert np.abs(sb.predictor(a[i], gamma) / printed - (w2 @ w1)[i]).max() > 1e-2
        assert_allclose(sb.predictor(a[i], gamma), (w2 @ w1)[i], atol=1e-9)


# --- mirror flows ---------------------------------------------------------------------------------------------------


def mirror_residual(gradient_of_potential, gamma=0.05, k=3):
    """Largest distance between d/dt of a mirror image and the residual in the singular basis, along a flow."""
    rng = np.random.default_rng(4)
    cov, cross = regression(rng, n=4, d=5, k=k)
    first, second = orthogonal_network(rng, d=5, h=6, k=k, gamma=gamma)
    h = 1e-4
    t = np.linspace(0.2, 4, 6)
    grid = np.unique(np.concatenate([[0.0], t - h, t, t + h]))
    w1, w2 = flow(cov, cross, (first, second), grid, tolerance=1e-12)
    products = w2 @ w1
    worst = 0.0
    for i in range(2, len(grid), 3):
        u, _, vt = np.linalg.svd(products[i], full_matrices=False)
        values = np.linalg.svd(products[i - 1 : i + 2 : 2], compute_uv=False)
        slope = (gradient_of_potential(values[1], gamma) - gradient_of_potential(values[0], gamma)) / (2 * h)
        residual = np.diag(u.T @ (cross - products[i] @ cov) @ vt.T)
        worst = max(worst, np.abs(slope - residual).max())
    return worst


def printed_mirror(values, gamma):
    # the gradient of the printed potential: 1/2 asinh(D/g) + D/(2h) - D/h with h = sqrt(D^2 + g^2)
    return 0.5 * np.arcsinh(values / gamma) - 0.5 * values / np.hypot(values, gamma)


def test_mirror_on_singular_values():
    assert mirror_residual(sb.mirror) < 1e-6


def test_the_printed_potential_is_not_a_mirror():
    assert mirror_residual(printed_mirror) > 1e-2


def test_predictor_mirror():
    rng = np.random.default_rng(5)
    cov, cross = regression(rng, n=3, d=4, k=1)
    gamma, h = 0.1, 1e-4
    first, second = orthogonal_network(rng, d=4, h=5, k=1, gamma=gamma)
    t = np.linspace(0.3, 5, 6)
    grid = np.unique(np.concatenate([[0.0], t - h, t, t + h]))
    w1, w2 = flow(cov, cross, (first, second), grid, tolerance=1e-12)
    beta = (w2 @ w1)[:, 0]
    image = sb.predictor_mirror(beta, gamma)
    for i in range(2, len(grid), 3):
        slope = (image[i + 1] - image[i - 1]) / (2 * h)
        gradient = predictor_gradient(beta[i : i + 1], cov, cross)[0]
        assert_allclose(slope, -sb.predictor_warp(beta[i], gamma) * gradient, atol=1e-6)
        assert np.abs(slope + gradient).max() > 1e-2  # without the warp of time it is no mirror flow


def test_convergence_bound_holds_along_a_flow():
    rng = np.random.default_rng(6)
    cov, cross = regression(rng, n=3, d=4, k=1)
    gamma = 0.1
    first, second = orthogonal_network(rng, d=4, h=5, k=1, gamma=gamma)
    times = np.geomspace(0.01, 30, 40)
    w1, w2 = flow(cov, cross, (first, second), times, tolerance=1e-12)
    solution = (cross @ np.linalg.pinv(cov, rcond=1e-10, hermitian=True))[0]
    error = (w2 @ w1)[:, 0] - solution
    loss = 0.5 * np.einsum("ti,ij,tj->t", error, cov, error)
    bound = sb.convergence_bound(solution, gamma, times)
    assert (loss <= bound).all()
    assert (loss > 0.05 * bound).any()  # not an empty bound


@settings(max_examples=40)
@given(
    st.lists(st.floats(0, 50), min_size=3, max_size=3),
    st.lists(st.floats(0, 50), min_size=3, max_size=3),
    st.floats(-6, 2),
)
def test_bregman_divergences(x, y, log_gamma):
    gamma, x, y = 10.0**log_gamma, np.array(x), np.array(y)
    direct = sb.potential(x, gamma) - sb.potential(y, gamma) - sb.mirror(y, gamma) @ (x - y)
    assert_allclose(sb.bregman(x, y, gamma), direct, atol=1e-10 * (1 + 50 * abs(log_gamma)))
    assert sb.bregman(x, y, gamma) >= -1e-12
    assert sb.predictor_bregman(x, y, gamma) >= -1e-10


def predictor_potential(beta, gamma):
    balance = np.sqrt((beta**2).sum() + gamma**2) + gamma
    return 2 / 3 * balance**1.5 - 2 * gamma * np.sqrt(balance)


def test_mirrors_are_gradients_of_their_potentials():
    x, gamma, h = np.array([0.3, 1.1, 2.0]), 0.2, 1e-6
    for potential, mirror in ((sb.potential, sb.mirror), (predictor_potential, sb.predictor_mirror)):
        slope = [(potential(x + h * e, gamma) - potential(x - h * e, gamma)) / (2 * h) for e in np.eye(3)]
        assert_allclose(mirror(x, gamma), slope, atol=1e-8)


def test_potential_tends_to_half_the_log_times_the_nuclear_norm():
    values = np.array([2.0, 0.5])
    for gamma in (1e-100, 1e-300):
        ratio = sb.potential(values, gamma) / (0.5 * -np.log(gamma) * values.sum())
        assert abs(ratio - 1) < 2 / -np.log(gamma)


def test_loss_rate_holds_where_the_printed_one_is_for_another_quantity():
    rng = np.random.default_rng(7)
    cov, cross = regression(rng, n=3, d=4, k=2)
    gamma = 0.05
    first, second = orthogonal_network(rng, d=4, h=5, k=2, gamma=gamma)
    times = np.linspace(0, 20, 200)
    w1, w2 = flow(cov, cross, (first, second), times, tolerance=1e-12)
    error = w2 @ w1 - cross @ np.linalg.pinv(cov, rcond=1e-10, hermitian=True)
    loss = 0.5 * np.einsum("tki,ij,tkj->t", error, cov, error)
    assert (np.diff(np.log(loss)) <= -sb.loss_rate(cov, gamma) * np.diff(times) + 1e-9).all()


def test_loss_rate_is_of_a_covariance():
    """The least positive eigenvalue in 40 digits, of a matrix of integers; what is no covariance is refused."""
    half = np.array([[3, 1, 0, 2], [1, -2, 1, 0]])
    cov, turn = half.T @ half, np.array([[0.0, 1.0], [-1.0, 0.0]])
    with mp.workdps(40):
        eigenvalues = sorted(mp.eigsy(mp.matrix(cov.tolist()), eigvals_only=True))
        wanted = float(4 * mp.mpf(0.25) * next(value for value in eigenvalues if value > 1e-20))
    for form in (cov, cov.astype(np.float16), cov.tolist()):
        assert_allclose(sb.loss_rate(form, 0.25), wanted, rtol=1e-13)
    with pytest.raises(ValueError, match="`cov` must be symmetric: entries differ by up to 2"):
        sb.loss_rate(np.eye(2) + turn, 0.25)
    with pytest.raises(
        ValueError, match="`cov` must be a covariance, without negative eigenvalues: the smallest is -1"
    ):
        sb.loss_rate(np.diag([2.0, -1.0]), 0.25)


def test_loss_rate_is_attained_at_the_start_on_isotropic_data():
    rng = np.random.default_rng(8)
    cov, target, gamma = 0.7 * np.eye(3), rng.standard_normal((2, 3)), 0.2
    first, second = orthogonal_network(rng, d=3, h=4, k=2, gamma=gamma)
    w1, w2 = flow(cov, target @ cov, (first, second), [0.0, 1e-5], tolerance=1e-12)
    loss = 0.35 * ((w2 @ w1 - target) ** 2).sum(axis=(1, 2))
    assert_allclose(-np.log(loss[1] / loss[0]) / 1e-5, sb.loss_rate(cov, gamma), rtol=1e-4)


# --- noise ----------------------------------------------------------------------------------------------------------


def test_second_moments_solve_their_equation_and_euler_tends_to_them():
    d, k, delta = 3, 2, 0.8
    t = np.array([0.0, 0.5, 1.3])
    run = solve_ivp(
        lambda _, m: delta**2 * np.array([d * m[1], k * m[0]]), (0, 1.3), [2.0, 0.5], t_eval=t, rtol=1e-11, atol=1e-12
    )
    exact = noise_process.second_moments(2.0, 0.5, t, in_dim=d, out_dim=k, noise_std=delta)
    assert_allclose(exact, run.y, rtol=1e-8)
    errors = []
    for steps in (100, 200):
        u, _ = noise_process.euler_second_moments(
            2.0, 0.5, np.full(steps, 1.3 / steps), in_dim=d, out_dim=k, noise_std=delta
        )
        errors.append(abs(u[-1] - exact[0][-1]))
    assert 1.8 < errors[0] / errors[1] < 2.2  # weak order one


def test_commutator_limit_number():
    assert abs(noise_process.commutator_mean_limit() - 0.4819) < 5e-5
    # the ratio of integrals it came from, by quadrature
    top = quad(lambda z: z**2 * np.exp(-(z**2) / 2), 0, np.inf)[0]
    bottom = quad(lambda z: z * np.sqrt(1 + z**2) * np.exp(-(z**2) / 2), 0, np.inf)[0]
    assert_allclose(noise_process.commutator_mean_limit(-2.0), 2 * 2 / np.pi * top / bottom, rtol=1e-9)


def test_singular_values_where_their_ratio_to_the_start_overflows():
    assert sb.singular_values([1e9], 1e-300, [1.0])[0, 0] == pytest.approx(1e9, rel=1e-15)
    assert sb.singular_values([1e300], 1e-300, [0.0, 1e-290])[:, 0] == pytest.approx([0.0, 1e300], rel=1e-15)
    # the whole evolution in other units of values, start and time
    times = np.array([0.1, 100.0, 344.0, 345.9, 350.0, 400.0])
    for unit, gamma in ((1e9, 1e-300), (1e200, 1e-300), (1e-200, 1e-100)):
        plain = sb.singular_values([1.0, 0.9], gamma, times)
        scaled = sb.singular_values(np.array([1.0, 0.9]) * unit, gamma * unit, times / unit)
        assert_allclose(scaled, plain * unit, rtol=1e-12)
    assert_allclose(sb.singular_values([1e300], 1.0, [1e10]), [[1e300]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sb.singular_values([1.0], 1e308, [1.0]), "`gamma` must be at most 1e.300"),
        (lambda: sb.singular_values([1e308], 1.0, [1.0]), "`values` must be at most 1e.300"),
        (lambda: sb.final_singular_values([1e308], 1.0, 3), "`values` must be at most 1e.300"),
        (
            lambda: sb.final_singular_values([1.0], 0.1, 10**12),
            "`dim` must ask for at most 1e.07 singular values",
        ),
        (lambda: sb.potential([1e308], 0.1), "beyond the range of float64"),
        (lambda: sb.potential(3.0, 0.1), "`values` must have at least one axis"),
        (lambda: sb.predictor_mirror(3.0, 0.1), "`beta` must have at least one axis"),
        (lambda: sb.predictor_warp(3.0, 0.1), "`beta` must have at least one axis"),
        (lambda: sb.bregman([1.0, 2.0], [1.0, 2.0, 3.0], 0.1), "`values`, `reference` must have one shape"),
        (lambda: sb.predictor_bregman([1.0, 2.0], [1.0, 2.0, 3.0], 0.1), "`beta`, `reference` must have one shape"),
        (lambda: sb.duality_gap(np.eye(2), np.eye(2), np.eye(3), np.eye(2), 0.1), r"`cov` must have shape \(2, 2\)"),
        (lambda: sb.kkt_residual(np.eye(2), np.eye(2), np.eye(2), np.eye(3), 0.1), r"`cross` must have shape \(2, 2\)"),
        (lambda: sb.alpha_velocity([[0.5]], np.eye(2), np.eye(1), 0.1), r"`cov` must have shape \(1, 1\)"),
        (lambda: sb.alpha([[1e308]], 1.0), "`product` must be at most 1e.300"),
        (lambda: noise_process.second_moments(1, 1, [1e3], in_dim=10), "beyond the range of float64"),
        (lambda: noise_process.euler_second_moments(1, 1, [1e300] * 3, in_dim=10), "beyond the range of float64"),
        (lambda: noise_process.commutator_mean_limit("a"), "`determinant` must be a number"),
        (lambda: sb.final_singular_values([1.0], 0.0, 3), "`gamma` must be positive"),
        (lambda: sb.potential([1.0], -1e-3), "`gamma` must be positive"),
        (lambda: sb.singular_values([-1.0], 0.1, [0.0, 1.0]), "`values` must not be negative"),
        (lambda: sb.bregman([1.0], [-2.0], 1e6), "`reference` must not be negative: the smallest is -2"),
        (lambda: sb.final_singular_values([1.0, 2.0], 0.1, 1), "`dim` must be at least"),
        (lambda: sb.final_singular_values([1.0], 1.0, 2, second_gamma=-1.0), "`second_gamma` must not be negative"),
        (lambda: sb.activation_times([1.0], 2.0), "below 1 for activation times"),
        (lambda: sb.predictor([[1.0, 1.0]], 0.1), "operator norm below 1"),
        (lambda: sb.variational_potential(np.ones((2, 3)), np.ones((1, 2)), 0.1), "at least as wide as its inputs"),
        (lambda: sb.half_times([0.0], 0.1), "no half height"),
        (lambda: noise_process.second_moments(1, 0, [1.0], in_dim=2, noise_std=-1), "`noise_std` must not be negative"),
    ],
)
def test_what_overflows_or_does_not_match_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_mirrors_of_large_and_of_tiny_predictors():
    big = np.array([1e200, 1e200])
    norm = np.sqrt(2) * 1e200
    assert_allclose(sb.predictor_mirror(big, 1.0), big / np.sqrt(norm), rtol=1e-14)
    tiny = np.array([3e-200, 4e-200])
    assert_allclose(sb.predictor_warp(tiny, 1e-220), np.sqrt(5e-200), rtol=1e-14)
    assert_allclose(sb.mirror([1e308, 0.0], 0.1), [0.5 * (np.log(2e154) + np.log(1e155)), 0.0], rtol=1e-14)
    assert_allclose(sb.mirror([1.0], 1e308), [0.5e-308], rtol=1e-14)
    assert_allclose(sb.bregman([1e200], [0.0], 1e200), 1e200 * sb.bregman([1.0], [0.0], 1.0), rtol=1e-13)


@pytest.mark.parametrize(("first_gamma", "second_gamma"), [(0.1, 1.0), (0.7, 0.7), (2.0, 0.05)])
def test_limits_with_a_second_layer_that_is_not_zero(first_gamma, second_gamma):
    """SciPy on the whole network, from layers that are orthogonal each and to each other; any covariance."""
    random = np.random.default_rng(3)
    frame = np.linalg.qr(random.standard_normal((9, 6)))[0]
    first, second = np.sqrt(2 * first_gamma) * frame[:, :4], np.sqrt(2 * second_gamma) * frame[:, 4:].T
    data, target = random.standard_normal((4, 4)), random.standard_normal((2, 4))
    cov = data.T @ data
    (w1,), (w2,) = flow(cov, target @ cov, (first, second), [3000.0], method="LSODA")
    np.testing.assert_allclose(w2 @ w1, target, atol=1e-6)
    values = np.linalg.svd(target, compute_uv=False)
    expected = sb.final_singular_values(values, first_gamma, 4, second_gamma=second_gamma)
    for layer, value in zip((w1, w2), expected, strict=True):
        np.testing.assert_allclose(np.linalg.svd(layer, compute_uv=False), np.sort(value)[::-1], atol=1e-5)
    without = sb.final_singular_values(values, first_gamma, 4)[0]  # control
    assert np.abs(np.sort(without)[::-1] - np.linalg.svd(w1, compute_uv=False)).max() > 1e-3


def test_a_second_scale_of_zero_changes_no_bit():
    plain = sb.final_singular_values([3.0, 1e-9], 0.2, 5)
    given = sb.final_singular_values([3.0, 1e-9], 0.2, 5, second_gamma=0.0)
    assert all((a == b).all() for a, b in zip(plain, given, strict=True))
