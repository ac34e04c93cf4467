"""Euler's method on the self-consistent dynamics: against the exact solution, and against descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet_papers.tu.training.self_consistent import self_consistent_steps


@pytest.fixture
def task():
    draw = np.random.default_rng(0)
    return ln.Problem.from_target(draw.normal(size=(3, 4))), 0.3 * draw.normal(size=(3, 4))


def test_the_error_is_of_first_order_in_the_step(task):
    problem, start = task
    exact = ln.theories.lazy_active.self_consistent(problem.cross, start, 0.2, [0.5])[0]
    errors = []
    for steps in (50, 100, 200):
        products = np.stack(list(self_consistent_steps(problem, start, 0.2, 0.5 / steps, steps)))
        assert products.shape == (steps + 1, 3, 4)
        assert_allclose(products[0], start, atol=1e-14)
        errors.append(np.abs(products[-1] - exact).max())
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1, atol=0.15)


def test_descent_of_the_narrow_network_differs_by_the_term_of_second_order(task):
    problem, start = task
    rate = 0.01
    _, euler = self_consistent_steps(problem, start, 0.2, rate, 1)
    narrow = ln.inits.balanced(start, -2 * 0.2)  # fewer outputs than inputs
    network = ln.gradient_descent(problem, narrow, learning_rate=rate, steps=1).products[1]
    residual = problem.cross - start
    assert_allclose(network - euler, rate**2 * residual @ start.T @ residual, atol=1e-13)
