"""What the tests of single pages share: states at the bounds of every control, figures, and scripts that are run."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.testing import assert_allclose

from linnet_papers.explorer.controls import State, defaults
from linnet_papers.explorer.page import Page


def edges(page: Page) -> Iterator[State]:
    """The defaults with each control at its lowest and highest, or at each of its choices."""
    start = defaults(page.controls)
    for control in page.controls:
        values: list[Any] = [value for value, _ in control.choices]
        if control.kind in ("number", "whole", "log"):
            values = [int(bound) if control.is_whole else float(bound) for bound in control.bounds]
        if control.kind == "numbers":
            low, high = control.bounds
            values = [(high,) * control.most, (low,), (high, low)]
        for value in values:
            yield start | {control.name: value}


def datasets(page: Page, state: State) -> dict[str, xr.Dataset]:
    """What every part of the page computes."""
    return {part.name: part.compute(**page.arguments(part, state)) for part in page.parts}


def assert_script_computes(page: Page, state: State, *, rtol: float = 1e-6, atol: float = 1e-6) -> None:
    """Asserts that the page's script, run on its own, leaves the datasets that the page shows."""
    names = executed(page, state)
    for part in page.parts:
        if part.waits(state):
            continue
        shown = part.compute(**page.arguments(part, state))
        script = names["data" if part.name == "main" else part.name]
        assert set(script.variables) == set(shown.variables) and script.attrs.keys() == shown.attrs.keys()
        for name, values in shown.variables.items():
            if values.dtype.kind == "f":
                assert_allclose(script[name], values, rtol=rtol, atol=atol, err_msg=f"{part.name}: {name}")


def assert_drawn(page: Page, state: State) -> None:
    """Asserts that all is finite and that every trace of every picture has points, finite ones among them."""
    for part in page.parts:
        data = part.compute(**page.arguments(part, state))
        for name, values in data.variables.items():
            assert np.isfinite(values.values).all(), (name, state)
        for view in part.views:
            figure = view.draw(data, state)
            assert figure["data"] and figure["layout"]["xaxis"]["title"]["text"], view.name
            for trace in figure["data"]:
                x, y = (np.array(trace[axis], dtype=float) for axis in "xy")
                assert np.isfinite(y).any() and np.isfinite(x).any(), (view.name, trace["name"], state)
                assert "z" in trace or x.shape == y.shape, (view.name, trace["name"])


def executed(page: Page, state: State) -> dict[str, Any]:
    """The names that the page's script leaves behind."""
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(page.script(state), page.name, "exec"), names)
    assert said.getvalue().strip()
    return names
