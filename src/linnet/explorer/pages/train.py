"""The page *Train*: a network of any width learns, mode by mode, beside the closed form."""

from __future__ import annotations

from linnet.explorer.computing.train import train
from linnet.explorer.controls import choice, group, log, number, numbers, when, whole
from linnet.explorer.loading import TRAINING
from linnet.explorer.page import Page, View
from linnet.explorer.pictures.train import draw_losses, draw_modes, tell_cursor

TARGETS = {"values": "singular values", "low_rank": "low rank + noise", "spiked": "spiked inputs"}
NOISY = ("target", ("low_rank", "spiked"))
METHODS = {"descent": "gradient descent", "flow": "gradient flow"}

CONTROLS = (
    *group(
        "Target",
        choice("target", "Target", TARGETS, "What the network is to learn."),
        *when(
            "target",
            "values",
            numbers(
                "values",
                "Singular values",
                (8.0, 4.0, 2.0, 1.0),
                (0.05, 100),
                "Of the target; inputs are white.",
                most=8,
            ),
        ),
        whole("in_dim", "Inputs d", 6, (2, 24), "Columns of the target."),
        whole("out_dim", "Outputs k", 6, (1, 24), "Rows of the target."),
        *when("target", "low_rank", whole("rank", "Rank K", 2, (1, 8), "Of the truth under the noise.")),
        number(
            "noise_std",
            "Noise",
            0.5,
            (0, 3),
            "Standard deviation of the noise on what is learned from.",
            step=0.05,
            when=NOISY,
        ),
        *when(
            "target",
            "spiked",
            number("spike", "Spike ρ", 5.0, (0, 30), "Extra variance of the inputs along one direction.", step=0.5),
            number("alignment", "Alignment A", 0.7, (0, 1), "Cosine between the spike and the target."),
            whole("samples", "Samples n", 0, (0, 200), "Drawn to learn from; 0: infinitely many, without noise."),
        ),
    ),
    *group(
        "Network",
        log("width", "Width h", 1000, (1, 1e12), "Hidden units; they cost nothing.", step=0.1),
        log(
            "first_std", "Scale of W₁", 0.04, (1e-7, 1), "Standard deviation of the first layer's entries at the start."
        ),
        log(
            "second_std",
            "Scale of W₂",
            0.04,
            (1e-7, 1),
            "Standard deviation of the second layer's entries at the start.",
        ),
        whole("seed", "Seed", 0, (0, 999), "Of the start and of what is drawn."),
    ),
    *group(
        "Training",
        choice("how", "Training", METHODS, "Gradient flow has no step size; descent has one, and may diverge."),
        *when(
            "how",
            "descent",
            log("learning_rate", "Learning rate η", 0.05, (0.005, 20), "In units of a rate that is certainly stable."),
        ),
        log("until", "Length", 1.0, (0.1, 5), "In units of the time in which the weakest mode is learned.", step=0.02),
    ),
    *group(
        "Time",
        number(
            "cursor",
            "Cursor",
            0.5,
            (0, 1),
            "Where in the run the modes are called lazy or active.",
            computes=False,
            plays=True,
        ),
    ),
)

PAGE = Page(
    name="train",
    title="Train",
    card="A network of any width learns mode by mode, beside the closed form.",
    introduction=(
        "A two-layer linear network W₂W₁ of any width, trained from a Gaussian start. Broad: trained; dashed: the "
        "self-consistent dynamics of Tu et al. from the same start. A mode below the threshold (σ₁² + σ₂²)h/2 learns "
        "lazily, above it actively."
    ),
    controls=CONTROLS,
    compute=train,
    views=(
        View("modes", "Singular values of the product", draw_modes, height=420),
        View("losses", "Losses", draw_losses, height=420),
        View("at", "At the cursor", tell_cursor, kind="html", wide=True),
    ),
    folders=TRAINING,
    ahead=("", "how=flow"),
    freezes=True,
)
