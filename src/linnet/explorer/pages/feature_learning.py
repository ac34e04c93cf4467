"""The page *Feature learning*: neurons turn towards the feature first, and grow along it then."""

from __future__ import annotations

from linnet.explorer.computing.feature_learning import feature_learning
from linnet.explorer.controls import group, log, number, whole
from linnet.explorer.page import Page, View
from linnet.explorer.pictures import feature_learning as pictures

CONTROLS = (
    *group(
        "Data",
        log("dim", "Inputs d", 1000, (20, 10_000), "With ten samples: the more, the nearer XXᵀ is to a multiple of I."),
        log("signal", "Signal |β|", 1.0, (0.1, 100), "Norm of the teacher; √d in the paper's own experiment."),
        whole("seed", "Seed", 0, (0, 99), "Of the data and of the start."),
    ),
    *group(
        "Network",
        log("width", "Neurons m", 128, (16, 1024), "Hidden units; the first 24 are drawn."),
        log(
            "magnitude",
            "Second layer v₀",
            1e-5,
            (1e-8, 0.1),
            "Every second-layer weight starts at v₀ or −v₀.",
            step=0.1,
        ),
        log(
            "first_std",
            "First layer σ₀",
            1e-6,
            (1e-8, 0.1),
            "Of its entries; the theory wants σ₀ well below v₀.",
            step=0.1,
        ),
        number(
            "growth", "Growth per step", 0.05, (0.02, 0.3), "Of the first stage, η√γ/(nm): sets the step η.", step=0.01
        ),
    ),
)

PAGE = Page(
    name="feature-learning",
    title="Feature learning",
    card="Every neuron turns to the feature or away from it, then all grow. After paper 3.",
    introduction=(
        "One output and ten samples. In the first stage the loss hardly moves while every neuron turns towards the "
        "feature Xᵀy or away from it; in the second all grow along it and the loss drops. The tangent kernel takes "
        "the direction of the target before it grows. A network is trained as the sliders move, and read neuron by "
        "neuron; dashed is the two-dimensional system (10) with the mean over neurons. Angles are those within the "
        "span of the samples: the rest of a neuron never moves. After Huang, Chen, Xu, Wang and Suzuki."
    ),
    controls=CONTROLS,
    compute=feature_learning,
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
            about="The tangent kernel says how a step on one sample changes the output on another; it is aligned when "
            "its direction is that of the target's own kernel. Its norm is over that at its largest.",
            height=380,
            wide=True,
        ),
    ),
    freezes=True,
)
