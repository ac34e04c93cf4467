"""The errata of Tu et al. (docs/errata.md) repeated with NumPy and SciPy alone, from their text and the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.stats import ortho_group

from papers.errata.tu_networks import roots, scaled, start, task, train


@pytest.mark.parametrize(
    ("strengths", "printed"), [((1, 0.5), {50: 6.4, 100: 8.9}), ((1,), {50: 4.8, 100: 6.1})], ids=["two", "one"]
)
def test_lazy_values_do_not_remain_constant(strengths, printed):
    K, grown = len(strengths), {}
    for d in printed:
        variance, w = scaled(d, (-1.85, 2.25))
        A_star, E = task(d, strengths)
        values = None
        for A in train(*start(d, w, variance), A_star + E, 0.04 / d, 2000):
            s = np.linalg.svd(A, compute_uv=False)
            values = s if values is None else values
            if s[K - 1] >= strengths[-1] * d / 2:
                break
        grown[d] = s[K] / values[K], s[K] / s[K - 1]
    for d, growth in printed.items():
        assert np.isclose(grown[d][0], growth, rtol=0.1)
    assert grown[50][0] < grown[100][0]
    assert np.isclose(grown[50][1], {1: 0.15, 2: 0.38}[K], rtol=0.1)  # and over s_K


def test_convex_cost_without_exponential_convergence():
    """C the sum of fourth powers, over 4: a wide network approaches Y like t^(-1/2), as the lazy dynamics does."""
    d, w = 6, 10**7
    variance = 10.0 / w  # sigma^2 w = 10, above every singular value of Y
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((d, d))
    W1, W2 = start(d, w, variance)

    def velocity(_, state):
        W1, W2 = state[: 2 * d * d].reshape(2 * d, d), state[2 * d * d :].reshape(d, 2 * d)
        pull = (Y - W2 @ W1) ** 3
        return np.concatenate([(W2.T @ pull).ravel(), (pull @ W1.T).ravel()])

    times = np.geomspace(1, 1e4, 9)
    states = solve_ivp(velocity, (0, 1e4), np.concatenate([W1.ravel(), W2.ravel()]), "LSODA", times, rtol=1e-8).y.T
    away = [
        np.linalg.norm(state[2 * d * d :].reshape(d, 2 * d) @ state[: 2 * d * d].reshape(2 * d, d) - Y)
        for state in states
    ]
    slopes = np.diff(np.log(away)) / np.diff(np.log(times))
    assert np.all(np.abs(slopes[2:] + 0.5) < 0.02)


def largest_distance(d, gammas, c=50, K=5, seed=0, most=20_000):
    """Descent and eq. (1) from one start: the largest root mean square entry of their difference over the run."""
    A_star, E = task(d, (1,) * K, seed)
    Y = A_star + E
    variance, w = d ** gammas[0], max(1, round(d ** gammas[1]))
    W1, W2 = start(d, w, variance, seed)
    rate = 1 / (c * np.linalg.norm(A_star, 2))
    size = np.linalg.norm(W2 @ W1, 2) + variance * max(w, d)
    rate = min(rate, 0.5 / (c * size) * 50)  # eq. (2) diverges from very large initializations otherwise
    B, worst, before = W2 @ W1, 0.0, np.inf
    for k, A in enumerate(train(W1, W2, Y, rate, most)):
        worst = max(worst, float(np.linalg.norm(A - B)) / d)
        if k % 20 == 0:
            loss = float(np.linalg.norm(A - Y))
            if (loss > before * (1 - 2e-4) and loss < 0.5 * np.linalg.norm(Y)) or loss < 0.02 * np.linalg.norm(Y):
                break
            before = loss
        left, right = roots(B, variance * w)
        gap = Y - B
        B = B + rate * (left @ gap + gap @ right)
    return worst


@pytest.mark.slow
def test_eq1_is_not_close_almost_everywhere_outside():
    """A coarse plane at d = 30: far outside the theorems' region, near inside."""
    d = 30
    near: list[float] = []
    far: list[float] = []
    for g_w in np.linspace(0.1, 2.8, 5):
        for g_v in np.linspace(-3.0, -0.2, 5):
            distance = largest_distance(d, (g_v, g_w), K=2, most=3000)
            (near if g_w > 1 and 2 * g_v + g_w < 0 else far).append(distance)
    outside, inside = np.array(far), np.array(near)
    assert np.mean(outside > 0.14) > 0.5
    assert np.mean(inside > 0.14) < 0.2


def test_not_all_values_are_lazy_at_the_start():
    d = 100
    for ratio, printed in ((1.5, 1.9), (2, 1.6), (4, 1.1), (8, 0.7)):
        W1, W2 = start(d, round(ratio * d), 1.0)
        assert abs(np.linalg.norm(W2 @ W1, 2) / (ratio * d) - printed) < 0.1


def test_settled_values_are_those_of_the_noisy_matrix():
    off = []
    for d in (50, 100, 200):
        for seed in range(6):
            A_star, E = task(d, (1, 0.5), seed)
            off.append(np.linalg.svd(A_star + E, compute_uv=False)[:2] - np.array([1, 0.5]) * d)
    gaps = np.array(off)
    assert np.allclose(gaps.mean(0), [1, 2], atol=0.7)  # 1/a_i on average
    assert abs(np.sqrt((gaps**2).mean()) - 1.8) < 0.35


@pytest.mark.slow
def test_time_from_t1_to_t3_is_half_of_the_printed_one():
    d, gammas = 100, (-2.6, 2.8)
    variance, w = scaled(d, gammas)
    threshold = variance * w
    A_star, E = task(d, (1,))
    rate, t1, t3 = 0.005 / d, None, None
    for k, A in enumerate(train(*start(d, w, variance), A_star + E, rate, 4000)):
        top = np.linalg.norm(A, 2)
        if t1 is None and top >= threshold:
            t1, begin = k * rate, top
        if top >= d / 2:
            t3 = k * rate
            break
    equation = quad(lambda s: 1 / (2 * (d - s) * np.sqrt(s**2 + threshold**2)), begin, d / 2)[0]
    assert abs((t3 - t1) / equation - 1) < 0.05
    printed, half = np.log(d / threshold), np.log(d / threshold) / 2
    assert abs((t3 - t1) * d - half) < abs((t3 - t1) * d - printed)


@pytest.mark.slow
def test_final_alignment_falls_like_one_over_d():
    """x of A* + E: what is missing in the alignment of its leading singular vectors with those of A*."""
    defects = []
    dims = (50, 100, 200, 400)
    for d in dims:
        missing = []
        for seed in range(4):
            A_star, E = task(d, (1, 0.5), seed)
            (U, _, Vt), (u, _, vt) = np.linalg.svd(A_star + E), np.linalg.svd(A_star)
            missing.append(sum(2 - abs(U[:, i] @ u[:, i]) ** 2 - abs(Vt[i] @ vt[i]) ** 2 for i in range(2)))
        defects.append(np.mean(missing))
    power = np.polyfit(np.log(dims), np.log(defects), 1)[0]
    assert abs(power + 0.99) < 0.1


def test_lemma_c5_lacks_a_factor_two():
    """The derivative of |<u*, u_1>|^2 along the flow of C.5, whose right side the erratum doubles."""
    d, threshold = 6, 0.3
    rng = np.random.default_rng(0)
    A_star, E = np.diag([6.0, 4, 2.5, 1.5, 0.8, 0.3]), 0.3 * rng.standard_normal((d, d))
    A = ortho_group.rvs(d, random_state=1) * np.arange(6, 0, -1.0) @ ortho_group.rvs(d, random_state=2)

    def vectors(A):
        U, s, Vt = np.linalg.svd(A)
        return U, s, Vt.T

    def moved(A, h):
        left, right = roots(A, threshold)
        gap = A_star + E - A
        return A + h * (left @ gap + gap @ right)

    h = 1e-6
    U, s, V = vectors(A)
    slope = (vectors(moved(A, h))[0][0, 0] ** 2 - vectors(moved(A, -h))[0][0, 0] ** 2) / (2 * h)
    bar = np.sqrt(s**2 + threshold**2)
    C = U.T @ (A_star + E) @ V

    def R(p, q):
        return s[p] * (bar[p] + bar[q]) / (s[p] ** 2 - s[q] ** 2)

    right = U[0, 0] * sum(U[0, j] * (R(0, j) * C[j, 0] - R(j, 0) * C[0, j]) for j in range(1, d))
    assert np.isclose(slope / right, 2.0, atol=1e-4)


def test_lemma_f1_exponent():
    """After one step the printed bound, with the exponent k - 1 = 0, is 0 and the error is not; with k it holds."""
    eta, growth = 0.1, 1.0  # dA/dt = -A on |A| <= 1: C_0 = C_1 = 1
    flow, descent = 1.0, 1.0
    for k in range(1, 20):
        flow, descent = flow * np.exp(-eta * growth), descent * (1 - eta * growth)
        error = abs(flow - descent)
        printed, right = (((1 + eta) ** power - 1) * eta / 2 for power in (k - 1, k))
        assert error <= right + 1e-15
        if k == 1:
            assert printed == 0 < error


def test_isotropic_imbalance():
    """W_1 W_1^T - W_2^T W_2 = 2 sigma^2 w I: C_1 = sigma^2 w + sqrt(A^T A + sigma^4 w^2), and C_2 = -sigma^2 w + ..."""
    rng = np.random.default_rng(0)
    d, half = 4, 0.7  # half = sigma^2 w; the width is d
    W2 = rng.standard_normal((d, d))
    S = W2.T @ W2 + 2 * half * np.eye(d)
    W1 = np.linalg.cholesky(S) @ ortho_group.rvs(d, random_state=0)
    A = W2 @ W1
    left, right = roots(A, half)
    assert np.allclose(W1.T @ W1, half * np.eye(d) + right)
    assert np.allclose(W2 @ W2.T, -half * np.eye(d) + left)


def test_signs_and_clocks_of_section_1():
    d, variance, w = 30, 1e-6, 10**9
    A_star, E = task(d, (1,))
    eta, steps = 1e-3 * d**2, 40
    q = 1 - 4 * d**-2 * eta * variance * w  # a step of the lazy dynamics for the paper's loss
    W1, W2 = start(d, w, variance)
    rate = 2 * eta / d**2  # of the canonical loss
    rate, q = rate / 1e3, 1 - (1 - q) / 1e3
    *_, A = train(W1, W2, A_star + E, rate, steps + 1)
    lazy = (A_star + E) + q**steps * (W2 @ W1 - A_star - E)
    assert np.linalg.norm(A - lazy) < 0.02 * np.linalg.norm(lazy - W2 @ W1)
    q **= steps
    right, printed = (np.linalg.norm(sign * q * A_star + (1 - q) * E) for sign in (-1, 1))
    mean = (1 - q) * (A_star + E)
    assert np.isclose(np.linalg.norm(mean - A_star), right)
    assert not np.isclose(np.linalg.norm(mean - A_star), printed, rtol=1e-3)


def test_entries_of_the_start():
    W1, W2 = start(60, 4000, 0.01)
    entries = (W2 @ W1).ravel()
    assert abs(np.mean(entries**2) / (0.01**2 * 4000) - 1) < 0.1


@pytest.mark.slow
def test_proof_of_d1_bound_is_missed():
    """|A - B| over d (d/(sigma^2 w)) sqrt(d/w) grows from w/d = 1e4 to 1e10; over the right bound it is below 1."""
    d = 20
    for scale, printed in ((3, 695), (10, 101), (30, 9)):
        folds, shares = [], []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            Y = rng.standard_normal((d, 2)) @ rng.standard_normal((2, d)) + rng.standard_normal((d, d))
            away: dict[float, float] = {}
            for ratio in (1e4, 1e10):
                W1, W2 = start(d, ratio * d, scale / ratio, seed)
                rate, start_product, away[ratio] = 0.005 / (scale * d), W2 @ W1, 0.0
                for k, A in enumerate(train(W1, W2, Y, rate, 600)):
                    lazy = Y + (1 - 2 * rate * scale * d) ** k * (start_product - Y)
                    away[ratio] = max(away[ratio], float(np.linalg.norm(A - lazy)))
                shares.append(away[ratio] / (d * (ratio**-0.5 + scale**-2)))
            folds.append(away[1e10] / away[1e4] * 1e3)
        assert np.isclose(np.exp(np.mean(np.log(folds))), printed, rtol=0.5)
        assert max(shares) < 1


def test_cosine_of_active_modes():
    """Remark before 2.1: W_1 v_i and W_2^T u_i have the cosine s/sqrt(s^2 + sigma^4 w^2): aligned where s is large."""
    d = 60
    variance, w = scaled(d, (-2.6, 2.8))
    A_star, E = task(d, (1, 0.5))
    W1, W2 = start(d, w, variance)
    for _ in range(400):
        gap = A_star + E - W2 @ W1
        W1, W2 = W1 + 0.02 / d * W2.T @ gap, W2 + 0.02 / d * gap @ W1.T
    U, s, Vt = np.linalg.svd(W2 @ W1)
    for i in range(2):
        one, two = W1 @ Vt[i], W2.T @ U[:, i]
        cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
        assert abs(cosine - s[i] / np.hypot(s[i], variance * w)) < 0.006
    assert cosine > 0.9


def test_balanced_step_has_the_factor_of_the_loss():
    d, eta = 6, 1e-4
    s, target = np.array([1.0, 2, 0.5, 3, 1.5, 0.2]), np.array([4.0, 1, 2, 3.5, 5, 1])
    W1 = W2 = np.diag(np.sqrt(s))
    gradient = 2 / d**2 * (W2 @ W1 - np.diag(target))
    moved = np.diag((W2 - eta * gradient @ W1.T) @ (W1 - eta * W2.T @ gradient)) - s
    assert np.allclose(moved, 4 * eta / d**2 * s * (target - s), rtol=1e-3)


def test_constant_c_of_end_of_b2():
    """sigma^2 w sqrt(w/d) is above sigma^2 w, sigma^2 w sqrt(d/w) below, where |C_1| never is."""
    d, w, variance = 40, 4000, 0.01
    W1, _ = start(d, w, variance)
    size = np.linalg.norm(W1.T @ W1, 2)
    assert variance * w * np.sqrt(d / w) < size < variance * w * np.sqrt(w / d)
