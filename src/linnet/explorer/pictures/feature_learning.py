"""The pictures of the page *Feature learning*."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.explorer import drawing
from linnet.explorer.controls import State
from linnet.explorer.drawing import Figure, Options
from linnet.explorer.pictures.strokes import BLUE, GREEN, GREY, ORANGE, PINK, moments, predicted, trained

if TYPE_CHECKING:
    import xarray as xr

FLOOR = 1e-12  # nearer to one a cosine is rounding


def neurons(ds: xr.Dataset, state: State) -> Figure:
    """The angle of each neuron to the feature: towards it or away from it, by the sign of its second-layer weight."""
    traces: list[drawing.Trace] = []
    for sign, name, colour in ((1, "neurons with v(0) > 0", BLUE), (-1, "neurons with v(0) < 0", ORANGE)):
        for i, k in enumerate(np.flatnonzero(ds.sign.values == sign)):
            more: Options = {"showlegend": i == 0, "legendgroup": name, "width": 1.5, "opacity": 0.75}
            traces.append(drawing.line(ds.step.values, ds.angle.values[:, k], name, colour=colour, **more))
    return drawing.figure(
        traces,
        x="training step",
        y="angle to the feature Xᵀy (degrees)",
        yaxis={"range": [-4, 196], "tickvals": [0, 45, 90, 135, 180]},
        **_stages(ds),
    )


def stages(ds: xr.Dataset, state: State) -> Figure:
    """The loss and the ratio of the layers, as trained and as the two-dimensional system has them."""
    step = ds.step.values
    traces = [
        trained(step, ds.loss.values, "loss / its start", BLUE),
        predicted(step, ds.loss_predicted.values, "loss by (10)", BLUE),
        trained(step, ds.ratio.values, "median ρ/(v√γ)", ORANGE),
        predicted(step, ds.ratio_predicted.values, "the same by (10)", ORANGE),
        drawing.line(step, ds.mean_square.values, "mean ρ² / its limit", colour=GREEN, width=1.5),
    ]
    reached = [at for at in (ds.attrs["first_step_trained"], ds.attrs["second_step_trained"]) if np.isfinite(at)]
    up: Options = {"colour": PINK, "size": 11, "marker": {"symbol": "triangle-up"}}
    traces.append(drawing.marks(reached, np.zeros(len(reached)), "times of the network", **up))
    return drawing.figure(traces, x="training step", y="share", yaxis={"range": [-0.06, 1.3]}, **_stages(ds))


def kernel(ds: xr.Dataset, state: State) -> Figure:
    """How far the tangent kernel's direction is from the target-aligned one, and its size."""
    step = ds.step.values
    away, foreseen = (1 - curve.values for curve in (ds.kernel_cosine, ds.kernel_cosine_predicted))
    traces = [
        trained(step, np.where(away > FLOOR, away, np.nan), "1 − cosine to target", GREEN),
        predicted(step, np.where(foreseen > FLOOR, foreseen, np.nan), "the same by (10)", GREEN),
        drawing.line(step, ds.kernel_distance.values, "distance to target", colour=BLUE),
        drawing.line(step, ds.kernel_norm.values, "norm / its largest", colour=GREY),
    ]
    return drawing.figure(traces, x="training step", y="kernel (relative)", log_y=True, **_stages(ds))


def _stages(ds: xr.Dataset) -> Options:
    """The predicted ends of both stages, where they lie within the run."""
    last = float(ds.step[-1])
    lines = [(ds.attrs["first_step"], "t₁", "dot"), (ds.attrs["second_step"], "t₂", "dashdot")]
    return moments(line for line in lines if not line[0] > last)
