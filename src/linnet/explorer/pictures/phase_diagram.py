"""What the page *Phase diagram* draws: maps over the exponents of variance and width, and the curves of one cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.explorer.controls import State
from linnet.explorer.drawing import (
    DIVERGING,
    Figure,
    Options,
    Trace,
    figure,
    guide,
    hatching,
    heatmap,
    log_levels,
    marks,
    numbers,
)
from linnet.explorer.pictures.strokes import predicted, shades, trained
from linnet.style import LOSS, ORANGE, TEST_LOSS

if TYPE_CHECKING:
    import xarray as xr

    from linnet.explorer.page import Html

ACROSS, UP = "variance of the start, log<sub>d</sub> σ²", "width, log<sub>d</sub> w"
BORDERS = (
    "White: σ²w = |A*|, lazy above. White, dashed: σ⁴w = 1, a noisy start above. Thin: w = d and, dotted, w = K. "
    "Hatched: the error bar is above 5%."
)
HOVER = (
    "least test error %{customdata[0]:.4g} ± %{customdata[3]:.1%}<br>stable rank %{customdata[1]:.2f}<br>"
    "%{customdata[2]:.0f} steps to it"
)
ON_MAP = "#111111"  # letters on bright cells, in the dark too: not one of the colours that the browser makes lighter
LABEL_HEIGHTS = {"active": 1.8, "lazy": 2.62, "infinite noise": 2.15}  # where a region's name stands, log_d w


def draw_error(data: xr.Dataset, state: State) -> Figure:
    """Panel a: the least test error, in the colours of the README's picture."""
    error = data["best_test"].values
    drawn = _map(data, state, np.log10(error), "least test error", **log_levels(error))
    if state["borders"]:
        drawn["layout"]["annotations"] = _region_names(data)
    return drawn


def draw_rank(data: xr.Dataset, state: State) -> Figure:
    """Panel b: the stable rank then."""
    top = float(np.nanmax(data["stable_rank"].values[data["covered"].values], initial=1.0))
    scale = {"zmin": 1, "zmax": min(top, 4.0 * int(state["rank"]))}
    return _map(data, state, data["stable_rank"].values, "stable rank", **scale)


def draw_steps(data: xr.Dataset, state: State) -> Figure:
    """Panel c: steps to it."""
    top = float(np.nanmax(data["best_step"].values[data["covered"].values], initial=1.0))
    return _map(data, state, data["best_step"].values, "steps to it", zmin=0, zmax=top)


def _map(data: xr.Dataset, state: State, values: np.ndarray, bar: str, **scale: Any) -> Figure:
    """A map, hatched where its error bar is wide, with its borders and the cell that was clicked."""
    x, y = data["gamma_variance"].values, data["gamma_width"].values
    shown = numbers(
        np.stack([data[name].values for name in ("best_test", "stable_rank", "best_step", "error")], axis=-1)
    )
    traces = [heatmap(x, y, values, bar=bar, customdata=shown, hovertemplate=f"{HOVER}<extra></extra>", **scale)]
    if not data["covered"].values.all():
        traces.append(hatching(x, y, ~data["covered"].values))
    if state["borders"]:
        traces += _borders(data, y)
    if len(state["cell"]) == 2:
        ring = {"symbol": "square-open", "line": {"width": 2.5, "color": ORANGE}}
        traces.append(marks([state["cell"][0]], [state["cell"][1]], colour=ORANGE, size=13, marker=ring))
    return figure(traces, x=ACROSS, y=UP, **_within(x, y))


def _region_names(data: xr.Dataset) -> list[Options]:
    """The names of the three regions, each between its borders."""
    heights = np.array(list(LABEL_HEIGHTS.values()))
    border = _border_lines(data, heights)
    lazy, noisy = border["lazy"], border["infinite-noise"]
    places = dict(
        zip(LABEL_HEIGHTS, ((lazy[0] - 3) / 2, (lazy[1] + noisy[1]) / 2, max(lazy[2], noisy[2]) / 2), strict=True)
    )
    look: Options = {"showarrow": False, "font": {"size": 13}}
    return [
        look
        | {"x": float(places[name]), "y": height, "text": f"<b>{name}</b>"}
        | {"font": {"size": 13, "color": "#FFFFFF" if name == "active" else ON_MAP}}
        for name, height in LABEL_HEIGHTS.items()
    ]


def _within(x: np.ndarray, y: np.ndarray) -> Options:
    """Axes that end with the cells, whatever lines leave them."""
    edges = [(float(v[0] - (v[1] - v[0]) / 2), float(v[-1] + (v[1] - v[0]) / 2)) for v in (x, y)]
    return {"xaxis": {"range": edges[0], "showgrid": False}, "yaxis": {"range": edges[1], "showgrid": False}}


def _border_lines(data: xr.Dataset, heights: np.ndarray) -> dict[str, np.ndarray]:
    from linnet.theories.mixed import borders

    dim, rank = int(data.attrs["dim"]), int(data.attrs["rank"])
    return borders(heights, dim=dim, rank=rank, size=float(data.attrs.get("size", dim)))


def _borders(data: xr.Dataset, y: np.ndarray) -> list[Trace]:
    heights = np.linspace(y[0], y[-1], 30)
    border = _border_lines(data, heights)
    ends = [float(data["gamma_variance"].values[i]) for i in (0, -1)]
    look: Options = {"colour": "#FFFFFF", "hoverinfo": "skip"}
    return [
        guide(border["lazy"], heights, dash="solid", width=2, **look),
        guide(border["infinite-noise"], heights, dash="dash", width=2, **look),
        guide(ends, [float(border["width-dim"])] * 2, dash="solid", width=1, **look),
        guide(ends, [float(border["width-rank"])] * 2, dash="dot", width=1, **look),
    ]


def draw_cell_losses(data: xr.Dataset, state: State) -> Figure:
    """Losses of the trained cell beside the prediction."""
    times = data["time"].values
    traces = [
        trained(times, data["test_loss"].values, "test error, trained", TEST_LOSS),
        predicted(times, data["predicted_test_loss"].values, "predicted", TEST_LOSS),
        trained(times, data["loss"].values, "training loss, trained", LOSS),
        predicted(times, data["predicted_loss"].values, "predicted", LOSS),
    ]
    return figure(traces, x="time t", y="error per entry", yaxis={"rangemode": "tozero"})


def draw_cell_modes(data: xr.Dataset, state: State) -> Figure:
    """Modes of the trained cell beside the prediction."""
    times, traces = data["time"].values, []
    for i, colour in enumerate(shades(data.sizes["mode"])):
        traces.append(trained(times, data["trained"].values[:, i], "trained" if i == 0 else "", colour))
        traces.append(predicted(times, data["predicted"].values[:, i], "predicted" if i == 0 else "", colour))
    height = float(data["threshold"])
    if height < 2 * float(np.nanmax(data["trained"].values)):
        traces.append(guide([times[0], times[-1]], [height] * 2, "threshold σ²w"))
    return figure(traces, x="time t", y="mode uᵀAv of the target")


def tell_cell(data: xr.Dataset, state: State) -> Html:
    """What the trained cell is, in a sentence."""
    from dash import html

    off = float(data["predicted_best_test"] / data["best_test"] - 1)
    claimed = (
        "" if data.attrs["covered"] else " The formula is not claimed here: the start is too large or too unequal."
    )
    return html.P(
        f"A network of {data.attrs['width']} hidden units at d = {data.attrs['dim']}, entries of variance "
        f"{data.attrs['variance']:.3g}, {data.attrs['steps']} steps of {data.attrs['learning_rate']:.3g}: least test "
        f"error {float(data['best_test']):.4g}, by the formula {float(data['predicted_best_test']):.4g} "
        f"({off:+.1%}).{claimed}"
    )


def draw_compared(data: xr.Dataset, state: State) -> Figure:
    """The trained map."""
    x, y = data["gamma_variance"].values, data["gamma_width"].values
    error = data["trained"].values
    hover = "test error %{text}<extra></extra>"
    traces = [heatmap(x, y, np.log10(error), bar="test error", hovertemplate=hover, **log_levels(error))]
    if state["borders"]:
        traces += _borders(data, y)
    return figure(traces, x=ACROSS, y=UP, **_within(x, y))


def draw_difference(data: xr.Dataset, state: State) -> Figure:
    """How far the formula is from it."""
    x, y, off = data["gamma_variance"].values, data["gamma_width"].values, data["difference"].values
    reach = max(1.0, float(np.nanquantile(np.abs(off), 0.98)))
    hover = "formula %{z:+.2f}% off<extra></extra>"
    traces = [heatmap(x, y, off, bar="percent", scale=DIVERGING, hovertemplate=hover, zmin=-reach, zmax=reach)]
    return figure(traces, x=ACROSS, y=UP, **_within(x, y))


def tell_compared(data: xr.Dataset, state: State) -> Html:
    """How far off, in a sentence."""
    from dash import html

    off = np.abs(data["difference"].values)
    off = off[np.isfinite(off)]
    return html.P(
        f"Left: {data.attrs['what']}, d = {data.attrs['dim']}, rank {data.attrs['rank']}, unit noise. Right: the "
        f"formula, without training, in {off.size} cells where it is claimed: {np.median(off):.2f}% off in the "
        f"median, {np.quantile(off, 0.9):.1f}% or less in nine of ten."
    )
