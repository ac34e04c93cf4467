"""What the page *Phase diagram* draws: maps over the exponents of variance and width, and the curves of one cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.explorer.controls import State
from linnet.explorer.drawing import DIVERGING, Figure, Options, Trace, figure, guide, heatmap, marks
from linnet.explorer.pictures.strokes import predicted, shades, trained
from linnet.style import LOSS, TEST_LOSS

if TYPE_CHECKING:
    import xarray as xr

    from linnet.explorer.page import Html

ACROSS, UP = "exponent of the variance, γ(σ²)", "exponent of the width, γ(w)"
BORDERS = "Borders: white σ²w = |A*|, lazy above; orange σ⁴w = 1, a noisy start above; dashed w = d; dotted w = K."
_VEIL = [[0, "rgba(128,128,128,0.62)"], [1, "rgba(128,128,128,0.62)"]]


def draw_error(data: xr.Dataset, state: State) -> Figure:
    """Panel a: the least test error."""
    return _map(data, state, "best_test", "|A − A*|²/d²", zmin=0)


def draw_rank(data: xr.Dataset, state: State) -> Figure:
    """Panel b: the stable rank then."""
    top = float(np.nanmax(data["stable_rank"].values[data["covered"].values], initial=1.0))
    return _map(data, state, "stable_rank", "stable rank", zmin=1, zmax=min(top, 4.0 * int(state["rank"])))


def draw_steps(data: xr.Dataset, state: State) -> Figure:
    """Panel c: steps to it."""
    top = float(np.nanmax(data["best_step"].values[data["covered"].values], initial=1.0))
    return _map(data, state, "best_step", "steps to it", digits="%{z:.0f}", zmin=0, zmax=top)


def _map(data: xr.Dataset, state: State, name: str, bar: str, *, digits: str = "%{z:.4g}", **scale: Any) -> Figure:
    """A map with a veil over the cells where the formula is not claimed, its borders, and the cell that was clicked."""
    x, y = data["gamma_variance"].values, data["gamma_width"].values
    hover = f"γ(σ²) = %{{x:.3g}}, γ(w) = %{{y:.3g}}<br>{bar}: {digits}<extra></extra>"
    traces = [heatmap(x, y, data[name].values, bar=bar, hovertemplate=hover, **scale)]
    veil = np.where(data["covered"].values, np.nan, 1.0)
    if np.isfinite(veil).any():
        traces.append(heatmap(x, y, veil, bar="", scale="Greys", showscale=False, hoverinfo="skip"))
        traces[-1]["colorscale"] = _VEIL
    if state["borders"]:
        traces += _borders(data, y)
    if len(state["cell"]) == 2:
        ring = {"symbol": "square-open", "line": {"width": 2.5, "color": "#D55E00"}}
        traces.append(marks([state["cell"][0]], [state["cell"][1]], colour="#D55E00", size=13, marker=ring))
    return figure(traces, x=ACROSS, y=UP, **_within(x, y))


def _within(x: np.ndarray, y: np.ndarray) -> Options:
    """Axes that end with the cells, whatever lines leave them."""
    edges = [(float(v[0] - (v[1] - v[0]) / 2), float(v[-1] + (v[1] - v[0]) / 2)) for v in (x, y)]
    return {"xaxis": {"range": edges[0], "showgrid": False}, "yaxis": {"range": edges[1], "showgrid": False}}


def _borders(data: xr.Dataset, y: np.ndarray) -> list[Trace]:
    from linnet.theories.mixed import borders

    heights = np.linspace(y[0], y[-1], 30)
    dim, rank = int(data.attrs["dim"]), int(data.attrs["rank"])
    border = borders(heights, dim=dim, rank=rank, size=float(data.attrs.get("size", dim)))
    wide = [float(data["gamma_variance"].values[i]) for i in (0, -1)]
    look: Options = {"width": 2, "hoverinfo": "skip"}
    return [
        guide(border["lazy"], heights, colour="#FFFFFF", dash="solid", **look),
        guide(border["infinite-noise"], heights, colour="#D55E00", dash="solid", **look),
        guide(wide, [float(border["width-dim"])] * 2, colour="#FFFFFF", dash="dash", **look),
        guide(wide, [float(border["width-rank"])] * 2, colour="#FFFFFF", dash="dot", **look),
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
    hover = "γ(σ²) = %{x:.3g}, γ(w) = %{y:.3g}<br>test error: %{z:.4g}<extra></extra>"
    top = min(1.2, float(np.nanmax(data["trained"].values)))
    traces = [heatmap(x, y, data["trained"].values, bar="test error", hovertemplate=hover, zmin=0, zmax=top)]
    if state["borders"]:
        traces += _borders(data, y)
    return figure(traces, x=ACROSS, y=UP, **_within(x, y))


def draw_difference(data: xr.Dataset, state: State) -> Figure:
    """How far the formula is from it."""
    x, y, off = data["gamma_variance"].values, data["gamma_width"].values, data["difference"].values
    reach = max(1.0, float(np.nanquantile(np.abs(off), 0.98)))
    hover = "γ(σ²) = %{x:.3g}, γ(w) = %{y:.3g}<br>formula %{z:+.2f}% off<extra></extra>"
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
