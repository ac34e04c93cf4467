"""The page *Two phases*: learning under a spiked covariance, first along the correlation, then across it."""

from __future__ import annotations

from linnet.explorer.computing import few_samples, two_phases
from linnet.explorer.controls import Control, State
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import two_phases as pictures

SAMPLES = tuple((one, one if one == two_phases.POPULATION else f"{int(one):,} samples") for one in two_phases.SAMPLES)

CONTROLS = (
    Control(
        "spike",
        "Spike ρ",
        "How much more variance the inputs have along the spike than across it: Σ = I + ρ μμᵀ.",
        20.0,
        "number",
        low=0,
        high=100,
        step=0.5,
        group="Data",
    ),
    Control(
        "alignment",
        "Alignment A",
        "Cosine between the spike μ and the target β; at 0 and at 1 there is no second phase.",
        0.3,
        "number",
        low=0,
        high=1,
        step=0.01,
        group="Data",
    ),
    Control(
        "samples",
        "Trained on",
        "The population's covariance, or that of so many samples of its 30 inputs.",
        two_phases.POPULATION,
        "choice",
        choices=SAMPLES,
        group="Data",
    ),
    Control(
        "scale",
        "Start s",
        "Scale of the Gaussian start: W₁ has variance s²/d, W₂ has s²/m; a smaller one waits longer.",
        1e-5,
        "log",
        low=1e-8,
        high=0.1,
        step=0.1,
        group="Network",
    ),
    Control("seed", "Seed", "Of the network's start and of the samples.", 0, "whole", low=0, high=99, group="Network"),
    Control(
        "ratio",
        "Inputs per sample d/n",
        "For the test error alone: the paper's γ, more inputs than samples.",
        2.0,
        "number",
        low=1.05,
        high=20,
        step=0.05,
        group="Test error",
    ),
)
OF_PLANE, OF_ERROR = ("spike", "alignment", "scale", "samples", "seed"), ("spike", "alignment", "ratio", "seed")


def script(state: State) -> str:
    """The same numbers by linnet's public names."""
    count = "" if state["samples"] == two_phases.POPULATION else f", samples={state['samples']}, key=seed"
    later = state["spike"] != 0 and state["alignment"] not in (0, 1)
    end = "1.6 * second_time" if later else "2 * first_time + 2 / theory.lambda1"
    second = f"second_time = theory.later_time(scale, delta={two_phases.DELTA})  # t1 plus the bound (20)\n"
    return f"""import numpy as np
import linnet as ln

spike, alignment, scale, seed = {state["spike"]!r}, {state["alignment"]!r}, {state["scale"]!r}, {state["seed"]!r}
dim, width = {two_phases.DIM}, {two_phases.WIDTH}

theory = ln.theories.spiked.TwoPhase(spike, alignment)
first_time = theory.early_time(scale)  # t1
{second if later else ""}times = np.linspace(0, {end}, {two_phases.POINTS})

problem = ln.problems.spiked_covariance(dim, spike=spike, alignment=alignment{count})
weights = ln.inits.gaussian(
    key=[seed, 1], in_dim=dim, out_dim=1, width=width, first_std=scale / dim**0.5, second_std=scale / width**0.5
)
start, direction = ln.theories.reduced.growth_direction(problem, weights)
moments = ln.Problem.from_moments(problem.cov, problem.cross)  # all that training sees of the data
run = ln.gradient_flow(moments, weights, times=times, rtol=1e-8)
trained = (direction @ run.weights.first)[:, :2]  # along the spike and across it
trained_components = trained @ theory.basis.T  # along v1 and v2
reduced_components = theory.reduced(start, times, rtol=1e-8)  # eqs. (18)-(19)
early = theory.early(start, times)  # eq. (17)
print(f"at the end: trained {{trained_components[-1]}}, reduced {{reduced_components[-1]}}")

error_here = ln.theories.spiked.generalization_error(spike, alignment, {state["ratio"]!r}, normalized=True)
print(f"test error / signal power at d/n = {state["ratio"]}: {{error_here:.4f}}")
"""


PAGE = Page(
    name="two-phases",
    title="Two phases",
    introduction=(
        "One output, and inputs with one strong direction, the spike. From a small start the network first grows along "
        "v₁, the correlation of inputs and output, up to time t₁; then it turns and goes along v₂ to the target. "
        "A network of 30 inputs and 50 hidden units is trained as the sliders move; the field is the one of the "
        "two equations (18)-(19) that it obeys. After Watanabe, Karakida and Teramae."
    ),
    controls=CONTROLS,
    compute=two_phases.compute,
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
            few_samples.compute,
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
    script=script,
    freezes=True,
)
