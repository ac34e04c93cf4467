"""The law of a reduced deep Gaussian start against full networks, and any width."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import linnet as ln
from reference import descend

TARGET = np.array([[1.5, 0.0, 0.3], [0.0, 0.7, 0.0]])
SIZES = {"in_dim": 3, "out_dim": 2, "width": 40}


def losses(layers):
    """Training losses at three times, (time, network)."""
    products = descend(layers.layers, TARGET, 0.02, 120, every=40)[1:]
    return 0.5 * ((products - TARGET) ** 2).sum(axis=(-1, -2))


@pytest.mark.parametrize(("depth", "order"), [(2, 0), (3, 6), pytest.param(4, 5, marks=pytest.mark.slow)])
def test_the_law_is_that_of_full_networks(depth, order):
    stds = np.full(depth, 0.8 / np.sqrt(40))
    full = losses(ln.inits.gaussian(**SIZES, depth=depth, stds=stds, key=1, batch=1000))
    drawn = losses(ln.inits.reduced_gaussian(**SIZES, depth=depth, stds=stds, key=2, batch=1000, order=order))
    assert min(ks_2samp(one, other).pvalue for one, other in zip(full, drawn, strict=True)) > 0.005
    # the control: a start a fifth narrower is told apart
    other = SIZES | {"width": 32}
    narrow = losses(ln.inits.reduced_gaussian(**other, depth=depth, stds=stds, key=3, batch=1000, order=order))
    assert min(ks_2samp(one, other).pvalue for one, other in zip(full, narrow, strict=True)) < 1e-6


@pytest.mark.parametrize("depth", [2, 3, 4, 6])
def test_any_width(depth):
    start = ln.inits.reduced_gaussian(in_dim=3, out_dim=2, width=10**15, depth=depth, stds="ntk", key=0, order=3)
    assert start.full_width == 10**15
    assert all(np.isfinite(layer).all() for layer in start.layers)
    # the images of the inputs are orthonormal up to 1/sqrt(w): |W2 W1 e|^2 is |e|^2/d times the width
    gram = start.first.T @ start.first * 3 / 1e15
    assert np.abs(gram - np.eye(3)).max() < 1e-6


def test_narrow_networks_are_drawn_whole():
    """With words enough the spaces are full, and never wider than the network."""
    start = ln.inits.reduced_gaussian(in_dim=3, out_dim=2, width=7, depth=4, stds=1.0, key=0, order=20)
    assert start.widths == (7, 7, 7)
    entries = np.concatenate([layer.ravel() for layer in start.layers[1:-1]])
    assert abs(entries.std() - 1) < 0.35


def test_widths_are_those_of_the_words():
    widths = [
        ln.inits.reduced_gaussian(in_dim=1, out_dim=1, width=10**6, depth=4, stds=1.0, key=0, order=n).widths
        for n in (4, 5, 6)
    ]
    assert widths == [(7, 6, 7), (7, 14, 7), (15, 14, 15)]
