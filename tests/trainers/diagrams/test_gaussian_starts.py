"""Descents from starts drawn where they are trained, against the same starts trained one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from drawn import drawn_gaussian
from linnet.trainers import Schedule, gaussian_diagram, stopping
from linnet.trainers.diagrams import _runs
from paired import Pair, paired_descent

DIM, STEPS = 12, 90
RULE = stopping.first_of(stopping.TestLossRising(3), stopping.LossBelow(1e-3 * DIM**2 / 2))
# (task, width, variance): narrow, square, wide and active, wide and lazy, far too wide to build
RUNS = [(0, 2, 1e-2), (1, 12, 1e-2), (0, 40, 1e-2), (1, 5000, 1e-3), (0, 10**9, 1e-8)]


@pytest.fixture(scope="module")
def problems():
    return [ln.problems.low_rank_plus_noise(DIM, rank=2, key=key) for key in (3, 4)]


def arguments(problems, chosen):
    tasks, widths, variances = (list(values) for values in zip(*(RUNS[i] for i in chosen), strict=True))
    sizes = [max(np.linalg.norm(problems[t].truth, 2), v * w) for t, w, v in zip(tasks, widths, variances, strict=True)]
    return {
        "keys": [[8, i] for i in chosen],
        "tasks": tasks,
        "widths": widths,
        "variances": variances,
        "learning_rates": 0.02 / np.array(sizes),
        "steps": STEPS,
        "stop": RULE,
    }


def start(index):
    _, width, variance = RUNS[index]
    return drawn_gaussian([8, index], in_dim=DIM, out_dim=DIM, width=width, std=np.sqrt(variance))


@pytest.mark.parametrize("update", ["simultaneous", "sequential"])
def test_it_trains_from_the_starts_of_the_keys(problems, update):
    every = list(range(len(RUNS)))
    options = arguments(problems, every)
    found = gaussian_diagram(problems, update=update, slots=2, **options)

    def make(i):
        task, width, variance = RUNS[i]
        return Pair(problems[task], start(i), variance * width, float(options["learning_rates"][i]))

    given = paired_descent(
        make, [width for _, width, _ in RUNS], in_dim=DIM, out_dim=DIM, steps=STEPS, stop=RULE, update=update, slots=3
    )
    assert found.reason.tolist() == given.reason.tolist() and len(set(found.steps)) > 2
    assert_allclose(found.steps, given.steps)
    assert_allclose(found.min_test_loss, given.min_test_loss, rtol=1e-9)
    assert_allclose(found.largest_distance, given.largest_distance, rtol=1e-6)
    assert_allclose(found.stable_rank, given.stable_rank, rtol=1e-9)
    assert found.needed <= found.executed


def test_bits_do_not_depend_on_the_order_and_one_problem_needs_no_tasks(problems):
    straight, turned = (
        gaussian_diagram(problems, slots=2, **arguments(problems, o)) for o in ([0, 1, 2, 3], [2, 3, 1, 0])
    )
    for name in ("min_test_loss", "stable_rank", "largest_distance", "steps", "loss"):
        assert getattr(straight, name)[[2, 3, 1, 0]].tobytes() == getattr(turned, name).tobytes(), name
    some = arguments(problems, [0, 2])
    some.pop("tasks")
    alone = gaussian_diagram(problems[:1], slots=2, **some)
    assert_allclose(alone.min_test_loss, straight.min_test_loss[[0, 2]], rtol=1e-10)


@pytest.mark.parametrize("compiled", [False, True])
def test_rates_of_a_schedule_are_those_of_plain_numpy(problems, compiled, monkeypatch):
    if compiled:  # the way of other devices, on this one
        monkeypatch.setattr(_runs, "on_cpu", lambda device: False)
    rates = 0.01 / (1 + np.arange(40) / 10)
    options = arguments(problems, [2]) | {"learning_rates": Schedule(rates), "steps": 40, "stop": None}
    trained = gaussian_diagram(problems, **options)
    weights, problem = start(2), problems[0]
    first, second, errors = weights.first, weights.second, []
    for rate in rates:
        errors.append(((second @ first - problem.truth) ** 2).sum() / 2)
        residual = problem.cross - second @ first
        first, second = first + rate * second.T @ residual, second + rate * residual @ first.T
    errors.append(((second @ first - problem.truth) ** 2).sum() / 2)
    assert_allclose(trained.loss, ((second @ first - problem.cross) ** 2).sum() / 2, rtol=1e-10)
    assert_allclose(trained.min_test_loss, min(errors), rtol=1e-10)
    assert trained.largest_distance[0] < 0.2 * np.linalg.norm(problem.truth) ** 2


def test_what_does_not_fit_is_refused(problems):
    options = arguments(problems, [0, 1])
    with pytest.raises(ValueError, match="`learning_rates` must be a function of the step"):
        gaussian_diagram(problems, **{**options, "learning_rates": len})
    with pytest.raises(ValueError, match="`variances` must be such that starts can be squared"):
        gaussian_diagram(problems, **{**options, "variances": np.finfo(float).max})
    with pytest.raises(ValueError, match="with a `truth`"):
        gaussian_diagram([ln.Problem.from_target(np.eye(DIM))], **options)
    with pytest.raises(ValueError, match=r"`keys` must be one for each of the 2 runs: got \[1\]"):
        gaussian_diagram(problems, **{**options, "keys": [1]})
    with pytest.raises(ValueError, match="`update` must be"):
        gaussian_diagram(problems, update="other", **options)
