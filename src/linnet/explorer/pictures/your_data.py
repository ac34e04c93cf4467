"""The pictures of a diagnosis: findings, when to stop, modes, thresholds, other methods, numbers of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet import style
from linnet.explorer.controls import State
from linnet.explorer.drawing import THEORY, Figure, Options, Trace, figure, guide, heatmap, line, marks, numbers
from linnet.explorer.page import View

if TYPE_CHECKING:
    import xarray as xr

    from linnet.explorer.page import Html

WORDS = {"lazily": style.LAZY, "crossing": style.GREEN, "actively": style.ACTIVE}
DRAWN = 10  # modes
METHODS = {
    "network_error": "the network",
    "ridge_error": "ridge",
    "partial_least_squares_error": "partial least squares",
    "reduced_rank_regression_error": "reduced-rank regression",
}


def findings(data: xr.Dataset, state: State) -> Html:
    """The sentences of the command line, below the four numbers that matter most."""
    from dash import html

    tiles = {
        "stop at step": f"{data.attrs['stop']}",
        "held-out error": f"{float(data['network_error'].mean()):.3f}",  # as ridge's: no fold chose its own step
        "ridge's": f"{float(data['ridge_error'].mean()):.3f}",
        "modes learned actively": f"{int((data['learned'] != 'lazily').sum())} of {data.sizes['mode']}",
    }
    shown = [html.Div([html.Dt(term), html.Dd(value)]) for term, value in tiles.items()]
    lines = data.attrs["findings"].splitlines()
    sentences = [html.Li(line) for line in lines if not line.startswith(" ")]
    table = [line.split("  ") for line in lines if line.startswith(" ")]
    rates = [html.Tr([html.Td(cell.strip()) for cell in row if cell.strip()]) for row in table]
    return [html.Dl(shown, className="tiles"), html.Ul(sentences, className="findings"), html.Table(html.Tbody(rates))]


def curves(data: xr.Dataset, state: State) -> Figure:
    """Training and held-out error by step, with where to stop."""
    steps, traces = _steps(data["cv_step"].values), []
    for name, label, colour in (
        ("cv_training_share", "training", style.GREY),
        ("cv_error", "held out", style.TEST_LOSS),
    ):
        values = data[name].mean("seed")
        mean, spread = values.mean("fold").values, values.std("fold", ddof=1).values
        traces += _band(steps, np.maximum(mean - spread, mean / 100), mean + spread, colour)
        traces.append(line(steps, mean, label, colour=colour))
    held = data["cv_error"].mean(("fold", "seed")).values
    best, stop = int(held.argmin()), data.attrs["stop"]
    near = _steps(np.array([data.attrs["stop_low"], data.attrs["stop_high"]]))
    traces.append(
        line(near, [held[best]] * 2, "within one standard error", colour=style.TEST_LOSS, width=7, opacity=0.4)
    )
    traces.append(marks(steps[[best]], held[[best]], f"stop at step {stop}", colour=style.TEST_LOSS, size=10))
    if "stein_step" in data.attrs:
        at = _steps(np.array([data.attrs["stein_step"]] * 2))
        traces.append(guide(at, [held.min(), held.max()], "Stein's estimate"))
    fixed = {"automargin": False}  # ticks that come and go with the margin would move it for ever
    return figure(traces, x="step", y="share not explained", log_x=True, log_y=True, yaxis=fixed)


def modes(data: xr.Dataset, state: State) -> Figure:
    """How much of each mode is learned by step, in the colour of how."""
    steps, shares = _steps(data["step"].values), data["share"].values
    traces = _by_word(data, steps, shares)
    if "predicted_share" in data:
        for mode, values in enumerate(data["predicted_share"].values.T[:DRAWN]):
            traces.append(line(steps, values, "closed form" * (mode == 0), colour=style.GUIDE, dash=THEORY))
    low = max(float(shares[:, :DRAWN].min()), -0.5) - 0.05
    return figure(traces, x="step", y="share of the mode learned", log_x=True, yaxis={"range": [low, 1.1]})


def kernels(data: xr.Dataset, state: State) -> Figure:
    """The tangent kernel along each mode over its start."""
    from linnet.observables.mode_regimes import ACTIVE_MOVEMENT

    steps = _steps(data["step"].values)
    traces = _by_word(data, steps, data["kernel"].values)
    traces.append(guide(steps[[0, -1]], [ACTIVE_MOVEMENT, ACTIVE_MOVEMENT], "threshold"))
    return figure(traces, x="step", y="tangent kernel over its start", log_x=True, log_y=True)


def thresholds(data: xr.Dataset, state: State) -> Figure:
    """The size of each mode at the end, against its threshold."""
    places, threshold, about = (data[name].values for name in ("mode", "threshold", "uncertainty"))
    edges = np.concatenate([places - 0.5, places[-1:] + 0.5])
    low, middle, high = (
        np.append(values, values[-1])
        for values in (np.maximum(threshold - about, threshold / 100), threshold, threshold + about)
    )
    traces = _band(edges, low, high, style.GUIDE, shape="hv")
    traces.append(guide(edges, middle, "threshold"))
    traces[-1]["line"]["shape"] = "hv"
    for word in dict.fromkeys(data["learned"].values.tolist()):
        at = data["learned"].values == word
        traces.append(marks(places[at], data["size"].values[at], word, colour=WORDS[word], size=9))
    ticks = {"dtick": 1} if len(places) <= DRAWN else {}
    return figure(traces, x="mode of the cross-covariance", y="size at the end", log_y=True, xaxis=ticks)


def other_starts(data: xr.Dataset, state: State) -> Figure:
    """How many modes would be learned actively at other widths and scales of the start."""
    scale, count = float(str(state["init_scale"])), data.sizes["mode"]
    hover = "width %{x:.3g}, scale %{y:.3g}: %{z} modes active<extra></extra>"
    range_: Options = {"zmin": 0, "zmax": count, "hovertemplate": hover}
    heat = heatmap(data["map_width"], scale * data["map_scale"], data["active_modes"], bar="active modes", **range_)
    if count <= DRAWN:
        heat["colorbar"]["dtick"] = 1
    cross = {"symbol": "x", "line": {"color": "white", "width": 1.5}}
    here = marks([data.attrs["width"]], [scale], "this start", colour=style.ORANGE, size=12, marker=cross)
    return figure([heat, here], x="width w", y="scale of the start", log_x=True, log_y=True)


def methods(data: xr.Dataset, state: State) -> Figure:
    """Held-out errors in the same folds."""
    traces = []
    for name, label in METHODS.items():
        colour, errors = style.ACTIVE if name == "network_error" else style.GREY, data[name].values
        points = marks(errors, [label] * len(errors), f"{label}, folds", colour=colour, size=7, showlegend=False)
        bar = {"symbol": "line-ns-open", "line": {"width": 3}}
        mean = marks([errors.mean()], [label], f"{label}, mean", colour=colour, size=22, marker=bar, showlegend=False)
        traces += [points, mean]
    return figure(
        traces,
        x="held-out error",
        yaxis={"type": "category", "automargin": False, "autorange": "reversed"},
        margin={"l": 165, "r": 14, "t": 14, "b": 50},
    )


def numbers_of_rows(data: xr.Dataset, state: State) -> Figure:
    """Test error of ridge against the number of rows, measured and predicted."""
    rows = data["rows"].values
    measured = marks(rows, data["measured_error"].values, "measured", colour=style.BLUE)
    measured["error_y"] = {"type": "data", "array": numbers(2 * data["measured_standard_error"].values)}
    traces = [measured]
    if np.isfinite(data["predicted_error"].values).any():
        traces.append(line(rows, data["predicted_error"].values, "predicted", colour=style.BLUE, dash=THEORY))
    return figure(traces, x="rows to train on", y="test error of ridge", log_x=True, log_y=True)


VIEWS = (
    View(
        "curves",
        "Training and when to stop",
        curves,
        "Share of the variance that is not explained: means over folds; bands are one standard deviation, the bar the "
        "steps within one standard error of the best.",
    ),
    View("findings", "What was found", findings, "The sentences that linnet diagnose prints.", kind="html", wide=True),
    View("modes", "When each mode is learned", modes, "The share of each mode's residual that is gone, on all rows."),
    View(
        "thresholds",
        "Sizes and thresholds",
        thresholds,
        "Modes below the threshold are learned lazily, above it actively; the band is its uncertainty.",
    ),
    View("kernels", "The tangent kernel", kernels, "Along each mode, over its start; the dotted line is √2."),
    View(
        "other-starts",
        "Lazy or active at other starts",
        other_starts,
        "Modes that would be learned actively, for the product at the stopping step; the cross is this start.",
    ),
    View(
        "methods",
        "Other linear methods",
        methods,
        "Folds (points) and means (bars), as shares of the variance; all choices made without them.",
    ),
    View("rows", "With more or fewer rows", numbers_of_rows, "Measured with two standard errors, and predicted."),
)


def _by_word(data: xr.Dataset, x: np.ndarray, values: np.ndarray) -> list[Trace]:
    """A line for each mode in the colour of how it is learned, each word once in the legend."""
    words = data["learned"].values[:DRAWN].tolist()
    return [
        line(
            x,
            values[:, mode],
            word,
            colour=WORDS[word],
            showlegend=word not in words[:mode],
            hovertemplate=f"mode {mode + 1}: step %{{x}}, %{{y:.3g}}<extra>{word}</extra>",
        )
        for mode, word in enumerate(words)
    ]


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, shape: str = "linear") -> list[Trace]:
    """What lies between two curves, in a pale colour."""
    edge: Options = {"width": 0, "colour": colour, "hoverinfo": "skip", "meta": "guide"}
    below, above = line(x, low, **edge), line(x, high, **edge)
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    above |= {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},0.2)"}
    for trace in (below, above):
        trace["line"]["shape"] = shape
    return [below, above]


def _steps(steps: np.ndarray) -> np.ndarray:
    """Steps on a logarithmic axis, where the start has no place: it stands at one half."""
    return np.maximum(steps, 0.5)
