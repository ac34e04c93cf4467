"""The page *Feature learning*: neurons turn towards the feature first, and grow along it then."""

from __future__ import annotations

from linnet.explorer.computing import feature_learning
from linnet.explorer.controls import Control, State
from linnet.explorer.page import Page, View
from linnet.explorer.pictures import feature_learning as pictures

CONTROLS = (
    Control(
        "dim",
        "Inputs d",
        "Dimension of the inputs, with ten samples: the more inputs, the nearer XXᵀ is to a multiple of the identity.",
        1000,
        "log",
        low=20,
        high=10_000,
        step=0.05,
        group="Data",
    ),
    Control(
        "signal",
        "Signal |β|",
        "Norm of the teacher that labels the samples; √d in the paper's own experiment.",
        1.0,
        "log",
        low=0.1,
        high=100,
        step=0.05,
        group="Data",
    ),
    Control("seed", "Seed", "Of the data and of the start.", 0, "whole", low=0, high=99, group="Data"),
    Control(
        "width",
        "Neurons m",
        "Hidden units; the first 24 are drawn.",
        128,
        "log",
        low=16,
        high=1024,
        step=0.05,
        group="Network",
    ),
    Control(
        "magnitude",
        "Second layer v₀",
        "Every neuron's second-layer weight starts at v₀ or −v₀.",
        1e-5,
        "log",
        low=1e-8,
        high=0.1,
        step=0.1,
        group="Network",
    ),
    Control(
        "first_std",
        "First layer σ₀",
        "Standard deviation of the weights of the first layer; the theory wants it well below v₀.",
        1e-6,
        "log",
        low=1e-8,
        high=0.1,
        step=0.1,
        group="Network",
    ),
    Control(
        "growth",
        "Growth per step",
        "How much the first stage grows in one step, η√γ/(nm), which sets the learning rate η.",
        0.05,
        "number",
        low=0.02,
        high=0.3,
        step=0.01,
        group="Network",
    ),
)


def script(state: State) -> str:
    """The same numbers by linnet's public names."""
    n = feature_learning.SAMPLES
    return f"""import numpy as np
import linnet as ln

dim, width, seed, growth = {state["dim"]!r}, {state["width"]!r}, {state["seed"]!r}, {state["growth"]!r}
scales = {{"first_std": {state["first_std"]!r}, "magnitude": {state["magnitude"]!r}}}

data = ln.problems.gaussian_teacher(
    key=seed, samples={n}, dim=dim, noise_variance={feature_learning.NOISE_VARIANCE}, signal={state["signal"]!r}
)
X, y = data.inputs @ np.linalg.qr(data.inputs.T)[0], data.outputs  # only the span of the samples moves
feature = X.T @ y
rate = growth * {n} / np.linalg.norm(feature)
stages = ln.theories.feature_learning.Stages(X, y, width=width, learning_rate=rate, **scales)
rise = np.log(np.sqrt(stages.limit / stages.gamma) / max(scales.values()))
steps = int(np.ceil((max(rise, 0.0) + {feature_learning.TAIL}) / np.log1p(growth)))

start = ln.inits.signed(key=[seed, 1], in_dim={n}, width=width, **scales)
save_every = max(1, steps // {feature_learning.SAVES})
run = ln.gradient_descent(ln.Problem.from_data(X, y), start, learning_rate=rate, steps=steps, save_every=save_every)
history = ln.observables.feature_history(run)
neurons = run.weights.first[:, :{feature_learning.SHOWN}]
cosine = neurons @ feature / (np.linalg.norm(neurons, axis=-1) * np.linalg.norm(feature))
angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))

loss, ratio, kernel_cosine = history.loss / history.loss[0], history.median_ratio, history.kernel_cosine
rho, v = stages.plane(np.zeros(width), history.magnitudes[0], history.steps, overlaps=history.overlaps)  # eq. (10)
loss_predicted = stages.loss(rho, v, history.overlaps) / history.loss[0]
first_step, first_step_trained = stages.first_time() / rate, history.alignment_time() / rate
print(f"stage 1 ends at step {{first_step:.0f}} (predicted), {{first_step_trained:.0f}} (trained)")
print(f"cosine to the target-aligned kernel: {{kernel_cosine[0]:.4f}} at first, {{kernel_cosine[-1]:.6f}} at the end")
"""


PAGE = Page(
    name="feature-learning",
    title="Feature learning",
    introduction=(
        "One output and ten samples. In the first stage the loss hardly moves while every neuron turns towards the "
        "feature Xᵀy or away from it; in the second all grow along it and the loss drops. The tangent kernel takes "
        "the direction of the target before it grows. A network is trained as the sliders move, and read neuron by "
        "neuron; dashed is the two-dimensional system (10) with the mean over neurons. Angles are those within the "
        "span of the samples: the rest of a neuron never moves. After Huang, Chen, Xu, Wang and Suzuki."
    ),
    controls=CONTROLS,
    compute=feature_learning.compute,
    views=(
        View(
            "neurons",
            "Neurons turning",
            pictures.neurons,
            about="Each line is a neuron's angle to the feature; t₁: the median |ρ| is predicted to pass 1.",
            height=440,
        ),
        View(
            "stages",
            "The two stages",
            pictures.stages,
            about="The layers' ratio settles at 1 before the loss drops; triangles: the same times of the network.",
            height=440,
        ),
        View(
            "kernel",
            "The tangent kernel",
            pictures.kernel,
            about="Distance and direction to the target-aligned kernel, and its norm over that at its largest.",
            height=380,
            wide=True,
        ),
    ),
    script=script,
    freezes=True,
)
