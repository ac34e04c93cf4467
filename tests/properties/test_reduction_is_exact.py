"""Reduced and lifted runs against plain NumPy at full width, on random shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linnet as ln
from linnet.trainers.stability import stable_learning_rate
from reference import descent, flow, normwise, random_layers, random_moments


@st.composite
def cases(draw, wide=(500, 3000)):
    d, k = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    n = draw(st.one_of(st.integers(1, d), st.integers(d, 3 * d + 2)))
    h = draw(st.one_of(st.integers(1, d + k), st.integers(d + k, 60), st.sampled_from(wide)))
    return d, k, n, h, draw(st.integers(0, 10_000))


def setting(case, singular=False):
    d, k, n, h, seed = case
    X, Y = random_moments(seed, d, k, n)
    if singular and d > 1:
        X[:, -1] = X[:, 0]
    first, second = random_layers(seed, d, k, h)
    return X, Y, first, second


@given(case=cases(), decay=st.sampled_from([0.0, 0.05]), momentum=st.sampled_from([0.0, 0.6]), singular=st.booleans())
@settings(max_examples=25)
def test_descent(case, decay, momentum, singular):
    X, Y, first, second = setting(case, singular)
    n = len(X)
    problem = ln.Problem.from_data(X, Y)
    weights = ln.Weights(first, second)
    rate = 0.5 * (1 - momentum) * stable_learning_rate(problem, weights)
    steps = 40
    got = ln.gradient_descent(
        problem, weights, learning_rate=rate, steps=steps, save_every=20, weight_decay=decay, momentum=momentum
    )
    assert got.reduced.width == min(weights.width, got.reduced.in_dim + Y.shape[1])
    assert got.reduced.in_dim <= min(X.shape)
    *_, (a, b) = descent((first, second), X.T @ X / n, Y.T @ X / n, rate, steps, decay=decay, momentum=momentum)
    lifted = got.weights_at(-1)
    assert normwise(lifted.first, a) < 1e-11
    assert normwise(lifted.second, b) < 1e-11
    assert normwise(got.products[-1], b @ a) < 1e-11
    assert normwise(lifted.first.T @ lifted.first, a.T @ a) < 1e-11
    assert normwise(lifted.second @ lifted.second.T, b @ b.T) < 1e-11
    loss = 0.5 * np.sum((Y - X @ (b @ a).T) ** 2) / n
    assert abs(got.loss[-1] - loss) < 1e-11 * got.loss[0]


@given(case=cases(wide=(300,)))  # most of the time goes to the reference, at full width
@settings(max_examples=6)
def test_flow(case):
    X, Y, first, second = setting(case)
    n, tolerance = len(X), 1e-9
    problem, weights = ln.Problem.from_data(X, Y), ln.Weights(first, second)
    times = np.array([0.7, 2.0])
    got = ln.gradient_flow(problem, weights, times=times, rtol=tolerance)
    a, b = flow(X.T @ X / n, Y.T @ X / n, (first, second), times, tolerance=1e-12)
    assert normwise(got.weights.first[-1], a[-1]) < 10 * tolerance
    assert normwise(got.weights.second[-1], b[-1]) < 10 * tolerance
    assert normwise(got.products[-1], b[-1] @ a[-1]) < 10 * tolerance


@given(case=cases(), turn=st.integers(0, 1000))
@settings(max_examples=15)
def test_reduce_then_lift_is_the_identity_and_rotations_change_nothing(case, turn):
    X, Y, first, second = setting(case)
    problem = ln.Problem.from_data(X, Y)
    weights = ln.Weights(first, second)
    reduction = ln.reduce(problem, weights)
    lifted = reduction.lift(reduction.weights)
    assert normwise(lifted.first, first) < 1e-13
    assert normwise(lifted.second, second) < 1e-13
    if weights.width < 100:
        rotation, _ = np.linalg.qr(np.random.default_rng(turn).standard_normal((weights.width,) * 2))
        turned = ln.reduce(problem, ln.Weights(rotation @ first, second @ rotation.T))
        small, other = reduction.weights, turned.weights
        assert np.allclose(small.product, other.product, atol=1e-13)
        assert np.allclose(small.first.T @ small.first, other.first.T @ other.first, atol=1e-13)


def test_weight_decay_shrinks_what_the_data_never_touch():
    X, Y, first, second = setting((12, 2, 4, 30, 5))
    problem = ln.Problem.from_data(X, Y)
    got = ln.gradient_descent(problem, ln.Weights(first, second), learning_rate=0.02, steps=50, weight_decay=0.3)
    outside = np.linalg.svd(X)[2][4:].T
    assert normwise(got.weights.first[-1] @ outside, (1 - 0.02 * 0.3) ** 50 * first @ outside) < 1e-12
    without = ln.gradient_descent(problem, ln.Weights(first, second), learning_rate=0.02, steps=50)
    assert normwise(without.weights.first[-1] @ outside, first @ outside) < 1e-12


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_test_loss_sees_what_training_does_not(decay):
    X, Y, first, second = setting((12, 2, 4, 30, 5))
    random = np.random.default_rng(3)
    root = random.standard_normal((12, 12))
    truth = random.standard_normal((2, 12))
    problem = ln.Problem.from_data(X, Y, truth=truth, test_cov=root @ root.T)
    got = ln.gradient_descent(problem, ln.Weights(first, second), learning_rate=0.02, steps=50, weight_decay=decay)
    errors = (got.products - truth) @ root
    assert np.allclose(got.test_loss, 0.5 * (errors**2).sum(axis=(-1, -2)), rtol=1e-12)
