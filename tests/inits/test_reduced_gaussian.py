"""The law of a wide Gaussian start, drawn without building it."""

import numpy as np
import pytest
from scipy import stats

import linnet as ln
from linnet.inits.weights import Weights

D, K, WIDTH, DRAWS = 3, 2, 7, 6000
SCALES = {"stds": (0.7, 1.9)}


def statistics(weights):
    """Invariants of the hidden rotation: entries of A, C1, C2 and their singular values, one row a draw."""
    A = weights.product
    C1 = np.swapaxes(weights.first, -1, -2) @ weights.first
    C2 = weights.second @ np.swapaxes(weights.second, -1, -2)
    parts = [m.reshape(len(m), -1) for m in (A, C1, C2)]
    parts += [np.linalg.svd(m, compute_uv=False) for m in (A, C1, C2)]
    return np.concatenate(parts, axis=1)


def wide():
    full = ln.inits.gaussian(key=1, in_dim=D, out_dim=K, width=WIDTH, batch=DRAWS, **SCALES)
    return ln.reduce(ln.Problem.from_target(np.zeros((K, D))), full).weights


def wrong_degrees(shift):
    """Bartlett's triangle with chi-squares off by `shift` degrees of freedom."""
    random = np.random.default_rng(2)
    q = D + K
    triangle = np.triu(random.standard_normal((DRAWS, q, q)), 1)
    triangle[:, np.arange(q), np.arange(q)] = np.sqrt(random.chisquare(WIDTH - np.arange(q) + shift, (DRAWS, q)))
    first, second = 0.7 * triangle[..., :D], 1.9 * triangle[..., D:]
    return Weights(first, np.swapaxes(second, -1, -2))


def largest_z(a, b):
    """The largest distance between means and between mean squares, in standard errors."""
    worst = 0.0
    for power in (1, 2):
        x, y = a**power, b**power
        error = np.sqrt(x.var(axis=0) / len(x) + y.var(axis=0) / len(y))
        worst = max(worst, float(np.max(np.abs(x.mean(axis=0) - y.mean(axis=0)) / error)))
    return worst


def smallest_p(a, b):
    return min(stats.ks_2samp(a[:, i], b[:, i]).pvalue for i in range(a.shape[1]))


def test_the_law_is_that_of_a_reduced_wide_start():
    reference = statistics(wide())
    drawn = statistics(ln.inits.reduced_gaussian(key=3, in_dim=D, out_dim=K, width=WIDTH, batch=DRAWS, **SCALES))
    assert largest_z(reference, drawn) < 4.5  # of 52 correlated statistics
    assert smallest_p(reference, drawn) > 1e-4


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_wrong_chi_square_degree_is_caught(shift):
    reference, wrong = statistics(wide()), statistics(wrong_degrees(shift))
    assert largest_z(reference, wrong) > 4.5
    assert smallest_p(reference, wrong) < 1e-4


def test_a_billion_and_beyond_cost_what_a_few_cost():
    for width in (10**9, 2**31 + 5, 10**15):
        weights = ln.inits.reduced_gaussian(key=0, in_dim=4, out_dim=3, width=width, stds=1e-3)
        assert weights.first.shape == (7, 4) and weights.second.shape == (3, 7)
        gram = weights.first.T @ weights.first / (1e-6 * width)
        assert np.allclose(gram, np.eye(4), atol=10 / np.sqrt(width))


def test_a_narrow_network_is_drawn_itself():
    options = {"in_dim": 4, "out_dim": 3, "width": 6, "stds": 1.0}
    small, same = ln.inits.reduced_gaussian(key=5, **options), ln.inits.gaussian(key=5, **options)
    assert np.array_equal(small.first, same.first) and np.array_equal(small.second, same.second)


def test_what_memory_would_not_hold_is_refused_before_it_is_drawn():
    with pytest.raises(ValueError, match="a reduced network of `in_dim` = 1000000 and `out_dim` = 3 would take"):
        ln.inits.reduced_gaussian(key=0, in_dim=10**6, out_dim=3, width=10**9, stds=1.0)
    with pytest.raises(
        ValueError, match="a problem of `samples` = 1000000, `in_dim` = 1000000 and `out_dim` = 1 would"
    ):
        ln.problems.gaussian_regression(key=0, samples=10**6, in_dim=10**6)
