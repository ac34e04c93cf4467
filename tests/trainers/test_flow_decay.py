"""Gradient flow with weight decay against DOP853 on the full matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from reference import flow, random_moments

DECAY = 0.3


def full_flow(problem, weights, times, decay):
    """The full matrices by DOP853; the layers with the times in front."""
    layers = flow(problem.cov, problem.cross, weights.layers, times, decay=decay, tolerance=1e-12)
    return list(zip(*layers, strict=True))


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("depth", [2, 3])
def test_it_is_the_flow_of_the_full_matrices(depth, reduce):
    X, Y = random_moments(4, 8, 2, 5)  # fewer samples than inputs: what they never touch decays
    truth = np.random.default_rng(2).standard_normal((2, 8))
    problem = ln.Problem.from_data(X, Y, truth=truth, test_cov=np.eye(8))
    start = (
        ln.inits.gaussian(key=3, in_dim=8, out_dim=2, width=25, stds=0.15)
        if depth == 2
        else ln.inits.orthogonal_layers(key=3, in_dim=8, out_dim=2, width=25, depth=3, scales=[0.8] * 3)
    )
    times = [0.0, 0.7, 3.0, 12.0]
    run = ln.gradient_flow(problem, start, times=times, weight_decay=DECAY, reduce=reduce)
    for index, layers in enumerate(full_flow(problem, start, times, DECAY)):
        product = np.linalg.multi_dot(layers[::-1])
        assert_allclose(run.products[index], product, atol=1e-9)
        assert_allclose(run.test_loss[index], 0.5 * ((product - truth) ** 2).sum(), rtol=1e-8)
        for ours, theirs in zip(run.weights_at(index).layers, layers, strict=True):
            assert_allclose(ours, theirs, atol=1e-9)
    assert run.to_dataset().attrs["weight_decay"] == DECAY


def test_long_times_end_at_the_soft_threshold_and_the_imbalance_decays():
    target = np.diag([3.0, 1.0, 0.2])
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=50, stds=0.2)
    times = [0.0, 2.0, 1e5]
    run = ln.gradient_flow(ln.Problem.from_target(target), start, times=times, weight_decay=DECAY)
    assert_allclose(run.products[-1], np.diag([2.7, 0.7, 0.0]), atol=1e-9)
    assert_allclose(run.weights_at(1).imbalance, np.exp(-2 * DECAY * 2.0) * start.imbalance, atol=1e-9)


def test_a_batch_and_a_general_deep_start_decay_too():
    X, Y = random_moments(4, 4, 2, 9)
    problem = ln.Problem.from_data(X, Y)
    starts = [ln.inits.gaussian(key=key, in_dim=4, out_dim=2, width=60, depth=3, stds="ntk") for key in (0, 1)]
    times = [0.5, 4.0]
    run = ln.gradient_flow(problem, ln.Weights.stack(starts), times=times, weight_decay=DECAY)
    for member, start in enumerate(starts):
        ends = [np.linalg.multi_dot(layers[::-1]) for layers in full_flow(problem, start, times, DECAY)]
        assert_allclose(run.products[:, member], ends, atol=3e-8)


def test_a_negative_decay_is_refused():
    start = ln.Weights([[1.0]], [[1.0]])
    with pytest.raises(ValueError, match="`weight_decay` must not be negative: got -1"):
        ln.gradient_flow(ln.Problem.from_target([[1.0]]), start, times=[1.0], weight_decay=-1)
