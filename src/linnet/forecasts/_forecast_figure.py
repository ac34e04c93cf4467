"""A forecast as a picture: losses, modes and kernels by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet import style
from linnet.observables.mode_regimes import ACTIVE_MOVEMENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from linnet.forecasts.forecasting import Forecast

MAX_MODES_DRAWN = 10  # of the strongest: more lines cannot be told apart
# by the words of `Forecast.learned`
COLOR_OF_ADVERB = {"lazily": style.LAZY, "crossing": style.GREEN, "actively": style.ACTIVE}


def picture(forecast: Forecast) -> Figure:
    """Draw a forecast in three panels: losses, modes and kernels."""
    with style.applied():
        figure, axes = style.subplots(1, 3, size=style.column(2.2, ratio=0.33))
        draw_losses(axes[0], forecast)
        draw_mode_shares(axes[1], forecast)
        draw_kernels(axes[2], forecast)
    return figure


def draw_losses(axes: Axes, forecast: Forecast) -> None:
    """Draw training and held-out loss by step, and where to stop."""
    steps = steps_for_log_axis(forecast.steps)
    axes.plot(steps, forecast.loss, color=style.LOSS, label="training", **style.ALONE)
    if forecast.prediction is not None:
        axes.plot(steps, forecast.prediction.loss, color=style.LOSS, label="predicted", **style.THEORY)
    if forecast.held_out is not None and forecast.best_step is not None:
        name = "held out" if forecast.validation_loss is not None else "test"
        axes.plot(steps, forecast.held_out, color=style.TEST_LOSS, label=name, **style.ALONE)
        best, least = steps_for_log_axis(np.array([forecast.best_step])), forecast.held_out.min()
        axes.plot(best, [least], color=style.TEST_LOSS, label=f"best: step {forecast.best_step}", **style.MARKS)
    axes.set(xscale="log", yscale="log", xlabel="step", title="loss")
    axes.legend()


def draw_mode_shares(axes: Axes, forecast: Forecast, adverbs: list[str] | None = None) -> None:
    """Draw how much of each mode is learned by step, in the color of its adverb: "lazily", "crossing" or "actively",
    by default as measured."""
    steps, seen = steps_for_log_axis(forecast.steps), set()
    for mode, adverb in enumerate((adverbs or forecast.learned)[:MAX_MODES_DRAWN]):
        name = None if adverb in seen else adverb
        seen.add(adverb)
        axes.plot(steps, forecast.shares[:, mode], color=COLOR_OF_ADVERB[adverb], label=name, **style.ALONE)
        if forecast.predicted_shares is not None:
            axes.plot(steps, forecast.predicted_shares[:, mode], color=COLOR_OF_ADVERB[adverb], **style.THEORY)
    axes.axhline(0.5, **style.GUIDELINE)
    low = float(np.min(forecast.shares[:, :MAX_MODES_DRAWN]))
    axes.set(xscale="log", xlabel="step", title="fraction of each mode learned", ylim=(max(low, -0.5) - 0.05, 1.1))
    axes.legend()


def draw_kernels(axes: Axes, forecast: Forecast, adverbs: list[str] | None = None) -> None:
    """Draw the tangent kernel along each mode, relative to its initial value, in the same colors."""
    steps = steps_for_log_axis(forecast.steps)
    for mode, adverb in enumerate((adverbs or forecast.learned)[:MAX_MODES_DRAWN]):
        axes.plot(steps, forecast.kernel[:, mode], color=COLOR_OF_ADVERB[adverb], **style.ALONE)
    axes.axhline(ACTIVE_MOVEMENT, **style.GUIDELINE)
    axes.text(steps[0], ACTIVE_MOVEMENT, " threshold", va="bottom", fontsize=7, color=style.GUIDE)
    axes.set(xscale="log", yscale="log", xlabel="step", title="tangent kernel / its initial value")


def steps_for_log_axis(steps: np.ndarray) -> np.ndarray:
    """Return steps for a logarithmic axis, which has no place for step 0: it is drawn at one half."""
    return np.maximum(steps, 0.5)
