"""Stein's risk of spectral filters: unbiased by Monte Carlo in standard errors, its ties by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.theories import lazy_active
from linnet.theories.denoising import sure

SETTINGS = [  # shape, rank, noise, filter
    ((20, 20), 2, 1.0, "flow"),
    ((12, 30), 3, 0.5, "flow"),
    ((30, 12), 1, 2.0, "flow"),
    ((15, 15), 4, 1.0, "soft"),
    ((10, 40), 2, 1.0, "soft"),
    ((25, 20), 0, 1.0, "shrink"),
    ((6, 50), 6, 0.3, "shrink"),
]


def filters(name, s, noise, shape):
    edge = noise * (np.sqrt(shape[0]) + np.sqrt(shape[1]))
    if name == "flow":
        time = 0.8 / edge
        return lazy_active.mode_values(s, 0.3 * edge, [time])[0], lazy_active.mode_slopes(s, 0.3 * edge, [time])[0]
    if name == "soft":
        return np.maximum(s - 0.6 * edge, 0), (s > 0.6 * edge).astype(float)
    return s**3 / (s**2 + edge**2), s**2 * (s**2 + 3 * edge**2) / (s**2 + edge**2) ** 2


def excess(shape, rank, noise, name, estimate, draws=400):
    """Estimated minus true risk over many draws, in standard errors."""
    draw = np.random.default_rng([*shape, rank])
    truth = draw.normal(size=(shape[0], rank)) @ draw.normal(size=(rank, shape[1]))
    gaps = []
    for _ in range(draws):
        noisy = truth + noise * draw.normal(size=shape)
        u, s, v = np.linalg.svd(noisy, full_matrices=False)
        f, slope = filters(name, s, noise, shape)
        risk = ((u * f @ v - truth) ** 2).sum()
        gaps.append(float(estimate(s, f, slope, shape=shape, noise_variance=noise**2)) - risk)
    return np.mean(gaps) / (np.std(gaps, ddof=1) / np.sqrt(draws))


@pytest.mark.parametrize(("shape", "rank", "noise", "name"), SETTINGS)
def test_it_is_unbiased(shape, rank, noise, name):
    assert abs(excess(shape, rank, noise, name, sure)) < 3


def test_without_the_difference_of_the_sides_it_is_biased():
    """The control: the term with |m - n| dropped."""

    def wrong(s, f, slope, *, shape, noise_variance):
        missing = abs(shape[0] - shape[1]) * np.sum(f / s)
        return sure(s, f, slope, shape=shape, noise_variance=noise_variance) - 2 * noise_variance * missing

    assert abs(excess((12, 30), 3, 0.5, "flow", wrong, draws=100)) > 10


def divergence(matrix, apply, step=1e-6):
    """Sum of d f(Y)_ij / d Y_ij by central differences."""
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            nudge = np.zeros(matrix.shape)
            nudge[i, j] = step
            total += (apply(matrix + nudge)[i, j] - apply(matrix - nudge)[i, j]) / (2 * step)
    return total


def cubic(matrix):
    u, s, v = np.linalg.svd(matrix, full_matrices=False)
    return u * (s**3 / (s**2 + 4)) @ v


@pytest.mark.parametrize(
    "values", [[3.0, 3.0, 1.0], [2.0, 2.0, 2.0], [3.0, 0.0, 0.0], [3.0, 2.0, 1.0], [2.0, 2.0 * (1 + 1e-7), 0.5]]
)
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)])
def test_ties_and_zeros_against_brute_force(values, shape):
    draw = np.random.default_rng(0)
    u, v = np.linalg.qr(draw.normal(size=(shape[0], 3)))[0], np.linalg.qr(draw.normal(size=(shape[1], 3)))[0]
    matrix, s = u * np.array(values) @ v.T, np.array(values)
    f, slope = s**3 / (s**2 + 4), s**2 * (s**2 + 12) / (s**2 + 4) ** 2
    estimate = sure(s, f, slope, shape=shape, noise_variance=0.5)
    expected = -0.5 * shape[0] * shape[1] + ((f - s) ** 2).sum() + divergence(matrix, cubic)
    assert_allclose(estimate, expected, rtol=1e-5)


def test_many_filters_at_once_and_any_order():
    s = np.array([5.0, 0.5, 2.0])
    f = np.stack([0.3 * s, s, 0 * s])
    slope = np.stack([0.3 + 0 * s, 1 + 0 * s, 0 * s])
    found = sure(s, f, slope, shape=(3, 4), noise_variance=0.7)
    assert found.shape == (3,)
    assert_allclose(found[1], 12 * 0.7)  # Y itself
    assert_allclose(found[2], (s**2).sum() - 12 * 0.7)  # nothing kept
    assert_allclose(found[0], sure(s[::-1], f[0, ::-1], slope[0], shape=(4, 3), noise_variance=0.7))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": [1.0]}, "`values` must be all 2 singular values"),
        ({"values": [1.0, -1.0]}, "`values` must not be negative"),
        ({"filtered": [1.0]}, "`filtered` and `slopes` must be"),
        ({"slopes": [[1.0, 1.0]]}, "`filtered` and `slopes` must be"),
        ({"noise_variance": -1.0}, "`noise_variance` must not be negative"),
        ({"filtered": [np.nan, 1.0]}, "`filtered` must be finite"),
    ],
)
def test_bad_input(changes, message):
    good = {"values": [2.0, 1.0], "filtered": [1.0, 0.5], "slopes": [0.5, 0.5], "shape": (2, 3), "noise_variance": 1.0}
    arguments = good | changes
    with pytest.raises(ValueError, match=message):
        sure(arguments.pop("values"), arguments.pop("filtered"), arguments.pop("slopes"), **arguments)
