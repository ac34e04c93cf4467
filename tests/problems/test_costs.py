"""The two worked examples of a general cost."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.precision import computing
from linnet.problems.costs import logistic, matrix_completion


def gradient(problem, product):
    with computing():
        return np.asarray(jax.grad(problem.cost)(product))


def differences(problem, product, step=1e-6):
    slope = np.zeros_like(product)
    for index in np.ndindex(product.shape):
        bump = np.zeros_like(product)
        bump[index] = step
        slope[index] = (problem.loss(product + bump) - problem.loss(product - bump)) / (2 * step)
    return slope


def test_completion_sees_only_the_mask():
    draw = np.random.default_rng(0)
    values, mask, product = draw.normal(size=(3, 4)), draw.random((3, 4)) < 0.5, draw.normal(size=(3, 4))
    problem = matrix_completion(values, mask, truth=values)
    assert_allclose(problem.loss(product), 0.5 * ((product - values)[mask] ** 2).sum())
    assert_allclose(problem.test_loss(product), 0.5 * ((product - values) ** 2).sum())
    assert_allclose(gradient(problem, product), np.where(mask, product - values, 0), atol=1e-14)
    hidden = np.where(mask, values, np.nan)  # what was not observed need not be a number
    assert_allclose(matrix_completion(hidden, mask).loss(product), problem.loss(product))


def test_logistic_of_two_classes():
    draw = np.random.default_rng(1)
    inputs, labels, product = draw.normal(size=(20, 3)), draw.choice([-1, 1], 20), draw.normal(size=(1, 3))
    problem = logistic(inputs, labels)
    margins = labels * (inputs @ product[0])
    assert_allclose(problem.loss(product), np.log1p(np.exp(-margins)).mean())
    assert_allclose(gradient(problem, product), differences(problem, product), atol=1e-8)
    assert np.isfinite(problem.loss(1e6 * product))


def test_logistic_of_three_classes():
    draw = np.random.default_rng(2)
    inputs, labels, product = draw.normal(size=(20, 2)), draw.integers(0, 3, 20), draw.normal(size=(3, 2))
    problem = logistic(inputs, labels)
    chances = np.exp(inputs @ product.T)
    chances /= chances.sum(axis=1, keepdims=True)
    assert_allclose(problem.loss(product), -np.log(chances[np.arange(20), labels]).mean())
    assert_allclose(gradient(problem, product), differences(problem, product), atol=1e-8)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="`mask` must be a matrix of zeros and ones"):
        matrix_completion(np.eye(2), 2 * np.eye(2))
    with pytest.raises(ValueError, match="at least one observed"):
        matrix_completion(np.eye(2), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="must have one shape"):
        matrix_completion(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="one per row"):
        logistic(np.eye(3), [1, -1])
    with pytest.raises(ValueError, match="`labels` must be -1 and 1"):
        logistic(np.eye(3), [0, 1, 0.5])
