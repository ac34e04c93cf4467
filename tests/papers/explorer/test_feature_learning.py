"""The page *Feature learning*: its numbers against plain descent of every weight."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages.feature_learning import PAGE

from .pages import assert_drawn, assert_script_computes, datasets, edges

STATE = defaults(PAGE.controls) | {"width": 32}


@pytest.fixture(scope="module")
def ds():
    return datasets(PAGE, STATE)["main"]


@pytest.fixture(scope="module")
def plain(ds):
    """Full-batch descent on all weights, in the inputs' own dimensions: the loss and the first layer at each step."""
    data = ln.problems.gaussian_teacher(key=0, samples=10, dim=1000, noise_variance=0.01, signal=1.0)
    span = np.linalg.qr(data.inputs.T)[0]
    start = ln.inits.signed(key=[0, 1], in_dim=10, width=32, first_std=1e-6, magnitude=1e-5)
    first, second = start.first @ span.T, start.second[0].copy()
    X, y, losses, layers = data.inputs, data.outputs, [], []
    for _ in range(int(ds.step[-1]) + 1):
        miss = y - X @ (second @ first)
        losses.append(miss @ miss / 20)
        layers.append(first)
        pull = miss @ X / 10
        rate = ds.attrs["learning_rate"]
        first, second = first + rate * np.outer(second, pull), second + rate * first @ pull
    return np.array(losses), np.array(layers), X.T @ y


def test_training_is_plain_descent(ds, plain):
    losses, layers, feature = plain
    assert_allclose(ds.loss, (losses / losses[0])[ds.step.values], rtol=1e-6, atol=1e-9)
    w = layers[ds.step.values][:, :24]
    cosines = w @ feature / (np.linalg.norm(w, axis=-1) * np.linalg.norm(feature))
    assert_allclose(np.cos(np.radians(ds.angle)), cosines, atol=1e-8)


def test_neurons_turn_before_the_loss_falls(ds):
    first = int(np.searchsorted(ds.step, ds.attrs["first_step_trained"]))
    towards = np.where(ds.sign > 0, ds.angle, 180 - ds.angle)
    assert towards[first].max() < 3 and np.median(np.abs(ds.angle[0] - 90)) > 5
    assert float(ds.loss[first]) > 0.95 and float(ds.loss[-1]) < 1e-3
    assert float(ds.ratio[first]) == pytest.approx(1, abs=0.01)
    assert ds.attrs["first_step"] == pytest.approx(ds.attrs["first_step_trained"], rel=0.1)
    assert ds.attrs["second_step"] == pytest.approx(ds.attrs["second_step_trained"], rel=0.1)


def test_kernel_turns_to_the_target(ds, plain):
    layers = plain[1]
    data = ln.problems.gaussian_teacher(key=0, samples=10, dim=1000, noise_variance=0.01, signal=1.0)
    gram = data.inputs @ data.inputs.T
    image = gram @ data.outputs
    target = gram + np.outer(image, image) / (data.outputs @ image)
    hidden = layers[0] @ data.inputs.T
    kernel = 1e-10 * gram + hidden.T @ hidden  # v is 1e-5/sqrt(m), m times
    cosine = np.sum(kernel * target) / np.sqrt(np.sum(kernel**2) * np.sum(target**2))
    assert float(ds.kernel_cosine[0]) == pytest.approx(cosine, rel=1e-9)
    assert float(ds.kernel_cosine.max()) > 0.999999


def test_script_computes_the_same_numbers():
    assert_script_computes(PAGE, STATE, rtol=1e-9, atol=1e-9)


def test_every_bound_is_drawn():
    for state in edges(PAGE):
        assert_drawn(PAGE, state)
