"""Lyapunov exponents of the noise process: against SciPy's functions, mpmath, exact cases and a long simulation."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import hyperu

from linnet.theories import noise_process


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_sums_are_ratios_of_confluent_functions(d):
    """The integrals of the stationary density are Tricomi's functions U."""
    k = np.arange(1, d + 1)
    mean = k / 2 * hyperu(k / 2 + 1, (d + 1) / 2, (d - 1) / 2) / hyperu(k / 2, (d + 1) / 2, (d - 1) / 2)
    assert_allclose(np.cumsum(noise_process.lyapunov_exponents(d)), (d - 1 - k) / 2 * mean, atol=1e-10)


def test_the_second_exponent_by_quadrature_in_many_digits():
    def mean(k, d):
        def density(z):
            return z ** (mpmath.mpf(k) / 2 - 1) * (1 + z) ** (mpmath.mpf(d - k - 1) / 2) * mpmath.exp(-(d - 1) * z / 2)

        points = [0, 1, 10, mpmath.inf]
        return mpmath.quad(lambda z: z / (1 + z) * density(z), points) / mpmath.quad(density, points)

    for d in (5, 6):
        expected = (d - 3) * mean(2, d) / 2 - (d - 2) * mean(1, d) / 2
        assert_allclose(noise_process.lyapunov_exponents(d)[1], float(expected), atol=1e-9)


def test_exact_cases():
    assert_allclose(noise_process.lyapunov_exponents(1), [-0.5])  # geometric Brownian motion without drift
    two = noise_process.lyapunov_exponents(2)
    assert two[0] == 0  # ln|w| is a martingale
    for d in (3, 4, 7, 40):
        exponents = noise_process.lyapunov_exponents(d)
        assert exponents.shape == (d,) and (np.diff(exponents) < 0).all()
        assert -0.5 < exponents.sum() < 0  # det W1 is a martingale, so that its logarithm falls, by q < 1
    assert_allclose(noise_process.lyapunov_exponents(4, noise_std=3.0), 9 * noise_process.lyapunov_exponents(4))


def test_signs():
    second = [noise_process.lyapunov_exponents(d)[1] for d in range(2, 10)]
    assert [value > 0 for value in second] == [False] * 4 + [True] * 4
    assert_allclose(second[:5], [-0.2374, -0.1418, -0.0689, -0.0077, 0.0462], atol=5e-5)
    areas = [noise_process.lyapunov_exponents(d)[:2].sum() for d in (2, 3, 4)]
    assert areas[0] < 0 and abs(areas[1]) < 1e-12 and areas[2] > 0


def simulated(d, *, paths, step, end, seed):
    """Euler-Maruyama with QR after each unit of time: all exponents of W1 (mode,), and their standard errors."""
    random = np.random.default_rng(seed)
    state = np.repeat(np.eye(d + 1, d)[None], paths, 0)  # the rows of W1^T, and a
    logs, per_unit = np.zeros((paths, d)), round(1 / step)
    for unit in range(end):
        for _ in range(per_unit):
            push = np.sqrt(step) * random.standard_normal((paths, d, 1))
            first, a = state[:, :d], state[:, d:]
            state = np.concatenate([first + push * a, a + np.swapaxes(push, 1, 2) @ first], axis=1)
        state, upper = np.linalg.qr(state)
        if unit >= 20:
            logs += np.log(np.abs(np.diagonal(upper, axis1=1, axis2=2)))
    rates = logs / (end - 20)
    return rates.mean(axis=0), rates.std(axis=0) / np.sqrt(paths)


@pytest.mark.parametrize("d", [2, 3])
def test_a_long_simulation_has_these_exponents(d):
    mean, error = simulated(d, paths=300, step=0.02, end=80, seed=d)
    bias = 0.02  # of Euler's scheme at this step: it is of weak order one
    expected = noise_process.lyapunov_exponents(d)
    assert (np.abs(mean - expected) < 4.5 * error + bias).all()
    # control: without Ito's correction, d - k in place of d - 1 - k
    k = np.arange(1, d + 1)
    wrong = np.diff((d - k) / (d - 1 - k + 1e-300) * np.cumsum(expected), prepend=0.0) if d > 2 else expected + 0.5
    assert (np.abs(mean - wrong) > 4.5 * error + bias).any()


def test_sums_of_exponents_for_noise_of_any_shape():
    """Volumes of D^-1 W grow by (d - 1 - k)/2 of their clock, measured along the same paths; controls in k and in D."""
    d, scales, paths, step, end = 3, np.array([1.0, 0.3, 0.2]), 4000, 0.01, 6.0
    random = np.random.default_rng(8)
    first, a = np.repeat(np.eye(d)[None], paths, 0), np.zeros((paths, 1, d))
    clocks = np.zeros((paths, d))
    for _ in range(round(end / step)):
        seen = [(first / scales[:, None])[:, :, :k] for k in range(1, d + 1)]
        for k, u in enumerate(seen, start=1):
            gram = np.swapaxes(u, 1, 2) @ u
            clocks[:, k - 1] += step * (a[..., :k] @ np.linalg.solve(gram, np.swapaxes(a[..., :k], 1, 2)))[:, 0, 0]
        push = np.sqrt(step) * scales[:, None] * random.standard_normal((paths, d, 1))
        first, a = first + push @ a, a + np.swapaxes(push, 1, 2) @ first
    for k in range(1, d + 1):
        start, u = (np.eye(d) / scales[:, None])[:, :k], (first / scales[:, None])[:, :, :k]
        grown = 0.5 * (np.linalg.slogdet(np.swapaxes(u, 1, 2) @ u)[1] - np.linalg.slogdet(start.T @ start)[1])
        expected = noise_process.exponent_sum(clocks[:, k - 1].mean() / end, in_dim=d, columns=k) * end
        error = grown.std() / np.sqrt(paths)
        assert abs(grown.mean() - expected) < 4.5 * error + 0.02
        if k != 2:  # at d - 1 columns the sum is zero whatever the clock
            wrong = 0.5 * (d - k) * clocks[:, k - 1].mean()  # without Ito's correction
            assert abs(grown.mean() - wrong) > 4.5 * error + 0.02
    for k in (1, 2, 3, 4):
        sums = noise_process.lyapunov_exponents(4)[:k].sum()
        clock = 2 * sums / (3 - k) if k != 3 else 0.7
        assert_allclose(noise_process.exponent_sum(clock, in_dim=4, columns=k), sums, atol=1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="`columns` must be at most `in_dim` = 2: got 3"):
        noise_process.exponent_sum(0.5, in_dim=2, columns=3)
    with pytest.raises(ValueError, match="`in_dim` must be"):
        noise_process.lyapunov_exponents(0)
    with pytest.raises(ValueError, match="`noise_std` must not be negative"):
        noise_process.lyapunov_exponents(3, noise_std=-1.0)
