"""First-layer values without lifting, against the lifted networks."""

import numpy as np
from numpy.testing import assert_allclose

import linnet as ln
from linnet_papers.varre.training.first_layer import first_layer_values


def test_they_are_those_of_the_lifted_network():
    starts = ln.inits.gaussian(key=0, in_dim=6, out_dim=2, width=15, stds=(0.3, 0.2), batch=3)
    problem = ln.problems.gaussian_regression(key=1, samples=3, in_dim=6, out_dim=2)
    run = ln.gradient_descent(problem, starts, learning_rate=0.05, steps=20, save_every=10, weight_decay=0.1)
    lifted = np.linalg.svd(run.weights.first, compute_uv=False)
    assert_allclose(first_layer_values(run), lifted, atol=1e-12)


def test_without_a_reduction():
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=4, stds=(0.3, 0.2))
    run = ln.gradient_descent(ln.Problem.from_target(np.ones((2, 3))), start, learning_rate=0.05, steps=5, reduce=False)
    lifted = np.linalg.svd(run.weights.first, compute_uv=False)
    assert_allclose(first_layer_values(run), lifted, atol=1e-12)
