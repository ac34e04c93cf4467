"""The page *Your data*: a table of one's own, or an example, diagnosed as on the command line."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import html

from linnet import style
from linnet_papers.explorer import as_python
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing.example_tables import EXAMPLES, example_frame
from linnet_papers.explorer.computing.uploads import MAX_ROWS
from linnet_papers.explorer.controls import State, choice, log, text, whole
from linnet_papers.explorer.drawing import Figure, Options, Trace
from linnet_papers.explorer.page import Data, Html, Page, Part, view
from linnet_papers.explorer.panels.upload import UPLOADED, UPLOADS, register, upload_box

if TYPE_CHECKING:
    from linnet.forecasts.settings import Settings
    from linnet.forecasts.tables import DataTable

TABLES = {name: f"{name}: {about}" for name, about in EXAMPLES.items()} | {UPLOADED: "uploaded"}
SCALES = {"standardize": "standardized", "center": "centered", "whiten": "whitened"}

CONTROLS = (
    choice("table", "Table", TABLES, "An example of scikit-learn, or the table that was uploaded."),
    text("upload", "Uploaded table", "The fingerprint of an uploaded table.", hidden=True),
    text("target", "Targets", "Columns to predict, with commas; the example's own, or the last column, if empty."),
    text("drop", "Leave out", "Columns to leave out: names or numbers, with commas."),
    choice("missing", "Missing values", ("error", "drop", "mean"), "Rows with gaps are refused, dropped, or filled."),
    choice(
        "preprocess", "Columns", SCALES, "Divided by their standard deviations, centered only, or uncorrelated inputs."
    ),
    log("width", "Width w", 512, (1, 1e12), "Hidden units: they cost nothing.", step=0.1),
    choice("init", "Start", ("pytorch", "gaussian"), "PyTorch's variances 1/(3d) and 1/(3w), or Gaussian 1/d and 1/w."),
    log("init_scale", "Scale of the start", 1.0, (1e-3, 10.0), "Of both layers: small ones learn actively."),
    whole("folds", "Folds", 5, (2, 10), "Of the cross-validation."),
    whole("seeds", "Starts a fold", 1, (1, 3), "Random starts in each fold."),
    whole("steps", "Steps", 0, (0, 16_000), "Of descent; 0 for as many as the held-out error needs.", step=250),
)
# The controls that choose the table; the others are arguments of `bounded_settings`.
OF_TABLE = ("table", "upload", "target", "drop", "missing")


def chosen_table(table: str, upload: str = "", target: str = "", drop: str = "", missing: str = "error") -> DataTable:
    """Return the table that the controls ask for: an example, or an uploaded one by its fingerprint."""
    from linnet.forecasts.tables import from_frame

    if table != UPLOADED:
        frame, targets = example_frame(table)
        return from_frame(frame, target=target or targets, drop=drop or None, missing=missing)
    if not upload:
        raise ValueError("No table is uploaded yet: choose a file above the controls, or an example.")
    held = UPLOADS.get(upload)
    read = from_frame(held.frame, target=target or None, drop=drop or None, missing=missing)
    if held.note:
        read.notes.insert(0, f"{held.file}: {held.note}")
    return read


def table_and_settings(state: State) -> tuple[DataTable, Settings]:
    """Return the chosen table, and the settings of its diagnosis."""
    from linnet_papers.explorer.computing.diagnosing import bounded_settings

    table = chosen_table(**{name: state[name] for name in OF_TABLE})
    return table, bounded_settings(table, **{name: state[name] for name in state if name not in OF_TABLE})


def compute(**state: Any) -> Data:
    """Diagnose the chosen table (see `computing.diagnosing.diagnosis_dataset`)."""
    from linnet_papers.explorer.computing.diagnosing import diagnosis_dataset

    return diagnosis_dataset(*table_and_settings(state))


def script(state: State) -> str:
    """Write Python that computes the same; for an uploaded table, from the file that was uploaded."""
    settings = table_and_settings(state)[1]
    chosen = {one.name: getattr(settings, one.name) for one in fields(settings)}
    changed = {one.name: chosen[one.name] for one in fields(settings) if chosen[one.name] != one.default}
    reading = {name: state[name] for name in ("target", "drop", "missing") if state[name] not in ("", "error")}
    if state["table"] == UPLOADED:
        held = UPLOADS.get(state["upload"])
        reading |= {"rows": MAX_ROWS} if held.note else {}
        lines = [
            "import linnet as ln\n",
            f"table = {as_python.call_text('ln.forecasts.read', reading, repr(held.file))}",
        ]
    else:
        lines = [as_python.source_of((example_frame,)), "import linnet as ln\n"]
        lines += [f"frame, targets = {as_python.call_text('example_frame', {}, repr(state['table']))}"]
        given = ("frame",) if "target" in reading else ("frame", "target=targets")
        lines += [f"table = {as_python.call_text('ln.forecasts.from_frame', reading, *given)}"]
    lines += [f"settings = {as_python.call_text('ln.forecasts.Settings', changed)}"]
    lines += ["diagnosis = ln.forecasts.diagnose_table(table, settings)", "data = diagnosis.to_dataset()"]
    return "\n".join([*lines, "print(diagnosis)", ""])


# The methods that are compared: variables of the dataset, and what they are called.
COMPARED = {
    "network_error": "the network",
    "ridge_error": "ridge",
    "partial_least_squares_error": "partial least squares",
    "reduced_rank_regression_error": "reduced-rank regression",
}


@view("What was found", "The sentences that linnet diagnose prints.", kind="html", wide=True)
def findings(data: Data, state: State) -> Html:
    """Show the sentences of the command line, below the four numbers that matter most."""
    from linnet.forecasts._diagnosis_sentences import headline

    tiles = [html.Div([html.Dt(term), html.Dd(value)]) for term, value in headline(data).items()]
    sentences = [html.Li(sentence) for sentence in data.attrs["findings"].splitlines()]
    rates = [html.Tr([html.Td(cell) for cell in row.split("\t")]) for row in data.attrs["rates"].splitlines()]
    return [html.Dl(tiles, className="tiles"), html.Ul(sentences, className="findings"), html.Table(html.Tbody(rates))]


@view(
    "Training and when to stop",
    "Share of the variance that is not explained: means over folds; bands are one standard deviation, the bar the "
    "steps within one standard error of the best.",
)
def curves(data: Data, state: State) -> Figure:
    """Draw training and held-out error by step, with where to stop."""
    from linnet.forecasts import _forecast_figure as shared

    steps, traces = shared.steps_for_log_axis(data["cv_step"].values), []
    for name, label, color in (
        ("cv_training_share", "training", style.GRAY),
        ("cv_error", "held out", style.TEST_LOSS),
    ):
        values = data[name].mean("seed")
        mean, spread = values.mean("fold").values, values.std("fold", ddof=1).values
        traces += draw.band(steps, np.maximum(mean - spread, mean / 100), mean + spread, color)
        traces.append(draw.line(steps, mean, label, color=color))
    held = data["cv_error"].mean(("fold", "seed")).values
    best, stop = int(held.argmin()), data.attrs["stop"]
    near = shared.steps_for_log_axis(np.array([data.attrs["stop_low"], data.attrs["stop_high"]]))
    broad: Options = {"color": style.TEST_LOSS, "width": 7, "opacity": 0.4}
    traces.append(draw.line(near, [held[best]] * 2, "within one standard error", **broad))
    traces.append(draw.markers(steps[[best]], held[[best]], f"stop at step {stop}", color=style.TEST_LOSS, size=10))
    if "stein_step" in data.attrs:
        at = shared.steps_for_log_axis(np.array([data.attrs["stein_step"]] * 2))
        traces.append(draw.guide(at, [held.min(), held.max()], "Stein's estimate"))
    fixed = {"automargin": False}  # ticks that come and go with the margin would move it for ever
    return draw.figure(traces, x="step", y="share not explained", log_x=True, log_y=True, yaxis=fixed)


@view("When each mode is learned", "The share of each mode's residual that is gone, on all rows.")
def modes(data: Data, state: State) -> Figure:
    """Draw how much of each mode is learned by step, in the color of how: lazily, crossing or actively."""
    from linnet.forecasts import _forecast_figure as shared

    steps, shares = shared.steps_for_log_axis(data["step"].values), data["share"].values[:, : shared.MAX_MODES_DRAWN]
    traces = _mode_lines(data, steps, shares)
    if "predicted_share" in data:
        for mode in range(shares.shape[1]):
            values = data["predicted_share"].values[:, mode]
            traces.append(draw.predicted_line(steps, values, "closed form" * (mode == 0), style.GUIDE))
    low = max(float(shares.min()), -0.5) - 0.05
    return draw.figure(traces, x="step", y="share of the mode learned", log_x=True, yaxis={"range": [low, 1.1]})


@view("The tangent kernel", "Along each mode, over its start; the dotted line is √2.")
def kernels(data: Data, state: State) -> Figure:
    """Draw the tangent kernel along each mode over its start."""
    from linnet.forecasts import _forecast_figure as shared
    from linnet.observables.mode_regimes import ACTIVE_MOVEMENT

    steps = shared.steps_for_log_axis(data["step"].values)
    traces = _mode_lines(data, steps, data["kernel"].values[:, : shared.MAX_MODES_DRAWN])
    traces.append(draw.horizontal_line(steps, ACTIVE_MOVEMENT, "threshold"))
    return draw.figure(traces, x="step", y="tangent kernel over its start", log_x=True, log_y=True)


@view(
    "Sizes and thresholds",
    "Modes below the threshold are learned lazily, above it actively; the band is its uncertainty.",
)
def thresholds(data: Data, state: State) -> Figure:
    """Draw the size of each mode at the end, against its threshold."""
    from linnet.forecasts import _forecast_figure as shared

    places, threshold, about = (data[name].values for name in ("mode", "threshold", "uncertainty"))
    edges = np.concatenate([places - 0.5, places[-1:] + 0.5])
    low, middle, high = (
        np.append(values, values[-1])
        for values in (np.maximum(threshold - about, threshold / 100), threshold, threshold + about)
    )
    traces = [*draw.band(edges, low, high, style.GUIDE), draw.guide(edges, middle, "threshold")]
    for trace in traces:
        trace["line"]["shape"] = "hv"
    for adverb in dict.fromkeys(data["learned"].values.tolist()):
        at, color = data["learned"].values == adverb, shared.COLOR_OF_ADVERB[adverb]
        traces.append(draw.markers(places[at], data["size"].values[at], adverb, color=color, size=9))
    ticks = {"dtick": 1} if len(places) <= shared.MAX_MODES_DRAWN else {}
    return draw.figure(traces, x="mode of the cross-covariance", y="size at the end", log_y=True, xaxis=ticks)


@view(
    "Lazy or active at other starts",
    "Modes that would be learned actively, for what ridge learns from the table; the cross is this start.",
)
def other_starts(data: Data, state: State) -> Figure:
    """Draw how many modes would be learned actively at other widths and scales of the start."""
    from linnet.forecasts import _forecast_figure as shared

    scale, count = state["init_scale"], data.sizes["mode"]
    look: Options = {"hover": "width %{x:.3g}, scale %{y:.3g}: %{z} modes active", "zmin": 0, "zmax": count}
    look["bar_ticks"] = {"dtick": 1} if count <= shared.MAX_MODES_DRAWN else {}
    heat = draw.heatmap(data["map_width"], scale * data["map_scale"], data["active_modes"], bar="active modes", **look)
    cross = {"symbol": "x", "line": {"color": "white", "width": 1.5}}
    here = draw.markers([data.attrs["width"]], [scale], "this start", color=style.ORANGE, size=12, marker=cross)
    return draw.figure([heat, here], x="width w", y="scale of the start", log_x=True, log_y=True)


@view(
    "Other linear methods", "Folds (points) and means (bars), as shares of the variance; all choices made without them."
)
def method_errors(data: Data, state: State) -> Figure:
    """Draw the held-out errors of the network and of other linear methods in the same folds."""
    traces = []
    for name, label in COMPARED.items():
        color, errors = style.ACTIVE if name == "network_error" else style.GRAY, data[name].values
        points = draw.markers(errors, [label] * len(errors), f"{label}, folds", color=color, size=7, showlegend=False)
        bar = {"symbol": "line-ns-open", "line": {"width": 3}}
        mean = draw.markers(
            [errors.mean()], [label], f"{label}, mean", color=color, size=22, marker=bar, showlegend=False
        )
        traces += [points, mean]
    return draw.figure(
        traces,
        x="held-out error",
        yaxis={"type": "category", "automargin": False, "autorange": "reversed"},
        margin={"l": 165, "r": 14, "t": 14, "b": 50},
    )


@view("With more or fewer rows", "Measured with two standard errors, and predicted.")
def error_by_rows(data: Data, state: State) -> Figure:
    """Draw the test error of ridge against the number of rows, measured and predicted."""
    count = data["rows"].values
    bars = {"type": "data", "array": draw.rounded_list(2 * data["measured_standard_error"].values)}
    traces = [draw.markers(count, data["measured_error"], "measured", color=style.BLUE, error_y=bars)]
    if np.isfinite(data["predicted_error"].values).any():
        traces.append(draw.predicted_line(count, data["predicted_error"], "predicted", style.BLUE))
    return draw.figure(traces, x="rows to train on", y="test error of ridge", log_x=True, log_y=True)


def _mode_lines(data: Data, x: np.ndarray, values: np.ndarray) -> list[Trace]:
    """Return a line for each mode in the color of how it is learned, each adverb once in the legend."""
    from linnet.forecasts import _forecast_figure as shared

    adverbs, traces = data["learned"].values.tolist(), []
    for mode, (adverb, curve) in enumerate(zip(adverbs, values.T, strict=False)):  # of the strongest modes alone
        hover = f"mode {mode + 1}: step %{{x}}, %{{y:.3g}}<extra>{adverb}</extra>"
        named: Options = {"showlegend": adverb not in adverbs[:mode], "hovertemplate": hover}
        traces.append(draw.line(x, curve, adverb, color=shared.COLOR_OF_ADVERB[adverb], **named))
    return traces


PAGE = Page(
    name="your-data",
    title="Your data",
    card="Your own table: what is learned from it, and when to stop.",
    introduction=(
        "What a two-layer linear network learns from a table, mode by mode, lazily or actively; when to stop; and "
        "whether ridge regression would do as well: the diagnosis of linnet diagnose, under sliders.",
        "An uploaded table stays in this server's memory and on no disk. An address can hold the controls but not the "
        "table: whoever opens a link to an uploaded one must upload it too.",
    ),
    controls=CONTROLS,
    parts=(
        Part(
            "main", compute, (curves, findings, modes, thresholds, kernels, other_starts, method_errors, error_by_rows)
        ),
    ),
    own_script=script,
    above_controls=upload_box,
    register=register,
)
