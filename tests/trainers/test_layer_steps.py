"""The recursion of PyTorch's forecasts takes the steps of the trainer."""

import numpy as np
from numpy.testing import assert_allclose

import linnet as ln
from linnet.torch._affine_descent import Data, products

RATE, DECAY, MOMENTUM = 0.03, 0.2, 0.7
draw = np.random.default_rng(0).standard_normal
FIRST, SECOND, TARGET = draw((5, 4)), draw((3, 5)), draw((3, 4))


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
