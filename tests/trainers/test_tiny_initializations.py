"""Flows from initializations far below the precision of learned weights, against modes with scales of their own."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.trajectories import StepLimitError


def rotated(shape, values, seed=0):
    draw = np.random.default_rng(seed)
    U, V = (np.linalg.qr(draw.normal(size=(n, n)))[0] for n in shape)
    return (U[:, : len(values)] * values) @ V[:, : len(values)].T


def products_by_scipy(target, weights, times, decay=0.0):
    """Each mode's weights over a factor of its own, which is renewed before they have grown by e^3."""
    U, values, V = np.linalg.svd(target)
    outputs, inputs = target.shape
    modes = max(target.shape)
    S = np.zeros(modes)
    S[: values.size] = values
    pairs = np.zeros((2, modes, weights.width))
    pairs[0, :inputs], pairs[1, :outputs] = (weights.first @ V.T).T, U.T @ weights.second
    logs, time, found = np.zeros(modes), 0.0, []

    def renew():
        sizes = np.abs(pairs).max(axis=(0, 2))
        sizes[sizes == 0] = 1.0
        return pairs / sizes[:, None], logs + np.log(sizes)

    def slope(t, state):
        p, q = state.reshape(pairs.shape)
        squares = np.exp(2 * logs)
        grown = np.stack([S[:, None] * q - (p @ q.T * squares) @ q, S[:, None] * p - (q @ p.T * squares) @ p])
        return grown.ravel() - decay * state

    pairs, logs = renew()
    for until in times:
        while time < until:
            step = min(until - time, 3 / values[0])
            pairs = solve_ivp(slope, (0, step), pairs.ravel(), method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
            pairs = pairs.reshape(2, modes, -1)
            time += step
            pairs, logs = renew()
        p, q = np.exp(logs)[:, None] * pairs
        found.append(U @ (q @ p.T)[:outputs, :inputs] @ V)
    return np.array(found)


@pytest.mark.parametrize(("shape", "std"), [((3, 4), 1e-24), ((4, 3), 1e-150)])
def test_whitened_inputs_to_the_tolerance_of_the_flow(shape, std):
    """0.3.0 learned the third mode 7% too early from 1e-24, 24% from 1e-32, and said `completed`."""
    target = rotated(shape, [3, 2, 1.3])
    weights = ln.inits.gaussian(key=1, in_dim=shape[1], out_dim=shape[0], width=6, stds=std)
    times = -np.log(std) * np.array([0.3, 0.34, 0.5, 0.7, 0.77, 0.8])
    run = ln.gradient_flow(ln.Problem.from_target(target), weights, times=times)
    assert run.status.reason == "completed"
    assert_allclose(run.products, products_by_scipy(target, weights, times), atol=1e-8)
    assert 0.1 < np.linalg.svd(run.products[-2], compute_uv=False)[2] < 1.29  # while the third mode is learned


def test_with_weight_decay():
    target, weights = rotated((3, 3), [3, 2, 1]), ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=6, stds=1e-40)
    times = [30.0, 60.0, 110.0, 140.0]
    run = ln.gradient_flow(ln.Problem.from_target(target), weights, times=times, weight_decay=0.2)
    assert_allclose(run.products, products_by_scipy(target, weights, times, decay=0.2), atol=1e-8)


def test_whitened_samples_and_batches_too():
    draw = np.random.default_rng(0)
    X = np.linalg.svd(draw.normal(size=(40, 3)), full_matrices=False)[0] * np.sqrt(40)
    Y = X @ rotated((2, 3), [2, 1]).T
    problem = ln.Problem.from_data(X, Y)
    weights = [ln.inits.gaussian(key=key, in_dim=3, out_dim=2, width=5, stds=1e-30) for key in (0, 1)]
    both = ln.Weights(np.stack([w.first for w in weights]), np.stack([w.second for w in weights]))
    times = [35.0, 69.0]
    run = ln.gradient_flow(problem, both, times=[0.0, *times])
    assert_allclose(run.weights.first[0], both.first, rtol=1e-12)
    for member in (0, 1):
        wanted = products_by_scipy(problem.min_norm_solution(), weights[member], times)
        assert_allclose(run.products[1:, member], wanted, atol=1e-8)


@pytest.mark.parametrize("reduce", [True, False])
def test_a_diagonal_target_takes_few_steps(reduce):
    """0.3.0 ended in `StepLimitError` from 1e-14 on."""
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=8, stds=1e-60)
    times = np.array([46.0, 90.0, 150.0])
    run = ln.gradient_flow(ln.Problem.from_target(np.diag([3.0, 2, 1])), weights, times=times, reduce=reduce)
    assert run.status.steps < 2000
    assert_allclose(run.products, products_by_scipy(np.diag([3.0, 2, 1]), weights, times), atol=1e-8)


def exactly(cov, cross, weights, times, step=0.3):
    """Products with 60 digits, by Runge and Kutta's steps of `step` and of half of it, extrapolated."""

    def product(A, B):
        columns = list(zip(*B, strict=True))
        return [[mp.fdot(zip(row, column, strict=True)) for column in columns] for row in A]

    def transposed(A):
        return [list(column) for column in zip(*A, strict=True)]

    def moved(A, B, factor):
        return [[a + factor * b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]

    def exact(A):
        return [[mp.mpf(float(a)) for a in row] for row in A]

    S, G = exact(cov), exact(cross)

    def slopes(first, second):
        R = moved(G, product(product(second, first), S), -1)
        return product(transposed(second), R), product(R, transposed(first))

    def run(step):
        first, second, time, found = exact(weights.first), exact(weights.second), 0.0, []
        for until in times:
            number = int(np.ceil((until - time) / step))
            h = mp.mpf(until - time) / number
            for _ in range(number):
                k1 = slopes(first, second)
                k2 = slopes(moved(first, k1[0], h / 2), moved(second, k1[1], h / 2))
                k3 = slopes(moved(first, k2[0], h / 2), moved(second, k2[1], h / 2))
                k4 = slopes(moved(first, k3[0], h), moved(second, k3[1], h))
                for k, factor in ((k1, h / 6), (k2, h / 3), (k3, h / 3), (k4, h / 6)):
                    first, second = moved(first, k[0], factor), moved(second, k[1], factor)
            time = until
            found.append([[float(a) for a in row] for row in product(second, first)])
        return np.array(found)

    with mp.workdps(60):
        return (16 * run(step / 2) - run(step)) / 15


def test_any_covariance_in_sixty_digits():
    """0.3.0 learned the last mode 11% too early from 1e-24, without a word."""
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    cov = basis @ np.diag([1.0, 0.4]) @ basis.T
    cross = rotated((2, 2), [1.0, 0.3], seed=1)
    weights = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=2, stds=1e-30)
    wait = -np.log(1e-30)
    times = wait * np.array([0.9, 2.4, 3.0, 3.2, 3.3, 3.6])
    run = ln.gradient_flow(ln.Problem.from_moments(cov=cov, cross=cross), weights, times=times)
    wanted = exactly(cov, cross, weights, times)
    seconds = np.linalg.svd(wanted, compute_uv=False)[:, 1]
    assert 0.1 < seconds[-2] < 0.2 < seconds[-1]  # while the second mode is learned
    assert_allclose(run.products, wanted, atol=1e-7)


def test_three_modes_of_other_inputs_do_not_depend_on_rounding():
    """The third mode appeared where rounding had put it: at other times for equal networks in other coordinates."""
    draw = np.random.default_rng(0)
    basis, turn = np.linalg.qr(draw.normal(size=(4, 4)))[0], np.linalg.qr(draw.normal(size=(4, 4)))[0]
    cov, cross = basis @ np.diag([1.0, 0.8, 0.6, 0.5]) @ basis.T, 2 * draw.normal(size=(3, 4))
    weights = ln.inits.gaussian(key=0, in_dim=4, out_dim=3, width=8, stds=1e-48)
    turned = ln.Weights(weights.first @ turn, weights.second)
    times = -np.log(1e-48) * np.linspace(0, 3, 13)
    here = ln.gradient_flow(ln.Problem.from_moments(cov=cov, cross=cross), weights, times=times)
    there = ln.gradient_flow(
        ln.Problem.from_moments(cov=turn.T @ cov @ turn, cross=cross @ turn), turned, times=times, reduce=False
    )
    assert np.linalg.matrix_rank(here.products[-1], tol=0.1) == 3
    assert_allclose(here.products, there.products @ turn.T, atol=1e-6)


def test_general_costs_too():
    import jax.numpy as jnp

    target = rotated((3, 3), [3, 2, 1])
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=6, stds=1e-30)
    times = [35.0, 65.0, 75.0]
    problem = ln.Problem.from_cost(lambda A: 0.5 * jnp.sum((A - target) ** 2), in_dim=3, out_dim=3)
    assert_allclose(
        ln.gradient_flow(problem, weights, times=times).products, products_by_scipy(target, weights, times), atol=1e-8
    )


def test_too_few_steps_name_what_would_help():
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=8, stds=1e-60)
    problem = ln.Problem.from_target(np.diag([3.0, 2, 1]))
    message = r"more than `max_steps` = 10 steps to reach t = 150.*for a larger `atol`: by default it is .*e-70 here"
    with pytest.raises(StepLimitError, match=message):
        ln.gradient_flow(problem, weights, times=[150.0], max_steps=10)


def test_weights_that_vanish_in_float32_are_refused():
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=8, stds=1e-60)
    with pytest.raises(ValueError, match=r"`weights` of size .* vanish in float32"):
        ln.gradient_flow(ln.Problem.from_target(np.eye(3)), weights, times=[1.0], dtype="float32")


def test_descent_says_that_rounding_decides():
    """From 1e-40 it learns the third mode at two thirds of its time, and had said nothing."""
    target = rotated((3, 3), [3, 2, 1])
    problem = ln.Problem.from_target(target)
    tiny, small = (ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=6, stds=std) for std in (1e-40, 1e-10))
    with pytest.warns(UserWarning, match="rounding of the modes that are learned first takes the place"):
        run = ln.gradient_descent(problem, tiny, learning_rate=0.01, steps=8000, save_every=100)
    flow = ln.gradient_flow(problem, tiny, times=run.times[1:])
    third = [np.linalg.svd(each, compute_uv=False)[:, 2] for each in (run.products[1:], flow.products)]
    assert np.argmax(third[0] > 0.5) < 0.9 * len(third[0]) and not (third[1] > 0.5).any()
    ln.gradient_descent(problem, small, learning_rate=0.01, steps=3000, save_every=100)  # without a word
    ln.gradient_descent(problem, tiny, learning_rate=0.01, steps=1000, save_every=100)  # nothing is learned yet
