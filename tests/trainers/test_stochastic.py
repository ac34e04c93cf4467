"""Mini-batch descent: full batches are descent, the reduction commutes, mini-batches are unbiased."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trajectories import every


def setting(seed=0, n=4, d=6, k=2, h=12):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((n, k))
    start = ln.inits.gaussian(key=seed, in_dim=d, out_dim=k, width=h, stds=0.3)
    return ln.Problem.from_data(x, y), start


def test_a_full_batch_is_gradient_descent():
    problem, start = setting()
    options: dict[str, Any] = {"learning_rate": 0.05, "steps": 40, "save_every": 10}
    run = ln.stochastic_descent(problem, start, batch_size=4, key=0, **options)
    plain = ln.gradient_descent(problem, start, **options)
    assert_allclose(run.weights.first, plain.weights.first, atol=1e-12)
    assert_allclose(run.loss, plain.loss, rtol=1e-10)


def test_reduced_and_full_width_runs_are_the_same():
    problem, start = setting(1)
    options: dict[str, Any] = {"learning_rate": 0.05, "steps": 60, "save_every": 20, "batch_size": 2, "key": 3}
    small = ln.stochastic_descent(problem, start, **options)
    whole = ln.stochastic_descent(problem, start, reduce=False, **options)
    assert small.reduced.width < whole.reduced.width
    assert_allclose(small.weights.first, whole.weights.first, atol=1e-11)
    assert_allclose(small.weights.second, whole.weights.second, atol=1e-11)
    assert_allclose(small.loss, whole.loss, rtol=1e-9)
    other = ln.stochastic_descent(problem, start, **{**options, "key": 4})
    assert np.abs(other.products - small.products).max() > 1e-3


def test_one_step_is_the_gradient_of_some_mini_batch_and_unbiased():
    problem, start = setting(2, n=3)
    many = ln.Weights(np.repeat(start.first[None], 600, 0), np.repeat(start.second[None], 600, 0))
    run = ln.stochastic_descent(problem, many, learning_rate=0.1, steps=1, batch_size=1, key=5)
    moved = run.weights.second[-1] - start.second
    possible = []
    for x, y in zip(problem.inputs, problem.outputs, strict=True):
        residual = np.outer(y - start.product @ x, x)
        possible.append(0.1 * residual @ start.first.T)
    distances = np.array([np.abs(moved - p).max(axis=(1, 2)) for p in possible])
    chosen = distances.argmin(axis=0)
    assert distances.min(axis=0).max() < 1e-12
    counts = np.bincount(chosen, minlength=3)
    assert (np.abs(counts - 200) < 4.5 * np.sqrt(600 * (1 / 3) * (2 / 3))).all()


def test_refusals():
    problem, start = setting()
    with pytest.raises(ValueError, match="must hold its samples"):
        ln.stochastic_descent(
            ln.Problem.from_target(np.ones((2, 6))), start, learning_rate=0.1, steps=1, batch_size=1, key=0
        )
    with pytest.raises(ValueError, match="`batch_size` must be at most the number of samples, 4"):
        ln.stochastic_descent(problem, start, learning_rate=0.1, steps=1, batch_size=5, key=0)
    with pytest.raises(ln.DivergedError, match="diverged"):
        ln.stochastic_descent(problem, start, learning_rate=50.0, steps=200, batch_size=2, key=0, save_every=every(100))
