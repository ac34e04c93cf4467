"""Flows from initializations far below the precision of learned weights, against modes with scales of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.trajectories import RoundingError, StepLimitError


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
    assert run.status.reason == "completed" and run.status.trusted_until == np.inf
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


def test_other_inputs_are_followed_or_refused():
    """0.3.0 learned the third mode 11% too early from 1e-24, without a word."""
    draw = np.random.default_rng(0)
    basis = np.linalg.qr(draw.normal(size=(4, 4)))[0]
    cov = basis @ np.diag([1.0, 0.8, 0.6, 0.5]) @ basis.T
    problem = ln.Problem.from_moments(cov=cov, cross=2 * draw.normal(size=(3, 4)))
    for std, lost in ((1e-12, False), (1e-24, True)):
        weights = ln.inits.gaussian(key=0, in_dim=4, out_dim=3, width=8, stds=std)
        times = -np.log(std) * np.linspace(0, 3, 31)
        run = ln.gradient_flow(problem, weights, times=times, throw=False)
        assert (run.status.reason == "rounding") == lost and run.status.ok != lost
        assert np.isfinite(run.status.trusted_until) == lost
    assert 0 < run.status.trusted_until < times[-1]
    assert run.to_dataset().trusted_until == run.status.trusted_until
    with pytest.raises(RoundingError, match="depends on rounding after t ="):
        ln.gradient_flow(problem, weights, times=times)
    early = times[times <= run.status.trusted_until]
    assert ln.gradient_flow(problem, weights, times=early).status.ok


def test_too_few_steps_name_what_would_help():
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=8, stds=1e-60)
    problem = ln.Problem.from_target(np.diag([3.0, 2, 1]))
    with pytest.raises(StepLimitError, match=r"for a larger `atol`: by default it is .*e-70 here"):
        ln.gradient_flow(problem, weights, times=[150.0], max_steps=10)


def test_weights_that_vanish_in_float32_are_refused():
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=8, stds=1e-60)
    with pytest.raises(ValueError, match=r"`weights` of size .* vanish in float32"):
        ln.gradient_flow(ln.Problem.from_target(np.eye(3)), weights, times=[1.0], dtype="float32")
