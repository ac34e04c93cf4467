"""The page *Feature learning*: neurons turn towards the feature first, and grow along it then."""

from __future__ import annotations

import numpy as np

from linnet.style import BLUE, GRAY, GREEN, ORANGE, PINK
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing.feature_learning import SHOWN, feature_learning
from linnet_papers.explorer.controls import State, grouped, log, number, whole
from linnet_papers.explorer.drawing import Figure, Options, Trace
from linnet_papers.explorer.page import Data, Page, Part, view

ROUNDING = 1e-12  # nearer to one a cosine is rounding

CONTROLS = grouped(
    "Data",
    log("dim", "Inputs d", 1000, (20, 10_000), "With ten samples: the more, the nearer XXᵀ is to a multiple of I."),
    log("signal", "Signal |β|", 1.0, (0.1, 100), "Norm of the teacher; √d in the paper's own experiment."),
    whole("seed", "Seed", 0, (0, 99), "Of the data and of the start."),
    "Network",
    log("width", "Neurons m", 128, (16, 1024), f"Hidden units; the first {SHOWN} are drawn."),
    log("magnitude", "Second layer v₀", 1e-5, (1e-8, 0.1), "Every second-layer weight starts at v₀ or −v₀.", step=0.1),
    log(
        "first_std", "First layer σ₀", 1e-6, (1e-8, 0.1), "Of its entries; the theory wants σ₀ well below v₀.", step=0.1
    ),
    number("growth", "Growth per step", 0.05, (0.02, 0.3), "Of the first stage, η√γ/(nm): sets the step η.", step=0.01),
)


@view(
    "Neurons turning",
    "Each line is a neuron's angle to the feature; t₁: the median |ρ| is predicted to pass 1.",
    height=440,
)
def neurons(data: Data, state: State) -> Figure:
    """Draw the angle of each neuron to the feature, in a color for the sign of its second-layer weight."""
    traces: list[Trace] = []
    for sign, name, color in ((1, "neurons with v(0) > 0", BLUE), (-1, "neurons with v(0) < 0", ORANGE)):
        for i, k in enumerate(np.flatnonzero(data.sign.values == sign)):
            more: Options = {"showlegend": i == 0, "legendgroup": name, "width": 1.5, "opacity": 0.75}
            traces.append(draw.line(data.step.values, data.angle.values[:, k], name, color=color, **more))
    degrees = {"range": [-4, 196], "tickvals": [0, 45, 90, 135, 180]}
    return draw.figure(
        traces, x="training step", y="angle to the feature Xᵀy (degrees)", yaxis=degrees, **_stage_ends(data)
    )


@view(
    "The two stages",
    "The layers' ratio settles at 1 before the loss drops; triangles: the same times of the network.",
    height=440,
)
def stages(data: Data, state: State) -> Figure:
    """Draw the loss and the ratio of the layers, as trained and as the two-dimensional system has them."""
    step, of = data.step.values, data.attrs
    reached = [at for at in (of["first_step_trained"], of["second_step_trained"]) if np.isfinite(at)]
    up: Options = {"color": PINK, "size": 11, "marker": {"symbol": "triangle-up"}}
    traces = [
        *draw.comparison(step, data.loss, data.loss_predicted, ("loss / its start", "loss by (10)"), BLUE),
        *draw.comparison(step, data.ratio, data.ratio_predicted, ("median ρ/(v√γ)", "the same by (10)"), ORANGE),
        draw.line(step, data.mean_square, "mean ρ² / its limit", color=GREEN, width=1.5),
        draw.markers(reached, np.zeros(len(reached)), "times of the network", **up),
    ]
    return draw.figure(traces, x="training step", y="share", yaxis={"range": [-0.06, 1.3]}, **_stage_ends(data))


@view(
    "The tangent kernel",
    "The tangent kernel says how a step on one sample changes the output on another; it is aligned when "
    "its direction is that of the target's own kernel. Its norm is over that at its largest.",
    height=380,
    wide=True,
)
def kernel(data: Data, state: State) -> Figure:
    """Draw how far the tangent kernel's direction is from the target-aligned one, and its size."""
    step = data.step.values
    away, foreseen = (1 - data[name].values for name in ("kernel_cosine", "kernel_cosine_predicted"))
    away, foreseen = (np.where(values > ROUNDING, values, np.nan) for values in (away, foreseen))
    traces = [
        *draw.comparison(step, away, foreseen, ("1 − cosine to target", "the same by (10)"), GREEN),
        draw.line(step, data.kernel_distance, "distance to target", color=BLUE),
        draw.line(step, data.kernel_norm, "norm / its largest", color=GRAY),
    ]
    return draw.figure(traces, x="training step", y="kernel (relative)", log_y=True, **_stage_ends(data))


def _stage_ends(data: Data) -> Options:
    """Return vertical lines at the predicted ends of both stages, where they lie within the run."""
    lines = [(data.attrs["first_step"], "t₁", "dot"), (data.attrs["second_step"], "t₂", "dashdot")]
    return draw.vertical_lines(line for line in lines if not line[0] > float(data.step[-1]))


PAGE = Page(
    name="feature-learning",
    title="Feature learning",
    card="Every neuron turns to the feature or away from it, then all grow. After paper 3.",
    introduction=(
        "One output and ten samples. In the first stage the loss hardly moves while every neuron turns towards the "
        "feature Xᵀy or away from it; in the second all grow along it and the loss drops. The tangent kernel takes "
        "the direction of the target before it grows. A network is trained as the sliders move, and read neuron by "
        "neuron; dashed is the two-dimensional system (10) with the mean over neurons. Angles are those within the "
        "span of the samples: the rest of a neuron never moves. After Huang, Chen, Xu, Wang and Suzuki.",
    ),
    controls=CONTROLS,
    parts=(Part("main", feature_learning, (neurons, stages, kernel)),),
    can_freeze_run=True,
)
