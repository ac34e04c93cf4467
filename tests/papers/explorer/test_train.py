"""The page *Train*: its numbers against plain NumPy loops and SciPy, and its scripts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet_papers.explorer.computing.padding import gradient_descent, pad
from linnet_papers.explorer.computing.train import train
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages.train import CONTROLS, PAGE, cursor_index, losses, modes

from .pages import assert_script_computes

START = defaults(CONTROLS)
NARROW = {"target": "low_rank", "in_dim": 5, "out_dim": 4, "width": 7, "first_std": 0.3, "second_std": 0.1}


def computed(**changes):
    return train(**PAGE.arguments(PAGE.parts[0], START | changes))


def test_descent_is_the_plain_loop():
    found = computed(**NARROW, learning_rate=0.2)
    problem = ln.problems.low_rank_plus_noise(5, out_dim=4, rank=2, noise_std=0.5, key=0)
    start = ln.inits.gaussian(key=0, in_dim=5, out_dim=4, width=7, stds=(0.3, 0.1))
    first, second, rate = start.first.copy(), start.second.copy(), 0.2 * ln.stable_learning_rate(problem, start)
    steps = np.round(found["time"].values / rate).astype(int)
    for step in range(steps[-1] + 1):
        if step in steps[:: len(steps) // 6]:
            at = int(np.flatnonzero(steps == step)[0])
            product = second @ first
            assert_allclose(found["trained"][at], np.linalg.svd(product, compute_uv=False), atol=1e-10)
            assert_allclose(found["loss"][at], ((product - problem.cross) ** 2).sum() / 2, rtol=1e-9)
            assert_allclose(found["test_loss"][at], ((product - problem.truth) ** 2).sum() / 2, rtol=1e-9)
        rest = problem.cross - second @ first
        first, second = first + rate * second.T @ rest, second + rate * rest @ first.T
    assert float(found["threshold"]) == pytest.approx((0.3**2 + 0.1**2) * 7 / 2)


def test_flow_is_that_of_scipy_and_the_closed_form_solves_its_equation():
    found = computed(**NARROW, how="flow")
    problem = ln.problems.low_rank_plus_noise(5, out_dim=4, rank=2, noise_std=0.5, key=0)
    start = ln.inits.gaussian(key=0, in_dim=5, out_dim=4, width=7, stds=(0.3, 0.1))

    def field(_, state):
        one, two = state[:35].reshape(7, 5), state[35:].reshape(4, 7)
        rest = problem.cross - two @ one
        return np.concatenate([(two.T @ rest).ravel(), (rest @ one.T).ravel()])

    times = found["time"].values
    packed = np.concatenate([start.first.ravel(), start.second.ravel()])
    path = solve_ivp(field, (0, times[-1]), packed, "DOP853", t_eval=times[[40, 120]], rtol=1e-10, atol=1e-12).y.T
    for at, state in zip((40, 120), path, strict=True):
        product = state[35:].reshape(4, 7) @ state[:35].reshape(7, 5)
        assert_allclose(found["trained"][at], np.linalg.svd(product, compute_uv=False), atol=1e-6)

    g = float(found["threshold"])

    def mixed(_, state):
        A = state.reshape(4, 5)
        u, s, vt = np.linalg.svd(A)
        left = (u * np.sqrt(s**2 + g**2)) @ u.T
        right = (vt.T * np.sqrt(np.append(s, 0.0) ** 2 + g**2)) @ vt
        rest = problem.cross - A
        return (left @ rest + rest @ right).ravel()

    there = solve_ivp(mixed, (0, times[60]), start.product.ravel(), rtol=1e-9, atol=1e-11).y[:, -1].reshape(4, 5)
    assert_allclose(found["predicted"][60], np.linalg.svd(there, compute_uv=False), atol=1e-6)


def test_a_wide_network_is_what_the_closed_form_says():
    near = computed(width=10**9, stds=1e-5, how="flow")
    far = computed(width=20, stds=0.3, how="flow")
    off = [float(np.abs(one["trained"] - one["predicted"]).max()) for one in (near, far)]
    assert off[0] < 1e-3 < 0.1 < off[1]


def test_zeros_around_a_problem_change_nothing():
    problem = ln.problems.spiked_covariance(5, out_dim=2, spike=4.0, alignment=0.6, samples=8, noise_std=0.3, key=1)
    start = ln.inits.gaussian(key=0, in_dim=5, out_dim=2, width=3, stds=(0.3, 0.2))
    plain = ln.gradient_descent(problem, start, learning_rate=0.01, steps=100, save_every=1)
    assert pad(problem, start)[1].first.shape == (16, 8)
    run = gradient_descent(problem, start, learning_rate=0.01, steps=100, save_every=1)
    assert_allclose(run.products, plain.products, atol=1e-12)
    assert_allclose(run.weights.first, plain.weights.first, atol=1e-12)
    assert_allclose(run.loss, plain.loss, rtol=1e-9, atol=1e-12)
    assert_allclose(run.test_loss, plain.test_loss, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({**NARROW, "how": "flow", "until": 0.5}, marks=pytest.mark.slow),  # a flow more to compile
        {"target": "spiked", "in_dim": 4, "out_dim": 2, "samples": 30},
    ],
)
def test_the_script_computes_the_same_numbers(changes):
    assert_script_computes(PAGE, START | changes, rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"values": (3.0, 2.0, 1.0), "in_dim": 2}, "3 singular values, more than a matrix of 6 x 2"),
        ({"target": "low_rank", "rank": 7}, "rank 7 exceeds a matrix of 6 x 6"),
        ({"learning_rate": 20.0}, "diverged at step"),
    ],
)
def test_what_cannot_be_trained_is_said(changes, sentence):
    with pytest.raises((ValueError, ArithmeticError, RuntimeError), match=sentence):
        computed(**changes)


def test_modes_have_the_color_of_the_cursor():
    data = computed()
    for cursor in (0.0, 1.0):
        state = START | {"cursor": cursor}
        at = cursor_index(data, state)
        assert at == (0 if cursor == 0 else data.sizes["time"] - 1)
        active = int((data["trained"].values[at] > float(data["threshold"])).sum())
        names = [trace["name"] for trace in modes.draw(data, state)["data"]]
        assert ("active at the cursor" in names) == (active > 0) and "lazy at the cursor" in names
    assert {trace["name"] for trace in losses.draw(data, START)["data"]} >= {"training loss, trained", "predicted"}
