"""A forecast as a picture: losses, modes and kernels by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet import style
from linnet.observables.mode_regimes import MOVED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linnet.forecasts.forecasting import Forecast

DRAWN = 10  # modes
WORDS = {"lazily": style.LAZY, "crossing": style.GREEN, "actively": style.ACTIVE}


def picture(told: Forecast) -> Figure:
    """Three panels side by side."""
    with style.applied():
        figure, axes = style.subplots(1, 3, size=style.column(2.2, ratio=0.33))
        draw_losses(axes[0], told)
        draw_modes(axes[1], told)
        draw_kernels(axes[2], told)
    return figure


def draw_losses(axes: Any, told: Forecast) -> None:
    """Training and held-out loss by step, and where to stop."""
    steps = _drawn(told.steps)
    axes.plot(steps, told.loss, color=style.LOSS, label="training", **style.ALONE)
    if told.closed_form is not None:
        axes.plot(steps, told.closed_form.loss, color=style.LOSS, label="closed form", **style.THEORY)
    if told.held_out is not None and told.best_step is not None:
        name = "held out" if told.validation_loss is not None else "test"
        axes.plot(steps, told.held_out, color=style.TEST_LOSS, label=name, **style.ALONE)
        at = _drawn(np.array([told.best_step]))
        axes.plot(at, [told.best_loss], color=style.TEST_LOSS, label=f"best: step {told.best_step}", **style.MARKS)
    axes.set(xscale="log", yscale="log", xlabel="step", title="loss")
    axes.legend()


def draw_modes(axes: Any, told: Forecast) -> None:
    """How much of each mode is learned by step, in the colour of how."""
    steps, seen = _drawn(told.steps), set()
    for mode, word in enumerate(told.learned[:DRAWN]):
        name = None if word in seen else word
        seen.add(word)
        axes.plot(steps, told.shares[:, mode], color=WORDS[word], label=name, **style.ALONE)
        if told.closed_form is not None:
            axes.plot(steps, told.closed_form.shares[:, mode], color=WORDS[word], **style.THEORY)
    axes.axhline(0.5, **style.GUIDELINE)
    low = float(np.min(told.shares[:, :DRAWN]))
    axes.set(xscale="log", xlabel="step", title="share of each mode learned", ylim=(max(low, -0.5) - 0.05, 1.1))
    axes.legend()


def draw_kernels(axes: Any, told: Forecast) -> None:
    """The tangent kernel along each mode, over its start."""
    steps = _drawn(told.steps)
    for mode, word in enumerate(told.learned[:DRAWN]):
        axes.plot(steps, told.kernel[:, mode], color=WORDS[word], **style.ALONE)
    axes.axhline(MOVED, **style.GUIDELINE)
    axes.text(steps[0], MOVED, " threshold", va="bottom", fontsize=7, color=style.GUIDE)
    axes.set(xscale="log", yscale="log", xlabel="step", title="tangent kernel over its start")


def _drawn(steps: np.ndarray) -> np.ndarray:
    """Steps on a logarithmic axis, where the start has no place: it stands at one half."""
    return np.maximum(steps, 0.5)
