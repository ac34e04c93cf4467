"""What the page *Train* draws: modes and losses along a run, with a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.explorer.controls import State
from linnet.explorer.drawing import Figure, figure, guide, marks
from linnet.explorer.pictures.strokes import predicted, trained
from linnet.style import ACTIVE, GUIDE, LAZY, LOSS, TEST_LOSS

if TYPE_CHECKING:
    import xarray as xr

    from linnet.explorer.page import Html


def cursor_at(data: xr.Dataset, state: State) -> int:
    """The saved time that is next to the cursor."""
    times = data["time"].values
    return int(np.argmin(np.abs(times - float(state["cursor"]) * times[-1])))


def draw_modes(data: xr.Dataset, state: State) -> Figure:
    """Singular values over time; each mode has the colour of what it is at the cursor, lazy or active."""
    times, at, threshold = data["time"].values, cursor_at(data, state), float(data["threshold"])
    active = data["trained"].values[at] > threshold
    traces = []
    for word, colour, which in (("active at the cursor", ACTIVE, active), ("lazy at the cursor", LAZY, ~active)):
        for order, i in enumerate(np.flatnonzero(which)):
            hover = f"s{i + 1} = %{{y:.4g}} at t = %{{x:.4g}}<extra>trained, {word}</extra>"
            shown = word if order == 0 else ""
            traces.append(trained(times, data["trained"].values[:, i], shown, colour, hovertemplate=hover))
            hover = hover.replace("trained", "predicted")
            traces.append(predicted(times, data["predicted"].values[:, i], "", colour, hovertemplate=hover))
    top = float(np.nanmax([np.nanmax(data["trained"].values), data["learnable"].values.max()]))
    if threshold <= 3 * top:
        traces.append(guide([times[0], times[-1]], [threshold] * 2, "threshold"))
        top = max(top, threshold)
    traces.append(guide([times[at]] * 2, [0.0, top], "cursor", dash="solid", width=1))
    ends = np.full(data.sizes["mode"], times[-1])
    traces.append(marks(ends, data["learnable"].values, "target", colour=GUIDE, size=6, meta="guide"))
    return figure(traces, x="time t", y="singular value of W₂W₁")


def draw_losses(data: xr.Dataset, state: State) -> Figure:
    """Training loss and test error, trained and predicted."""
    times, at = data["time"].values, cursor_at(data, state)
    shown = [("training loss", "loss", LOSS)]
    if not np.allclose(data["loss"].values, data["test_loss"].values):
        shown.append(("test error", "test_loss", TEST_LOSS))
    traces, lowest, highest = [], np.inf, 0.0
    for text, name, colour in shown:
        values = data[name].values
        traces += [
            trained(times, values, f"{text}, trained", colour),
            predicted(times, data[f"predicted_{name}"].values, "predicted", colour),
        ]
        lowest = min(lowest, float(np.min(values[values > 0], initial=np.inf)))
        highest = max(highest, float(values.max()))
    if np.isfinite(lowest):
        traces.append(guide([times[at]] * 2, [lowest, highest], "cursor", dash="solid", width=1))
    return figure(traces, x="time t", y="loss", log_y=True)


def tell_cursor(data: xr.Dataset, state: State) -> Html:
    """What stands at the cursor, mode by mode."""
    from dash import html

    at, threshold = cursor_at(data, state), float(data["threshold"])
    rows = []
    for i in range(data.sizes["mode"]):
        now, theory = float(data["trained"].values[at, i]), float(data["predicted"].values[at, i])
        word = "active" if now > threshold else "lazy"
        aim = float(data["learnable"].values[i])
        rows.append(html.Tr([html.Td(text) for text in (i + 1, f"{aim:.4g}", f"{now:.4g}", f"{theory:.4g}", word)]))
    head = html.Tr([html.Th(text) for text in ("mode", "target", "trained", "predicted", "regime")])
    times = data["time"].values
    off = float(np.nanmax(np.abs(data["trained"].values - data["predicted"].values)))
    return [
        html.P(
            f"t = {times[at]:.4g} of {times[-1]:.4g}; threshold {threshold:.4g}; largest distance between trained and "
            f"predicted singular values over the run: {off:.2g}."
        ),
        html.Table([html.Thead(head), html.Tbody(rows)]),
    ]
