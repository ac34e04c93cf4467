"""The page *Phase diagram*: lazy and active training over variance and width, by formula, live.

The names of its views are ids: `assets/phase_diagram.css` orders the pictures by them, `website/draw_links.py` finds
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dash import html

from linnet.style import LOSS, ORANGE, TEST_LOSS
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing import phase_diagram as computing
from linnet_papers.explorer.controls import State, choice, grouped, log, number, numbers, switch, whole
from linnet_papers.explorer.drawing import Figure, Options, Trace
from linnet_papers.explorer.page import Data, Html, Page, Part, view

MAPS = {
    "": "nothing",
    "published": "published cells, d = 200",
    **{str(dim): f"trained here, d = {dim}" for dim in (50, 200, 1000, 2000)},
}

CONTROLS = grouped(
    "Task",
    log("dim", "Dimension d", 200, (20, 1e6), "Inputs and outputs; the plane's axes are exponents of it."),
    whole("rank", "Rank K", 5, (1, 10), "Of the truth A*."),
    log("strength", "Strength a₁", 0.5, (0.01, 3), "Largest singular value of A*, in units of d.", step=0.02),
    number("ratio", "Ratio of strengths", 0.95, (0.3, 1), "Of each singular value to the one before it.", step=0.01),
    number("noise_std", "Noise", 1.0, (0.05, 3), "Standard deviation of the entries of E in A* + E.", step=0.05),
    "Map",
    switch("borders", "Borders", True, "Of the regions, by theory."),
    choice("compare", "Compare with", MAPS, "Maps trained network by network, at their own d."),
    "Cell",
    whole("cell_dim", "Dimension of a trained cell", 60, (20, 120), "Click a cell: it is trained at this d."),
    whole("seed", "Seed", 0, (0, 999), "Of the trained cell."),
    numbers("cell", "Cell", (), (-3, 2.8), "Exponents of variance and width.", most=2, hidden=True),
)

AXES: Options = {"x": "variance of the start, log<sub>d</sub> σ²", "y": "width, log<sub>d</sub> w"}
BORDERS = (
    "White: σ²w = |A*|, lazy above. White, dashed: σ⁴w = 1, a noisy start above. Thin: w = d and, dotted, w = K. "
    f"Hatched: the error bar is above {computing.LIMIT:.0%}."
)
HOVER = (
    "least test error %{customdata[0]:.4g} ± %{customdata[3]:.1%}<br>stable rank %{customdata[1]:.2f}<br>"
    "%{customdata[2]:.0f} steps to it"
)
HOVERED = ("min_test_loss", "stable_rank", "best_step", "uncertainty")  # variables, as `HOVER` numbers them
WHITE, BLACK = "#FFFFFF", "#111111"  # on maps, in the dark too: no colors that the browser makes lighter


@view("a  Least test error", BORDERS, click={"cell": "xy"}, height=420)
def test_error(data: Data, state: State) -> Figure:
    """Draw panel a: the least test error, in the colors of the README's picture."""
    drawn = _phase_map(data, state, draw.error_heatmap, "min_test_loss", bar="least test error")
    if state["borders"]:
        drawn["layout"]["annotations"] = _region_labels(data)
    return drawn


@view("b  Stable rank at the least test error", click={"cell": "xy"}, height=420)
def stable_rank(data: Data, state: State) -> Figure:
    """Draw panel b: the stable rank at the least test error."""
    top = min(_largest_covered(data, "stable_rank"), 4.0 * int(state["rank"]))
    return _phase_map(data, state, draw.heatmap, "stable_rank", bar="stable rank", zmin=1, zmax=top)


@view("c  Steps to the least test error", click={"cell": "xy"}, height=420)
def steps_to_best(data: Data, state: State) -> Figure:
    """Draw panel c: the steps to the least test error."""
    return _phase_map(
        data, state, draw.heatmap, "best_step", bar="steps to it", zmin=0, zmax=_largest_covered(data, "best_step")
    )


def _largest_covered(data: Data, name: str) -> float:
    """Return the largest value among the cells whose error bar is narrow."""
    return float(np.nanmax(data[name].values[data["covered"].values], initial=1.0))


def _phase_map(data: Data, state: State, heat: Callable[..., Trace], name: str, **options: Any) -> Figure:
    """Draw a map, hatched where its error bar is wide, with its borders and the cell that was clicked.

    `heat` is `draw.heatmap` or `draw.error_heatmap`, which draws the variable `name`; `options` are its keywords.
    """
    x, y = data["gamma_variance"].values, data["gamma_width"].values
    hovered = np.stack([data[variable].values for variable in HOVERED], axis=-1)
    under_pointer = {"hover": HOVER, "customdata": draw.rounded_list(hovered)}
    traces = [heat(x, y, data[name].values, **under_pointer, **options)]
    if not data["covered"].values.all():
        traces.append(draw.hatching(x, y, ~data["covered"].values))
    if state["borders"]:
        traces += _border_traces(data)
    if len(state["cell"]) == 2:
        ring = {"symbol": "square-open", "line": {"width": 2.5, "color": ORANGE}}
        traces.append(draw.markers([state["cell"][0]], [state["cell"][1]], color=ORANGE, size=13, marker=ring))
    return _plane_figure(data, traces)


def _plane_figure(data: Data, traces: list[Trace]) -> Figure:
    """Return a figure over the exponents of variance and width."""
    axes: Options = {
        "xaxis": draw.map_axis(data["gamma_variance"].values),
        "yaxis": draw.map_axis(data["gamma_width"].values),
    }
    return draw.figure(traces, **AXES, **axes)


def _region_labels(data: Data) -> list[Options]:
    """Return the names of the three regions as annotations, each at a height, log_d w, between its borders."""
    heights = {"active": 1.8, "lazy": 2.62, "infinite noise": 2.15}
    border = _border_positions(data, np.array(list(heights.values())))
    lazy, noisy = border["lazy"], border["infinite-noise"]
    places = ((lazy[0] - 3) / 2, (lazy[1] + noisy[1]) / 2, max(lazy[2], noisy[2]) / 2)
    return [
        {
            "x": float(place),
            "y": height,
            "text": f"<b>{name}</b>",
            "showarrow": False,
            "font": {"size": 13, "color": WHITE if name == "active" else BLACK},
        }
        for (name, height), place in zip(heights.items(), places, strict=True)
    ]


def _border_positions(data: Data, heights: np.ndarray) -> dict[str, np.ndarray]:
    """Return log_d σ² of each border at these heights, log_d w; of "width-dim" and "width-rank" their own height."""
    from linnet.theories.lazy_active import phase_boundaries

    dim, rank = int(data.attrs["dim"]), int(data.attrs["rank"])
    return phase_boundaries(heights, dim=dim, rank=rank, size=float(data.attrs.get("size", dim)))


def _border_traces(data: Data) -> list[Trace]:
    """Return the lines between the regions of the plane, by theory."""
    x, y = data["gamma_variance"].values, data["gamma_width"].values
    heights = np.linspace(y[0], y[-1], 30)
    border = _border_positions(data, heights)
    look: Options = {"color": WHITE, "hoverinfo": "skip"}
    return [
        draw.guide(border["lazy"], heights, dash="solid", width=2, **look),
        draw.guide(border["infinite-noise"], heights, dash="dash", width=2, **look),
        draw.horizontal_line(x, float(border["width-dim"]), dash="solid", width=1, **look),
        draw.horizontal_line(x, float(border["width-rank"]), dash="dot", width=1, **look),
    ]


@view("The cell, trained", kind="html", wide=True)
def cell_caption(data: Data, state: State) -> Html:
    """Tell what was trained in the cell, its least test error, and the one by formula."""
    off = float(data["predicted_min_test_loss"] / data["min_test_loss"] - 1)
    claimed = (
        "" if data.attrs["covered"] else " The formula is not claimed here: the start is too large or too unequal."
    )
    return html.P(
        f"A network of {data.attrs['width']} hidden units at d = {data.attrs['dim']}, entries of variance "
        f"{data.attrs['variance']:.3g}, {data.attrs['steps']} steps of {data.attrs['learning_rate']:.3g}: least test "
        f"error {float(data['min_test_loss']):.4g}, by the formula {float(data['predicted_min_test_loss']):.4g} "
        f"({off:+.1%}).{claimed}"
    )


@view("Its losses")
def cell_losses(data: Data, state: State) -> Figure:
    """Draw the losses of the trained cell beside the prediction."""
    traces = []
    for name, text, color in (("test_loss", "test error", TEST_LOSS), ("loss", "training loss", LOSS)):
        names = (f"{text}, trained", "predicted")
        traces += draw.comparison(data["time"], data[name], data[f"predicted_{name}"], names, color)
    return draw.figure(traces, x="time t", y="error per entry", yaxis={"rangemode": "tozero"})


@view("Its modes")
def cell_modes(data: Data, state: State) -> Figure:
    """Draw the modes of the trained cell beside the prediction."""
    times, traces = data["time"].values, []
    for i, color in enumerate(draw.ordered_colors(data.sizes["mode"])):
        names = ("trained", "predicted") if i == 0 else ("", "")
        traces += draw.comparison(times, data["trained"][:, i], data["predicted"][:, i], names, color)
    height = float(data["threshold"])
    if height < 2 * float(np.nanmax(data["trained"].values)):
        traces.append(draw.horizontal_line(times, height, "threshold σ²w"))
    return draw.figure(traces, x="time t", y="mode uᵀAv of the target")


@view("Trained maps", kind="html", wide=True)
def trained_map_caption(data: Data, state: State) -> Html:
    """Tell how far the formula is from the trained map."""
    off = np.abs(data["difference"].values)
    off = off[np.isfinite(off)]
    return html.P(
        f"Left: {data.attrs['what']}, d = {data.attrs['dim']}, rank {data.attrs['rank']}, unit noise. Right: the "
        f"formula, without training, in {off.size} cells where it is claimed: {np.median(off):.2f}% off in the "
        f"median, {np.quantile(off, 0.9):.1f}% or less in nine of ten."
    )


@view("Trained test error")
def trained_map(data: Data, state: State) -> Figure:
    """Draw the test error of the trained map."""
    x, y, hover = data["gamma_variance"], data["gamma_width"], "test error %{text}"
    traces = [draw.error_heatmap(x, y, data["trained"].values, bar="test error", hover=hover)]
    return _plane_figure(data, traces + (_border_traces(data) if state["borders"] else []))


@view("Formula / trained − 1")
def difference(data: Data, state: State) -> Figure:
    """Draw how far the formula is from the trained map."""
    x, y, off = data["gamma_variance"], data["gamma_width"], data["difference"].values
    reach = max(1.0, float(np.nanquantile(np.abs(off), 0.98)))
    scale: Options = {"scale": draw.DIVERGING, "zmin": -reach, "zmax": reach}
    return _plane_figure(data, [draw.heatmap(x, y, off, bar="percent", hover="formula %{z:+.2f}% off", **scale)])


PAGE = Page(
    name="phase-diagram",
    title="Phase diagram",
    card="The least test error over every start, by formula; a click trains that network.",
    introduction=(
        "A network of width w, its entries of variance σ², fits A* + E, a matrix of low rank in noise, and is stopped "
        "at its least test error (the plane of Figure 2 of Tu et al.). The axes are logarithms to the base d. Every "
        "cell is a formula: nothing is trained until you click one.",
    ),
    controls=CONTROLS,
    parts=(
        Part("main", computing.diagram, (test_error, stable_rank, steps_to_best)),
        Part("cell", computing.trained_cell, (cell_caption, cell_losses, cell_modes), needs=("cell",)),
        Part("compared", computing.trained_map, (trained_map_caption, trained_map, difference), needs=("compare",)),
    ),
    prefetch_queries=("", "cell=-2,1.5"),
)
