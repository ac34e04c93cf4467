"""Lazy and active are measured labels: predicted movements of the tangent kernel against trained networks, mode by
mode."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.observables.mode_regimes import ACTIVE_MOVEMENT, labels


def table(seed=0, n=300, d=8, k=4):
    """Correlated inputs, so that neither the covariance nor the solution is aligned with the cross-covariance."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) @ random.standard_normal((d, d)) / np.sqrt(d)
    Y = X @ random.standard_normal((d, k)) * np.geomspace(1, 0.05, k) + 0.1 * random.standard_normal((n, k))
    return X, Y


def kernels(weights, left, right):
    """The tangent kernel along modes by brute force: the length of the gradient of u^T W2 W1 v in all weights."""
    found = []
    for u, v in zip(left.T, right.T, strict=True):
        gradients = np.outer(weights.second.T @ u, v), np.outer(u, weights.first @ v)
        found.append(sum((g**2).sum() for g in gradients))
    return np.array(found)


def trained(problem, start):
    rate = 0.2 * ln.stable_learning_rate(problem, start)
    return ln.gradient_descent(problem, start, learning_rate=rate, steps=30000, save_every=ln.trajectories.last())


@pytest.mark.parametrize(("first_std", "second_std"), [(1e-3, 1e-3), (2e-3, 0.0), (3e-4, 1.2e-3), (0.02, 0.02)])
def test_the_kernel_moves_as_predicted_whether_or_not_the_layers_are_equal(first_std, second_std):
    X, Y = table()
    problem = ln.Problem.from_data(X, Y)
    start = ln.inits.reduced_gaussian(key=1, in_dim=8, out_dim=4, width=10**6, stds=(first_std, second_std))
    found = ln.observables.regimes(problem, start)
    run = trained(problem, start)
    end = run.weights_at(-1)
    found = ln.observables.regimes(problem, start, product=end.product)
    measured = kernels(end, found.left, found.right) / kernels(start, found.left, found.right)
    assert_allclose(found.measured(end), measured, rtol=1e-10)
    assert_allclose(found.movement, measured, rtol=0.03)
    assert found.labels == labels(measured)


def test_a_threshold_of_one_layer_alone_is_not_it():
    """The control: reading the threshold off the larger or the smaller layer, or their geometric mean, is seen to be
    wrong."""
    X, Y = table()
    problem = ln.Problem.from_data(X, Y)
    width, first_std, second_std = 10**6, 4e-4, 1.6e-3
    start = ln.inits.reduced_gaussian(key=0, in_dim=8, out_dim=4, width=width, stds=(first_std, second_std))
    end = trained(problem, start).weights_at(-1)
    found = ln.observables.regimes(problem, start, product=end.product)
    right = width * (first_std**2 + second_std**2) / 2
    assert_allclose(found.thresholds, right, rtol=0.01)
    measured = found.measured(end)
    for wrong in (width * first_std**2, width * second_std**2, width * first_std * second_std):
        told = 2 * np.hypot(found.sizes, wrong) / (2 * wrong)
        assert np.abs(told / measured - 1).max() > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_measured_movements_lie_within_the_uncertainty(seed):
    X, Y = table(seed)
    problem = ln.Problem.from_data(X, Y)
    start = ln.inits.gaussian(key=seed, in_dim=8, out_dim=4, width=40, stds=(0.12, 0.16))
    end = trained(problem, start).weights_at(-1)
    found = ln.observables.regimes(problem, start, product=end.product)
    low, high = found.spread
    measured = found.measured(end)
    assert ((measured > low) & (measured < high)).mean() >= 0.75
    sure = found.certain
    assert [w for w, s in zip(found.labels, sure) if s] == [w for w, s in zip(labels(measured), sure) if s]


def test_the_border_is_where_the_size_equals_the_threshold():
    target = np.diag([1.01, 0.99])
    start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**12, stds=1e-6)
    found = ln.observables.regimes(ln.Problem.from_target(target), start)
    assert_allclose(found.thresholds, 1.0, rtol=1e-4)
    assert_allclose(found.sizes, [1.01, 0.99], rtol=1e-4)
    assert found.labels == ["active", "lazy"]
    assert_allclose(found.movement, np.sqrt(1 + np.array([1.01, 0.99]) ** 2), rtol=1e-4)
    assert found.certain.all()


def test_a_start_that_is_already_there_does_not_move():
    target = np.diag([5.0, 0.1])
    found = ln.observables.regimes(ln.Problem.from_target(target), ln.inits.balanced(target))
    assert_allclose(found.movement, 1.0, rtol=1e-6)
    assert found.labels == ["lazy", "lazy"]


def test_narrow_networks_are_not_certain():
    certain = []
    for width in (30, 10**6):
        std = np.sqrt(0.5 / width)  # modes of size 1 against a threshold of one half
        start = ln.inits.reduced_gaussian(key=0, in_dim=30, out_dim=30, width=width, stds=std)
        certain.append(ln.observables.regimes(ln.Problem.from_target(np.eye(30)), start).certain.mean())
    assert certain[0] < 0.2 and certain[1] == 1


def test_a_cost_needs_a_product():
    def cost(A):
        return 0.5 * ((A - 1.0) ** 2).sum()

    problem = ln.Problem.from_cost(cost, in_dim=2, out_dim=2)
    start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=50, stds=0.1)
    with pytest.raises(ValueError, match="`product` must be given for a general cost"):
        ln.observables.regimes(problem, start)
    same = ln.observables.regimes(ln.Problem.from_target(np.ones((2, 2))), start, product=np.ones((2, 2)))
    assert_allclose(ln.observables.regimes(problem, start, product=np.ones((2, 2))).movement, same.movement, rtol=1e-10)


def test_what_is_refused():
    start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=5, stds=0.1, batch=2)
    problem = ln.Problem.from_target(np.eye(2))
    with pytest.raises(ValueError, match="`weights` must be one network"):
        ln.observables.regimes(problem, start)
    with pytest.raises(ValueError, match="`left` must be"):
        ln.observables.mode_kernel(start[0], np.eye(3), np.eye(2))
    assert labels([1.0, ACTIVE_MOVEMENT * 1.001, 0.5]) == ["lazy", "active", "active"]
