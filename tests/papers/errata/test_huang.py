"""The errata of Huang et al. (docs/errata.md) repeated with NumPy and SciPy alone, from their text and the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from papers.errata.huang_networks import Data, M, N, Run, aligned


def least_distance(data, s0, v0):
    """Least distance of the kernel from that of Lemma 5.2 (iii), times n^3 |beta|^6 tr (and m); and over that kernel.

    Between two steps the kernel is interpolated: its distance has an edge where it is least.
    """
    run = Run(data, s0, v0, left=0.5)
    target = aligned(data) / data.gamma
    away = [np.linalg.norm(run.kernel(k) - target, 2) for k in range(len(run.states))]
    k = int(np.argmin(away))
    assert 0 < k < len(away) - 1

    def between(one, two):
        return lambda part: np.linalg.norm((1 - part) * one + part * two - target, 2)

    pairs = [(run.kernel(j), run.kernel(j + 1)) for j in (k - 1, k)]
    best = min(minimize_scalar(between(*pair), bounds=(0, 1), method="bounded").fun for pair in pairs)
    return best * data.n**3 * data.signal**6 * data.trace, best / np.linalg.norm(target, 2)


def test_lemma_52iii_constant_grows_with_the_signal():
    signals = (1, 1.5, 2, 3)
    constants, shares = [], []
    for signal in signals:
        data = Data(signal)
        s0, v0 = data.scales()
        constant, share = least_distance(data, s0, v0)
        constants.append(constant)
        shares.append(share / (v0**2 * data.gamma))
    power = np.polyfit(np.log(signals), np.log(constants), 1)[0]
    assert abs(power - 4.0) < 0.05
    assert np.allclose(constants, [3.4e3, 1.7e4, 5.5e4, 2.8e5], rtol=0.5)
    assert np.allclose(shares, 0.17, atol=0.02)


@pytest.mark.slow
def test_lemma_52iii_from_a_vanishing_start():
    """What is left is how far K is from a multiple of the identity, another number for each draw of the data."""
    constants: dict[int, list[float]] = {}
    for signal in (1, 3):
        data = [Data(signal, seed) for seed in range(3)]
        constants[signal] = [least_distance(one, *(1e-3 * np.array(one.scales())))[0] for one in data]
    assert np.all(np.array(constants[3]) > 1.5 * np.array(constants[1]))
    assert min(constants[1]) > 0.5 and max(constants[1]) < 30


def test_eq13_bounds_fail_after_one_step():
    data = Data()
    run = Run(data, *data.scales(), steps=2)
    v = run.states[1][1]
    bound = run.v0**2  # at t = 1 both bounds on v_r(t) v_r(0) are v_0^2
    off = np.abs(v * run.v0 / bound - 1)
    assert np.all(off > 0)
    s0, v0 = data.scales()
    assert np.isclose(off.max(), 0.02 * s0 / v0 * 4, rtol=0.3)  # the growth of a step, and the largest of 1024 normals


def test_lemma_b1_fourth_claim_quadratic_form():
    """|X(w_r - w_s)|^2 against 2n|w_r - w_s|^2 at t1, for neurons of opposite sign."""
    data = Data()
    s0, v0 = data.scales()
    run = Run(data, s0, v0, left=0.5)
    k = run.first()
    P, v, _ = run.states[k]
    plus, minus = P[v > 0][0], P[v < 0][0]
    moved = (P - run.P0)[v > 0][0] - (P - run.P0)[v < 0][0]
    gap = moved @ np.linalg.solve(data.K, moved)  # |w_r - w_s|^2 of what was learned
    start = 2 * s0**2 * data.d  # and of the starts
    ratio = np.sum((plus - minus) ** 2) / (2 * data.n * (gap + start))
    assert abs(ratio - 493) < 15


@pytest.mark.parametrize(("r", "least", "most"), [(0.3, 3e-4, 5.6), (1, 1.5e-3, 2.4), (3, 0.40, 1.5), (10, 0.86, 1.1)])
def test_lemma_52_neurons_are_not_alike(r, least, most):
    """Eight networks, all neurons; the extremes of 8192 draws scatter where neurons may turn."""
    spans = []
    for seed in range(8):
        data = Data(seed=seed)
        s0, v0 = data.scales(r=r)
        run = Run(data, s0, v0, seed=seed, left=0.9, growth=0.05)
        k = run.first()
        sizes = np.abs(run.rho(k))
        spans.append((sizes.min() / np.median(sizes), sizes.max() / np.median(sizes)))
    low, high = min(s[0] for s in spans), max(s[1] for s in spans)
    assert np.isclose(high, most, rtol=0.25)
    assert np.isclose(low, least, rtol=0.3) if r >= 3 else low < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("r", "share"), [(0.03, 0.533), (0.3, 0.783), (1, 0.996), (3, 1.0)])
def test_signs_kept(r, share):
    assert abs(norm.cdf(r * np.sqrt(np.log(M))) - share) < 0.01
    kept = []
    for seed in range(4):
        data = Data(seed=seed)
        run = Run(data, *data.scales(r=r), seed=seed, growth=0.05)
        kept.append(np.mean(np.sign(run.states[-1][1]) == np.sign(run.v0)))
    assert abs(np.mean(kept) - share) < 0.03


@pytest.mark.parametrize(
    ("signal", "share", "printed", "noiseless"),
    [(0.03, 0.1, 0.40, 0.20), (0.03, 1.0, 0.007, 0.002), (0.3, 1.0, 0.75, 0.78)],
)
def test_small_signals_are_lazy(signal, share, printed, noiseless):
    """Assumption 4.1 at small signals: the ratio where 5% of the loss is lost, and the law of the crossover."""
    ratios: dict[float, list[float]] = {}
    for noise in (0.1, 0.0):
        for seed in range(4):
            data = Data(signal, seed=seed, noise=noise)
            s0, v0 = data.scales(share=share)
            run = Run(data, s0, v0, seed=seed, left=0.9, growth=0.01 if signal > 0.1 or share < 1 else 1e-4)
            k = int(np.argmax(run.loss / run.loss[0] <= 0.95))
            v = run.states[k][1]
            ratio = np.median(run.rho(k) / v) / np.sqrt(data.gamma)
            lost = 1 - np.sqrt(run.loss[k] / run.loss[0])
            assert np.isclose(
                ratio, np.tanh(0.5 * np.arcsinh(2 * lost * np.sqrt(data.gamma) / data.trace / v0**2)), rtol=0.1
            )
            ratios.setdefault(noise, []).append(ratio)
    assert np.isclose(min(ratios[0.1]), printed, rtol=0.4)
    assert np.isclose(np.mean(ratios[0.0]), noiseless, rtol=0.1)


def exact_end(K, y):
    """Mean v^2, rho/v, kernel where training ends from a vanishing start."""
    solved = np.linalg.lstsq(K, y, rcond=1e-10)[0]
    inverse, seen = y @ solved, y @ K @ solved
    square = np.sqrt(inverse)
    fitted = K @ solved
    return square, seen / square, square * (K + np.outer(fitted, fitted) / inverse)


def test_exact_end():
    data = Data(d=300)  # K far from a multiple of the identity
    run = Run(data, 1e-7, 1e-6, left=1e-12, steps=6000, growth=0.05)
    square, ratio, kernel = exact_end(data.K, data.y)
    v = run.states[-1][1]
    assert np.isclose(np.mean(v**2), square, rtol=1e-3)
    assert np.isclose(np.median(run.rho(-1) / v), ratio, rtol=1e-3)
    assert np.isclose(np.mean(run.rho(-1) ** 2), (data.y @ data.y) ** 2 / square, rtol=1e-3)
    assert np.linalg.norm(run.kernel(-1) - kernel, 2) < 1e-3 * np.linalg.norm(kernel, 2)


@pytest.mark.slow
def test_eq10_needs_means_over_neurons():
    """The end of (11) for one neuron: the median |rho_r|^2 over gamma^(5/2)/phi, the mean within 1%."""
    for r, printed in ((0.3, 0.83), (1, 0.49), (3, 0.19), (10, 0.06)):
        off, means = [], []
        for seed in range(4):
            data = Data(seed=seed)
            phi = np.sum((data.K @ data.y) ** 2)
            run = Run(data, *data.scales(r=r), seed=seed, left=1e-8, growth=0.05)
            squares = run.rho(-1) ** 2 / (data.gamma**2.5 / phi)
            off.append(np.median(np.abs(squares - 1)))
            means.append(squares.mean())
        assert np.allclose(means, 1, atol=0.02)
        assert np.isclose(np.mean(off), printed, rtol=0.25)


def test_misprints():
    rng = np.random.default_rng(0)
    data = Data(d=300)
    P, v = rng.standard_normal((50, N)), rng.standard_normal(50)
    m = 50
    gap = data.y - v @ P / m
    # (3): df/dt = -Theta dL/df with L = |f - y|^2/(2n), so + Theta (y - f)/n
    kernel = (v @ v * data.K + P.T @ P) / m**2
    moved = (np.outer(v, data.K @ gap) / m, P @ gap / m)  # n times the flow of (W, v)
    rate = (v @ moved[0] + moved[1] @ P) / m
    assert np.allclose(rate, kernel @ gap)


def pictures(centered, signs, n=80, seed=0):
    """n of scikit-learn's digits 3 and 8."""
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    chosen = np.flatnonzero(np.isin(digits.target, (3, 8)))
    chosen = np.random.default_rng(seed).permutation(chosen)[:n]
    X, labels = digits.data[chosen] / 16, digits.target[chosen]
    y = np.where(labels == 8, 1.0, -1.0) if signs else labels.astype(float)
    return (X - X.mean(0) if centered else X), y


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("signs", [True, False])
def test_figure_2_ratio_and_kernel_leave_again(centered, signs):
    X, y = pictures(centered, signs)
    K = X @ X.T
    gamma = y @ K @ y
    square, ratio, kernel = exact_end(K, y)
    target = K + np.outer(K @ y, K @ y) / gamma
    distance = np.linalg.norm(kernel - square * target, 2) / np.linalg.norm(square * target, 2)
    assert ratio / np.sqrt(gamma) < 0.3
    assert distance > 0.05


def relu_run(X, y, *, m=128, seed=0, growth=0.1, steps=4000):
    """A ReLU network from w ~ N(0, 1e-8), v = +-1e-3: kernel distances at 5% and half of the loss lost."""
    rng = np.random.default_rng(seed)
    n = len(y)
    W, v = 1e-4 * rng.standard_normal((m, X.shape[1])), 1e-3 * rng.choice([-1.0, 1.0], m)
    K = X @ X.T
    Ky = K @ y
    target = K + np.outer(Ky, Ky) / (y @ Ky)
    rate = growth / np.linalg.norm(X.T @ y)
    first, start = None, None
    distances: dict[float, float] = {}
    for _ in range(steps):
        H = W @ X.T
        on = H > 0
        gap = y - v @ (H * on) / m
        loss = gap @ gap / n
        first = first or loss
        if start is None or (0.05 not in distances and loss < 0.95 * first) or loss < 0.5 * first:
            kernel = ((v[:, None] * on).T @ (v[:, None] * on) * K + (H * on).T @ (H * on)) / m
            cosine = np.sum(kernel * target) / np.linalg.norm(kernel) / np.linalg.norm(target)
            aligned = (v @ v / m) * target
            distance = float(np.linalg.norm(kernel - aligned, 2) / np.linalg.norm(aligned, 2))
            if start is None:
                start = cosine
            elif loss < 0.5 * first:
                return start, cosine, distances[0.05], distance
            else:
                distances[0.05] = distance
        W, v = W + rate * (v[:, None] * on * gap) @ X, v + rate * (H * on) @ gap
    raise AssertionError("half of the loss was never lost")


def test_figure_3_raw_pixels_say_nothing():
    X, y = pictures(centered=False, signs=False)
    start, end, early, late = relu_run(X, y)
    K = X @ X.T
    Ky = K @ y
    target = K + np.outer(Ky, Ky) / (y @ Ky)
    gram = np.sum(K * target) / np.linalg.norm(K) / np.linalg.norm(target)
    assert min(start, end, gram) > 0.97
    assert late > early


@pytest.mark.slow
@pytest.mark.parametrize(("n", "quiet", "noisy"), [(10, 0.37, 0.014), (40, 0.33, 0.003)])
def test_no_absolute_constant_in_t1(n, quiet, noisy):
    """The measured t1 over log(1/v_0) sqrt(n)/(sqrt(tr)|beta|), without noise and with noise at the limit of (5)."""
    for variance, printed in ((0.0, quiet), (8 * n, noisy)):
        data = Data(n=n, d=10_000 if n == 10 else 20_000, noise=np.sqrt(variance))
        s0, v0 = data.scales()
        run = Run(data, s0, v0, left=0.9, m=256)
        steps = run.first()
        measured = 0.02 * steps * n / np.sqrt(data.gamma)
        law = np.arcsinh(1 / (v0 * np.sqrt(data.gamma))) * n / np.sqrt(data.gamma)
        assert np.isclose(measured, law, rtol=0.04)
        assert np.isclose(measured / (np.log(1 / v0) * np.sqrt(n / data.trace)), printed, rtol=0.35)
