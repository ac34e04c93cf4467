"""The law of the singular values of noise against quadrature and against drawn matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from linnet.theories.noise_bulk import bulk_cdf, bulk_edges, bulk_quantile, ratio_of


@pytest.mark.parametrize("ratio", [1.0, 0.7, 0.1, 1e-3])
def test_share_is_the_integral_of_the_density(ratio):
    low, high = bulk_edges(ratio)
    density = lambda s: np.sqrt(max((high**2 - s**2) * (s**2 - low**2), 0)) / (np.pi * ratio * s)  # noqa: E731
    for value in np.linspace(low, high, 5)[1:]:
        assert_allclose(bulk_cdf(value, ratio), quad(density, low, value)[0], atol=1e-8)
    assert bulk_cdf([low, high], ratio).tolist() == pytest.approx([0, 1], abs=1e-12)


def test_quantiles_turn_shares_around():
    for share in (0.01, 0.5, 0.9):
        assert_allclose(bulk_cdf(bulk_quantile(share, 0.4), 0.4), share, atol=1e-10)
    assert (bulk_quantile(0.0, 0.4), bulk_quantile(1.0, 0.4)) == bulk_edges(0.4)


def test_noise_follows_it():
    values = np.linalg.svd(np.random.default_rng(0).normal(size=(150, 400)), compute_uv=False) / 20
    assert ratio_of(150, 400) == ratio_of(400, 150) == 0.375
    shares = np.sort(bulk_cdf(values, 0.375))
    assert np.abs(shares - (np.arange(150) + 0.5) / 150).max() < 0.02
    assert np.abs(bulk_cdf(values, 0.6) - shares[::-1]).max() > 0.05  # the control: another shape is another law
