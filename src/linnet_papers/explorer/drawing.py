"""Plotly figures as plain dictionaries, in the house's colors; the browser adds what is light or dark about them.

That is `applyTheme` of assets/explorer.js: a new color that is hard to see on a dark ground needs an entry in ON_DARK
there.

What was predicted is drawn dashed, as everywhere in the house (`linnet.style`); what was trained solid, and where a
prediction lies on it (`comparison`) broad and pale below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet.style import GRAY, GUIDE, colors

Trace = dict[str, Any]
Figure = dict[str, Any]  # with "data", a list of traces, and "layout"
Options = dict[str, Any]  # keywords of a trace or a layout, as Plotly has them
THEORY = "dash"  # how a predicted line is drawn; a trained one is solid
SEQUENCE = "Viridis"
DIVERGING = "RdBu"
LEGEND_LAST = 1001  # `legendrank` of what is named once for all curves: behind their own names, which have 1000
GUIDE_MARK = "guide"  # the `meta` of a trace that is no result: see `overlay_frozen`

_DIGITS = 7  # significant digits that are sent: more than a screen or a hover shows


def rounded_list(values: ArrayLike) -> list[object]:
    """Return an array as (nested) lists of numbers of a few digits; what is not finite becomes None, a gap."""
    array = np.asarray(values)
    if array.dtype.kind not in "f":
        return array.tolist()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(array))))
        short = np.round(array * size) / size  # NaN for zero, and where the power of ten overflows or vanishes
    sent = np.where(np.isfinite(short), short, array).astype(object)
    sent[~np.isfinite(array)] = None
    return sent.tolist()


def line(
    x: ArrayLike, y: ArrayLike, name: str = "", *, color: str, dash: str = "solid", width: float = 2, **rest: Any
) -> Trace:
    """Return a curve; `rest` are further keywords of Plotly's scatter, here and below."""
    look = {"color": color, "dash": dash, "width": width}
    return _scatter(x, y, name, {"mode": "lines", "line": look, **rest})


def markers(
    x: ArrayLike,
    y: ArrayLike,
    name: str = "",
    *,
    color: str,
    size: float = 7,
    marker: Options | None = None,
    **rest: Any,
) -> Trace:
    """Return points; `marker` has what else Plotly is to know of them, as {"symbol": "star"}."""
    look = {"color": color, "size": size, **(marker or {})}
    return _scatter(x, y, name, {"mode": "markers", "marker": look, **rest})


def _scatter(x: ArrayLike, y: ArrayLike, name: str, rest: Options) -> Trace:
    """Return a trace of points or lines; one without a name is not in the legend."""
    axes = {"x": rounded_list(x), "y": rounded_list(y)}
    return {"type": "scatter", **axes, "name": name, "showlegend": bool(name), **rest}


def guide(
    x: ArrayLike,
    y: ArrayLike,
    name: str = "",
    *,
    color: str = GUIDE,
    dash: str = "dot",
    width: float = 1.5,
    **rest: Any,
) -> Trace:
    """Return a thin line that is no result: a threshold, a border, a cursor. A frozen run is drawn without it."""
    return line(x, y, name, color=color, dash=dash, width=width, meta=GUIDE_MARK, **rest)


def horizontal_line(x: Sequence[float] | np.ndarray, height: float, name: str = "", **rest: Any) -> Trace:
    """Return a horizontal guide at a height, as long as the curves over `x`; `rest` are keywords of `guide`."""
    return guide([x[0], x[-1]], [height] * 2, name, **rest)


def trained_line(
    x: ArrayLike, y: ArrayLike, name: str, color: str, *, width: float = 5, opacity: float = 0.5, **rest: Any
) -> Trace:
    """Return what was trained where a prediction lies on it: broad and pale."""
    return line(x, y, name, color=color, width=width, opacity=opacity, **rest)


def predicted_line(x: ArrayLike, y: ArrayLike, name: str, color: str, **rest: Any) -> Trace:
    """Return what was predicted: dashed, over what was trained."""
    return line(x, y, name, color=color, dash=THEORY, **rest)


def comparison(
    x: ArrayLike, trained_y: ArrayLike, predicted_y: ArrayLike, names: tuple[str, str], color: str, **rest: Any
) -> list[Trace]:
    """Return what was trained and what was predicted for it, in one color; `rest` is for the prediction alone."""
    return [trained_line(x, trained_y, names[0], color), predicted_line(x, predicted_y, names[1], color, **rest)]


def vertical_lines(lines: Iterable[tuple[float, str, str]]) -> Options:
    """Return vertical lines (where, name, dash) as parts of a layout; those that do not exist (NaN) are left out."""
    shapes, notes = [], []
    for at, text, dash in lines:
        if np.isfinite(at):
            look = {"color": GRAY, "width": 1.5, "dash": dash}
            shapes.append({"type": "line", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": look})
            place = {"x": at, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top", "xshift": 2}
            notes.append({**place, "text": text, "showarrow": False, "font": {"size": 12}})
    return {"shapes": shapes, "annotations": notes}


def band(x: ArrayLike, low: ArrayLike, high: ArrayLike, color: str) -> list[Trace]:
    """Return the area between two curves, in a pale color, as two traces; a frozen run is drawn without it.

    `color` is written as "#0072B2". The second trace fills the area down to the trace before it: nothing may come
    between the two.
    """
    edge: Options = {"width": 0, "color": color, "hoverinfo": "skip", "meta": GUIDE_MARK}
    below, above = line(x, low, **edge), line(x, high, **edge)
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    above |= {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},0.2)"}
    return [below, above]


def ordered_colors(count: int) -> list[str]:
    """Return colors for curves that have an order, from blue over green to amber: seen on white and on black."""
    stops = np.array([[0x2F, 0x6F, 0xD6], [0x12, 0x9A, 0x8F], [0x6C, 0xA8, 0x2E], [0xE0, 0x8A, 0x1A]], dtype=float)
    at = np.linspace(0, len(stops) - 1, count)
    mixed = np.stack([np.interp(at, np.arange(len(stops)), channel) for channel in stops.T], axis=1)
    return ["#" + "".join(f"{round(part):02X}" for part in color) for color in mixed]


def heatmap(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike,
    *,
    bar: str,
    hover: str,
    scale: str = SEQUENCE,
    bar_ticks: Options | None = None,
    **rest: Any,
) -> Trace:
    """Return a map of one quantity over two axes, (y, x).

    `bar` names the quantity beside its scale, and `bar_ticks` are Plotly's keywords for the ticks there; `hover` is
    read under the pointer. `rest` are further keywords of Plotly's heatmap.
    """
    look = {"title": {"text": bar, "side": "right"}, "thickness": 12, "outlinewidth": 0, **(bar_ticks or {})}
    axes = {"x": rounded_list(x), "y": rounded_list(y), "z": rounded_list(z)}
    shown = {"colorscale": scale, "colorbar": look, "hovertemplate": f"{hover}<extra></extra>"}
    return {"type": "heatmap", **axes, **shown, **rest}


def error_heatmap(x: ArrayLike, y: ArrayLike, errors: np.ndarray, *, bar: str, hover: str, **rest: Any) -> Trace:
    """Return a map of errors in decades, between the levels of the README's picture; `%{text}` has the errors."""
    ticks = [0.03, 0.1, 0.3, 1.0]
    scale = {"tickvals": np.log10(ticks).tolist(), "ticktext": [f"{tick:g}" for tick in ticks]}
    texts = [["" if not np.isfinite(error) else f"{error:.4g}" for error in row] for row in errors]
    levels: Options = {"zmin": float(np.log10(0.03)), "zmax": float(np.log10(1.2)), "bar_ticks": scale, "text": texts}
    return heatmap(x, y, np.log10(errors), bar=bar, hover=hover, **levels, **rest)


def hatching(x: ArrayLike, y: ArrayLike, where: np.ndarray, *, log: bool = False) -> Trace:
    """Return diagonal strokes over the cells (y, x) of a map for which `where` holds.

    `x` and `y` are the centers of the cells, as `map_axis` needs them; `log` holds for both.
    """
    across, up = (np.log10(v) if log else np.asarray(v, dtype=float) for v in (x, y))
    rows, columns = np.nonzero(where)
    half = np.array([across[1] - across[0], up[1] - up[0]]) / 2
    middle = np.stack([across[columns], up[rows]], axis=-1)
    strokes = np.stack([middle - half, middle + half, np.full_like(middle, np.nan)], axis=1).reshape(-1, 2)
    ends = 10**strokes if log else strokes
    return guide(ends[:, 0], ends[:, 1], color="#000000", dash="solid", width=1, opacity=0.45, hoverinfo="skip")


def map_axis(centers: np.ndarray, *, log: bool = False) -> Options:
    """Return an axis that ends with the cells of a map, whatever lines leave them.

    It needs two or more centers, ascending and equally far apart: with `log` in log10, and then the figure needs
    `log_x` or `log_y` too, as Plotly reads the range of a logarithmic axis in decades.
    """
    v = np.log10(centers) if log else centers
    half = (v[1] - v[0]) / 2
    return {"range": [float(v[0] - half), float(v[-1] + half)], "showgrid": False}


def figure(
    traces: Sequence[Trace], *, x: str = "", y: str = "", log_x: bool = False, log_y: bool = False, **layout: Any
) -> Figure:
    """Return the traces on axes named `x` and `y`; `layout` are keywords of Plotly's layout, axes too."""
    axes = {
        "xaxis": {"title": {"text": x}, "type": "log" if log_x else "linear", **layout.pop("xaxis", {})},
        "yaxis": {"title": {"text": y}, "type": "log" if log_y else "linear", **layout.pop("yaxis", {})},
    }
    for name, axis in axes.items():
        axis.setdefault("exponentformat", "power")
        if axis["type"] == "log" and "tickvals" not in axis:
            axis.update({**_log_ticks(_decades(traces, name[0])), **axis})
    is_map = any(trace["type"] == "heatmap" for trace in traces)  # has no legend: the toolbar needs a place of its own
    top_left = {"yref": "container", "y": 1, "yanchor": "top", "x": 0}
    usual = {
        "colorway": colors,
        "margin": {"l": 62, "r": 14, "t": 36 if is_map else 14, "b": 50},
        "legend": {"orientation": "h", "traceorder": "normal", **top_left},
        "hovermode": "closest",
        "uirevision": "kept",  # zoom stays while a slider moves
    }
    return {"data": list(traces), "layout": {**usual, **axes, **layout}}


def overlay_frozen(now: object, frozen: object) -> object:
    """Return a figure with the lines and points of a frozen one behind its own, paler; neither its guides nor its maps.

    A view of kind "html" is returned as it is.
    """
    if not isinstance(now, dict) or not isinstance(frozen, dict):
        return now
    pale: list[Trace] = []
    for trace in frozen.get("data", ()):
        if trace.get("type", "scatter") == "scatter" and trace.get("meta") != GUIDE_MARK:
            name = f"{trace.get('name', '')} (frozen)".strip() if pale else "frozen run"  # one entry of the legend
            pale.append({**trace, "opacity": 0.4, "showlegend": not pale, "name": name, "legendgroup": "frozen"})
    return {**now, "data": pale + list(now.get("data", ()))}


def _log_ticks(decades: float) -> Options:
    """Return the ticks of a logarithmic axis: Plotly would write 0.2 as a small 2 below a large 1."""
    if 2 <= decades <= 8:
        return {"dtick": 1}  # powers of ten alone
    return {"dtick": "D2", "tickformat": "~g"} if 0.8 <= decades < 2 else {}  # 1, 2, 5, written in full


def _decades(traces: Sequence[Trace], axis: str) -> float:
    """Return how many powers of ten the positive values along an axis span."""
    held = [np.array(trace[axis], dtype=float).ravel() for trace in traces if len(trace.get(axis) or ())]
    values = np.concatenate(held) if held else np.ones(1)
    values = values[values > 0]  # neither gaps nor zeros
    return float(np.log10(values.max() / values.min())) if values.size else 0.0
