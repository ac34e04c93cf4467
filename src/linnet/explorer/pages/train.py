"""The page *Train*: a network of any width learns, mode by mode, beside the closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.explorer.computing.train import POINTS, train
from linnet.explorer.controls import Control, State
from linnet.explorer.drawing import THEORY, figure, guide, line, marks
from linnet.explorer.page import Page, View
from linnet.style import ACTIVE, LAZY, LOSS, TEST_LOSS

if TYPE_CHECKING:
    import xarray as xr

CONTROLS = (
    Control(
        "target",
        "Target",
        "What the network is to learn.",
        "values",
        "choice",
        choices=(("values", "singular values"), ("low_rank", "low rank + noise"), ("spiked", "spiked inputs")),
        group="Target",
    ),
    Control(
        "values",
        "Singular values",
        "Of the target matrix, with commas; inputs are white.",
        (8.0, 4.0, 2.0, 1.0),
        "numbers",
        low=0.05,
        high=100,
        most=8,
        when=("target", ("values",)),
        group="Target",
    ),
    Control("in_dim", "Inputs d", "Columns of the target.", 6, "whole", low=2, high=24, group="Target"),
    Control("out_dim", "Outputs k", "Rows of the target.", 6, "whole", low=1, high=24, group="Target"),
    Control(
        "rank",
        "Rank K",
        "Of the truth under the noise.",
        2,
        "whole",
        low=1,
        high=8,
        when=("target", ("low_rank",)),
        group="Target",
    ),
    Control(
        "noise_std",
        "Noise",
        "Standard deviation of the noise on what is learned from.",
        0.5,
        "number",
        low=0,
        high=3,
        step=0.05,
        when=("target", ("low_rank", "spiked")),
        group="Target",
    ),
    Control(
        "spike",
        "Spike ρ",
        "Extra variance of the inputs along one direction.",
        5.0,
        "number",
        low=0,
        high=30,
        step=0.5,
        when=("target", ("spiked",)),
        group="Target",
    ),
    Control(
        "alignment",
        "Alignment A",
        "Cosine between the spike and the target.",
        0.7,
        "number",
        low=0,
        high=1,
        step=0.01,
        when=("target", ("spiked",)),
        group="Target",
    ),
    Control(
        "samples",
        "Samples n",
        "Drawn to learn from; 0 stands for infinitely many, without noise.",
        0,
        "whole",
        low=0,
        high=200,
        when=("target", ("spiked",)),
        group="Target",
    ),
    Control(
        "width", "Width h", "Hidden units; they cost nothing.", 1000, "log", low=1, high=1e12, step=0.1, group="Network"
    ),
    Control(
        "first_std",
        "Scale of W₁",
        "Standard deviation of the first layer's entries at the start.",
        0.01,
        "log",
        low=1e-7,
        high=1,
        step=0.05,
        group="Network",
    ),
    Control(
        "second_std",
        "Scale of W₂",
        "Standard deviation of the second layer's entries at the start.",
        0.01,
        "log",
        low=1e-7,
        high=1,
        step=0.05,
        group="Network",
    ),
    Control("seed", "Seed", "Of the start and of what is drawn.", 0, "whole", low=0, high=999, group="Network"),
    Control(
        "how",
        "Training",
        "Gradient flow has no step size; descent has one, and may diverge.",
        "flow",
        "choice",
        choices=(("flow", "gradient flow"), ("descent", "gradient descent")),
        group="Training",
    ),
    Control(
        "learning_rate",
        "Learning rate η",
        "Of each step; the time of a run is the number of steps times η.",
        0.01,
        "log",
        low=1e-4,
        high=1,
        step=0.05,
        when=("how", ("descent",)),
        group="Training",
    ),
    Control(
        "until",
        "Length",
        "In units of the time in which the weakest mode of the truth is learned.",
        1.0,
        "log",
        low=0.1,
        high=5,
        step=0.02,
        group="Training",
    ),
    Control(
        "cursor",
        "Cursor",
        "Where in the run the modes are called lazy or active, in parts of its length.",
        0.5,
        "number",
        low=0,
        high=1,
        step=0.01,
        computes=False,
        plays=True,
        group="Time",
    ),
)


def _at(data: xr.Dataset, state: State) -> int:
    times = data["time"].values
    return int(np.argmin(np.abs(times - float(state["cursor"]) * times[-1])))


def draw_modes(data: xr.Dataset, state: State) -> dict[str, Any]:
    """Singular values over time; each mode has the colour of what it is at the cursor, lazy or active."""
    times, at, threshold = data["time"].values, _at(data, state), float(data["threshold"])
    active = data["trained"].values[at] > threshold
    traces = []
    for word, colour, which in (("active", ACTIVE, active), ("lazy", LAZY, ~active)):
        for order, i in enumerate(np.flatnonzero(which)):
            shown = data["trained"].values[:, i], data["predicted"].values[:, i]
            name = f"{word} at the cursor" if order == 0 else ""
            traces.append(line(times, shown[0], name, colour=colour, hovertemplate="s = %{y:.4g} at t = %{x:.4g}"))
            traces.append(line(times, shown[1], "", colour=colour, dash=THEORY, width=1.5, opacity=0.75))
    bottom = max(float(np.nanmin(data["trained"].values[0])) / 2, 1e-12)
    top = float(np.nanmax([data["trained"].values.max(), data["learnable"].values.max(), threshold]))
    traces.append(guide([times[0], times[-1]], [threshold, threshold], "threshold"))
    traces.append(guide([times[at], times[at]], [bottom, top], "cursor", dash="solid", width=1))
    traces.append(marks([times[-1]] * data.sizes["mode"], data["learnable"].values, "target", colour="#6E6E6E", size=6))
    return figure(traces, x="time t", y="singular value of W₂W₁")


def draw_losses(data: xr.Dataset, state: State) -> dict[str, Any]:
    """Training loss and test error, trained and predicted."""
    times, at = data["time"].values, _at(data, state)
    traces = [
        line(times, data["loss"].values, "training loss", colour=LOSS),
        line(times, data["predicted_loss"].values, "", colour=LOSS, dash=THEORY, width=1.5),
    ]
    if not np.allclose(data["loss"].values, data["test_loss"].values):
        traces += [
            line(times, data["test_loss"].values, "test error", colour=TEST_LOSS),
            line(times, data["predicted_test_loss"].values, "", colour=TEST_LOSS, dash=THEORY, width=1.5),
        ]
    held = np.concatenate([np.asarray(trace["y"], dtype=float) for trace in traces])
    held = held[np.isfinite(held) & (held > 0)]
    traces.append(guide([times[at]] * 2, [held.min(), held.max()], "cursor", dash="solid", width=1))
    return figure(traces, x="time t", y="loss", log_y=True)


def script(state: State) -> str:
    """The same run in a few lines."""
    return f"# {POINTS} times\n{state}"


PAGE = Page(
    name="train",
    title="Train",
    introduction=(
        "A two-layer linear network W₂W₁ of any width, trained from a Gaussian start. Solid: trained; dashed: the "
        "self-consistent dynamics of Tu et al. from the same start. A mode below the threshold (σ₁² + σ₂²)h/2 learns "
        "lazily, above it actively."
    ),
    controls=CONTROLS,
    compute=train,
    views=(
        View("modes", "Singular values of the product", draw_modes, height=420),
        View("losses", "Loss and test error", draw_losses, height=420),
    ),
    script=script,
    freezes=True,
)
