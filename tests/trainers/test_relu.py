"""The ReLU trainer against gradients written by hand and against SciPy's integrator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.trainers.relu import relu_descent


def setting(seed=0, n=6, d=3, h=4, k=2):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((n, k))
    return x, y, ln.Weights(0.5 * rng.standard_normal((h, d)), 0.5 * rng.standard_normal((k, h)))


def gradients(x, y, first, second):
    pre = x @ first.T
    hidden = np.maximum(pre, 0)
    error = y - hidden @ second.T
    n = len(x)
    back = (error @ second) * (pre > 0)
    return -back.T @ x / n, -error.T @ hidden / n, 0.5 * (error**2).sum() / n


def test_steps_may_be_a_number_of_jax():
    import jax.numpy as jnp

    x, y, start = setting()
    runs = [relu_descent((x, y), start, learning_rate=0.1, steps=steps) for steps in (3, jnp.asarray(3))]
    assert np.array_equal(runs[0].loss, runs[1].loss)


def test_steps_by_hand():
    x, y, start = setting()
    run = relu_descent((x, y), start, learning_rate=0.1, steps=25, save_every=5)
    assert np.array_equal(run.steps, [0, 5, 10, 15, 20, 25])
    assert_allclose(run.times, [0, 0.5, 1, 1.5, 2, 2.5])
    first, second = start.first.copy(), start.second.copy()
    for step in range(26):
        g1, g2, loss = gradients(x, y, first, second)
        if step % 5 == 0:
            assert_allclose(run.weights.first[step // 5], first, rtol=1e-12)
            assert_allclose(run.weights.second[step // 5], second, rtol=1e-12)
            assert_allclose(run.loss[step // 5], loss, rtol=1e-12)
        first, second = first - 0.1 * g1, second - 0.1 * g2
    assert run.status.reason == "completed" and run.status.steps == 25
    assert run.weights.width == 4


def test_small_steps_follow_the_flow_to_first_order():
    x, y, start = setting(1)
    shape = start.first.shape, start.second.shape
    cut = start.first.size

    def velocity(_, state):
        g1, g2, _ = gradients(x, y, state[:cut].reshape(shape[0]), state[cut:].reshape(shape[1]))
        return -np.concatenate([g1.ravel(), g2.ravel()])

    flow = solve_ivp(
        velocity, (0, 2.0), np.concatenate([start.first.ravel(), start.second.ravel()]), rtol=1e-9, atol=1e-11
    )
    end = flow.y[:cut, -1].reshape(shape[0])
    errors = []
    for steps in (200, 400):
        run = relu_descent((x, y), start, learning_rate=2.0 / steps, steps=steps, save_every=steps)
        errors.append(np.abs(run.weights.first[-1] - end).max())
    assert errors[1] < 2e-3
    assert 1.6 < errors[0] / errors[1] < 2.5


def test_a_batch_is_its_members_and_a_problem_is_its_data():
    x, y, one = setting(2)
    two = setting(3)[2]
    both = ln.Weights(np.stack([one.first, two.first]), np.stack([one.second, two.second]))
    run = relu_descent(ln.Problem.from_data(x, y), both, learning_rate=0.05, steps=30, save_every=10)
    for i, member in enumerate((one, two)):
        alone = relu_descent((x, y), member, learning_rate=0.05, steps=30, save_every=10)
        assert_allclose(run.weights.first[:, i], alone.weights.first, rtol=1e-10)
        assert_allclose(run.loss[:, i], alone.loss, rtol=1e-10)
    assert run.loss.shape == (4, 2)


def test_rest_below_a_threshold():
    x, y, start = setting(4)
    run = relu_descent((x, y), start, learning_rate=0.1, steps=500, save_every=100, stop=0.4 * setting(4)[1].var())
    assert run.status.reason == "loss below threshold"
    assert run.status.steps < 500
    assert run.loss[-1] < 0.4 * y.var()


def test_divergence_is_raised_or_told():
    x, y, start = setting(5)
    with pytest.raises(
        ln.DivergedError, match=r"ReLU descent diverged at step \d+ with a `learning_rate` of 10\. Use a smaller"
    ):
        relu_descent((x, 100 * y), start, learning_rate=10.0, steps=50)
    run = relu_descent((x, 100 * y), start, learning_rate=10.0, steps=50, throw=False)
    assert run.status.reason == "diverged"
    assert run.status.steps < 50
    assert np.isfinite(run.weights.first).all()


def test_refusals():
    x, y, start = setting()
    with pytest.raises(ValueError, match="must hold samples"):
        relu_descent(ln.Problem.from_target(np.ones((2, 3))), start, learning_rate=0.1, steps=1)
    with pytest.raises(ValueError, match="`learning_rate` must be positive"):
        relu_descent((x, y), start, learning_rate=0.0, steps=1)
    with pytest.raises(ValueError, match="pair"):
        relu_descent(x, start, learning_rate=0.1, steps=1)


def test_a_last_step_out_of_the_numbers_is_told():
    random = np.random.default_rng(0)
    data = random.standard_normal((7, 4)), random.standard_normal((7, 3))
    start = ln.inits.gaussian(key=0, in_dim=4, out_dim=3, width=20, stds=0.5)
    run = ln.relu_descent(data, start, learning_rate=1e200, steps=1, throw=False)
    assert run.status.reason == "diverged"


def test_long_runs_are_compiled_another_way_to_the_same_numbers(monkeypatch):
    from linnet.trainers import relu

    problem = ln.problems.relu_teacher(key=0, samples=20, in_dim=3, neurons=2)
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=8, stds=0.5)
    short = relu.relu_descent(problem, start, learning_rate=0.05, steps=200, save_every=50)
    monkeypatch.setattr(relu, "OPTIMIZED_STEPS", 200)
    optimized = relu.relu_descent(problem, start, learning_rate=0.05, steps=200, save_every=50)
    assert_allclose(optimized.loss, short.loss, rtol=1e-12)
