"""Rates of forgetting under label noise: against plain descent, the limiting process, and the series in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.theories.label_noise import decay_rates


def test_known_cases():
    whitened = ln.Problem.from_target(np.random.default_rng(0).normal(size=(2, 5)))
    assert_allclose(decay_rates(whitened, learning_rate=0.1, noise_std=0.5), np.full(3, 2 * 0.1 * 0.25 / 2))
    # the target along an eigenvector: that direction leaves the list, the others keep their own rate
    aligned = ln.Problem.from_moments(np.diag([3.0, 2.0, 0.5]), [[0.0, 2.0, 0.0]])
    assert_allclose(decay_rates(aligned, learning_rate=0.1, noise_std=1.0), 0.05 * np.array([0.5, 3.0]))
    assert (decay_rates(aligned, learning_rate=0.1, noise_std=0.0) == 0).all()


def test_refusals():
    problem = ln.Problem.from_moments(np.diag([3.0, 2.0, 0.5]), [[0.0, 2.0, 0.0]])
    with pytest.raises(ValueError, match=r"`order=2` is known for one output and whitened inputs"):
        decay_rates(problem, learning_rate=0.1, noise_std=1.0, order=2)
    with pytest.raises(ValueError, match=r"`order` must be 1 or 2"):
        decay_rates(problem, learning_rate=0.1, noise_std=1.0, order=3)
    with pytest.raises(ValueError, match="full rank"):
        decay_rates(ln.Problem.from_moments(np.diag([1.0, 0.0]), [[1.0, 0.0]]), learning_rate=0.1, noise_std=1.0)
    white = ln.Problem.from_target([[3.0, 0.0]])
    with pytest.raises(ValueError, match=r"`learning_rate` must be below 1/\|A\|"):
        decay_rates(white, learning_rate=0.34, noise_std=0.1, order=2)
    with pytest.raises(ValueError, match=r"the flattest interpolator is unstable"):
        decay_rates(white, learning_rate=0.32, noise_std=0.1)
    with pytest.raises(ValueError, match=r"`noise_std` must be below 4.61 .* by its own size"):
        decay_rates(white, learning_rate=0.1, noise_std=5.0)
    decay_rates(white, learning_rate=0.1, noise_std=4.6)


def late_rates(cov, solution, *, step, noise, steps, copies, seed):
    """Plain descent in NumPy from the flattest interpolator with a little more in W1 (copies, d - k)."""
    random, (k, d) = np.random.default_rng(seed), solution.shape
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(values) @ vectors.T
    size, turn = np.linalg.eigh(solution @ cov @ solution.T * k / np.trace(cov))
    B = turn * size**0.25
    W2 = np.zeros((copies, k, k + d))
    W1 = np.zeros((copies, k + d, d))
    W2[:, :, :k], W1[:, :k] = B, np.linalg.solve(B, solution)
    W1[:, k:] = 0.02 * random.normal(size=(copies, d, d))
    half = None
    for index in range(steps):
        if index == steps // 2:
            half = np.linalg.svd(W1, compute_uv=False)
        G = (W2 @ W1 - solution) @ cov + noise * random.normal(size=(copies, k, d)) @ root
        W1, W2 = W1 - step * W2.transpose(0, 2, 1) @ G, W2 - step * G @ W1.transpose(0, 2, 1)
    return np.log(half / np.linalg.svd(W1, compute_uv=False))[:, k:] / (step * (steps - steps // 2))


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 2])
def test_plain_descent_forgets_at_these_rates(outputs):
    random = np.random.default_rng([5, outputs])
    Q = np.linalg.qr(random.normal(size=(4, 4)))[0]
    cov, solution = Q * np.array([2.0, 1.0, 0.5, 0.25]) @ Q.T, 1.5 * random.normal(size=(outputs, 4))
    problem = ln.Problem.from_moments(cov, solution @ cov)
    expected = decay_rates(problem, learning_rate=0.02, noise_std=0.6)
    rates = late_rates(cov, solution, step=0.02, noise=0.6, steps=40_000, copies=24, seed=outputs)
    error = rates.std(0, ddof=1) / np.sqrt(len(rates))
    assert (np.abs(rates.mean(0) - expected) < 4 * error + 0.08 * expected).all()
    assert abs(rates.mean() / expected.mean() - 1) < 0.06


def limiting_rate(d, step, noise, size, *, copies, steps, seed):
    """The mean rate once M has vanished, from the closed process of (A, s, y), over eta delta^2/2; and its error."""
    random = np.random.default_rng(seed)
    A = np.zeros((copies, d))
    A[:, 0] = size
    target, s = A.copy(), np.full(copies, size / np.sqrt(d))
    y = A * (s / size**2)[:, None]
    logs, before = np.zeros(copies), np.zeros(copies)
    for index in range(steps):
        if index == steps // 4:
            logs[:], before = 0, np.log(np.sum(A * A, 1) / s) / 2
        G = A - target + noise * random.normal(size=A.shape)
        along, AG = np.sum(G * y, 1), np.sum(A * G, 1)
        logs += np.log(np.abs(1 - step * along))
        y = y * ((1 - step**2 * np.sum(G * G, 1)) / (1 - step * along))[:, None] - step * G
        A = A - step * (s[:, None] * G + A * (AG / s)[:, None]) + step**2 * AG[:, None] * G
        s = (np.sqrt(s) - step * AG / np.sqrt(s)) ** 2
    logs -= np.log(np.sum(A * A, 1) / s) / 2 - before
    rates = -logs / ((steps - steps // 4) * step * (d - 1)) / (step * noise**2 / 2)
    return rates.mean(), rates.std(ddof=1) / np.sqrt(copies)


@pytest.mark.parametrize(("d", "size"), [(2, 1.4), (5, 2.2)])
def test_the_second_order_against_its_limiting_process(d, size):
    step, noise = 0.02, 0.8
    problem = ln.Problem.from_target(np.eye(1, d) * size)
    leading, second = (
        decay_rates(problem, learning_rate=step, noise_std=noise, order=order).mean() for order in (1, 2)
    )
    rate, error = limiting_rate(d, step, noise, size, copies=400, steps=6000, seed=d)
    assert abs(rate - second / leading) < 4 * error + 2e-3
    if d == 5:  # at d = 2 the terms in the step and in the noise nearly cancel
        assert abs(rate - 1) > 10 * error


@pytest.mark.parametrize(("d", "size", "step"), [(4, 2.8, 0.2), (5, 2.2, 0.3)])
def test_long_steps_move_the_flattest_interpolator(d, size, step):
    """At 0.6 of the largest step; with the second layer of small steps the rate would be 5 and 8% too small."""
    problem = ln.Problem.from_target(np.eye(1, d) * size)
    leading, second = (decay_rates(problem, learning_rate=step, noise_std=0.15, order=order) for order in (1, 2))
    rate, error = limiting_rate(d, step, 0.15, size, copies=100, steps=14_000, seed=d)
    assert abs(rate - second.mean() / leading.mean()) < 4 * error + 2e-3
    assert abs(rate - 1 / (1 - step * size / np.sqrt(d) / 2)) > 10 * error


@pytest.mark.parametrize(("d", "s"), [(2, Fraction(1, 2)), (2, Fraction(3)), (4, Fraction(1, 2))])
def test_the_constant_by_exact_arithmetic(d, s):
    """The coefficients of eta delta^2 and of its square as fractions, from the stochastic equation alone."""
    first, second = series(d, s)
    assert first == Fraction(-1, 2)
    if d * s * s == 1:  # the stationary s for |A| = 1
        assert second == Fraction((d - 1) * (d + 3), 4 * (d + 2)) / s


# Polynomials as {powers: coefficient}; the first variable is epsilon, the square root of eta delta^2.
Polynomial = dict[tuple[int, ...], Fraction]


def add(*terms):
    total: Polynomial = {}
    for term in terms:
        for powers, value in term.items():
            total[powers] = total.get(powers, 0) + value
    return {powers: value for powers, value in total.items() if value}


def times(a, b, most=4):
    total: Polynomial = {}
    for (p, x), (q, z) in product(a.items(), b.items()):
        if p[0] + q[0] <= most:
            powers = tuple(i + j for i, j in zip(p, q, strict=True))
            total[powers] = total.get(powers, 0) + x * z
    return {powers: value for powers, value in total.items() if value}


def scale(a, by):
    return {powers: value * by for powers, value in a.items()} if by else {}


def dot(a, b):
    return add(*(times(x, z) for x, z in zip(a, b, strict=True)))


def derivative(a, i):
    return {(*p[:i], p[i] - 1, *p[i + 1 :]): p[i] * v for p, v in a.items() if p[i]}


def coefficient(a, k, shift=0):
    return {(0, *p[1:]): v for p, v in a.items() if p[0] - shift == k}


def powers_of(a, coefficients, one):
    total: Polynomial = {}
    power = one
    for value in coefficients:
        total, power = add(total, scale(power, value)), times(power, a)
    return total


def series(d, S):
    """Growth of each small value to second order in theta = eta delta^2, for |A*| = 1 and a second layer with s = S.

    Variables: epsilon, the scaled errors e of A along A* and across it, and the slow tilt o of y across it.
    """
    n, m = 2 * d - 1, d - 1
    unit = lambda i: tuple(int(i == j) for j in range(n + 1))  # noqa: E731
    one, eps = {unit(-1): Fraction(1)}, {unit(0): Fraction(1)}
    variables = [{unit(i): Fraction(1)} for i in range(1, n + 1)]
    e = [times(eps, v) for v in variables[:d]]
    A = [add(one, e[0]), *e[1:]]
    excess = add(scale(e[0], 2), dot(e, e))  # |A|^2 - 1
    c = S + 1 / S
    root = [Fraction(v) * (4 / c**2) ** i for i, v in enumerate((1, "1/2", "-1/8", "1/16", "-5/128"))]
    s = add(scale(one, (S - 1 / S) / 2), scale(powers_of(excess, root, one), c / 2))  # s - |A|^2/s is kept
    inverse = powers_of(add(s, scale(one, -S)), [(-1) ** i / S ** (i + 1) for i in range(5)], one)
    y = [{}, *(times(eps, add(variables[d + i], scale(variables[1 + i], 1 / S))) for i in range(m))]
    y[0] = times(add(s, scale(dot(A[1:], y[1:]), -1)), powers_of(scale(e[0], -1), [1] * 5, one))  # A.y = s
    theta, Ae, ye, yy = times(eps, eps), dot(A, e), dot(y, e), dot(y, y)
    drift = [add(scale(add(times(s, e[i]), times(times(A[i], Ae), inverse)), -1), times(theta, A[i])) for i in range(d)]
    noise = [
        [scale(add(s if i == j else {}, times(times(A[i], A[j]), inverse)), -1) for j in range(d)] for i in range(d)
    ]
    for i in range(1, d):  # y across A*, less e/S, which is slow
        own = add(scale(e[i], -1), times(y[i], ye), times(theta, times(y[i], add(yy, scale(one, -d)))))
        drift.append(add(own, scale(drift[i], -1 / S)))
        noise.append([
            add(scale(one, -1) if i == j else {}, times(y[i], y[j]), scale(noise[i][j], -1 / S)) for j in range(d)
        ])  # fmt: skip
    spread = [[dot(noise[i], noise[j]) for j in range(n)] for i in range(n)]

    def generator(k, f):
        total: Polynomial = {}
        for i in range(n):
            slope = derivative(f, i + 1)
            total = add(total, times(coefficient(drift[i], k, 1), slope))
            for j in range(n):
                bend = scale(derivative(slope, j + 1), Fraction(1, 2))
                total = add(total, times(coefficient(spread[i][j], k), bend))
        return total

    def solved(h):
        """f with generator(0, f) + h free of e, and that rest."""
        f: Polynomial = {}
        while top := max((sum(p[1 : 1 + d]) for p in h), default=0):
            pieces = {p: v for p, v in h.items() if sum(p[1 : 1 + d]) == top}
            more = {p: v / (p[1] * c + sum(p[2 : 1 + d]) * S) for p, v in pieces.items()}
            f, h = add(f, more), add(h, generator(0, more))
        return f, h

    # d ln|det W1| - d ln sigma_1 per unit of time, with sigma_1^2 = |A|^2/s
    largest = times(s, powers_of(excess, [(-1) ** i for i in range(5)], one))
    own = add(scale(Ae, -1), times(theta, scale(s, Fraction(d - 2, 2))))
    growth = add(scale(ye, -1), scale(times(theta, yy), Fraction(-1, 2)), scale(times(own, largest), -1))
    f: dict[int, Polynomial] = {}
    rests: dict[int, Polynomial] = {}
    for k in (1, 2, 3, 4):
        f[k], rests[k] = solved(add(coefficient(growth, k), *(generator(k - i, f[i]) for i in range(1, k))))
    tilt = add(*(times(v, v) for v in variables[d:]))
    slow = solved(add(generator(2, tilt), generator(1, solved(generator(1, tilt))[0])))[1]
    constant, square = unit(-1), tuple(2 * i for i in unit(n))
    weight = -rests[4].get(square, 0) / slow[square]  # the tilt's mean square, from its own balance
    assert not rests[1] and not rests[3] and set(rests[2]) == {constant}
    return rests[2][constant] / m, (rests[4].get(constant, 0) + weight * slow.get(constant, 0)) / m
