"""The learning curve without data, against the ridgeless risk and against drawn data."""

import numpy as np
import pytest

import linnet as ln
from linnet.theories.one_output import asymptotic, error_over_time

TIMES = np.array([0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0])
SPIKE = {"eigenvalues": [21.0, 1.0], "overlaps": [0.5, 0.5]}


@pytest.mark.parametrize(("dim", "samples"), [(300, 200), (200, 400), (200, 230)])
@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_it_ends_at_the_ridgeless_risk(dim, samples, noise):
    options = {"multiplicities": [1, dim - 1], "noise_variance": noise}
    curve = asymptotic(**SPIKE, samples=samples, threshold=0.05, times=[0.0, 1e7], **options)
    risk = ln.theories.ridge.risk(SPIKE["eigenvalues"], SPIKE["overlaps"], samples, **options)
    np.testing.assert_allclose(2 * curve.test_loss[-1], risk, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(2 * curve.test_loss[0], 11.0, rtol=1e-10)
    np.testing.assert_allclose(2 * curve.loss, [11.0 + noise, noise * max(1 - dim / samples, 0)], rtol=1e-6, atol=1e-6)


def drawn(dim, samples, noise, threshold, draws):
    curves = []
    for seed in range(draws):
        random = np.random.default_rng([dim, samples, seed])
        X = random.normal(size=(samples, dim))
        X[:, 0] *= np.sqrt(21.0)
        truth = np.append(np.sqrt(0.5), random.normal(size=dim - 1))
        truth[1:] *= np.sqrt(0.5) / np.linalg.norm(truth[1:])
        y = X @ truth + np.sqrt(noise) * random.normal(size=samples)
        cov = np.diag(np.append(21.0, np.ones(dim - 1)))
        curve = error_over_time(ln.Problem.from_data(X, y, truth=truth[None], test_cov=cov), threshold, TIMES)
        curves.append([curve.test_loss, curve.loss])
    return np.array(curves)


@pytest.mark.parametrize(("dim", "samples"), [(150, 100), (100, 200), (100, 105), (100, 100)])
def test_drawn_data_scatter_around_it(dim, samples):
    curves = drawn(dim, samples, 0.25, 0.05, draws=16)
    predicted = asymptotic(
        **SPIKE, samples=samples, multiplicities=[1, dim - 1], noise_variance=0.25, threshold=0.05, times=TIMES
    )
    for part, law in enumerate((predicted.test_loss, predicted.loss)):
        mean, error = curves[:, part].mean(0), curves[:, part].std(0, ddof=1) / 4
        bias = 3 * law / samples  # a finite problem is O(1/n) from its limit
        assert np.all(np.abs(mean - law) < 4 * error + bias)
    other = asymptotic(
        **SPIKE, samples=samples, multiplicities=[1, dim - 1], noise_variance=0.25, threshold=0.5, times=TIMES
    )
    mean, error = curves[:, 0].mean(0), curves[:, 0].std(0, ddof=1) / 4
    assert np.any(np.abs(mean - other.test_loss) > 6 * error + 3 * mean / samples)  # the control: another threshold


def test_a_spectrum_of_many_values_is_as_good_as_its_groups():
    grouped = asymptotic([4.0, 1.0], [0.3, 0.7], 80, multiplicities=[10, 40], threshold=0.1, times=TIMES)
    each = asymptotic([4.0] * 10 + [1.0] * 40, [0.03] * 10 + [0.7 / 40] * 40, 80, threshold=0.1, times=TIMES)
    np.testing.assert_allclose(grouped.test_loss, each.test_loss, rtol=1e-9)


def test_what_it_refuses():
    with pytest.raises(ValueError, match="same length"):
        asymptotic([1.0, 2.0], [1.0], 10, threshold=0.1, times=[1.0])
    with pytest.raises(ValueError, match="must not be negative"):
        asymptotic([-1.0], [1.0], 10, threshold=0.1, times=[1.0])
    with pytest.raises(ValueError, match="nothing to learn"):
        asymptotic([1.0], [0.0], 10, threshold=0.1, times=[1.0])
