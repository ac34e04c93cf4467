"""The page *Depth*: its numbers against plain descent of a full network, the equation at depth two, and the theory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet_papers.explorer.computing.depth import deep_modes, depth_diagram, mode_order
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages.depth import PAGE

from .pages import assert_script_computes

START = defaults(PAGE.controls)


@pytest.fixture(scope="module")
def shown():
    return deep_modes(depth=3, coupling=0.7, width=10**6, values=(4.0, 2.0, 1.0), seed=0)


def test_modes_are_those_of_a_full_network(shown):
    """Three layers of 600 units, every weight trained by plain descent: networks differ by about w^-1/2."""
    random, width = np.random.default_rng(0), 600
    std = 0.7 * width**-0.5
    layers = [std * random.standard_normal(shape) for shape in ((width, 3), (width, width), (3, width))]
    target, rate, path = np.diag([4.0, 2.0, 1.0]), 0.005, []
    times = shown["time"].values
    for step in range(int(times[-1] / rate) + 1):
        first, second, third = layers
        if step % 40 == 0:
            path.append((step * rate, np.linalg.svd(third @ second @ first, compute_uv=False)))
        rest = target - third @ second @ first
        moves = (second.T @ third.T @ rest, third.T @ rest @ first.T, rest @ (second @ first).T)
        layers = [layer + rate * move for layer, move in zip(layers, moves, strict=True)]
    clock, plain = np.array([time for time, _ in path]), np.array([values for _, values in path])
    for name in ("trained", "predicted"):
        curve = np.stack([np.interp(clock, times, shown[name].values[:, k]) for k in range(3)], axis=1)
        assert np.abs(curve - plain).max() < 0.25, name
    other = deep_modes(depth=2, coupling=0.7, width=10**6, values=(4.0, 2.0, 1.0), seed=0)
    wrong = np.stack([np.interp(clock, other["time"], other["trained"][:, k]) for k in range(3)], axis=1)
    assert np.abs(wrong - plain).max() > 0.5  # the comparison tells three layers from two


def test_training_and_mode_equations_agree(shown):
    assert np.abs(shown["trained"] - shown["predicted"]).max() < 0.02
    assert float(shown["threshold"]) == pytest.approx(0.343)
    two = deep_modes(depth=2, coupling=0.5, width=10**8, values=(2.0, 1.0), seed=1)
    closed = ln.theories.lazy_active.mode_values([2.0, 1.0], 0.25, two["time"].values)
    assert_allclose(two["predicted"], closed, atol=1e-5)
    assert_allclose(two["trained"], closed, atol=1e-3)


def test_deeper_networks_learn_their_modes_further_apart():
    times = mode_order(coupling=0.6, values=(4.0, 1.0))["half_time"]
    apart = times.sel(which="smallest") / times.sel(which="largest")
    assert (np.diff(times.sel(which="smallest")) > 0).all() and (np.diff(apart) > 0).all()


def test_the_map_is_the_theory_and_says_which_depth_it_shows():
    data = depth_diagram(depth=3, dim=40, rank=2, noise_std=1.0)
    spectrum = ln.theories.lazy_active.asymptotic_spectrum(20 * 0.95 ** np.arange(2), 40, 1.0)
    at = {"width": 3, "variance": 9}
    cell = ln.theories.deep.deep_diagram(
        spectrum, [float(data["variance"][9])], [float(data["width"][3])], depth=3, points=16
    )
    assert_allclose(data["min_test_loss"].isel(at), cell.min_test_loss[0, 0] * 2 / 40**2)
    assert data.attrs["depth"] == 3 and 0.3 < float(data["covered"].mean()) < 1


@pytest.mark.parametrize("state", [START | {"dim": 30}, START | {"depth": 2, "values": (2.0,), "dim": 30}])
def test_the_script_computes_the_same_numbers(state):
    assert_script_computes(PAGE, state)


def test_every_picture_is_drawn():
    state = START | {"depth": 2, "dim": 30}
    for part in PAGE.parts:
        data = part.compute(**PAGE.arguments(part, state))
        for view in part.views:
            if view.kind == "figure":
                assert all(len(trace["x"]) for trace in view.draw(data, state)["data"]), view.name
