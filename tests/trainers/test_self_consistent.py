"""Stepped self-consistent dynamics: each scheme against the exact solution, and against the other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers._self_consistent import self_consistent_steps


def walked(*arguments, **options):
    return np.stack(list(self_consistent_steps(*arguments, **options)))


@pytest.fixture
def task():
    draw = np.random.default_rng(0)
    return ln.Problem.from_target(draw.normal(size=(3, 4))), 0.3 * draw.normal(size=(3, 4))


@pytest.mark.parametrize("scheme", ["euler", "network"])
def test_the_error_is_of_first_order_in_the_step(task, scheme):
    problem, start = task
    exact = ln.theories.mixed.self_consistent(problem.cross, start, 0.2, [0.5])[0]
    errors = []
    for steps in (50, 100, 200):
        walk = walked(problem, start, threshold=0.2, learning_rate=0.5 / steps, steps=steps, scheme=scheme)
        assert walk.shape == (steps + 1, 3, 4)
        assert_allclose(walk[0], start, atol=1e-14)
        errors.append(np.abs(walk[-1] - exact).max())
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1, atol=0.15)


def test_the_schemes_differ_by_the_term_of_second_order(task):
    problem, start = task
    rate = 0.01
    euler, network = (
        walked(problem, start, threshold=0.2, learning_rate=rate, steps=1, scheme=scheme)[1]
        for scheme in ("euler", "network")
    )
    residual = problem.cross - start
    assert_allclose(network - euler, rate**2 * residual @ start.T @ residual, atol=1e-13)


def test_a_general_cost_is_stepped_by_its_gradient():
    target = np.array([[1.0, 2.0], [0.5, -1.0]])
    square = ln.Problem.from_cost(lambda A: 0.5 * ((A - target) ** 2).sum(), in_dim=2, out_dim=2)
    options = {"threshold": 0.1, "learning_rate": 0.05, "steps": 5}
    found = walked(square, 0.1 * np.eye(2), **options)
    assert_allclose(found, walked(ln.Problem.from_target(target), 0.1 * np.eye(2), **options), atol=1e-12)


def test_wrong_arguments_are_named(task):
    problem, start = task
    with pytest.raises(ValueError, match="`scheme` must be"):
        walked(problem, start, threshold=0.1, learning_rate=0.1, steps=1, scheme="heun")
    with pytest.raises(ValueError, match="`start` must be"):
        walked(problem, start.T, threshold=0.1, learning_rate=0.1, steps=1)
