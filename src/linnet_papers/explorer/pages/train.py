"""The page *Train*: a network of any width learns, mode by mode, beside the closed form."""

from __future__ import annotations

import numpy as np
from dash import html

from linnet.style import ACTIVE, GUIDE, LAZY, LOSS, TEST_LOSS
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing.train import train
from linnet_papers.explorer.controls import State, choice, grouped, log, number, numbers, whole
from linnet_papers.explorer.drawing import Figure
from linnet_papers.explorer.loading import TRAINING
from linnet_papers.explorer.page import Data, Html, Page, Part, view

TARGETS = {"values": "singular values", "low_rank": "low rank + noise", "spiked": "spiked inputs"}
METHODS = {"descent": "gradient descent", "flow": "gradient flow"}

# With which targets a control matters.
OF_VALUES, OF_LOW_RANK, OF_SPIKED = (("target", name) for name in TARGETS)
OF_NOISY = ("target", "low_rank", "spiked")

CONTROLS = grouped(
    "Target",
    choice("target", "Target", TARGETS, "What the network is to learn."),
    numbers(
        "values",
        "Singular values",
        (8.0, 4.0, 2.0, 1.0),
        (0.05, 100),
        "Of the target; inputs are white.",
        most=8,
        when=OF_VALUES,
    ),
    whole("in_dim", "Inputs d", 6, (2, 24), "Columns of the target."),
    whole("out_dim", "Outputs k", 6, (1, 24), "Rows of the target."),
    whole("rank", "Rank K", 2, (1, 8), "Of the truth under the noise.", when=OF_LOW_RANK),
    number(
        "noise_std",
        "Noise",
        0.5,
        (0, 3),
        "Standard deviation of the noise on what is learned from.",
        step=0.05,
        when=OF_NOISY,
    ),
    number(
        "spike", "Spike ρ", 5.0, (0, 30), "Extra variance of the inputs along one direction.", step=0.5, when=OF_SPIKED
    ),
    number("alignment", "Alignment A", 0.7, (0, 1), "Cosine between the spike and the target.", when=OF_SPIKED),
    whole(
        "samples", "Samples n", 0, (0, 200), "Drawn to learn from; 0: infinitely many, without noise.", when=OF_SPIKED
    ),
    "Network",
    log("width", "Width h", 1000, (1, 1e12), "Hidden units; they cost nothing.", step=0.1),
    log("first_std", "Scale of W₁", 0.04, (1e-7, 1), "Standard deviation of the first layer's entries at the start."),
    log("second_std", "Scale of W₂", 0.04, (1e-7, 1), "Standard deviation of the second layer's entries at the start."),
    whole("seed", "Seed", 0, (0, 999), "Of the start and of what is drawn."),
    "Training",
    choice("how", "Training", METHODS, "Gradient flow has no step size; descent has one, and may diverge."),
    log(
        "learning_rate",
        "Learning rate η",
        0.05,
        (0.005, 20),
        "In units of a rate that is certainly stable.",
        when=("how", "descent"),
    ),
    log("until", "Length", 1.0, (0.1, 5), "In units of the time in which the weakest mode is learned.", step=0.02),
    "Time",
    number("cursor", "Cursor", 0.5, (0, 1), "Where in the run the modes are called lazy or active.", plays=True),
)


def cursor_index(data: Data, state: State) -> int:
    """Return the index of the saved time that is next to the cursor."""
    times = data["time"].values
    return int(np.argmin(np.abs(times - float(state["cursor"]) * times[-1])))


@view("Singular values of the product", height=420)
def modes(data: Data, state: State) -> Figure:
    """Draw singular values over time, each in the color of what it is at the cursor, lazy or active."""
    times, at, threshold = data["time"].values, cursor_index(data, state), float(data["threshold"])
    active = data["trained"].values[at] > threshold
    traces = []
    for word, color, which in (("active at the cursor", ACTIVE, active), ("lazy at the cursor", LAZY, ~active)):
        for order, i in enumerate(np.flatnonzero(which)):
            hover = f"s{i + 1} = %{{y:.4g}} at t = %{{x:.4g}}<extra>trained, {word}</extra>"
            shown = word if order == 0 else ""
            traces.append(draw.trained_line(times, data["trained"].values[:, i], shown, color, hovertemplate=hover))
            hover = hover.replace("trained", "predicted")
            traces.append(draw.predicted_line(times, data["predicted"].values[:, i], "", color, hovertemplate=hover))
    top = float(np.nanmax([np.nanmax(data["trained"].values), data["learnable"].values.max()]))
    if threshold <= 3 * top:
        traces.append(draw.horizontal_line(times, threshold, "threshold"))
        top = max(top, threshold)
    traces.append(draw.guide([times[at]] * 2, [0.0, top], "cursor", dash="solid", width=1))
    ends = np.full(data.sizes["mode"], times[-1])
    traces.append(draw.markers(ends, data["learnable"], "target", color=GUIDE, size=6, meta=draw.GUIDE_MARK))
    return draw.figure(traces, x="time t", y="singular value of W₂W₁")


@view("Losses", height=420)
def losses(data: Data, state: State) -> Figure:
    """Draw training loss and test error, trained and predicted."""
    times, at = data["time"].values, cursor_index(data, state)
    shown = {"loss": ("training loss", LOSS)}
    if not np.allclose(data["loss"].values, data["test_loss"].values):
        shown["test_loss"] = ("test error", TEST_LOSS)
    traces = []
    for name, (text, color) in shown.items():
        traces += draw.comparison(
            times, data[name], data[f"predicted_{name}"], (f"{text}, trained", "predicted"), color
        )
    values = np.concatenate([data[name].values for name in shown])
    if (values > 0).any():
        ends = [values[values > 0].min(), values.max()]
        traces.append(draw.guide([times[at]] * 2, ends, "cursor", dash="solid", width=1))
    return draw.figure(traces, x="time t", y="loss", log_y=True)


@view("At the cursor", kind="html", wide=True)
def cursor_table(data: Data, state: State) -> Html:
    """Show a table of the modes at the cursor: target, trained, predicted, lazy or active."""
    at, threshold = cursor_index(data, state), float(data["threshold"])
    rows = []
    columns = (data["learnable"].values, data["trained"].values[at], data["predicted"].values[at])
    for i, (aim, now, theory) in enumerate(zip(*columns, strict=True)):
        word = "active" if now > threshold else "lazy"
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


PAGE = Page(
    name="train",
    title="Train",
    card="A network of any width learns mode by mode, beside the closed form.",
    introduction=(
        "A two-layer linear network W₂W₁ of any width, trained from a Gaussian start. Broad: trained; dashed: the "
        "self-consistent dynamics of Tu et al. from the same start. A mode below the threshold (σ₁² + σ₂²)h/2 learns "
        "lazily, above it actively.",
    ),
    controls=CONTROLS,
    parts=(Part("main", train, (modes, losses, cursor_table)),),
    modules=TRAINING,
    prefetch_queries=("", "how=flow"),
    can_freeze_run=True,
)
