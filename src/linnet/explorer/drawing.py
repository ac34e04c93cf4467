"""Plotly figures as plain dictionaries, in the house's colours; the browser adds what is light or dark about them.

What was trained is drawn solid or as marks, what was predicted dashed, as everywhere in the house (`linnet.style`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet.style import GUIDE, colours

Trace = dict[str, Any]
Figure = dict[str, Any]  # with "data", a list of traces, and "layout"
Options = dict[str, Any]  # keywords of a trace or a layout, as Plotly has them
THEORY = "dash"  # how a predicted line is drawn; a trained one is solid
SEQUENCE = "Viridis"
DIVERGING = "RdBu"

LEGEND_PLACE = {"yref": "container", "y": 1, "yanchor": "top", "x": 0}

_DIGITS = 7  # significant digits that are sent: more than a screen or a hover shows


def numbers(values: ArrayLike) -> list[Any]:
    """An array as (nested) lists of numbers of a few digits; what is not finite becomes None, a gap."""
    array = np.asarray(values)
    if array.dtype.kind not in "f":
        return array.tolist()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(array))))
        short = np.where(np.isfinite(size) & (size > 0), np.round(array * size) / size, array)
    if np.isfinite(array).all():
        return np.where(np.isfinite(short), short, array).tolist()
    held = np.where(np.isfinite(short), short, array).astype(object)
    held[~np.isfinite(array)] = None
    return held.tolist()


def line(x: ArrayLike, y: ArrayLike, name: str = "", *, colour: str, dash: str = "solid", **rest: Any) -> Trace:
    """Return a curve of the house's look."""
    given = {"color": colour, "dash": dash, "width": rest.pop("width", 2)}
    shown = {"showlegend": bool(name), **rest}
    return {"type": "scatter", "mode": "lines", "x": numbers(x), "y": numbers(y), "name": name, "line": given, **shown}


def marks(x: ArrayLike, y: ArrayLike, name: str = "", *, colour: str, size: float = 7, **rest: Any) -> Trace:
    """Points."""
    marker = {"color": colour, "size": size, **rest.pop("marker", {})}
    shown = {"showlegend": bool(name), **rest}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(x),
        "y": numbers(y),
        "name": name,
        "marker": marker,
        **shown,
    }


def guide(x: ArrayLike, y: ArrayLike, name: str = "", *, colour: str = GUIDE, dash: str = "dot", **rest: Any) -> Trace:
    """A thin line that is no result: a threshold, a border, a cursor. It is not drawn again for a frozen run."""
    return line(x, y, name, colour=colour, dash=dash, width=rest.pop("width", 1.5), meta="guide", **rest)


def heatmap(x: ArrayLike, y: ArrayLike, z: ArrayLike, *, bar: str, scale: str = SEQUENCE, **rest: Any) -> Trace:
    """A map of one quantity over two axes, (y, x); `bar` names it beside its scale, `bar_ticks` are its ticks."""
    ticks = rest.pop("bar_ticks", {})
    return {
        "type": "heatmap",
        "x": numbers(x),
        "y": numbers(y),
        "z": numbers(z),
        "colorscale": scale,
        "colorbar": {"title": {"text": bar, "side": "right"}, "thickness": 12, "outlinewidth": 0, **ticks},
        **rest,
    }


def log_levels(values: np.ndarray, low: float = 0.03, high: float = 1.2) -> Options:
    """A colour scale of errors in decades, between the levels of the README's picture; what is shown is log10.

    `text` has the errors themselves, for what is read under the pointer.
    """
    ticks = [0.03, 0.1, 0.3, 1.0]
    bar = {"tickvals": np.log10(ticks).tolist(), "ticktext": [f"{tick:g}" for tick in ticks]}
    texts = [["" if not np.isfinite(error) else f"{error:.4g}" for error in row] for row in values]
    return {"zmin": float(np.log10(low)), "zmax": float(np.log10(high)), "text": texts, "bar_ticks": bar}


def hatching(x: ArrayLike, y: ArrayLike, where: np.ndarray, *, log: bool = False) -> Trace:
    """Diagonal strokes over the cells (y, x) of a map for which `where` holds; `log` for logarithmic axes."""
    across, up = (np.log10(v) if log else np.asarray(v, dtype=float) for v in (x, y))
    rows, columns = np.nonzero(where)
    half = np.array([across[1] - across[0], up[1] - up[0]]) / 2
    middle = np.stack([across[columns], up[rows]], axis=-1)
    strokes = np.stack([middle - half, middle + half, np.full_like(middle, np.nan)], axis=1).reshape(-1, 2)
    ends = 10**strokes if log else strokes
    return guide(ends[:, 0], ends[:, 1], colour="#000000", dash="solid", width=1, opacity=0.45, hoverinfo="skip")


def figure(
    traces: Sequence[Trace], *, x: str = "", y: str = "", log_x: bool = False, log_y: bool = False, **layout: Any
) -> Figure:
    """The traces on axes named `x` and `y`; further keywords go into Plotly's layout."""
    axes = {
        "xaxis": {"title": {"text": x}, "type": "log" if log_x else "linear", **layout.pop("xaxis", {})},
        "yaxis": {"title": {"text": y}, "type": "log" if log_y else "linear", **layout.pop("yaxis", {})},
    }
    for name, axis in axes.items():
        axis.setdefault("exponentformat", "power")
        if axis["type"] == "log" and "tickvals" not in axis:
            axis.update({**_log_ticks(_decades(traces, name[0])), **axis})
    is_map = any(trace["type"] == "heatmap" for trace in traces)  # has no legend: the toolbar needs a place of its own
    return {
        "data": list(traces),
        "layout": {
            "colorway": colours,
            "margin": {"l": 62, "r": 14, "t": 36 if is_map else 14, "b": 50},
            "legend": {
                "orientation": "h",
                "yref": "container",
                "y": 1,
                "yanchor": "top",
                "x": 0,
                "traceorder": "normal",
            },
            "hovermode": "closest",
            "uirevision": "kept",  # zoom stays while a slider moves
            **axes,
            **layout,
        },
    }


def _log_ticks(decades: float) -> Options:
    """Ticks of a logarithmic axis: Plotly would write 0.2 as a small 2 below a large 1."""
    if 2 <= decades <= 8:
        return {"dtick": 1}  # powers of ten alone
    return {"dtick": "D2", "tickformat": "~g"} if 0.8 <= decades < 2 else {}  # 1, 2, 5, written in full


def _decades(traces: Sequence[Trace], axis: str) -> float:
    """How many powers of ten the positive values along an axis span."""
    held = [np.array(trace[axis], dtype=float).ravel() for trace in traces if len(trace.get(axis) or ())]
    values = np.concatenate(held) if held else np.ones(1)
    values = values[values > 0]  # neither gaps nor zeros
    return float(np.log10(values.max() / values.min())) if values.size else 0.0
