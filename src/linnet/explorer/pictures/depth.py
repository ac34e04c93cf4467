"""The pictures of the page *Depth*."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.explorer.controls import State
from linnet.explorer.drawing import Figure, figure, guide, hatching, heatmap, line, log_levels
from linnet.explorer.pictures.strokes import BLUE, LAST, ORANGE, predicted, shades, trained

if TYPE_CHECKING:
    import xarray as xr

    from linnet.explorer.page import Html


def modes(data: xr.Dataset, state: State) -> Figure:
    """Every mode over time, trained and predicted, and the threshold between lazy and active."""
    times, traces = data["time"].values, []
    for k, colour in enumerate(shades(data.sizes["mode"])):
        traces.append(trained(times, data["trained"].values[:, k], f"S = {float(data['mode'][k]):g}", colour))
        traces.append(
            predicted(times, data["predicted"].values[:, k], "mode equations" * (k == 0), colour, legendrank=LAST)
        )
    height = float(data["threshold"])
    if height < 1.5 * float(data["mode"].max()):
        traces.append(guide(times[[0, -1]], [height] * 2, "threshold cᴸ"))
    return figure(traces, x=f"time t (canonical), depth {data.attrs['depth']}", y="singular value")


def order(data: xr.Dataset, state: State) -> Figure:
    """When the first and the last mode are half learned, by depth."""
    depths, traces = data["depth"].values, []
    for which, colour in (("largest", BLUE), ("smallest", ORANGE)):
        times = data["half_time"].sel(which=which).values
        traces.append(line(depths, times, f"{which} singular value", colour=colour, dash="dash"))
    return figure(traces, x="depth L", y="time to half of it", log_y=True, xaxis={"dtick": 1})


def diagram(data: xr.Dataset, state: State) -> Figure:
    """The least test error over variance and width, and where each mode of the truth turns from active to lazy."""
    x, y, depth = data["variance"].values, data["width"].values, int(data.attrs["depth"])
    rows = np.stack([data["stable_rank"].values, data["best_time"].values], axis=-1)
    hover = "σ² = %{x:.2e}, w = %{y:.3g}<br>least test error %{text}<br>stable rank %{customdata[0]:.2f}<br>"
    error = np.where(data["best_test"].values > 0, data["best_test"].values, np.nan)  # no error is negative: a gap
    traces = [
        heatmap(x, y, np.log10(error), bar="least test error", customdata=rows.tolist(), **log_levels(error))
        | {"hovertemplate": hover + "at t = %{customdata[1]:.3g}<extra></extra>"}
    ]
    if not data["covered"].values.all():
        traces.append(hatching(x, y, ~data["covered"].values, log=True))
    for strength in data.attrs["strengths"]:
        traces.append(guide(strength ** (2 / depth) / y, y, colour="#FFFFFF", dash="solid", hoverinfo="skip"))
    edges = [[float(np.log10(v[0] / 2**0.5)), float(np.log10(v[-1] * 2**0.5))] for v in (x, y)]
    return figure(
        traces,
        x=f"variance σ² of the start, depth {depth}",
        y="width w",
        log_x=True,
        log_y=True,
        xaxis={"range": edges[0], "showgrid": False, "dtick": 2},
        yaxis={"range": edges[1], "showgrid": False},
    )


def summary(data: xr.Dataset, state: State) -> Html:
    """What was trained, and how far the mode equations are from it, in a sentence."""
    from dash import html

    apart = float(np.abs(data["trained"].values - data["predicted"].values).max())
    return html.P(
        f"{int(state['depth'])} layers with {int(state['width']):,} units in each hidden one, trained as a network of "
        f"{data.attrs['reduced_widths']} units; its singular values are at most {apart:.2g} away from the mode "
        f"equations. A mode is lazy below the threshold cᴸ = {float(data['threshold']):.3g} and active above it."
    )
