"""Weights remember the width that they stand for."""

import numpy as np
import pytest

import linnet as ln


def test_reduced_weights_stand_for_the_wide_network():
    start = ln.inits.reduced_gaussian(key=0, in_dim=3, out_dim=2, width=10**9, stds=1e-5, batch=2)
    assert (start.width, start.full_width) == (5, 10**9)
    assert start[1].full_width == 10**9 and ln.Weights.stack([start[0], start[1]]).full_width == 10**9
    assert "width=5 for 1000000000" in repr(start)
    small = ln.reduce(ln.Problem.from_target(np.ones((2, 3))), start[0])
    assert small.weights.full_width == 10**9


def test_others_stand_for_themselves():
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=40, stds=0.1)
    assert start.full_width == start.width == 40 and " for " not in repr(start)
    small = ln.reduce(ln.Problem.from_target(np.ones((2, 3))), start)
    assert (small.weights.width, small.weights.full_width) == (5, 40)
    assert small.lift(small.weights).full_width == 40
    mixed = ln.Weights.stack([ln.Weights(start.first, start.second, full_width=99), start])
    assert mixed.full_width == 40  # two widths have no common one: the layers' own
    with pytest.raises(ValueError, match="`full_width` must be a whole number"):
        ln.Weights(start.first, start.second, full_width=2.5)
