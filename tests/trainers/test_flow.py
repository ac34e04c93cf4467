from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.trainers import _flow_rounds as flow_rounds
from reference import flow, normwise, random_layers, random_moments


def small(scale=0.3, h=40, n=12, d=6, k=3):
    X, Y = random_moments(0, d, k, n)
    return ln.Problem.from_data(X, Y), ln.Weights(*random_layers(0, d, k, h, scale))


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("scale", [0.3, 1e-5])
def test_flow_agrees_with_an_independent_solver(scale, reduce):
    problem, weights = small(scale)
    times = np.linspace(0.0, 12.0, 25)
    run = ln.gradient_flow(problem, weights, times=times, reduce=reduce)
    first, second = flow(problem.cov, problem.cross, weights.layers, times)
    assert normwise(run.products, second @ first) < 1e-8
    assert normwise(run.weights.first, first) < 1e-8
    assert np.abs(run.loss - problem.loss(second @ first)).max() < 1e-8
    assert np.allclose(run.products[0], weights.product, atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e-5])
def test_the_imbalance_is_conserved(scale):
    problem, weights = small(scale)
    run = ln.gradient_flow(problem, weights, times=np.linspace(0, 30, 25))
    imbalance, size = run.weights.imbalance, sum((layer**2).sum(axis=(-2, -1)) for layer in run.weights.layers)
    assert (np.linalg.norm(imbalance - imbalance[0], axis=(-2, -1)) / size).max() < 1e-9


def test_a_run_continued_is_one_run():
    problem, weights = small()
    whole = ln.gradient_flow(problem, weights, times=[1.0, 3.0])
    half = ln.gradient_flow(problem, weights, times=[1.0])
    rest = ln.gradient_flow(problem, half.weights_at(-1), times=[2.0])
    assert normwise(rest.weights.first[-1], whole.weights.first[-1]) < 1e-8


def test_a_few_times_share_one_program_and_change_no_bit(monkeypatch):
    problem, weights = small()
    solve: Any = flow_rounds._solve_round
    times, before = [1.0, 2.0, 3.0], solve._cache_size()
    filled = ln.gradient_flow(problem, weights, times=times)
    assert ln.gradient_flow(problem, weights, times=times[:1]).products[0] == pytest.approx(
        filled.products[0], rel=1e-8
    )
    assert solve._cache_size() - before <= 1
    monkeypatch.setattr(flow_rounds, "MAX_PADDED_ENTRIES", 0)
    plain = ln.gradient_flow(problem, weights, times=times)
    assert len(filled) == len(plain) == 3 and (filled.products == plain.products).all()
    assert (filled.loss == plain.loss).all() and filled.status.steps == plain.status.steps


def test_it_ends_at_the_minimum_norm_solution_from_a_small_start():
    problem, weights = small(1e-6, n=4)
    run = ln.gradient_flow(problem, weights, times=[250.0])
    assert normwise(run.products[-1], problem.min_norm_solution()) < 1e-5
    assert run.loss[-1] < 1e-12


def test_a_member_of_a_batch_does_not_depend_on_the_others():
    """Each has the tolerance of its own scale: a tiny start beside a large one is followed as exactly as alone."""
    problem, _ = small()
    tiny, large, other = (ln.Weights(*random_layers(i, 6, 3, 40, scale)) for i, scale in enumerate((1e-5, 1.0, 0.3)))
    times = [4.0, 12.0]
    beside = [ln.gradient_flow(problem, ln.Weights.stack([tiny, mate]), times=times) for mate in (large, other)]
    assert (beside[0].products[:, 0] == beside[1].products[:, 0]).all()
    first, second = flow(problem.cov, problem.cross, tiny.layers, times)
    assert normwise(beside[0].products[:, 0], second @ first) < 1e-8
    assert beside[0].attributes["atol"][0] < 1e-4 * beside[0].attributes["atol"][1]


def test_general_costs_flow_too():
    import jax.numpy as jnp

    X, Y = random_moments(0, 6, 3, 12)
    problem, weights = small()
    cost = ln.Problem.from_cost(lambda A: 0.5 * jnp.mean(jnp.sum((Y - X @ A.T) ** 2, axis=1)), in_dim=6, out_dim=3)
    a = ln.gradient_flow(cost, weights, times=[2.0])
    b = ln.gradient_flow(problem, weights, times=[2.0])
    assert normwise(a.products, b.products) < 1e-9


def test_float32_on_request():
    problem, weights = small()
    run = ln.gradient_flow(problem, weights, times=[2.0], dtype="float32")
    exact = ln.gradient_flow(problem, weights, times=[2.0])
    assert run.loss.dtype == np.float32
    assert normwise(run.products, exact.products) < 1e-4


def test_too_few_steps_is_an_error_or_a_status():
    problem, weights = small()
    with pytest.raises(ln.trajectories.StepLimitError, match="more than `max_steps` = 5 steps"):
        ln.gradient_flow(problem, weights, times=[10.0], max_steps=5)
    run = ln.gradient_flow(problem, weights, times=[10.0], max_steps=5, throw=False)
    assert run.status.reason == "step limit" and not run.status.ok


def test_a_cost_without_a_value_is_an_error_or_a_status():
    import jax.numpy as jnp

    _, weights = small()
    problem = ln.Problem.from_cost(lambda A: jnp.log(jnp.sum(A) - 1e9), in_dim=6, out_dim=3)
    with pytest.raises(ln.DivergedError, match="not finite along the flow to t = 1"):
        ln.gradient_flow(problem, weights, times=[1.0])
    run = ln.gradient_flow(problem, weights, times=[1.0], throw=False)
    assert run.status.reason == "not finite" and not run.status.ok


def test_states_that_were_not_reached_are_nan_and_the_others_can_be_read():
    problem, weights = small()
    run = ln.gradient_flow(problem, weights, times=[0.01, 1e4], throw=False, max_steps=5)
    assert np.isfinite(run.weights_at(0).first).all() and np.isnan(run.weights.first[1]).all()
    assert np.isnan(run.to_dataset().loss.values[1])


@pytest.mark.parametrize("scale", [1e-120, 1e-170])
def test_the_smallest_starts_move_as_well(scale):
    problem = ln.Problem.from_target([[2.0]])
    weights = ln.Weights([[scale]], [[scale]])
    wait = np.log(2 / scale) / 2
    run = ln.gradient_flow(problem, weights, times=[wait, wait + 20])
    assert run.products[0, 0, 0] < 2 and run.products[1, 0, 0] == pytest.approx(2, rel=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": [1.0, 1.0]}, "`times` must be strictly increasing: entry 1"),
        ({"times": [-1.0, 1.0]}, "`times` must not be negative"),
        ({"times": []}, "`times` is empty"),
        ({"times": [np.nan]}, "`times` must be finite"),
        ({"times": [1.0], "rtol": 0}, "`rtol` must be positive"),
        ({"times": [1.0], "atol": -1}, "`atol` must be positive"),
        ({"times": [1.0], "max_steps": 0}, "`max_steps` must be at least 1"),
    ],
)
def test_nonsense_is_refused(options, message):
    problem, weights = small()
    with pytest.raises(ValueError, match=message):
        ln.gradient_flow(problem, weights, **options)
