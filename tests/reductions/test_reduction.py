import numpy as np
import pytest

import linnet as ln
from reference import random_layers, random_moments


def wide(n=4, d=9, k=2, h=200):
    X, Y = random_moments(0, d, k, n)
    return ln.Problem.from_data(X, Y, truth=np.ones((k, d))), ln.Weights(*random_layers(0, d, k, h))


def test_sizes_and_losses_of_the_reduced_problem():
    problem, weights = wide()
    reduction = ln.reduce(problem, weights)
    assert (reduction.weights.width, reduction.weights.in_dim) == (6, 4)
    assert reduction.problem.in_dim == 4
    small = reduction.weights.product
    assert reduction.problem.loss(small) == pytest.approx(problem.loss(weights.product), rel=1e-13)
    assert reduction.problem.test_loss(small) == pytest.approx(problem.test_loss(weights.product), rel=1e-13)
    assert reduction.test_loss(reduction.weights) == pytest.approx(problem.test_loss(weights.product), rel=1e-13)


def test_a_reduced_problem_reduces_no_further():
    problem, weights = wide()
    once = ln.reduce(problem, weights)
    twice = ln.reduce(once.problem, once.weights)
    assert twice.weights.first.shape == once.weights.first.shape
    assert np.allclose(twice.weights.product @ np.eye(4), once.weights.product, atol=1e-13)


def test_training_the_reduced_problem_by_hand_and_lifting_is_training_the_full_one():
    problem, weights = wide()
    reduction = ln.reduce(problem, weights)
    by_hand = ln.gradient_descent(reduction.problem, reduction.weights, learning_rate=0.05, steps=30, reduce=False)
    lifted = reduction.lift(by_hand.weights)
    full = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=30, reduce=False)
    assert np.allclose(lifted.first, full.weights.first, atol=1e-13)
    assert np.allclose(lifted.second, full.weights.second, atol=1e-13)


def test_the_singular_test_covariance_of_a_reduced_problem_is_left_to_the_reduction():
    X, Y = random_moments(0, 9, 2, 4)
    problem = ln.Problem.from_data(X, Y, truth=np.ones((2, 9)), test_cov=np.diag([1.0] * 8 + [0.0]))
    weights = ln.Weights(*random_layers(0, 9, 2, 40))
    reduction = ln.reduce(problem, weights)
    assert reduction.problem.truth is None
    run = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=5)
    wanted = 0.5 * ((run.products - 1)[..., :8] ** 2).sum(axis=(-1, -2))
    assert np.allclose(run.test_loss, wanted, rtol=1e-13)


@pytest.mark.parametrize("name", ["adam", "AdamW", "rms-prop", "lion"])
def test_coordinate_wise_optimizers_are_refused(name):
    problem, weights = wide()
    with pytest.raises(ValueError, match="coordinate by coordinate"):
        ln.reduce(problem, weights, optimizer=name)


def test_other_nonsense_is_refused():
    problem, weights = wide()
    with pytest.raises(ValueError, match="`optimizer` must be one of"):
        ln.reduce(problem, weights, optimizer="magic")
    with pytest.raises(ValueError, match="`weights` must fit the problem's 9 inputs and 2 outputs: got 3 inputs"):
        ln.reduce(problem, ln.Weights(np.ones((5, 3)), np.ones((2, 5))))
    with pytest.raises(ValueError, match="`problem` must be a linnet Problem"):
        ln.reduce(3, weights)
    with pytest.raises(ValueError, match="`weights` must be linnet Weights"):
        ln.reduce(problem, np.eye(3))
    with pytest.raises(ValueError, match="`optimizer` must be one of"):
        ln.reduce(problem, weights, optimizer=[])
    with pytest.raises(ValueError, match="`weights` must be reduced weights of shapes"):
        ln.reduce(problem, weights).lift(weights)
    leaking = ln.Problem.from_moments(np.diag([1.0, 0.0]), np.array([[1.0, 0.5]]))
    with pytest.raises(ValueError, match="in the range of `cov`"):
        ln.reduce(leaking, ln.Weights(np.ones((5, 2)), np.ones((1, 5))))


@pytest.mark.parametrize("form", [np.float16, np.float32, ">f4"])
def test_products_of_states_in_low_precision_are_computed_in_double(form):
    """Against the product of the lifted layers, and against what half precision would give."""
    problem, weights = wide()
    reduction = ln.reduce(problem, weights)
    random = np.random.default_rng(1)
    first, second = (random.integers(-8, 9, shape) / 8 for shape in ((6, 4), (2, 6)))
    product = second @ first  # exact in every one of these precisions
    found = reduction.products(product.astype(form), second.astype(form), rest=np.float16(0.5))
    lifted = reduction.lift(ln.Weights(first, second), rest=0.5)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.asarray(lifted.second) @ np.asarray(lifted.first), rtol=0, atol=1e-13)
    low = product.astype(np.float32) @ reduction.basis.T.astype(np.float32)
    assert np.abs(low - product @ reduction.basis.T).max() > 1e-9  # the mistake would be seen
