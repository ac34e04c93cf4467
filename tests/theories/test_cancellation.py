"""Formulas at arguments where a difference would lose every digit, against high-precision arithmetic."""

import mpmath as mp
import numpy as np
import pytest

from linnet.theories import ridge, spectral_bias, spiked
from linnet.theories.lazy_active import aligned_modes, self_consistent, self_consistent_solution

PLACES = 400  # products of e^(2 F t) and their inverse cancel to that many digits


def exact_product(target, start, threshold, time):
    """Q Q^T(t) = e^{Ft} Q0 (I + Q0^T int e^{2Fs} Q0)^{-1} Q0^T e^{Ft}, as it stands."""
    with mp.workdps(PLACES):
        goal, begin, g, t = mp.matrix(target), mp.matrix(start), mp.mpf(threshold), mp.mpf(time)
        outputs, inputs = goal.rows, goal.cols
        left, values, right = mp.svd_r(begin)
        width = min(outputs, inputs)
        big = [mp.sqrt(g + mp.hypot(values[i], g)) for i in range(width)]
        small = [values[i] / big[i] for i in range(width)]
        tall = outputs >= inputs
        stacked = mp.zeros(inputs + outputs, width)
        for j in range(width):
            for i in range(inputs):
                stacked[i, j] = right[j, i] * (big[j] if tall else small[j])
            for i in range(outputs):
                stacked[inputs + i, j] = left[i, j] * (small[j] if tall else big[j])
        field = mp.zeros(inputs + outputs)
        for i in range(inputs + outputs):
            field[i, i] = g if (i < inputs) == tall else -g
        for i in range(outputs):
            for j in range(inputs):
                field[inputs + i, j] = field[j, inputs + i] = goal[i, j]
        rates, vectors = mp.eigsy(field)
        q = vectors.T * stacked
        grown = mp.diag([mp.e ** (rate * t) for rate in rates])
        spent = mp.diag([(mp.e ** (2 * rate * t) - 1) / (2 * rate) for rate in rates])
        moved = vectors * grown * q
        square = moved * (mp.eye(width) + q.T * spent * q) ** -1 * moved.T
        return np.array([[float(square[inputs + i, j]) for j in range(inputs)] for i in range(outputs)])


@pytest.mark.parametrize(
    ("target", "start", "threshold", "time"),
    [(1.0, -10.0, 1e-17, 38.35546218487395), (1.0, -1.0, 1e-14, 30.0), (2.0, -1e-3, 1e-9, 9.0), (1.0, -1.0, 0.1, 2.0)],
)
def test_one_mode_from_the_other_sign(target, start, threshold, time):
    exact = exact_product([[target]], [[start]], threshold, time)[0, 0]
    np.testing.assert_allclose(aligned_modes([target], [start], threshold, [time])[0, 0], exact, rtol=1e-11)
    np.testing.assert_allclose(self_consistent([[target]], [[start]], threshold, [time])[0, 0, 0], exact, rtol=1e-10)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (3, 2), (2, 4)])
@pytest.mark.parametrize("threshold", [1e-3, 1e-8, 1e-11, 1e-14])
def test_what_is_called_determined_is(shape, threshold):
    random = np.random.default_rng([*shape, 7])
    target, times = random.normal(size=shape), np.array([0.5, 12.0, 40.0])
    for start in (-0.7 * target, -target * random.uniform(0.2, 2.0, shape[1]), random.normal(size=shape)):
        found = self_consistent_solution(target, start, threshold, times)
        for time, product in zip(times[found.determined], found.products[found.determined], strict=True):
            exact = exact_product(target.tolist(), start.tolist(), threshold, time)
            assert np.abs(product - exact).max() < 2e-6 * np.abs(target).max()
    assert self_consistent_solution(target, -0.7 * target, threshold, times[:1]).determined.all()


@pytest.mark.parametrize(
    ("x", "y", "gamma"), [(1.0, 1 + 1e-9, 0.1), (1e-8, 0.0, 1.0), (3.0, 2.9, 1e-3), (1.0, 50.0, 2.0)]
)
def test_bregman_divergences_keep_their_digits(x, y, gamma):
    with mp.workdps(60):
        a, b, g = mp.mpf(x), mp.mpf(y), mp.mpf(gamma)
        height = lambda v: mp.sqrt(v**2 + g**2)  # noqa: E731
        modes = (a * (mp.asinh(a / g) - mp.asinh(b / g)) - height(a) + height(b)) / 2

        def potential(v):
            balance = height(v) + g
            return mp.mpf(2) / 3 * balance**1.5 - 2 * g * mp.sqrt(balance)

        predictor = potential(a) - potential(b) - b / mp.sqrt(height(b) + g) * (a - b)
        bound = (potential(a) - potential(mp.mpf(0))) / mp.sqrt(2 * g)
    np.testing.assert_allclose(spectral_bias.bregman([x], [y], gamma), float(modes), rtol=1e-6)
    np.testing.assert_allclose(spectral_bias.predictor_bregman([x], [y], gamma), float(predictor), rtol=1e-6)
    np.testing.assert_allclose(spectral_bias.convergence_bound([x], gamma, [1.0])[0], float(bound), rtol=1e-13)


def test_a_huge_spike_leaves_a_small_error():
    np.testing.assert_allclose(spiked.generalization_error(1e17, 1.0, 2.0), 2e-17, rtol=1e-12)


@pytest.mark.parametrize("span", [16, 32, 40])
@pytest.mark.parametrize(("rank", "samples"), [(3, 2), (3, 1), (6, 5)])
def test_the_risk_of_a_spectrum_over_many_decades(span, rank, samples):
    values, noise = np.logspace(-span / 2, span / 2, rank), 0.1
    with mp.workdps(120):
        modes, n = [mp.mpf(float(value)) for value in values], mp.mpf(samples)
        low, high = min(modes) / mp.mpf(10) ** 30, max(modes) * mp.mpf(10) ** 3
        for _ in range(600):  # halving on a logarithmic scale
            kappa = mp.sqrt(low * high)
            low, high = (kappa, high) if sum(one / (kappa + one) for one in modes) / n > 1 else (low, kappa)
        slope = 1 / (1 - sum((one / (kappa + one)) ** 2 for one in modes) / n)
        bias = slope * kappa**2 * sum(one / (kappa + one) ** 2 for one in modes)
        total = bias + mp.mpf(noise) * (slope - 1)
    np.testing.assert_allclose(ridge.risk(values, np.ones(rank), samples), float(bias), rtol=1e-11)
    np.testing.assert_allclose(
        ridge.risk(values, np.ones(rank), samples, noise_variance=noise), float(total), rtol=1e-11
    )


@pytest.mark.parametrize("gamma", [1e-3, 1e-28, 1e-300])
def test_the_bound_of_a_small_start_keeps_its_digits(gamma):
    """From zero the divergence is 2/3 |beta|^(3/2) at gamma = 0; over the root of 2 gamma it canceled."""
    with mp.workdps(50):
        balance, start = mp.hypot(5, mp.mpf(gamma)) + gamma, 2 * mp.mpf(gamma)
        potentials = [mp.mpf(2) / 3 * b**1.5 - 2 * gamma * mp.sqrt(b) for b in (balance, start)]
        divergence = potentials[0] - potentials[1]
    np.testing.assert_allclose(
        spectral_bias.predictor_bregman([3.0, 4.0], [0.0, 0.0], gamma), float(divergence), rtol=1e-13
    )
    bound = spectral_bias.convergence_bound([3.0, 4.0], gamma, [0.0, 2.0])
    assert bound[0] == np.inf
    np.testing.assert_allclose(bound[1], float(divergence / mp.sqrt(start) / 2), rtol=1e-13)


def test_a_bound_beyond_float64_is_refused():
    with pytest.raises(ValueError, match="`convergence_bound` of `beta`, `gamma`, `times` is beyond the range"):
        spectral_bias.convergence_bound([3.0, 4.0], 1e-300, [1e-200])
