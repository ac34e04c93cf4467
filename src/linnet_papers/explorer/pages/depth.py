"""The page *Depth*: deeper networks wait longer and learn their modes more sharply one after the other."""

from __future__ import annotations

import numpy as np
from dash import html

from linnet.style import BLUE, ORANGE
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing import depth as computing
from linnet_papers.explorer.controls import State, grouped, log, number, numbers, whole
from linnet_papers.explorer.drawing import Figure
from linnet_papers.explorer.page import Data, Html, Page, Part, view

CONTROLS = grouped(
    "Network",
    whole("depth", "Depth L", 3, (2, 6), "Number of layers, the last one included."),
    log("coupling", "Start c = √w σ", 0.7, (0.5, 2), "Below 1, deeper networks start smaller: cᴸ.", step=0.02),
    log("width", "Width w", 10**6, (1000, 1e12), "Of every hidden layer; it costs nothing.", step=0.1),
    whole("seed", "Seed", 0, (0, 99), "Of the start."),
    "Target",
    numbers("values", "Singular values S", (4.0, 2.0, 1.0), (0.3, 10), "One to three.", most=computing.SIDE),
    "Map",
    log("dim", "Dimension d", 100, (20, 10_000), "Inputs and outputs of the task of the map."),
    whole("rank", "Rank K", 3, (1, 8), "Of the truth A*; its largest singular value is d/2."),
    number("noise_std", "Noise", 1.0, (0.1, 3), "Standard deviation of the entries of E in A* + E.", step=0.05),
)


@view("Modes over time", height=420)
def modes(data: Data, state: State) -> Figure:
    """Draw every mode over time, trained and predicted, and the threshold between lazy and active."""
    times, traces = data["time"].values, []
    for k, color in enumerate(draw.ordered_colors(data.sizes["mode"])):
        names = (f"S = {float(data['mode'][k]):g}", "mode equations" * (k == 0))
        values = (data["trained"][:, k], data["predicted"][:, k])
        traces += draw.comparison(times, *values, names, color, legendrank=draw.LEGEND_LAST)
    height = float(data["threshold"])
    if height < 1.5 * float(data["mode"].max()):
        traces.append(draw.horizontal_line(times, height, "threshold cᴸ"))
    return draw.figure(traces, x=f"time t (canonical), depth {data.attrs['depth']}", y="singular value")


@view("The network", kind="html")
def summary(data: Data, state: State) -> Html:
    """Tell what was trained, and how far the mode equations are from it."""
    apart = float(np.abs(data["trained"].values - data["predicted"].values).max())
    return html.P(
        f"{int(state['depth'])} layers with {int(state['width']):,} units in each hidden one, trained as a network of "
        f"{data.attrs['reduced_widths']} units; its singular values are at most {apart:.2g} away from the mode "
        f"equations. A mode is lazy below the threshold cᴸ = {float(data['threshold']):.3g} and active above it."
    )


@view("The order of learning by depth", "When the first and the last mode are half learned, by formula.", height=380)
def learning_order(data: Data, state: State) -> Figure:
    """Draw when the first and the last mode are half learned, by depth."""
    traces = [
        draw.predicted_line(
            data["depth"].values, data["half_time"].sel(which=which).values, f"{which} singular value", color
        )
        for which, color in (("largest", BLUE), ("smallest", ORANGE))
    ]
    return draw.figure(traces, x="depth L", y="time to half of it", log_y=True, xaxis={"dtick": 1})


@view(
    "The phase diagram by formula",
    "White: a mode S of the truth is lazy above (σ²w)ᴸ = S². Hatched: the error bar is above 3%.",
    height=420,
)
def diagram(data: Data, state: State) -> Figure:
    """Draw the least test error over variance and width, and where each mode of the truth turns from active to lazy."""
    x, y, depth = data["variance"].values, data["width"].values, int(data.attrs["depth"])
    rows = np.stack([data["stable_rank"].values, data["best_time"].values], axis=-1).tolist()
    hover = (
        "σ² = %{x:.2e}, w = %{y:.3g}<br>least test error %{text}<br>stable rank %{customdata[0]:.2f}<br>"
        "at t = %{customdata[1]:.3g}"
    )
    error = np.where(
        data["min_test_loss"].values > 0, data["min_test_loss"].values, np.nan
    )  # no error is negative: a gap
    traces = [draw.error_heatmap(x, y, error, bar="least test error", hover=hover, customdata=rows)]
    if not data["covered"].values.all():
        traces.append(draw.hatching(x, y, ~data["covered"].values, log=True))
    for strength in data.attrs["strengths"]:
        traces.append(draw.guide(strength ** (2 / depth) / y, y, color="#FFFFFF", dash="solid", hoverinfo="skip"))
    return draw.figure(
        traces,
        x=f"variance σ² of the start, depth {depth}",
        y="width w",
        log_x=True,
        log_y=True,
        xaxis={**draw.map_axis(x, log=True), "dtick": 2},
        yaxis=draw.map_axis(y, log=True),
    )


PAGE = Page(
    name="depth",
    title="Depth",
    card="Two to six layers: longer plateaus, and modes further apart in time.",
    introduction=(
        "A linear network of L layers, wide and with a Gaussian start. Each singular value S of the target follows an "
        "equation of its own; only S/cᴸ decides whether it is learned lazily (like an exponential) or actively (a "
        "plateau, then a jump). The deeper the network, the further apart in time the modes. Broad: trained; dashed: "
        "predicted without training.",
    ),
    controls=CONTROLS,
    parts=(
        Part("main", computing.deep_modes, (modes, summary)),
        Part("order", computing.mode_order, (learning_order,)),
        Part("map", computing.depth_diagram, (diagram,)),
    ),
    prefetch_queries=("", *(f"depth={depth}" for depth in computing.DEPTHS if depth != 3)),
    can_freeze_run=True,
)
