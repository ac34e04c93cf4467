"""The end of a flow: in closed form, held to an independent solver, and never taken for a saddle."""

import numpy as np
import pytest

import linnet as ln
from linnet.trainers import _flow_remainder as flow_remainder
from linnet.trainers import _flow_rounds as flow_rounds
from reference import flow, normwise, random_layers, random_moments


def small(scale=0.3, h=40, n=12, d=6, k=3):
    X, Y = random_moments(0, d, k, n)
    return ln.Problem.from_data(X, Y), ln.Weights(*random_layers(0, d, k, h, scale))


@pytest.mark.parametrize("reduce", [True, False])
def test_a_flow_that_has_converged_is_not_integrated_further(reduce):
    problem, weights = small()
    times = [12.0, 100.0, 150.0, 1e6, 1e12]
    run = ln.gradient_flow(problem, weights, times=times, reduce=reduce)
    assert run.status.reason == "completed" and run.status.steps == flow_rounds.ROUND_STEPS[0]
    first, second = flow(problem.cov, problem.cross, weights.layers, times[:3])
    assert normwise(run.products[:3], second @ first) < 1e-9
    assert normwise(run.weights.first[:3], first) < 1e-9
    assert normwise(run.products[-1], problem.min_norm_solution()) < 1e-14
    assert np.abs(run.loss[-2:] - problem.factor.floor).max() < 1e-15


def near_the_end(distance):
    """A state that far from a solution, in the eigenbasis, with the flow from there by SciPy."""
    random = np.random.default_rng(3)
    scales = np.array([1.5, 1.0, 0.3])
    first, second = random.standard_normal((5, 3)), random.standard_normal((2, 5))
    target = (second @ first + distance * random.standard_normal((2, 3))) * scales
    times = np.array([0.02, 0.2, 1.0, 5.0])
    exact = flow(np.diag(scales**2), target * scales, (first, second), times, tolerance=1e-13)
    return first, second, target, scales, times, exact


def closed_form_error(distance):
    first, second, target, scales, times, exact = near_the_end(distance)
    S = flow_remainder.residual_integral(first, second, target, scales, times=times, rtol=1.0, atol=1.0)
    assert S is not None
    return normwise(first + second.T @ S, exact[0]), normwise(second + S @ first.T, exact[1])


def test_the_closed_form_is_wrong_by_the_second_order_of_what_is_left():
    far, near = np.array(closed_form_error(1e-2)), np.array(closed_form_error(1e-4))
    assert (near < 1e-8).all() and ((far / near > 0.8e4) & (far / near < 1.25e4)).all()


def test_without_the_second_layers_part_it_would_be_wrong_by_the_first_order():
    """The control: with only W1 moving, the same comparison sees the difference."""
    first, second, target, scales, times, exact = near_the_end(1e-4)
    S = flow_remainder.residual_integral(
        first, 0 * second, target - second @ first * scales, scales, times=times, rtol=1e3, atol=1.0
    )
    assert S is not None
    assert normwise(second + S @ first.T, exact[1]) > 1e-6


@pytest.mark.parametrize("small_mode", [1e-5, 1e-30, 1e-150])
def test_a_saddle_is_not_the_end(small_mode):
    layers = np.diag([np.sqrt(3.0), small_mode]), np.diag([np.sqrt(3.0), small_mode])
    limits = {"rtol": 1e-10, "atol": 1e-10}
    target = np.diag([3.0, 1.0])
    assert flow_remainder.residual_integral(*layers, target, np.ones(2), times=np.array([1000.0]), **limits) is None
    assert flow_remainder.residual_integral(*layers, target, np.ones(2), times=np.array([1e-10]), **limits) is not None


def test_a_residual_that_fades_like_one_over_time_is_followed():
    """Zero modes of the target decay algebraically from a balanced start, w' = -w^3: there is no end to hold."""
    problem, start = ln.Problem.from_target(np.diag([30.0, 0.0])), ln.inits.balanced(np.diag([20.0, 1.0]))
    run = ln.gradient_flow(problem, start, times=[10.0, 1000.0])
    assert run.products[:, 1, 1] == pytest.approx([1 / 21, 1 / 2001], rel=1e-8)
    assert run.status.steps > flow_rounds.ROUND_STEPS[0]


def test_a_member_that_cannot_arrive_does_not_take_the_others_with_it():
    problem = ln.Problem.from_target(np.diag([30.0, 1e-4]))
    ends, waits = ln.Weights(np.diag([5.0, 1.0]), np.diag([5.0, 2.0])), ln.inits.balanced(np.diag([20.0, 1e-60]))
    together = ln.gradient_flow(
        problem, ln.Weights.stack([ends, waits]), times=[1.0, 1e9], max_steps=40_000, throw=False
    )
    assert together.status.reason.tolist() == ["completed", "step limit"]
    assert normwise(together.products[-1, 0], problem.cross) < 1e-13
    assert np.isnan(together.products[-1, 1]).all() and np.isfinite(together.products[0, 1]).all()
    assert together.status.steps.tolist() == [2000, 2000]  # at its pace it is plain that it cannot


def test_products_too_large_for_it_are_integrated():
    layers, wide = (
        (np.zeros((3, flow_remainder.MAX_ENTRIES)), np.zeros((2, 3))),
        np.zeros((2, flow_remainder.MAX_ENTRIES)),
    )
    assert (
        flow_remainder.residual_integral(*layers, wide, np.ones(wide.shape[1]), times=np.ones(1), rtol=1.0, atol=1.0)
        is None
    )
