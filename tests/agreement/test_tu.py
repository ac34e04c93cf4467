"""Theory of the mixed dynamics against flow against small-step descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln

lazy_active = ln.theories.lazy_active


@pytest.fixture(scope="module")
def task():
    return ln.problems.low_rank_plus_noise(8, rank=2, key=0)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4)])
def test_a_network_of_isotropic_imbalance_follows_the_closed_form(shape):
    draw = np.random.default_rng(0)
    target, start = draw.normal(size=shape), 0.4 * draw.normal(size=shape)
    sign = 1 if shape[0] >= shape[1] else -1
    times = np.array([0.1, 0.7, 3.0])
    run = ln.gradient_flow(ln.Problem.from_target(target), ln.inits.balanced(start, sign * 0.5), times=times)
    assert_allclose(run.products, lazy_active.self_consistent(target, start, 0.25, times), atol=1e-8)


def test_the_orthogonal_start_is_a_threshold(task):
    """Orthogonal starts of scale gamma, balanced ones of imbalance 2 gamma and the threshold gamma are one object."""
    times = np.array([0.01, 0.05, 0.2])
    weights = ln.inits.orthogonal(key=1, in_dim=8, out_dim=8, width=20, scale=0.7)
    run = ln.gradient_flow(task, weights, times=times)
    zero = np.zeros((8, 8))
    assert_allclose(run.products, lazy_active.self_consistent(task.cross, zero, 0.7, times), atol=1e-8)
    narrow = ln.inits.balanced(zero, 1.4)
    assert_allclose(narrow.first.T @ narrow.first, weights.first.T @ weights.first, atol=1e-12)


def test_wide_gaussian_networks_approach_it_like_the_root_of_the_width(task):
    size = float(np.linalg.norm(task.cross, 2))
    times = np.linspace(0.2, 6, 6) / size
    gaps = []
    for width in (10**3, 10**5):
        weights = ln.inits.reduced_gaussian(
            key=2,
            in_dim=8,
            out_dim=8,
            width=width,
            stds=(0.1 * size / width) ** 0.5,
        )
        run = ln.gradient_flow(task, weights, times=times)
        theory = lazy_active.self_consistent(task.cross, weights.product, 0.1 * size, times)
        gaps.append(np.abs(run.products - theory).max())
    assert 4 < gaps[0] / gaps[1] < 25  # 10 up to fluctuations
    wrong = lazy_active.self_consistent(task.cross, weights.product, 0.2 * size, times)  # control: twice the threshold
    assert np.abs(run.products - wrong).max() > 20 * gaps[1]


def test_small_steps_of_descent_reach_it(task):
    start = 0.1 * np.random.default_rng(3).normal(size=(8, 8))
    exact = lazy_active.self_consistent(task.cross, start, 0.5, [0.1])[0]
    errors = []
    for steps in (50, 100):
        run = ln.gradient_descent(
            task, ln.inits.balanced(start, 1.0), learning_rate=0.1 / steps, steps=steps, save_every=steps
        )
        errors.append(np.abs(run.products[-1] - exact).max())
    assert_allclose(errors[0] / errors[1], 2, rtol=0.1)


def test_general_costs_flow_as_integrated():
    draw = np.random.default_rng(4)
    values, mask = draw.normal(size=(5, 4)), draw.random((5, 4)) < 0.6
    problem = ln.problems.matrix_completion(values, mask)
    start = 0.2 * draw.normal(size=(5, 4))
    run = ln.gradient_flow(problem, ln.inits.balanced(start, 0.6), times=[0.5, 2.0])
    assert_allclose(run.products, lazy_active.integrate(problem, start, 0.3, [0.5, 2.0]), atol=1e-7)


def test_rotations_of_inputs_and_outputs_rotate_the_answer():
    draw = np.random.default_rng(5)
    target, start = draw.normal(size=(3, 5)), draw.normal(size=(3, 5))
    left, right = np.linalg.qr(draw.normal(size=(3, 3)))[0], np.linalg.qr(draw.normal(size=(5, 5)))[0]
    plain = lazy_active.self_consistent(target, start, 0.2, [0.3, 2.0])
    turned = lazy_active.self_consistent(left @ target @ right, left @ start @ right, 0.2, [0.3, 2.0])
    assert_allclose(turned, left @ plain @ right, atol=1e-12)


def test_transposing_transposes():
    draw = np.random.default_rng(6)
    target, start = draw.normal(size=(3, 5)), draw.normal(size=(3, 5))
    one = lazy_active.self_consistent(target, start, 0.2, [0.5])[0]
    assert_allclose(lazy_active.self_consistent(target.T, start.T, 0.2, [0.5])[0].T, one, atol=1e-12)
