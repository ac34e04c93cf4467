from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.trainers import _flow_rounds as flow_rounds
from linnet.trainers import _loop as loop
from linnet.trainers import _start

RNG = np.random.default_rng(0)
DATA = RNG.standard_normal((12, 30)), RNG.standard_normal((12, 3))  # 30 inputs of rank 12: the test loss sees the rest
PROBLEM = ln.Problem.from_data(*DATA, truth=RNG.standard_normal((3, 30)), test_cov=np.diag(np.linspace(1, 2, 30)))


def start(width: int, batch: int | None = None) -> ln.Weights:
    return ln.inits.gaussian(key=width, in_dim=30, out_dim=3, width=width, stds=(0.2, 0.3), batch=batch)


def compiled(function: Any) -> int:
    """How many times a jitted function was."""
    return function._cache_size()


@pytest.mark.parametrize(
    ("width", "most", "expected"),
    [(1, 2, 2), (1, 40, 4), (4, 40, 4), (5, 40, 8), (33, 40, 40), (33, 400, 48), (97, 400, 128), (129, 400, 129)],
)
def test_the_ladder_of_widths(width, most, expected):
    assert _start.run_width(width, most) == expected
    assert len({_start.run_width(narrow, 400) for narrow in range(1, 41)}) == 5


def momentum(weights: ln.Weights) -> ln.Trajectory:
    return ln.gradient_descent(
        PROBLEM, weights, learning_rate=0.02, steps=40, weight_decay=0.3, momentum=0.9, update="sequential"
    )


def label_noise(weights: ln.Weights) -> ln.Trajectory:
    return ln.label_noise_descent(PROBLEM, weights, learning_rate=0.02, steps=40, noise_std=0.5, key=1)


@pytest.mark.parametrize(
    ("train", "run_to_each"),
    [
        pytest.param(momentum, loop._run_to_each_quick, marks=pytest.mark.slow),
        (label_noise, loop._run_to_each_drawing.on_cpu),
    ],
)
def test_units_at_zero_change_nothing(train, run_to_each, monkeypatch):
    """The bits may differ, as sums of other lengths are rounded in another order: 1e-12 is ten thousand roundings."""
    weights, before = start(5, batch=2), compiled(run_to_each)
    filled = train(weights)
    train(start(7, batch=2))
    assert compiled(run_to_each) - before == 1
    monkeypatch.setattr(_start, "RUN_WIDTHS", ())
    plain = train(weights)
    assert compiled(run_to_each) - before == 2
    assert filled.reduced.first.shape == (41, 2, 5, 12)
    for found, expected in [
        (filled.weights.first, plain.weights.first),
        (filled.weights.second, plain.weights.second),
        (filled.loss, plain.loss),
        (filled.test_loss, plain.test_loss),
    ]:
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_flow_takes_the_same_steps_with_units_at_zero(monkeypatch):
    """Errors are the mean over the network's own entries: otherwise width 1 would be followed half as exactly."""
    weights, times, before = start(1), [0.0, 1.0, 5.0], compiled(flow_rounds._solve_round)
    filled = ln.gradient_flow(PROBLEM, weights, times=times)
    ln.gradient_flow(PROBLEM, start(3), times=times)
    assert compiled(flow_rounds._solve_round) - before == 1
    monkeypatch.setattr(_start, "RUN_WIDTHS", ())
    plain = ln.gradient_flow(PROBLEM, weights, times=times)
    assert filled.status.steps == plain.status.steps
    assert filled.reduced.first.shape == (3, 1, 12)
    assert np.abs(filled.products - plain.products).max() <= 1e-12 * np.abs(plain.products).max()
    assert np.abs(filled.test_loss - plain.test_loss).max() <= 1e-12 * plain.test_loss.max()


def test_a_unit_that_is_nearly_zero_is_noticed():
    """The control: 1e-5 in one layer of one more unit grows."""
    first, second = start(7).first, start(7).second
    more = ln.Weights(np.pad(first, ((0, 1), (0, 0)), constant_values=1e-5), np.pad(second, ((0, 0), (0, 1))))
    two = [ln.gradient_descent(PROBLEM, w, learning_rate=0.05, steps=40) for w in (start(7), more)]
    assert np.abs(two[0].loss - two[1].loss).max() > 1e-12 * two[0].loss.max()
