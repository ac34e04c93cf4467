"""The errata of Watanabe et al. (docs/errata.md) repeated with NumPy and SciPy alone, from their text and the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid, solve_ivp
from scipy.optimize import brentq

START = 0.8e-5  # |r_1| of Figure 1's starts
DELTA_3 = 1 - np.exp(-3)


def constants(rho, A):
    """|Sigma_xy|, lambda_1, lambda_2, nu of (28)-(33) with sigma^2 = 1."""
    length = np.sqrt(1 + ((1 + rho) ** 2 - 1) * A**2)
    along, across = (1 + rho) * A / length, np.sqrt(1 - A**2) / length
    return length, 1 + rho * along**2, 1 + rho * across**2, rho * along * across


class Run:
    """(18)-(19) with tau = 1 from (s, 0)."""

    def __init__(self, rho, A, s=START, end=30.0):
        self.c, self.l1, self.l2, self.nu = constants(rho, A)
        self.p = np.sqrt(self.c / self.l1)
        first = 1 / np.sqrt(1 + (self.nu / self.l2) ** 2)  # (41)
        self.limit = np.array([first, first * self.nu / self.l2])
        self.times = np.linspace(0, end, 6001)
        flow = solve_ivp(self.velocity, (0, end), [s, 0.0], "LSODA", self.times, rtol=1e-9, atol=1e-13)
        self.w1, self.w2 = flow.y

    def velocity(self, _, w):
        size = w @ w
        return np.array(
            [
                self.c * np.sqrt(size) - self.l1 * w[0] * size + self.nu * w[1] * size,
                self.nu * w[0] * size - self.l2 * w[1] * size,
            ]
        )

    def at(self, time):
        return np.interp(time, self.times, self.w1), np.interp(time, self.times, self.w2)

    def passes(self, values, level):
        """When the values first reach the level."""
        i = int(np.argmax(values >= level))
        return np.interp(level, values[i - 1 : i + 1], self.times[i - 1 : i + 1])

    @property
    def t1(self):
        return self.passes(self.w1**2, self.p**2 / 2)

    def t2(self, share=DELTA_3):
        return self.passes(self.w2, share * self.limit[1])

    def plateau(self, share=0.9):
        """The time at which w_1^2 has that share of its plateau."""
        return self.passes(self.w1**2, share * self.p**2)

    def sigmoid(self, time, s):
        fade = np.exp(-2 * self.c * time)
        return np.sqrt(self.c / (self.l1 * (1 - fade) + self.c * s**-2 * fade))

    def bound(self, delta=3.0):
        """(20)."""
        r, e = self.nu / self.l2, 1 - np.exp(-delta)
        return (r * np.arctan(r * e) + np.log(1 + (r * e) ** 2) / 2 + delta) / self.l2

    @property
    def bounded(self):
        """Whether the hypothesis of (20) is met at some time: w_1 passes its limit while w_2 is below its own."""
        return bool(np.any((self.w1 > self.limit[0] * (1 + 1e-6)) & (self.w2 < self.limit[1] * (1 - 1e-3))))

    def late_rate(self):
        """The rate at which the predictor approaches beta, at the end."""
        gap = np.hypot(self.w1 - self.limit[0], self.w2 - self.limit[1])
        late = (gap < 1e-4) & (gap > 1e-6)
        return -np.polyfit(self.times[late], np.log(gap[late]), 1)[0]


def near(value, printed, digits):
    """Whether a number reads as printed, up to one unit of its last digit (an erratum may have cut or rounded)."""
    return abs(value - printed) <= 1.0 * 10.0**-digits


@pytest.mark.parametrize("s", [1e-3, 1e-4, 1e-5, 1e-6])
def test_eq17_second_component_and_sigmoid_are_off_at_every_scale(s):
    run = Run(20, 0.3, s)
    time = run.plateau()
    w1, w2 = run.at(time)
    assert near(w2, 0.066, 3)
    u = np.sqrt(0.9) * run.p
    assert near(run.nu / run.l1 * (run.p * np.arctanh(u / run.p) - u), 0.070, 3)
    assert near(100 * abs(w1 - run.sigmoid(time, s)) / run.p, 0.37, 2)
    assert near(np.hypot(w1, w2) - w1, 0.004, 3)  # above (16): a = w_1


def test_onset():
    run = Run(20, 0.3)
    peak = int(np.argmax(run.w1))
    speed = np.array([run.velocity(0, w)[1] for w in np.stack([run.w1, run.w2], 1)])
    assert near(run.times[peak], 2.15, 2)
    assert near(100 * run.w2[peak] / run.limit[1], 19, 0)
    assert near(speed[peak], 0.4748, 4) and near(speed.max(), 0.4748, 4)


@pytest.mark.slow
def test_contrast():
    alignments = (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
    folds = {}
    for rho in (0.5, 1, 2, 5, 10, 20, 50, 100):
        runs = [Run(rho, A) for A in alignments]
        t1 = np.array([run.t1 for run in runs])
        later = np.array([run.t2() for run in runs]) - t1
        folds[rho] = t1.max() / t1.min(), later.max() / later.min()
    assert near(folds[20][0], 12.5, 1) and near(folds[100][0], 16, 0)
    assert near(folds[20][1], 1.12, 2) and near(folds[100][1], 1.25, 2)
    assert near(folds[0.5][1], 1.27, 2) and near(folds[0.5][0], 1.45, 2)
    assert all(later < early for early, later in folds.values())


def late_eigenvalue(rho, A):
    trace = 3 + rho * (1 + A**2)
    return (trace - np.sqrt(trace**2 - 8 * (1 + rho))) / 2


def test_late_rate():
    rates = {}
    for rho, A in [(0.5, 0.3), (0.5, 0.7), (20, 0.3), (50, 0.3), (100, 0.3)]:
        run = Run(rho, A)
        rates[rho, A] = run.late_rate(), run.late_rate() / run.l2, late_eigenvalue(rho, A), run.bounded
    for (rho, A), ratio in {(20, 0.3): 1.26, (50, 0.3): 1.53, (100, 0.3): 1.66}.items():
        assert near(rates[rho, A][1], ratio, 2)
    assert near(rates[20, 0.3][0], 1.82, 2) and near(rates[100, 0.3][0], 1.83, 2)
    lambda2 = [constants(rho, 0.3)[2] for rho in (20, 100)]
    assert near(100 * (1 - lambda2[1] / lambda2[0]), 24, 0)


def strong_spike_length(A, delta=3.0):
    B = np.sqrt(1 - A**2)
    share = (1 - np.exp(-delta)) * B
    x = brentq(lambda x: x / (A**2 + x**2) ** 0.25 - share, 1e-9, 1)
    R = np.hypot(A, x)
    return ((1 + A**2) * (np.arctanh((A**2 + B * x) / R) - np.arctanh(A)) + (B * x - A**2) / R + A) / 2


def test_later_length():
    for A, length in zip((0.1, 0.3, 0.5, 0.8, 0.9), (3.07, 2.70, 2.66, 2.81, 2.90), strict=True):
        run = Run(100, A)
        assert near(run.t2() - run.t1, length, 2) and run.bounded
    alignments = (0.1, 0.3, 0.5, 0.9)
    for A, formula, trained, bound in zip(
        alignments,
        (3.136, 2.717, 2.658, 2.895),
        (3.129, 2.715, 2.658, 2.895),
        (16.7, 8.0, 5.4, 3.3),
        strict=True,
    ):
        run = Run(1000, A)
        assert near(strong_spike_length(A), formula, 3)
        assert near(run.t2() - run.t1, trained, 3)
        assert near(run.bound(), bound, 1)


def left_of_the_loss(rho, A):
    return rho**2 * (1 + rho) * A**2 * (1 - A**2) / ((1 + rho * A**2) * (1 + ((1 + rho) ** 3 - 1) * A**2))


def test_early_share():
    for rho, formula, trained in zip(
        (1, 5, 20, 50), (0.109, 0.228, 0.113, 0.053), (0.10, 0.22, 0.14, 0.09), strict=True
    ):
        A = 0.5
        mu, beta = np.array([1.0, 0]), np.array([A, np.sqrt(1 - A**2)])
        Sigma = np.eye(2) + rho * np.outer(mu, mu)
        moments = [beta @ np.linalg.matrix_power(Sigma, k) @ beta for k in (1, 2, 3)]
        assert np.isclose(1 - moments[1] ** 2 / (moments[0] * moments[2]), left_of_the_loss(rho, A))
        assert near(left_of_the_loss(rho, A), formula, 3)
        run = Run(rho, A)
        w1, w2 = run.at(run.passes(run.w1, 0.9 * run.p))
        v1 = Sigma @ beta / run.c
        v2 = beta - (beta @ v1) * v1
        v2 *= -np.sign(v1 @ Sigma @ v2) / np.linalg.norm(v2)
        gap = beta - np.hypot(w1, w2) * (w1 * v1 + w2 * v2)
        assert near(gap @ Sigma @ gap / moments[0], trained, 2)
    weak = left_of_the_loss(1, np.linspace(0.05, 0.5, 10))
    assert np.all(np.diff(weak[:8]) > 0)  # at rho = 1 it rises with A, to about 0.4


@pytest.mark.slow
def test_spike_speed():
    weak, strong = Run(0.5, 0.05), Run(2, 0.05)
    assert near(100 * (1 - strong.t1 / weak.t1), 1, 0)
    assert near(weak.t2() - weak.t1, 2.53, 2) and near(strong.t2() - strong.t1, 1.72, 2)
    for border, printed in ((1, 0.57), (1.5, 0.29)):  # (1 + rho) A
        shares = []
        for A in (0.05, 0.08):
            runs = [Run(rho, A) for rho in np.geomspace(border / A - 1, 100, 25)[:8]]
            early = np.diff(np.log([run.t1 for run in runs]))
            later = np.diff(np.log([run.t2() - run.t1 for run in runs]))
            shares.append(np.abs(later / early).max())
        assert near(max(shares), printed, 2), shares


def test_mark():
    run = Run(20, 0.3)
    early = np.log(run.c / (run.l1 * 1e-5**2)) / (2 * run.c)
    mark = early + run.bound()
    assert near(mark, 5.87, 2)
    assert near(100 * run.at(mark)[1] / run.limit[1], 99.6, 1)
    for share, late in ((0.95, 34), (0.99, 11), (0.995, 3)):
        assert near(100 * (mark / run.t2(share) - 1), late, 0)


def test_bound_is_exceeded_from_half_the_plateau():
    run = Run(2, 0.9)
    assert near(run.t2() - run.t1, 3.005, 3) and near(run.bound(), 2.971, 3)
    assert run.bounded


def generalization_error(inside, A, gamma):
    return (1 - 1 / gamma) * (1 - A**2 * (1 - (1 + inside) / (1 + inside / gamma) ** 2))


def test_plain_error():
    spikes = np.linspace(0, 20, 2001)
    for A in (0.1, 0.5, 1.0):
        for gamma in (2.5, 6.0):
            assert np.isclose(spikes[np.argmax(generalization_error(spikes, A, gamma))], gamma - 2, atol=0.02)
    assert near(generalization_error(0, 1, 6), 0.833, 3)
    assert near(generalization_error(4, 1, 6), 1.500, 3)


@pytest.mark.slow
def test_eq27_and_plain_error_of_minimum_norm_solutions():
    def errors(rho, A, gamma, d, draws, seed=0):
        rng = np.random.default_rng(seed)
        beta = np.zeros(d)
        beta[:2] = A, np.sqrt(1 - A**2)
        scale = np.ones(d)
        scale[0] = np.sqrt(1 + rho)
        for _ in range(draws):
            X = rng.standard_normal((round(d / gamma), d)) * scale
            gap = (X.T @ np.linalg.solve(X @ X.T, X @ beta) - beta) * scale
            yield gap @ gap

    found = np.array(list(errors(20, 0.5, 2, 1200, 24))) / (1 + 20 * 0.25)
    mean, error = found.mean(), found.std(ddof=1) / np.sqrt(len(found))
    right, printed = (generalization_error(inside, 0.5, 2) / (1 + 20 * 0.25) for inside in (20, 1))
    assert near(right, 0.0661, 4) and near(printed, 0.0810, 4)
    assert abs(mean - right) < 4 * error and abs(mean - printed) > 10 * error
    plain = np.array(list(errors(4, 1, 6, 1200, 24)))
    assert abs(plain.mean() - 1.5) < 0.1


def test_misprints_of_appendix_c():
    rng = np.random.default_rng(0)
    rho, A, s, d, m = 20, 0.3, 0.3, 30, 50
    mu, beta = np.zeros(d), np.zeros(d)
    mu[0] = 1
    beta[:2] = A, np.sqrt(1 - A**2)
    Sigma = np.eye(d) + rho * np.outer(mu, mu)
    c, l1, l2, nu = constants(rho, A)
    v1 = Sigma @ beta / c
    v2 = beta - (beta @ v1) * v1
    v2 *= -np.sign(v1 @ Sigma @ v2) / np.linalg.norm(v2)
    W, a = rng.normal(0, s / np.sqrt(d), (m, d)), rng.normal(0, s / np.sqrt(m), m)
    # (51): the flow (6)-(7) is minus half of the gradient of (5), which is (a'W - beta') Sigma (a'W - beta')' here
    residual = Sigma @ (beta - W.T @ a)
    move_W, move_a = np.outer(a, residual), W @ residual
    gradient_W, gradient_a = -2 * np.outer(a, residual), -2 * W @ residual
    rate = np.sum(gradient_W * move_W) + gradient_a @ move_a
    assert np.isclose(rate / (np.sum(gradient_W**2) + gradient_a @ gradient_a), -0.5)
    # (45), (47)
    w1, w2 = W @ v1, W @ v2
    rest = W - np.outer(w1, v1) - np.outer(w2, v2)
    r1 = (w1 + a) / np.linalg.norm(w1 + a)
    away = np.eye(m) - np.outer(r1, r1)
    x1, x2 = c - (l1 * a @ w1 - nu * a @ w2), -nu * a @ w1 + l2 * a @ w2
    true = away @ move_a
    others = rest @ (rest.T @ a)
    sums = {sign: away @ (x1 * w1 - x2 * w2 + sign * others) for sign in (-1, 1)}
    assert np.allclose(sums[-1], true, atol=1e-14)
    assert np.linalg.norm(sums[1] - true) > 0.01 * np.linalg.norm(true)
    delta = {"a": away @ a, "1": away @ w1, "2": away @ w2}
    energy = delta["a"] @ true + delta["1"] @ (x1 * delta["a"]) + delta["2"] @ (-x2 * delta["a"])
    printed = {
        sign: 2 * x1 * delta["a"] @ delta["1"] - 2 * x2 * delta["a"] @ delta["2"] + sign * delta["a"] @ others
        for sign in (-1, 1)
    }
    assert np.isclose(printed[-1], energy)
    assert abs(printed[1] / energy - 1) > 1e-3


def test_exactness_needs_the_relation():
    """Aligned starts with a ten times sqrt(w_1^2 + w_2^2) leave (18)-(19)."""
    c, l1, l2, nu = constants(20, 0.3)

    def network(_, y):
        a, w1, w2 = y
        x1, x2 = c - a * (l1 * w1 - nu * w2), a * (nu * w1 - l2 * w2)
        return [x1 * w1 + x2 * w2, x1 * a, x2 * a]

    run = Run(20, 0.3)
    times, w = np.linspace(0, 8, 4001), np.array([2.0, 1.0]) / np.sqrt(5) * 0.01
    two = solve_ivp(run.velocity, (0, 8), w, t_eval=times, rtol=1e-12, atol=1e-14).y
    for factor in (1, 10):
        full = solve_ivp(network, (0, 8), [factor * 0.01, *w], t_eval=times, rtol=1e-12, atol=1e-14).y
        off = np.abs(full[1:] - two).max()
        assert off < 1e-9 if factor == 1 else near(off, 0.3, 1)


def test_weights_are_not_bounded_by_the_loss():
    """Below (51): (K a, W/K) has the same loss; the conserved D and the product bound the weights."""
    rng = np.random.default_rng(0)
    a, W = rng.standard_normal(5), rng.standard_normal((5, 3))
    assert np.allclose((7 * a) @ (W / 7), a @ W) and np.linalg.norm(7 * a) > 6 * np.linalg.norm(a)
    D, product = np.linalg.norm(np.outer(a, a) - W @ W.T, 2), np.linalg.norm(a @ W)
    assert a @ a <= (D + np.sqrt(D**2 + 4 * product**2)) / 2 + 1e-12


def test_eq49_lacks_factors():
    """(47) in the worst proportion of deviations grows at 2 sqrt(x1^2 + x2^2) E, above C = |x1| + |x2|."""
    x1, x2 = 3.0, 4.0
    delta = np.array([1.0, x1 / 5, -x2 / 5]) / np.sqrt(2)  # of a, w_1 and w_2, along one direction
    rate = 2 * x1 * delta[0] * delta[1] - 2 * x2 * delta[0] * delta[2]
    energy = delta @ delta / 2
    assert np.isclose(rate / energy, 2 * np.hypot(x1, x2))
    assert abs(x1) + abs(x2) < rate / energy <= 2 * (abs(x1) + abs(x2))


def test_eq15_ends_at_two_thirds_of_t1():
    """The exponential start is right to O(s) up to 2 t_1/3, where (s e^(ct))^3 is s."""
    for s in (1e-4, 1e-6):
        run = Run(20, 0.3, s, end=4.0)
        error = np.abs(run.w1 - s * np.exp(run.c * run.times)) / s
        t1 = np.log(run.c / (run.l1 * s**2)) / (2 * run.c)
        assert error[run.times < 2 * t1 / 3].max() < 10
        assert error[run.times < 0.85 * t1].max() > 30


def test_saturation_value():
    for rho, A, height in ((20, 0.05, 2.04), (50, 0.05, 1.65), (20, 0.1, 1.41), (20, 0.3, 1.0), (100, 0.8, 1.0)):
        run = Run(rho, A)
        assert near(run.w1.max() / run.p, height, 2)
        assert (run.w1.max() > 1.01 * run.limit[0]) == (height < 1.2)


def gronwall(s, end, seed=0, rho=20, A=0.3, d=30, m=50):
    """A network of Figure 1 by (6)-(7): times, E of (46), and the exponent of (50) with the C that (48) gives."""
    rng = np.random.default_rng(seed)
    c, l1, l2, nu = constants(rho, A)
    cov = np.eye(d)  # in the basis v_1, ..., v_d
    cov[:2, :2] = [[l1, -nu], [-nu, l2]]
    cross = np.zeros(d)
    cross[0] = c
    W, a = rng.normal(0, s / np.sqrt(d), (m, d)), rng.normal(0, s / np.sqrt(m), m)
    r1 = (W[:, 0] + a) / np.linalg.norm(W[:, 0] + a)

    def velocity(_, state):
        W, a = state[:-m].reshape(m, d), state[-m:]
        residual = cross - cov @ (W.T @ a)
        return np.concatenate([np.outer(a, residual).ravel(), W @ residual])

    times = np.linspace(0, end, 2001)
    start = np.concatenate([W.ravel(), a])
    states = solve_ivp(velocity, (0, end), start, t_eval=times, rtol=1e-9, atol=1e-7 * s).y.T
    W, a = states[:, :-m].reshape(-1, m, d), states[:, -m:]
    along = np.einsum("tm,tmi->ti", a, W)
    x1, x2 = c - (l1 * along[:, 0] - nu * along[:, 1]), -nu * along[:, 0] + l2 * along[:, 1]
    C = 2 * np.abs(x1) + 2 * np.abs(x2) + np.abs(along[:, 2:]).sum(1)
    vectors = np.concatenate([a[..., None], W[..., :2]], -1)
    across = vectors - r1[:, None] * np.einsum("m,tmi->ti", r1, vectors)[:, None]
    return times, 0.5 * np.sum(across**2, axis=(1, 2)), cumulative_trapezoid(C, times, initial=0)


def test_eq50_says_nothing_of_the_end_of_training():
    """Up to a fixed time the factor of (50) is bounded as s falls; up to the end it grows as 1/s^2, and E is O(s^2)."""
    scales = np.array([1e-2, 1e-3, 1e-4])
    fixed, whole, energies = [], [], []
    for s in scales:
        times, E, exponent = gronwall(s, np.log(1 / s) / constants(20, 0.3)[0] + 10)
        assert np.all(1.001 * E[0] * np.exp(exponent) >= E)
        fixed.append(exponent[times <= 0.5][-1])
        whole.append(exponent[-1])
        energies.append(E.max())
    logs = np.log(scales)
    assert abs(np.polyfit(logs, fixed, 1)[0]) < 0.02
    assert abs(np.polyfit(logs, whole, 1)[0] + 2) < 0.05
    assert abs(np.polyfit(logs, np.log(energies), 1)[0] - 2) < 0.02
    assert np.ptp(np.log(scales**2) + whole) < 0.2  # so the bound on E is O(1)
