import jax
import numpy as np
import pytest

import linnet as ln
from reference import random_layers

WEIGHTS = ln.Weights(*random_layers(0, 5, 3, 8, 1.0))


def jacobian(x):
    """d f(x) / d (W1, W2) by autodiff: (output, parameters)."""
    with jax.enable_x64(True):
        both = jax.jacobian(lambda a, b: b @ (a @ x), argnums=(0, 1))(WEIGHTS.first, WEIGHTS.second)
    return np.concatenate([np.asarray(part).reshape(3, -1) for part in both], axis=1)


def test_the_ntk_is_the_gram_matrix_of_the_jacobian():
    X, X2 = np.random.default_rng(0).standard_normal((2, 4, 5))
    left, right = (np.concatenate([jacobian(x) for x in samples]) for samples in (X, X2))
    assert np.allclose(ln.observables.ntk(WEIGHTS, X, X2), left @ right.T, atol=1e-13)
    assert np.allclose(ln.observables.ntk(WEIGHTS, X), left @ left.T, atol=1e-13)


def test_the_ntk_of_a_batch_is_each_of_its_members():
    stack = ln.Weights(np.stack([WEIGHTS.first, 2 * WEIGHTS.first]), np.stack([WEIGHTS.second, WEIGHTS.second]))
    X = np.random.default_rng(0).standard_normal((4, 5))
    assert np.allclose(ln.observables.ntk(stack, X)[1], ln.observables.ntk(stack[1], X), atol=1e-13)


def test_the_operator_is_the_velocity_of_the_product():
    R = np.random.default_rng(0).standard_normal((3, 5))
    step = 1e-6
    ahead = (WEIGHTS.second + step * R @ WEIGHTS.first.T) @ (WEIGHTS.first + step * WEIGHTS.second.T @ R)
    assert np.allclose((ahead - WEIGHTS.product) / step, ln.observables.ntk_operator(WEIGHTS, R), atol=1e-4)


def test_ranks_of_known_matrices():
    assert ln.observables.stable_rank(np.eye(4)) == pytest.approx(4)
    assert ln.observables.stable_rank(np.diag([2.0, 1.0])) == pytest.approx(1.25)
    assert ln.observables.effective_rank(np.eye(4)) == pytest.approx(4)
    assert ln.observables.effective_rank(np.outer([1.0, 2], [3.0, 4])) == pytest.approx(1)
    values = np.array([[1.0, 0.5, 0.05], [1.0, 0.09, 0.01], [0.0, 0.0, 0.0]])
    assert ln.observables.numerical_rank(values).tolist() == [2, 1, 0]
    assert ln.observables.numerical_rank(values[0], share=0.01) == 3
    assert ln.observables.stable_rank(np.zeros((2, 2))) == 0 and ln.observables.effective_rank(np.zeros((2, 2))) == 0


def test_losses_of_weights():
    problem = ln.Problem.from_target(np.ones((3, 5)), truth=np.zeros((3, 5)))
    assert ln.observables.loss(problem, WEIGHTS) == pytest.approx(0.5 * np.sum((WEIGHTS.product - 1) ** 2))
    assert ln.observables.test_loss(problem, WEIGHTS) == pytest.approx(0.5 * np.sum(WEIGHTS.product**2))
    assert np.array_equal(ln.observables.imbalance(WEIGHTS), WEIGHTS.imbalance)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ln.observables.ntk(WEIGHTS, np.ones((2, 4))), "`X` must have 5 columns"),
        (lambda: ln.observables.ntk_operator(WEIGHTS, np.ones((5, 3))), "`residual` must be"),
        (lambda: ln.observables.singular_values([1.0, 2.0]), "`matrix` must have at least two axes"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
