"""Lambda-balanced flows by the Riccati equation, against DOP853 on the full matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.theories.lazy_active import balanced_solution, self_consistent
from reference import flow

TIMES = np.array([0.0, 0.1, 0.5, 2.0, 15.0])
CASES = [
    (3, 5, 3, 0.8),
    (3, 5, 4, 0.8),
    (3, 5, 2, -0.8),
    (5, 3, 3, 0.8),
    (5, 3, 4, -0.3),
    (4, 4, 4, -1.5),
    (4, 4, 3, 0),
]


def balanced_layers(k, d, h, imbalance, seed=0, scale=0.4):
    """Layers with W1 W1^T - W2^T W2 = imbalance I: the smaller Gram matrix is free, the larger one follows."""
    rng = np.random.default_rng(seed)
    free = scale * rng.standard_normal((k if imbalance >= 0 else d, h))
    values, turn = np.linalg.eigh(free.T @ free + abs(imbalance) * np.eye(h))
    rows = np.linalg.qr(rng.standard_normal((d if imbalance >= 0 else k, h)))[0]
    larger = (turn * np.sqrt(np.maximum(values, 0))) @ rows.T
    return (larger, free) if imbalance >= 0 else (free.T, larger.T)


def full_flow(target, first, second, times):
    return list(zip(*flow(np.eye(target.shape[1]), target, (first, second), times, tolerance=1e-13), strict=True))


@pytest.mark.parametrize(("k", "d", "h", "imbalance"), CASES)
def test_it_is_the_flow_of_the_full_matrices(k, d, h, imbalance):
    target = 2 * np.random.default_rng(9).standard_normal((k, d))
    first, second = balanced_layers(k, d, h, imbalance)
    found = balanced_solution(target, first, second, TIMES)
    assert_allclose(found.imbalance, imbalance, atol=1e-12)
    X = np.random.default_rng(3).standard_normal((3, d))
    for index, (W1, W2) in enumerate(full_flow(target, first, second, TIMES)):
        assert_allclose(found.products[index], W2 @ W1, atol=1e-9)
        assert_allclose(found.first_gram[index], W1.T @ W1, atol=1e-9)
        assert_allclose(found.second_gram[index], W2 @ W2.T, atol=1e-9)
        assert_allclose(found.ntk(X)[index], ln.observables.ntk(ln.Weights(W1, W2), X), atol=1e-8)


@pytest.mark.parametrize(("k", "d"), [(3, 3), (4, 3), (3, 5)])
def test_the_sign_of_the_self_consistent_equation_is_one_of_the_two(k, d):
    target = np.random.default_rng(1).standard_normal((k, d))
    h, g = min(k, d), 0.35
    own, other = [balanced_layers(k, d, h, sign * 2 * g, seed=4) for sign in ((1, -1) if k >= d else (-1, 1))]
    for layers, agrees in ((own, True), (other, k == d)):
        formula = self_consistent(target, layers[1] @ layers[0], g, TIMES)
        solved = balanced_solution(target, *layers, TIMES).products
        assert (np.abs(formula - solved).max() < 1e-9) == agrees


@pytest.mark.parametrize("imbalance", [1e-6, -1e-6, 3.0])
def test_long_times_and_tiny_starts_keep_their_digits(imbalance):
    """From a tiny start a mode waits long for the ones before it; the exact limit is the target."""
    target = np.diag([50.0, 1.0, 0.3])
    first, second = balanced_layers(3, 3, 3, imbalance, seed=2, scale=1e-9)
    first = first * (1 if np.linalg.det(second @ first) > 0 else np.array([[1.0, 1.0, -1.0]]))
    found = balanced_solution(target, first, second, [5.0, 1e3, 1e6])
    assert_allclose(found.products[1:], np.stack([target, target]), atol=1e-9)
    formula = self_consistent(target, second @ first, abs(imbalance) / 2, [5.0])
    assert_allclose(found.products[0], formula[0], atol=1e-7)


def test_a_restart_is_one_run():
    target = np.random.default_rng(9).standard_normal((3, 5))
    first, second = balanced_layers(3, 5, 4, 0.8)
    W1, W2 = full_flow(target, first, second, np.array([0.0, 0.7]))[-1]
    later = balanced_solution(target, W1, W2, [0.5, 3.0])
    assert_allclose(later.products, balanced_solution(target, first, second, [1.2, 3.7]).products, atol=1e-9)


def test_other_layers_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="`first` and `second` must be lambda-balanced"):
        balanced_solution(np.eye(2), rng.standard_normal((3, 2)), rng.standard_normal((2, 3)), [1.0])
    with pytest.raises(ValueError, match=r"`first` and `second` must be \(hidden, 3\) and \(2, hidden\)"):
        balanced_solution(np.ones((2, 3)), np.eye(2), np.eye(2), [1.0])
    found = balanced_solution(np.eye(2), np.eye(2), np.eye(2), [1.0])
    with pytest.raises(ValueError, match="`X` must have 2 columns"):
        found.ntk(np.ones((4, 3)))
