"""The page *Two phases*: learning under a spiked covariance, first along the correlation, then across it."""

from __future__ import annotations

from linnet.explorer.computing.few_samples import few_samples
from linnet.explorer.computing.two_phases import POPULATION, TRAINED_ON, two_phases
from linnet.explorer.controls import choice, group, log, number, whole
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import two_phases as pictures

SAMPLES = {one: one if one == POPULATION else f"{int(one):,} samples" for one in TRAINED_ON}

CONTROLS = (
    *group(
        "Data",
        number(
            "spike", "Spike ρ", 20.0, (0, 100), "Extra variance of the inputs along the spike: Σ = I + ρ μμᵀ.", step=0.5
        ),
        number("alignment", "Alignment A", 0.3, (0, 1), "Cosine of spike μ and target β; at 0 and 1 no second phase."),
        choice(
            "samples",
            "Trained on",
            SAMPLES,
            "The population's covariance, or that of so many samples of its 30 inputs.",
        ),
    ),
    *group(
        "Network",
        log(
            "scale",
            "Start s",
            1e-5,
            (1e-8, 0.1),
            "W₁ has variance s²/d, W₂ has s²/m; a smaller one waits longer.",
            step=0.1,
        ),
        whole("seed", "Seed", 0, (0, 99), "Of the network's start and of the samples."),
    ),
    *group(
        "Test error",
        number(
            "ratio", "Inputs per sample d/n", 2.0, (1.05, 20), "For the test error alone: the paper's γ.", step=0.05
        ),
    ),
)
OF_PLANE, OF_ERROR = ("spike", "alignment", "scale", "samples", "seed"), ("spike", "alignment", "ratio", "seed")


PAGE = Page(
    name="two-phases",
    title="Two phases",
    card="One strong direction of the inputs: learning turns a corner. After paper 1.",
    introduction=(
        "One output, and inputs with one strong direction, the spike. From a small start the network first grows along "
        "v₁, the correlation of inputs and output, up to time t₁; then it turns and goes along v₂ to the target. "
        "A network of 30 inputs and 50 hidden units is trained as the sliders move; the field is the one of the "
        "two equations (18)-(19) that it obeys. After Watanabe, Karakida and Teramae."
    ),
    controls=CONTROLS,
    compute=two_phases,
    uses=OF_PLANE,
    views=(
        View(
            "plane",
            "The plane of spike and target",
            pictures.plane,
            about="Arrows: where the reduced dynamics goes, longer where faster; it rests where the curves cross.",
            height=520,
        ),
        View(
            "components",
            "Components over time",
            pictures.components,
            about="t₁ plus the bound (20) is the paper's mark for the end; w₂ grows before w₁ has peaked.",
            height=520,
        ),
    ),
    more=(
        Part(
            "error",
            few_samples,
            (
                View(
                    "error",
                    "Test error on few samples",
                    pictures.error,
                    about="Marks: least-norm fits of samples, where small starts end; bars: one standard error.",
                    height=440,
                ),
                View(
                    "map",
                    "Test error over spike and alignment",
                    pictures.error_map,
                    about="Divided by the power of the signal; a click sets spike and alignment.",
                    height=440,
                    click={"spike": "x", "alignment": "y"},
                ),
            ),
            uses=OF_ERROR,
        ),
    ),
    freezes=True,
)
