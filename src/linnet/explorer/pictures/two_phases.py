"""The pictures of the page *Two phases*."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.explorer import drawing
from linnet.explorer.controls import State
from linnet.explorer.drawing import Figure, Options
from linnet.explorer.pictures.strokes import AMBER, BLUE, GREEN, GREY, ORANGE, PINK, SKY, moments, predicted, trained

if TYPE_CHECKING:
    import xarray as xr


def plane(ds: xr.Dataset, state: State) -> Figure:
    """The field, both nullclines, the trained path and the reduced dynamics, along the spike and across it."""
    times = ds.time.values
    seen = "population" if state["samples"] == "population" else f"n = {state['samples']}"
    labels = [f"t = {time:.3g}" for time in times]
    quiet: Options = {"hoverinfo": "skip"}
    traces = [
        drawing.guide(*_arrows(ds), colour=GREY, dash="solid", width=1, opacity=0.7, **quiet),
        drawing.guide(*_pair(ds.nullcline_1.values), "dw₁/dt = 0", colour=SKY, dash="solid", **quiet),
        drawing.guide(*_pair(ds.nullcline_2.values), "dw₂/dt = 0", colour=AMBER, dash="solid", **quiet),
        trained(*_pair(ds.trained.values), f"trained, {seen}", PINK, text=labels),
        predicted(*_pair(ds.reduced.values), "reduced, (18)-(19)", BLUE, text=labels),
        drawing.marks(*_pair(ds.target.values[None]), "target β", colour=ORANGE, size=14, marker={"symbol": "star"}),
    ]
    for name, text in (("first_time", "t₁"), ("second_time", "t₂")):
        if np.isfinite(ds.attrs[name]):
            here = np.array([[np.interp(ds.attrs[name], times, part) for part in ds.reduced.values.T]])
            named: Options = {"mode": "markers+text", "text": [f"{text} "], "textposition": "top left"}
            traces.append(drawing.marks(*_pair(here), colour=BLUE, size=9, hoverinfo="text", **named))
    side: Options = {"range": [-0.1, 1.1], "constrain": "domain"}
    return drawing.figure(
        traces,
        x="along the spike, r̂₁ᵀW₁μ",
        y="across it, r̂₁ᵀW₁μ⊥",
        xaxis=side,
        yaxis={"scaleanchor": "x", **side},
    )


def components(ds: xr.Dataset, state: State) -> Figure:
    """Both components over time, trained and predicted, with the loss and the times of the phases."""
    time, traces = ds.time.values, []
    for k, colour in enumerate((BLUE, ORANGE)):
        name = "w₁" if k == 0 else "w₂"
        traces.append(trained(time, ds.trained_components.values[:, k], f"{name} trained", colour))
        traces.append(predicted(time, ds.reduced_components.values[:, k], f"{name} by (18)-(19)", colour))
    traces.append(drawing.line(time, ds.early.values, "w₁ by (17)", colour=GREEN, dash="dot"))
    traces.append(drawing.line(time, ds.loss.values, "loss / its start", colour=GREY, width=1.5))
    lines = [(ds.attrs["first_time"], "t₁", "dot"), (ds.attrs["second_time"], "t₁ + (20)", "dashdot")]
    return drawing.figure(traces, x="time t (canonical)", y="components along v₁, v₂", **moments(lines))


def error(ds: xr.Dataset, state: State) -> Figure:
    """The test error over the inputs per sample: the formula, and minimum-norm solutions of sampled data."""
    drawn = ds.error_drawn.values
    spread = drawn.std(axis=1, ddof=1) / np.sqrt(drawn.shape[1])
    bars = {"type": "data", "array": drawing.numbers(spread), "thickness": 1.5}
    star: Options = {"colour": ORANGE, "size": 13, "marker": {"symbol": "star"}}
    traces = [
        drawing.guide(ds.ratio.values, ds.error_without_spike.values, "without a spike"),
        predicted(ds.ratio.values, ds.error.values, "eq. (27)", BLUE),
        drawing.marks(ds.drawn_ratio.values, drawn.mean(axis=1), "least norm, d = 120", colour=PINK, error_y=bars),
        drawing.marks(np.array([state["ratio"]]), [ds.attrs["error_here"]], "d/n of the slider", **star),
    ]
    ticks = [1, 2, 3, 5, 10, 20]
    return drawing.figure(
        traces,
        x="inputs per sample d/n",
        y="test error / signal power",
        log_x=True,
        xaxis={"tickvals": ticks, "ticktext": [str(tick) for tick in ticks]},
        yaxis={"rangemode": "tozero"},
    )


def error_map(ds: xr.Dataset, state: State) -> Figure:
    """The test error over spike and alignment at the slider's inputs per sample."""
    words = "ρ = %{x:.3g}, A = %{y:.3g}<br>error %{z:.4g}<extra></extra>"
    star: Options = {"colour": ORANGE, "size": 14, "marker": {"symbol": "star", "line": {"width": 1}}}
    heat = drawing.heatmap(
        ds.spike.values, ds.alignment.values, ds.error_map.values, bar="error", zmin=0, hovertemplate=words
    )
    traces = [heat, drawing.marks(np.array([state["spike"]]), np.array([state["alignment"]]), hoverinfo="skip", **star)]
    return drawing.figure(
        traces,
        x=f"spike ρ, at d/n = {state['ratio']:g}",
        y="alignment A",
        log_x=True,
        xaxis={"range": [-1, 2], "tickvals": [0.1, 1, 10, 100], "ticktext": ["0.1", "1", "10", "100"]},
        yaxis={"range": [0, 1]},
    )


def _pair(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (point, 2) as x and y."""
    return points[:, 0], points[:, 1]


def _arrows(ds: xr.Dataset, length: float = 0.055, barb: float = 0.35) -> tuple[np.ndarray, np.ndarray]:
    """One broken line of arrows: the field's directions, longer where it is faster."""
    grid = np.stack(np.meshgrid(ds.along.values, ds.across.values), axis=-1).reshape(-1, 2)
    field = ds.field.values.reshape(-1, 2)
    speed = np.linalg.norm(field, axis=1)
    moving = speed > 0
    grid, field, speed = grid[moving], field[moving], speed[moving]
    ahead = field / speed[:, None] * (length * (0.4 + 0.6 * (speed / speed.max()) ** 0.5))[:, None]
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    tip, gap = grid + ahead, np.full_like(grid, np.nan)
    back = tip - barb * ahead
    strokes = [grid, tip, gap, back + 0.6 * barb * aside, tip, back - 0.6 * barb * aside, gap]
    path = np.stack(strokes, axis=1).reshape(-1, 2)
    return _pair(path)
