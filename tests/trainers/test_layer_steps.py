"""The one update of the two layers, against the gradient itself; and NumPy's kernels against the update."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.precision import computing
from linnet.torch._affine_descent import Data, products
from linnet.trainers import _layer_steps
from linnet.trainers.diagrams._numpy_run import _Network

RATE, DECAY, MOMENTUM = 0.03, 0.2, 0.7
draw = np.random.default_rng(0).standard_normal
FIRST, SECOND, TARGET = draw((5, 4)), draw((3, 5)), draw((3, 4))


def stepped(first, second, *, update="simultaneous", **hyper):
    """Both layers after one step of the compiled update on |T - A|^2/2."""
    with computing():
        first, second = jnp.asarray(first), jnp.asarray(second)
        params = {"first": first, "second": second, "rest": jnp.asarray(1.0)}
        seen = second @ first, TARGET - second @ first
        new = _layer_steps.UPDATES[update](None, {"learning_rate": RATE, **hyper}, params, 0, seen)
        return np.asarray(new["first"]), np.asarray(new["second"])


def test_negative_gradients_are_minus_the_gradients():
    def loss(layers):
        return 0.5 * jnp.sum((TARGET - layers[1] @ layers[0]) ** 2)

    with computing():
        slopes = jax.grad(loss)((jnp.asarray(FIRST), jnp.asarray(SECOND)))
        directions = _layer_steps.negative_gradients((FIRST, SECOND), TARGET - SECOND @ FIRST)
    for slope, direction in zip(slopes, directions, strict=True):
        assert_allclose(direction, -np.asarray(slope), rtol=1e-13)


@pytest.mark.parametrize("sequential", [False, True])
def test_the_kernel_of_diagrams_takes_the_same_step(sequential):
    network = _Network(FIRST, SECOND, np.dtype(float))
    network.evaluate(TARGET)
    network.step(np.float64(RATE), sequential)
    first, second = stepped(FIRST, SECOND, update="sequential" if sequential else "simultaneous")
    assert_allclose(network.first.T, first, rtol=1e-13)
    assert_allclose(network.second, second, rtol=1e-13)
    other = stepped(FIRST, SECOND, update="simultaneous" if sequential else "sequential")[1]
    assert np.abs(network.second - other).max() > 1e-3  # the control: the other order of layers


def test_the_recursion_for_pytorch_takes_the_same_steps():
    data = Data.of(np.eye(4), TARGET.T, 0.5)
    rates = decays = dict.fromkeys(("first", "second"), 0.0)
    rates, decays = dict.fromkeys(rates, RATE), dict.fromkeys(decays, DECAY)
    layers = {"first": FIRST, "second": SECOND}
    found = list(products(layers, data, rates, decays, momentum=MOMENTUM, steps=3))
    run = ln.gradient_descent(
        ln.Problem.from_target(TARGET),
        ln.Weights(FIRST, SECOND),
        learning_rate=RATE,
        steps=3,
        weight_decay=DECAY,
        momentum=MOMENTUM,
        reduce=False,
    )
    assert_allclose(found, run.products, rtol=1e-12)
    plain = ln.gradient_descent(
        ln.Problem.from_target(TARGET), ln.Weights(FIRST, SECOND), learning_rate=RATE, steps=3, reduce=False
    )
    assert np.abs(found[-1] - plain.products[-1]).max() > 1e-3  # the control: no decay, no momentum
