"""Learning rates by layer and by step, against plain NumPy loops and against an exact equivalence."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers import Schedule

draw = np.random.default_rng(1).standard_normal
X, Y = draw((12, 4)), draw((12, 3))
PROBLEM = ln.Problem.from_data(X, Y)
START = ln.inits.gaussian(key=2, in_dim=4, out_dim=3, width=9, stds=0.4)
STEPS = 25
FALLING = 0.05 / (1 + np.arange(STEPS))


def plain(first_rates, second_rates):
    """Products of descent with these rates, written out."""
    first, second = START.first, START.second
    kept = [second @ first]
    for one, two in zip(first_rates, second_rates, strict=True):
        residual = (Y.T - second @ first @ X.T) @ X / len(X)
        first, second = first + one * second.T @ residual, second + two * residual @ first.T
        kept.append(second @ first)
    return np.array(kept)


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize(
    ("rate", "rates"),
    [
        (Schedule(FALLING), FALLING),
        (lambda step: 0.05 / (1 + step), FALLING),
        (lambda step: 0.03, np.full(STEPS, 0.03)),
    ],
)
@pytest.mark.parametrize("layer_rates", [None, (2.0, 0.5), (0.0, 1.0)])
def test_rates_by_step_and_by_layer_are_those_of_the_plain_loop(rate, rates, layer_rates, reduce):
    run = ln.gradient_descent(PROBLEM, START, learning_rate=rate, steps=STEPS, reduce=reduce, layer_rates=layer_rates)
    one, two = (1.0, 1.0) if layer_rates is None else layer_rates
    assert_allclose(run.products, plain(one * rates, two * rates), rtol=1e-11, atol=1e-13)
    assert_allclose(run.times, np.concatenate([[0], np.cumsum(rates)]), rtol=1e-12)
    if layer_rates is not None:  # the control: the rates of the layers exchanged
        assert np.abs(run.products - plain(two * rates, one * rates)).max() > 1e-4


CLOCK, SCALE = 0.02, 2.0
SCALED = ln.Weights(START.first / SCALE, SCALE * START.second)


@pytest.mark.parametrize(
    ("train", "options"),
    [
        (ln.stochastic_descent, {"batch_size": 5, "key": 3}),
        pytest.param(ln.label_noise_descent, {"noise_std": 0.3, "key": 3}, marks=pytest.mark.slow),
        (ln.relu_descent, {}),
    ],
)
def test_every_trainer_takes_a_rate_for_each_layer(train, options):
    """Exact: layers of two rates are layers of one rate that are scaled against each other."""
    run = train(PROBLEM, START, learning_rate=CLOCK, steps=STEPS, layer_rates=(4.0, 0.25), **options)
    same = train(PROBLEM, SCALED, learning_rate=CLOCK, steps=STEPS, **options)
    assert_allclose(run.products, same.products, rtol=1e-10, atol=1e-12)
    assert_allclose(run.times, same.times, rtol=1e-12)
    other = train(PROBLEM, START, learning_rate=CLOCK, steps=STEPS, **options)
    assert np.abs(run.products - other.products).max() > 1e-4  # the control: one rate, and layers as they were
    scheduled = train(PROBLEM, START, learning_rate=Schedule(FALLING), steps=STEPS, **options)
    assert_allclose(scheduled.times[1:], np.cumsum(FALLING), rtol=1e-12)
    function = train(PROBLEM, START, learning_rate=lambda step: 0.05 / (1 + step), steps=STEPS, **options)
    assert_allclose(function.products, scheduled.products, rtol=1e-12)
    constant = train(PROBLEM, START, learning_rate=Schedule(np.full(STEPS, 0.02)), steps=STEPS, **options)
    plainly = train(PROBLEM, START, learning_rate=0.02, steps=STEPS, **options)
    assert_allclose(constant.products, plainly.products, rtol=1e-12)


def test_members_of_a_batch_share_a_schedule():
    batch = ln.Weights.stack([START, SCALED])
    run = ln.gradient_descent(PROBLEM, batch, learning_rate=Schedule(FALLING), steps=STEPS)
    assert_allclose(run.products[:, 0], plain(FALLING, FALLING), rtol=1e-11, atol=1e-13)


def test_wrong_rates_are_refused():
    def train(rate, steps=3):
        ln.gradient_descent(PROBLEM, START, learning_rate=rate, steps=steps)

    for rate, words in (
        ([0.1, 0.2], "A rate for each step is a `Schedule`"),
        (Schedule([0.1, 0.2]), "`learning_rate` must have one rate for each of the 3 steps: got 2"),
        (lambda step: 0.1 - step, "`learning_rate` must not be negative: got -1.9 at a step"),
        (0.0, "`learning_rate` must be positive"),
        (len, "`learning_rate` must be a function of the step"),
    ):
        with pytest.raises(ValueError, match=words):
            train(rate)
    with pytest.raises(ValueError, match=r"`values` must not be negative: got -0\.2 at a step"):
        Schedule([0.1, -0.2])
    with pytest.raises(ValueError, match="`steps` must be at most 1e\\+08 with a schedule"):
        train(lambda step: 0.1, steps=10**12)


@dataclass(frozen=True)
class HeavyBall:
    """Momentum, as a user writes it."""

    decay: float = 0.8
    equivariant: bool = True

    def init(self, layers):
        return {name: jnp.zeros_like(layer) for name, layer in layers.items()}

    def step(self, layers, gradients, memory, rates, index):
        memory = {name: self.decay * memory[name] - gradients[name] for name in layers}
        return {name: layers[name] + rates[name] * memory[name] for name in layers}, memory


@dataclass(frozen=True)
class SignDescent:
    """Not equivariant: signs depend on the coordinates."""

    equivariant: bool = False

    def init(self, layers):
        return ()

    def step(self, layers, gradients, memory, rates, index):
        shrink = 1 / (1.0 + index)
        return {name: layers[name] - rates[name] * shrink * jnp.sign(gradients[name]) for name in layers}, memory


@pytest.mark.parametrize("batched", [pytest.param(False, marks=pytest.mark.slow), True])
def test_an_update_of_ones_own_is_compiled_in(batched):
    start = ln.Weights.stack([START, SCALED]) if batched else START
    own = ln.gradient_descent(PROBLEM, start, learning_rate=0.03, steps=STEPS, update=HeavyBall(), stop=0.4)
    built_in = ln.gradient_descent(PROBLEM, start, learning_rate=0.03, steps=STEPS, momentum=0.8, stop=0.4)
    assert_allclose(own.products, built_in.products, rtol=1e-11, atol=1e-13)
    assert np.array_equal(own.status.steps, built_in.status.steps) and own.attributes["update"] == "HeavyBall"
    run = ln.gradient_descent(PROBLEM, START, learning_rate=0.03, steps=4, update=SignDescent(), reduce=False)
    first, second = START.first, START.second
    for index in range(4):
        residual = (Y.T - second @ first @ X.T) @ X / len(X)
        one, two = np.sign(second.T @ residual), np.sign(residual @ first.T)
        first, second = first + 0.03 / (1 + index) * one, second + 0.03 / (1 + index) * two
    assert_allclose(run.products[-1], second @ first, rtol=1e-12)


def test_updates_that_cannot_be_are_refused():
    def train(update, **options):
        ln.gradient_descent(PROBLEM, START, learning_rate=0.03, steps=2, update=update, **options)

    with pytest.raises(ValueError, match="`update` SignDescent does not commute with rotations"):
        train(SignDescent())
    with pytest.raises(ValueError, match="`update` must be one of"):
        train(HeavyBall)
    with pytest.raises(ValueError, match="`weight_decay` and `momentum` belong to plain descent"):
        train(HeavyBall(), momentum=0.5)


def test_a_function_of_the_number_of_steps_is_no_schedule():
    with pytest.raises(ValueError, match="`values` must be a function of the step: this one returns one number"):
        Schedule(len)
    assert Schedule(lambda step: 0.1).over(2).tolist() == [0.1, 0.1]  # the control: a constant is one


def test_the_error_names_the_largest_rate_before_the_divergence():
    problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
    with pytest.raises(ln.DivergedError, match=r"with a `learning_rate` of 50\. A step size of"):
        ln.gradient_descent(problem, start, learning_rate=lambda step: 50.0 - step, steps=20)
