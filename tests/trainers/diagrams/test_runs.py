"""The fused loop of descent and prediction against the plain trainers, one run at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers import stopping
from linnet.trainers.diagrams._runs import padded_width
from paired import Pair, paired_descent

DIM = 12
RULE = stopping.first_of(stopping.TestLossRising(3), stopping.LossBelow(1e-3 * DIM**2 / 2), stopping.Stalled(1e-6))
# (width, variance): narrow, square, wide and lazy, a start that hardly moves, a step size that diverges
RUNS = [(2, 1e-2), (12, 1e-2), (40, 1e-2), (5000, 1e-4), (5000, 1.0), (3, 1e-9), (700, 0.5)]


@pytest.fixture(scope="module")
def problem():
    return ln.problems.low_rank_plus_noise(DIM, rank=2, key=3)


def pair(problem, index):
    width, variance = RUNS[index]
    std = np.sqrt(variance)
    weights = ln.inits.reduced_gaussian(key=index, in_dim=DIM, out_dim=DIM, width=width, stds=std)
    size = max(np.linalg.norm(problem.truth, 2), variance * width)
    return Pair(problem, weights, variance * width, (5.0 if index == 6 else 0.02) / size)


@pytest.mark.parametrize(("update", "most"), [("simultaneous", 120), ("sequential", 110)])
def test_it_is_gradient_descent_beside_the_narrow_network(problem, update, most):
    widths = [width for width, _ in RUNS]
    found = paired_descent(
        lambda i: pair(problem, i), widths, in_dim=DIM, out_dim=DIM, steps=most, stop=RULE, update=update, slots=2
    )
    for index in range(len(RUNS)):
        run = pair(problem, index)
        alone = ln.gradient_descent(
            problem, run.weights, learning_rate=run.learning_rate, steps=most, stop=RULE, update=update, throw=False
        )
        assert found.reason[index] == alone.status.reason
        if alone.status.reason == "diverged":
            continue
        assert found.steps[index] == alone.status.steps
        best = int(np.argmin(alone.test_loss))
        assert found.best_step[index] == alone.steps[best]
        assert_allclose(found.min_test_loss[index], alone.test_loss[best], rtol=1e-10)
        rank = ln.observables.stable_rank(alone.products[best])
        assert_allclose(found.stable_rank[index], rank, rtol=1e-9)
        assert_allclose(found.loss[index], alone.loss[-1], rtol=1e-10)
        narrow = ln.inits.balanced(run.weights.product, 2 * run.threshold)
        steps = max(1, int(alone.status.steps))
        beside = ln.gradient_descent(problem, narrow, learning_rate=run.learning_rate, steps=steps)
        gap = ((alone.products - beside.products[: len(alone)]) ** 2).sum(axis=(1, 2)).max()
        assert_allclose(found.largest_distance[index], gap, rtol=1e-7)
    assert {"test loss rising", "diverged"} <= set(found.reason)


def test_every_reason_can_be_given(problem):
    always = Pair(problem, ln.inits.balanced(problem.cross), 0.0, 1e-3)
    done = paired_descent(lambda i: always, [DIM], in_dim=DIM, out_dim=DIM, steps=5, stop=RULE)
    assert done.reason[0] == "loss below threshold" and done.steps[0] == 0
    stuck = Pair(problem, ln.inits.balanced(np.zeros((DIM, DIM))), 0.0, 1e-3)
    still = paired_descent(lambda i: stuck, [DIM], in_dim=DIM, out_dim=DIM, steps=5, stop=RULE)
    assert still.reason[0] == "loss stalled" and still.best_step[0] == 0


def test_float32_agrees_to_its_precision(problem):
    runs = [
        paired_descent(lambda i: pair(problem, 2), [40], in_dim=DIM, out_dim=DIM, steps=60, dtype=d)
        for d in ("float32", None)
    ]
    assert_allclose(runs[0].min_test_loss, runs[1].min_test_loss, rtol=1e-4)
    assert runs[0].min_test_loss[0] != runs[1].min_test_loss[0]


def test_padded_widths_depend_on_the_network_alone():
    assert [padded_width(w, 600, 240) for w in (1, 210, 211, 840, 10**12)] == [210, 210, 840, 840, 840]
    assert padded_width(3, 10, 6) == 16 and padded_width(1, 500, 300) == 800
