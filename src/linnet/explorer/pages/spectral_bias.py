"""The page *Spectral bias*: the scale of the start decides whether modes come together or one after the other."""

from __future__ import annotations

from linnet.explorer.computing.label_noise import label_noise
from linnet.explorer.computing.spectral_bias import CLOCKS, MODES, spectral_bias
from linnet.explorer.controls import choice, group, log, number, numbers, whole
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import spectral_bias as pictures

CONTROLS = (
    *group(
        "Start",
        log("gamma", "Start γ", 0.01, (1e-10, 10), "W₁ᵀW₁ = 2γ I and W₂ = 0; small ones learn mode by mode.", step=0.1),
    ),
    *group(
        "Target",
        numbers("values", "Singular values s", (4.0, 2.0, 1.0, 0.5), (0.1, 10), "One to eight, 0.1 to 10.", most=MODES),
        choice("clock", "Clock", CLOCKS, "In units of ln(1/γ) the modes tend to jumps at 1/(2s) as γ falls."),
    ),
    *group(
        "Label noise",
        number("noise", "Label noise δ", 1.0, (0, 2), "Drawn anew at every step, on labels divided by √n.", step=0.05),
        log("learning_rate", "Step η", 0.05, (0.01, 0.1), "The small singular values decay at a rate of about ηδ²/2."),
        whole("seed", "Seed", 0, (0, 99), "Of data, start and noise."),
    ),
)
OF_MODES, OF_NOISE = ("gamma", "values", "clock"), ("gamma", "noise", "learning_rate", "seed")


PAGE = Page(
    name="spectral-bias",
    title="Spectral bias",
    card="Small starts prefer low rank; what label noise does to it. After paper 2.",
    introduction=(
        "From the orthogonal start of scale γ, gradient flow learns the singular values of the target one after the "
        "other when γ is small, the largest first, and all at once when it is large. It is a mirror flow: its "
        "potential passes from the nuclear norm (low rank) to the Frobenius norm. Noise on the labels shrinks "
        "the singular values of W₁ that carry no signal, from any start. After Varre, Vladarean, Pillaud-Vivien and "
        "Flammarion."
    ),
    controls=CONTROLS,
    compute=spectral_bias,
    uses=OF_MODES,
    views=(
        View(
            "modes",
            "Modes over time",
            pictures.modes,
            about="Trained on whitened data, beside the exact formula; diamonds: half of the final height.",
            height=440,
        ),
        View(
            "layers",
            "Both layers",
            pictures.layers,
            about="Where no signal is, W₁ stays at √(2γ): small starts leave a first layer of low rank.",
            height=440,
        ),
        View(
            "potential",
            "The mirror's potential",
            pictures.potential,
            about="A mirror flow is gradient flow in other coordinates; its potential says what a singular value "
            "of this size costs, between the two norms of its limits.",
            height=380,
            wide=True,
        ),
    ),
    more=(
        Part(
            "noise",
            label_noise,
            (
                View(
                    "noise",
                    "Label noise",
                    pictures.noise,
                    about="5 orthogonal samples of 5 inputs, one output, width 200, 4000 steps.",
                    height=400,
                ),
            ),
            uses=OF_NOISE,
        ),
    ),
    freezes=True,
)
