import numpy as np
import pytest
from scipy.stats import ortho_group

import linnet as ln
from linnet.trainers import _flow_rounds as flow_rounds
from linnet.trainers import _stiff as stiff
from reference import flow

TOLERANCES = {"rtol": 1e-10, "atol": 1e-10}


def test_a_mode_that_fades_is_followed_to_any_time():
    """Its closed form, with w1^2 - w2^2 = m conserved: a' = -a sqrt(4 a^2 + m^2), so a = m / (2 sinh(m t + c)).

    The explicit solver would take ten million steps.
    """
    left, right, hidden = (ortho_group.rvs(3, random_state=seed) for seed in range(3))
    strong, fading, faster = (5.0, 5.0), (1.0, 1.0), (1.0, 1.0 + 1e-4)
    problem = ln.Problem.from_target(30.0 * np.outer(left[:, 0], right[:, 0]))
    first = hidden @ np.diag([strong[0], fading[0], faster[0]]) @ right.T
    second = left @ np.diag([strong[1], fading[1], faster[1]]) @ hidden.T
    times = np.array([10.0, 1e3, 1e4, 1e6])
    run = ln.gradient_flow(problem, ln.Weights(first, second), times=times)
    found = np.einsum("km,tkd,dm->tm", left, run.products, right)
    m = faster[1] ** 2 - 1.0
    expected = np.stack(
        [np.full(4, 30.0), 1 / (1 + 2 * times), m / (2 * np.sinh(m * times + np.arcsinh(m / 2.0002)))], 1
    )
    assert found[:, :2] == pytest.approx(expected[:, :2], rel=3e-9)
    assert found[:3, 2] == pytest.approx(expected[:3, 2], rel=3e-9)
    assert abs(found[3, 2]) < 1e-12  # exp(-200) is below the tolerance
    assert flow_rounds.ROUND_STEPS[0] < run.status.steps < 3 * flow_rounds.ROUND_STEPS[0]


def test_it_agrees_with_another_implicit_solver_on_inputs_that_are_not_white():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((30, 2)) * [1.0, 3.0]
    problem = ln.Problem.from_data(inputs, inputs @ [[0.7, -1.4], [0.3, -0.6]])  # of rank one
    start = ln.inits.balanced(np.array([[1.0, 0.2], [0.1, 1.0]]))
    first, second = flow(problem.cov, problem.cross, start.layers, [2e4], method="Radau")
    run = ln.gradient_flow(problem, start, times=[2e4], reduce=False)
    assert run.status.steps < 10_000  # the explicit solver would take fifty thousand
    assert np.abs(run.weights.first - first).max() < 1e-8 and np.abs(run.weights.second - second).max() < 1e-8


def test_the_jacobian_is_the_slope_of_the_slope():
    rng = np.random.default_rng(0)
    flow, state = stiff.SquareFlow(rng.standard_normal((2, 3)), np.array([1.0, 2.0, 0.5]), 4), rng.standard_normal(20)
    step = 1e-6 * np.eye(20)
    numerical = [(flow.slope(0.0, state + e) - flow.slope(0.0, state - e)) / 2e-6 for e in step]
    assert flow.jacobian(0.0, state) == pytest.approx(np.transpose(numerical), abs=1e-7)


def test_a_mode_that_has_still_to_grow_is_not_left_to_it(monkeypatch):
    """Growth of what is below its tolerance is lost in its long steps. The control: without the watch it never
    comes."""
    rotation = ortho_group.rvs(2, random_state=0)
    layers = np.diag([np.sqrt(30.0), 1e-30]) @ rotation.T, rotation @ np.diag([np.sqrt(30.0), 1e-30])
    target, times = rotation @ np.diag([30.0, 1e-3]) @ rotation.T, np.array([1.5e5])  # exp(150) * 1e-30 is long grown
    assert stiff.solve_implicitly(*layers, target, np.ones(2), times=times, **TOLERANCES) is None
    monkeypatch.setattr(stiff, "MAX_LOG_GROWTH", np.inf)
    found = stiff.solve_implicitly(*layers, target, np.ones(2), times=times, **TOLERANCES)
    assert found is not None
    first, second, _ = found
    assert abs((second @ first)[0] - target).max() > 1e-4


def test_what_is_too_large_or_fails_is_left_to_the_explicit_solver(monkeypatch):
    layers, target = (np.eye(2), np.eye(2)), np.diag([2.0, 0.0])
    options = {"times": np.array([1e3]), **TOLERANCES}
    assert stiff.solve_implicitly(*layers, target, np.ones(2), **options) is not None
    monkeypatch.setattr(stiff, "MAX_STEPS", 10)
    assert stiff.solve_implicitly(*layers, target, np.ones(2), **options) is None
    monkeypatch.setattr(stiff, "MAX_WEIGHTS", 7)
    assert stiff.solve_implicitly(*layers, target, np.ones(2), **options) is None
