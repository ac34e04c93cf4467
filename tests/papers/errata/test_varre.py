"""The errata of Varre et al. (docs/errata.md) repeated with NumPy and SciPy alone, from their text and the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import chi2


def applied(matrices, vectors):
    """Each matrix times its vector."""
    return (matrices @ vectors[..., None])[..., 0]


def noise_paths(d, paths, end, step, *, seed=0, tilted=False, saved=(), second=None):
    """(4.1) with D = I from W = I and a = 0, or `second`, by Euler-Maruyama: W (path, row, column) and a where saved.

    Tilted paths have the law of the others weighted by det W: the noise has the drift W^-T a.
    """
    rng = np.random.default_rng(seed)
    W, a = np.tile(np.eye(d), (paths, 1, 1)), np.tile(np.zeros(d) if second is None else second, (paths, 1))
    for k in range(1, round(end / step) + 1):
        dB = rng.normal(0, np.sqrt(step), (paths, d))
        if tilted:
            dB += step * np.linalg.solve(np.swapaxes(W, 1, 2), a[..., None])[..., 0]
        moved = applied(np.swapaxes(W, 1, 2), dB)
        W += dB[:, :, None] * a[:, None, :]
        a += moved
        if k in {round(time / step) for time in saved}:
            yield W, a


def commutator(W, a):
    """w_1 a^T - a w_1^T."""
    first = W[:, 0, :, None] * a[:, None, :]
    return first - np.swapaxes(first, 1, 2)


def mean(values):
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "size", "error", "entry"),
    [(2, 0.481, 0.007, None), (3, 1.391, 0.017, 0.738), (5, 5.39, 0.06, 1.453)],
)
def test_proposition_41c_sizes_of_commutators_do_not_vanish(d, size, error, entry):
    ((W, a),) = noise_paths(d, 20_000, 3.0, 0.005, saved=[3.0])
    found = commutator(W, a)
    sizes = np.sqrt((found**2).sum((1, 2)) / 2)
    assert abs(mean(sizes)[0] - size) < 4 * np.hypot(mean(sizes)[1], error)
    if entry:
        entries = np.abs(found[:, 0, 1])
        assert abs(mean(entries)[0] - entry) < 4 * np.hypot(mean(entries)[1], 0.02)
    assert mean(sizes)[0] > 10 * mean(sizes)[1]  # printed: |[w_1, a](0)| e^-t, which is 0
    signed, scatter = mean(found[:, 0, 1])
    assert abs(signed) < 4 * scatter  # read with its signs it is true


@pytest.mark.slow
def test_proposition_41c_sizes_do_not_fall_like_the_signed_mean():
    """From a = e_2 the mean size of [w_1, a] at t = 3 is far above e^-3 of its start; its signed mean is not."""
    for d in (2, 3):
        ((W, a),) = noise_paths(d, 10_000, 3.0, 0.01, saved=[3.0], second=np.eye(d)[1])
        found = commutator(W, a)
        size, error = mean(np.sqrt((found**2).sum((1, 2)) / 2))  # 1 at initialization
        assert size - np.exp(-3) > 10 * error
        signed, scatter = mean(found[:, 0, 1])
        assert abs(signed - np.exp(-3)) < 4.5 * scatter


@pytest.mark.slow
def test_proposition_41c_limit_for_two_inputs():
    limit = 2 / np.pi * np.exp(-0.5) / chi2.sf(1, 3)
    assert abs(limit - 0.4819) < 1e-4
    for W, a in noise_paths(2, 4000, 6.0, 0.005, tilted=True, saved=[3.0, 6.0]):
        value, error = mean(np.abs(commutator(W, a)[:, 0, 1]) / np.linalg.det(W))
        assert abs(value - limit) < 4.5 * error + 0.004
        assert error < 0.006


def exponents(d, *, paths, end, step):
    """Growth of ln sigma_1 and ln sigma_2 over the last three quarters, with standard errors."""
    begin = end / 4
    first, last = (
        np.log(np.linalg.svd(W, compute_uv=False)) for W, _ in noise_paths(d, paths, end, step, saved=[begin, end])
    )
    rates = (last - first) / (end - begin)
    return rates.mean(0), rates.std(0, ddof=1) / np.sqrt(paths)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "top", "second"),
    [(2, 0.0, -0.237), (3, 0.142, -0.142), (4, 0.250, -0.069), (5, 0.341, -0.0077), (6, 0.421, 0.046)],
)
def test_exponents_of_the_noise(d, top, second):
    rates, errors = exponents(d, paths=1200, end=40.0, step=0.005)
    assert abs(rates[0] - top) < 4 * errors[0] + 0.01
    assert abs(rates[1] - second) < 4 * errors[1] + 0.01
    if d == 6:
        assert rates[1] > 3 * errors[1]


def test_mean_log_of_the_top_value_for_two_inputs():
    angles = np.linspace(0, np.pi, 200_001)[:-1] + 1e-6
    assert abs(-0.5 * np.log(np.cos(angles) ** 2).mean() - np.log(2)) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("step", "rate"), [(0.5, 0.141), (0.2, 0.028), (0.1, 0.005), (0.02, 0.0)])
def test_coarse_euler_steps_make_the_weights_grow(step, rate):
    """Figure 3a: ln|W| of Euler's scheme at d = 2."""
    paths, begin, end = (400, 10.0, 40.0) if step < 0.1 else (3000, 20.0, 120.0)
    first, last = (
        np.log(np.linalg.norm(W, axis=(1, 2))) for W, _ in noise_paths(2, paths, end, step, saved=[begin, end])
    )
    value, error = mean((last - first) / (end - begin))
    assert abs(value - rate) < 4 * error + 0.001


class Flow:
    """(3.4) from Z_1 = sqrt(2 gamma) I, Z_2 = 0 with X^T X = cov."""

    def __init__(self, cov, target, gamma, end, points=2000):
        self.cov, self.target, self.gamma = cov, target, gamma
        self.d, self.k = target.shape
        self.times = np.linspace(0, end, points)
        start = np.concatenate([np.sqrt(2 * gamma) * np.eye(self.d).ravel(), np.zeros(self.d * self.k)])
        states = solve_ivp(self.velocity, (0, end), start, "LSODA", self.times, rtol=1e-10, atol=1e-12).y.T
        self.Z1, self.Z2 = self.split(states)
        self.beta = self.Z1 @ self.Z2
        self.R = cov @ (target - self.beta)
        self.loss = 0.5 * np.sum((target - self.beta) * self.R, axis=(1, 2))

    def split(self, states):
        first, second = np.split(states, [self.d**2], axis=-1)
        return first.reshape(*first.shape[:-1], self.d, self.d), second.reshape(*second.shape[:-1], self.d, self.k)

    def velocity(self, _, state):
        Z1, Z2 = self.split(state)
        R = self.cov @ (self.target - Z1 @ Z2)
        return np.concatenate([(R @ Z2.T).ravel(), (Z1.T @ R).ravel()])


def test_lemma_c6_residual_rises():
    run = Flow(np.diag([9, 0.09]), np.array([[1.0, 0], [1, 5]]).T, 1e-4, 20.0)
    R2 = np.sum(run.R**2, axis=(1, 2))
    rise = (R2 / np.minimum.accumulate(R2))[1e-6 * R2[0] < R2].max() - 1
    assert abs(rise - 1.37) < 0.01
    assert np.all(np.diff(np.log(run.loss)) <= -4 * run.gamma * 0.09 * np.diff(run.times) + 1e-9)


def some_flow(gamma=0.1, d=4, k=2, n=4, seed=0, end=40.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(n)
    return Flow(X.T @ X, X.T @ np.linalg.solve(X @ X.T, X @ rng.standard_normal((d, k))), gamma, end)


def test_lemma_33_has_a_factor():
    run = some_flow()
    alpha = np.linalg.solve(np.swapaxes(run.Z1, 1, 2), run.Z2)
    eye = np.eye(run.d)
    right = np.linalg.solve(eye - alpha @ np.swapaxes(alpha, 1, 2), alpha)
    assert np.allclose(2 * run.gamma * right, run.beta, atol=1e-7)
    invariant = np.swapaxes(run.Z1, 1, 2) @ run.Z1 - run.Z2 @ np.swapaxes(run.Z2, 1, 2)
    assert np.allclose(invariant, 2 * run.gamma * eye, atol=1e-7)
    small = alpha[50]
    woodbury = eye + small @ np.linalg.solve(np.eye(run.k) - small.T @ small, small.T)
    assert np.allclose(np.linalg.inv(eye - small @ small.T), woodbury)
    # Theorem C.12's proof and Lemma 3.3: d alpha/dt = R - alpha R^T alpha
    step = run.times[1] - run.times[0]
    slope = (alpha[2:] - alpha[:-2]) / (2 * step)
    middle, R = alpha[1:-1], run.R[1:-1]
    assert np.abs(slope - (R - middle @ np.swapaxes(R, 1, 2) @ middle))[5:].max() < 1e-3 * np.abs(R).max()


def test_theorem_32a_gradient_of_the_potential():
    """Singular values of beta on whitened data: d grad Psi = -grad L dt with 1/2 asinh, not as printed."""
    target = np.diag([2.0, 0.5])
    run = Flow(np.eye(2), target, 0.1, 6.0, points=6001)
    values = np.diagonal(run.beta, axis1=1, axis2=2)
    pulled = np.diagonal(run.R, axis1=1, axis2=2)
    integral = np.concatenate(
        [np.zeros((1, 2)), np.cumsum((pulled[1:] + pulled[:-1]) / 2 * np.diff(run.times)[:, None], 0)]
    )
    right = 0.5 * np.arcsinh(values / run.gamma)
    printed = right + 0.5 * values / np.sqrt(values**2 + run.gamma**2) - values / np.sqrt(values**2 + run.gamma**2)
    assert np.abs(right - integral).max() < 1e-5
    off = np.abs((printed - printed[0]) - integral).max(0) / np.abs(integral).max(0)
    assert off.min() > 0.1
    # gradient of the right potential
    D, eps = 0.7, 1e-6
    psi = lambda D: 0.5 * (D * np.arcsinh(D / 0.1) - np.sqrt(D**2 + 0.01))  # noqa: E731
    assert np.isclose((psi(D + eps) - psi(D - eps)) / (2 * eps), 0.5 * np.arcsinh(D / 0.1), rtol=1e-6)
    # section 3.2: per unit of ln(1/gamma) it grows by one half
    slope = np.diff([0.5 * np.arcsinh(1 / gamma) for gamma in (1e-6, 1e-8)])[0] / np.log(100)
    assert abs(slope - 0.5) < 1e-3


def test_theorem_c12_value_at_the_jump():
    """A mode at its activation time ln(1/gamma)/(2 s) tends to s/(1 + 2 s)."""
    for s in (0.5, 1.0, 2.0):
        gamma = 1e-14
        time = np.log(1 / gamma) / (2 * s)
        # whitened modes: d beta/dt = 2 sqrt(beta^2 + gamma^2) (s - beta), in the variable asinh(beta/gamma)
        found = solve_ivp(lambda _, y, s=s, gamma=gamma: [2 * (s - gamma * np.sinh(y[0]))], (0, time), [0.0],
                          "LSODA", rtol=1e-11, atol=1e-12)  # fmt: skip
        assert abs(gamma * np.sinh(found.y[0, -1]) - s / (1 + 2 * s)) < 1e-4


def test_theorem_31iii_has_no_duality_gap():
    run = some_flow(gamma=0.3, n=3, end=400.0)
    Z1, Z2, gamma, d = run.Z1[-1], run.Z2[-1], run.gamma, run.d
    G = np.linalg.solve(Z1.T, Z2)
    primal = 0.5 * np.sum(Z2**2) + 0.5 * np.sum(Z1**2) - gamma * np.linalg.slogdet(Z1 @ Z1.T)[1]
    dual = (
        np.sum(G * run.target)
        + gamma * d
        - gamma * d * np.log(2 * gamma)
        + gamma * np.linalg.slogdet(np.eye(d) - G @ G.T)[1]
    )
    assert abs(primal - dual) < 1e-6
    assert np.allclose(run.beta[-1], run.target, atol=1e-6)


def test_figure_4_final_values_with_the_second_layers_scale():
    """Orthogonal layers with scales g1, g2 end at sigma^2 = sqrt(beta^2 + (g1 + g2)^2) + g1 - g2."""
    g1, g2, target = 0.2, 0.05, 1.5
    rng = np.random.default_rng(0)
    k, d, width = 2, 4, 12
    basis = np.linalg.qr(rng.standard_normal((width, d + k)))[0].T
    W1, W2 = np.sqrt(2 * g1) * basis[:d], np.sqrt(2 * g2) * basis[d:].T
    beta = np.zeros((d, k))
    beta[0, 0], beta[1, 1] = target, 0.4
    step = 2e-3
    for _ in range(60_000):
        R = beta - W1 @ W2
        W1, W2 = W1 + step * R @ W2.T, W2 + step * W1.T @ R
        if np.abs(R).max() < 1e-9:
            break
    values = np.linalg.svd(W1, compute_uv=False)
    wanted = np.sqrt(np.sqrt(np.array([target, 0.4]) ** 2 + (g1 + g2) ** 2) + g1 - g2)
    assert np.allclose(np.sort(values)[::-1][:2], wanted, rtol=1e-3)
    plain = np.sqrt(np.sqrt(np.array([target, 0.4]) ** 2 + g1**2) + g1)
    assert np.abs(plain / wanted - 1).max() > 0.02


def test_lemma_c8_sign_and_last_step_of_41b():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 5))
    best, beta = rng.standard_normal((2, 5))
    loss = 0.5 * np.sum((X @ (beta - best)) ** 2)
    assert (X.T @ X @ (beta - best)) @ (beta - best) >= loss
    # (sum of d equal terms)^alpha = d^alpha x^alpha: the mean's power is at least d^(alpha-1) times the sum of powers
    d, alpha, x = 2, 0.5, 1.0
    assert np.isclose((d * x) ** alpha, d ** (alpha - 1) * d * x**alpha)
    assert not (d * x) ** alpha >= d ** (1 - alpha) * d * x**alpha


def test_appendix_c1_discrete_step():
    """One step of descent on 1/2|Y - X W a|^2 with R = X^T (Y - X W a); the printed update leaves a = 0."""
    rng = np.random.default_rng(1)
    X, W, Y = rng.standard_normal((3, 5)), rng.standard_normal((5, 7)), rng.standard_normal(3)
    a, eps = np.zeros(7), 1e-6
    R = X.T @ (Y - X @ W @ a)
    loss = lambda a: 0.5 * np.sum((Y - X @ W @ a) ** 2)  # noqa: E731
    slope = np.array([(loss(a + eps * e) - loss(a - eps * e)) / (2 * eps) for e in np.eye(7)])
    assert np.allclose(-slope, W.T @ R, atol=1e-5)
    assert np.linalg.norm(W.T @ R) > 1


def test_proposition_41b_constant():
    """Above (D.3) the proof needs sqrt(d) + (alpha - 1)(sqrt(d) + 1)^2/(2 sqrt(d)) > 0."""

    def constant(d, alpha):
        return np.sqrt(d) + (alpha - 1) * (np.sqrt(d) + 1) ** 2 / (2 * np.sqrt(d))

    assert constant(5, 0.0450) < 0 < constant(5, 0.0452)
    assert constant(6, 0.0) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("std", "least", "most"), [(0.1, 0.08, 0.16), (0.01, 0.01, 0.02)])
def test_gaussian_starts_miss_the_minimum_norm(std, least, most):
    """n = 5, d = 10, k = 3, width 200: the first layer's QR decomposition leaves width 10."""
    off = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((5, 10)) / np.sqrt(5)
        best = X.T @ np.linalg.solve(X @ X.T, X @ rng.standard_normal((10, 3)))
        W1, W2 = np.linalg.qr(std * rng.standard_normal((200, 10)))[1].T, np.zeros((10, 3))
        step = 0.1 / np.linalg.norm(X, 2) ** 2 / np.linalg.norm(best, 2)
        for _ in range(60_000):
            R = X.T @ (X @ (best - W1 @ W2))
            if np.abs(R).max() < 1e-9:
                break
            W1, W2 = W1 + step * R @ W2.T, W2 + step * W1.T @ R
        off.append(np.linalg.norm(W1 @ W2 - best) / np.linalg.norm(best))
    assert 0.8 * least < np.mean(off) < 1.25 * most


@pytest.mark.slow
@pytest.mark.parametrize(("step", "left"), [(0.02, 0.999), (0.1, 0.985), (0.15, 0.93)])
def test_batches_of_one_leave_the_small_values(step, left):
    """n = d = 5, X^T X/n = I, gamma = 1, one output, |beta| = 1: what is left of the small singular values."""
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.sqrt(5) * np.linalg.qr(rng.standard_normal((5, 5)))[0]
        beta = rng.standard_normal(5)
        y = X @ beta / np.linalg.norm(beta)
        W, a = np.sqrt(2) * np.eye(5), np.zeros(5)
        for i in rng.integers(5, size=round(40 / step)):
            gap = step * (y[i] - X[i] @ W @ a)
            W, a = W + gap * np.outer(X[i], a), a + gap * W.T @ X[i]
        shares.extend(np.linalg.svd(W, compute_uv=False)[1:] / np.sqrt(2))
    assert abs(np.median(shares) - left) < 0.6 * (1 - left) + 0.001, np.median(shares)


@pytest.mark.slow
def test_relu_students_of_rank_two():
    """Twenty hidden units, Gaussian teachers of two neurons: how many of 40 students have rank 2, from std 0.001."""
    rng = np.random.default_rng(0)
    draws, n = 40, 10
    X, teacher, outer = (rng.standard_normal((draws, *shape)) for shape in ((n, 5), (5, 2), (2,)))
    y = applied(np.maximum(X @ teacher, 0), outer)
    W, a = 1e-3 * rng.standard_normal((draws, 5, 20)), 1e-3 * rng.standard_normal((draws, 20))
    first = np.mean(y**2, axis=1)
    for _ in range(30_000):
        H = X @ W
        on = H > 0
        H = H * on
        gap = 0.02 / n * (y - applied(H, a))
        W, a = W + np.swapaxes(X, 1, 2) @ (on * gap[..., None] * a[:, None]), a + applied(np.swapaxes(H, 1, 2), gap)
    left = np.mean((y - applied(np.maximum(X @ W, 0), a)) ** 2, axis=1)
    values = np.linalg.svd(W, compute_uv=False)
    ranks = (values > 0.1 * values[:, :1]).sum(axis=1)[left < 1e-2 * np.maximum(first, 1)]
    assert 0.25 < np.mean(ranks == 2) < 0.65
    assert np.mean(ranks <= 3) > 0.8


def jacobian(field, point, width=1e-5):
    """Derivatives of every entry of a matrix field, by central differences."""
    steps = width * np.eye(point.size).reshape(-1, *point.shape)
    return np.array([(field(point + step) - field(point - step)).ravel() / (2 * width) for step in steps])


def asymmetry(matrix):
    return np.abs(matrix - matrix.T).max() / np.abs(matrix).max()


def test_lemma_c4_gradient_for_other_imbalances():
    """Z_1^T Z_1 - Z_2 Z_2^T = D: (P2) is Z_1 - Z_1^-T D, not Z_1 - D Z_1^-T; only for D = c I it is a gradient."""
    rng = np.random.default_rng(0)
    Z1 = rng.standard_normal((3, 3)) + 3 * np.eye(3)
    for D, is_gradient in ((0.3 * np.eye(3), True), (np.diag([0.1, 0.3, 0.6]), False)):
        values, vectors = np.linalg.eigh(Z1.T @ Z1 - D)
        assert values.min() > 0
        Z2 = vectors * np.sqrt(values)
        stationary = np.linalg.solve(Z1.T, Z2 @ Z2.T)  # (P2) with grad Psi_2 = Z_2
        right, printed = Z1 - np.linalg.solve(Z1.T, D), Z1 - D @ np.linalg.inv(Z1).T
        assert np.allclose(stationary, right)
        assert np.allclose(stationary, printed) == is_gradient
        for field in (lambda Z, D=D: Z - np.linalg.inv(Z).T @ D, lambda Z, D=D: Z - D @ np.linalg.inv(Z).T):
            assert (asymmetry(jacobian(field, Z1)) < 1e-7) == is_gradient
            assert is_gradient or asymmetry(jacobian(field, Z1)) > 1e-2


def test_lemma_c4_uses_condition_p1():
    """alpha = Z_1^-T Z_2 in the span of the samples is (P1), as grad Psi_2 = Z_2, and holds at the end of a flow."""
    run = some_flow(gamma=0.3, n=2, end=100.0)
    alpha = np.linalg.solve(run.Z1[-1].T, run.Z2[-1])
    values, vectors = np.linalg.eigh(run.cov)
    outside = vectors[:, values < 1e-9]  # Ker(X), which is the complement of the span: Lemma C.3
    assert outside.shape[1] == 2
    assert np.abs(outside.T @ alpha).max() < 1e-9 < np.abs(alpha).max()


def test_lemma_c7_velocities_and_mirror_flow():
    """k = 1: dZ_1/dt = r alpha^T Z_1 and d beta/dt = (Z_1 Z_1^T + |Z_2|^2) r, not as printed; (C.14) follows."""
    run = some_flow(gamma=0.2, k=1, seed=3)
    at = 40
    Z1, Z2, r = run.Z1[at], run.Z2[at], run.R[at]
    move1, move2 = run.split(run.velocity(0, np.concatenate([Z1.ravel(), Z2.ravel()])))
    alpha, moved = np.linalg.solve(Z1.T, Z2), move1 @ Z2 + Z1 @ move2
    gram = Z1.T @ Z1
    assert np.allclose(move1, r @ alpha.T @ Z1, atol=1e-12)
    assert np.allclose(moved, (Z1 @ Z1.T + np.sum(Z2**2) * np.eye(run.d)) @ r, atol=1e-12)
    printed1, printed = Z1 @ alpha @ r.T, (gram + alpha.T @ gram @ alpha * np.eye(run.d)) @ r
    assert np.abs(move1 - printed1).max() > 0.01 * np.abs(move1).max()
    assert np.abs(moved - printed).max() > 0.01 * np.abs(moved).max()
    # 1 - |alpha|^2 = 2 gamma/(sqrt(gamma^2 + |beta|^2) + gamma): the radical ends before the last gamma
    size = np.linalg.norm(run.beta[at])
    rest = 1 - np.sum(alpha**2)
    assert np.isclose(rest, 2 * run.gamma / (np.hypot(run.gamma, size) + run.gamma))
    assert abs(rest - 2 * run.gamma / np.sqrt(run.gamma**2 + size**2 + run.gamma)) > 0.01
    # (C.14) along the whole flow: grad psi(beta) = beta/[sqrt(|beta|^2 + gamma^2) + gamma]^(1/2)
    top = np.sqrt(np.hypot(np.linalg.norm(run.beta, axis=(1, 2)), run.gamma) + run.gamma)
    mirror, pull = run.beta / top[:, None, None], top[:, None, None] * run.R
    step = run.times[1]
    assert np.abs((mirror[2:] - mirror[:-2]) / (2 * step) - pull[1:-1])[5:].max() < 1e-3 * np.abs(pull).max()


def test_lemma_c7_hessian():
    """I + a a^T/(1 - |a|^2) is no Hessian of a function of a; times (1 - |a|^2)^-1/2 it is, of -(1 - |a|^2)^1/2."""
    a = np.array([0.4, -0.3, 0.5])

    def asymmetric(power):
        metric = lambda a: (np.eye(3) + np.outer(a, a) / (1 - a @ a)) / (1 - a @ a) ** power  # noqa: E731
        third = jacobian(metric, a).reshape(3, 3, 3)  # d_k H_ij, which a Hessian has symmetric in all three
        return np.abs(third - np.swapaxes(third, 0, 1)).max() / np.abs(third).max()

    assert asymmetric(0.5) < 1e-7 and asymmetric(0.0) > 0.1


def test_theorem_c11_equations():
    """d(R^T alpha)/dt ends with +2 gamma R^T alpha; the equation of C - C^T has two brackets with a plus."""
    rng = np.random.default_rng(0)
    d, k, gamma = 4, 3, 0.3
    alpha = rng.standard_normal((d, k))
    alpha *= 0.7 / np.linalg.norm(alpha, 2)
    first = 2 * gamma * np.linalg.inv(np.eye(d) - alpha @ alpha.T)  # Z_1 Z_1^T, by (C.12)
    R = rng.standard_normal((d, k))  # beta_* is arbitrary, so R is: C need not be symmetric
    moved = R @ alpha.T @ first @ alpha + first @ R  # d beta/dt, and (C.21)
    assert np.allclose(moved, R @ (alpha.T @ first @ alpha) + first @ R)
    turned = R - alpha @ R.T @ alpha
    inverse, C = np.linalg.inv(np.eye(k) - alpha.T @ alpha), R.T @ alpha
    rate = -moved.T @ alpha + R.T @ turned
    common = R.T @ R - C @ C - 2 * gamma * (C @ inverse + inverse @ C)
    assert np.allclose(rate, common + 2 * gamma * C)
    assert not np.allclose(rate, common + C, rtol=0.05)  # printed
    skew, half = C - C.T, gamma * np.eye(k) - (C + C.T) / 2 - 2 * gamma * inverse
    printed = half + (0.5 - gamma) * np.eye(k)
    assert np.allclose(rate - rate.T, half @ skew + skew @ half)
    assert not np.allclose(rate - rate.T, printed @ skew - skew @ printed, rtol=0.05)
    B, long = R @ alpha.T, first / (2 * gamma)
    rate = -moved @ alpha.T + R @ turned.T
    common = R @ R.T - B @ B - 2 * gamma * (B @ long + long @ B)
    assert np.allclose(rate, common + 2 * gamma * B) and not np.allclose(rate, common + B, rtol=0.05)


def test_theorem_c11_static_vectors_and_sides():
    """Whitened data: beta keeps beta_*'s vectors; right vectors of Z_1 are left ones of Z_2; (C.22), (C.23)."""
    rng = np.random.default_rng(1)
    target = rng.standard_normal((3, 3))
    run = Flow(np.eye(3), target, 0.1, 4.0)
    transposed = lambda matrices: np.swapaxes(matrices, 1, 2)  # noqa: E731
    left, _, right = np.linalg.svd(target)
    inside = left.T @ run.beta[1:] @ right.T
    assert np.abs(inside * (1 - np.eye(3))).max() < 1e-7 < 1e-2 < np.abs(inside).max()
    both = transposed(run.Z1) @ run.R @ transposed(run.Z2)
    assert np.abs(both - transposed(both)).max() < 1e-8 < 1e-2 < np.abs(both).max()
    # (C.23) at layers that no flow reaches, so that nothing is zero: the second term has R^T
    Z1, Z2, R = rng.standard_normal((3, 3, 3))
    move1, move2 = R @ Z2.T, Z1.T @ R
    turned = -(move1 @ Z2 + Z1 @ move2)  # dR/dt
    rate = move1.T @ R @ Z2.T + Z1.T @ turned @ Z2.T + Z1.T @ R @ move2.T
    assert np.allclose(rate - rate.T, Z1.T @ turned @ Z2.T - Z2 @ turned.T @ Z1)
    assert not np.allclose(rate - rate.T, Z1.T @ turned @ Z2.T - Z2 @ turned @ Z1, rtol=0.05)
    # of data that are not whitened the vectors turn, but V_Z1, in the rows of v1, still diagonalizes Z_2 Z_2^T
    skewed = Flow(np.diag([2.0, 1.0, 0.5]), target, 0.1, 4.0)
    inside = left.T @ skewed.beta[1:] @ right.T
    assert np.abs(inside * (1 - np.eye(3))).max() > 1e-2 * np.abs(inside).max()
    u1, _, v1 = np.linalg.svd(skewed.Z1[-1])
    gram = skewed.Z2[-1] @ skewed.Z2[-1].T
    assert np.abs((v1 @ gram @ v1.T) * (1 - np.eye(3))).max() < 1e-7
    assert np.abs((u1.T @ gram @ u1) * (1 - np.eye(3))).max() > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("variance", [0.01, 0.001])
def test_figure_4_gaussian_layers(variance):
    """n = 5, d = 10, k = 3, width 200, W_1 of variance 0.001: three values grow, near the formula with two scales."""
    g1, g2 = 0.001 * 200 / 2, variance * 200 / 2
    off: dict[str, list[float]] = {"ours": [], "corollary": []}
    away = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((5, 10)) / np.sqrt(5)
        best = X.T @ np.linalg.solve(X @ X.T, X @ rng.standard_normal((10, 3)))
        W1, W2 = np.sqrt(0.001) * rng.standard_normal((10, 200)), np.sqrt(variance) * rng.standard_normal((200, 3))
        start = np.linalg.svd(W1, compute_uv=False)
        step = 0.1 / np.linalg.norm(X, 2) ** 2 / np.linalg.norm(best, 2)
        for _ in range(200_000):
            R = X.T @ (X @ (best - W1 @ W2))
            if np.abs(R).max() < 1e-6:
                break
            W1, W2 = W1 + step * R @ W2.T, W2 + step * W1.T @ R
        values, beta = np.linalg.svd(W1, compute_uv=False), np.linalg.svd(best, compute_uv=False)[:3]
        assert np.all(values[:3] > start[0]) and np.abs(values[3:] / start[3:] - 1).max() < 0.3
        away.append(np.linalg.norm(W1 @ W2 - best) / np.linalg.norm(best))
        for name, second in (("ours", g2), ("corollary", 0.0)):
            wanted = np.sqrt(np.hypot(beta, g1 + second) + g1 - second)
            off[name].append(float(np.abs(values[:3] / wanted - 1).max()) if beta[2] > 0.5 else 0.0)
    assert max(off["ours"]) < 0.06, off
    assert 0.03 < min(away) < max(away) < 0.085, away
    assert variance < 0.01 or 0.25 < max(off["corollary"]) < 0.33, off
