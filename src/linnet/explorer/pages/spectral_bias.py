"""The page *Spectral bias*: the scale of the start decides whether modes come together or one after the other."""

from __future__ import annotations

from linnet.explorer.computing import label_noise, spectral_bias
from linnet.explorer.controls import Control, State
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import spectral_bias as pictures

CONTROLS = (
    Control(
        "gamma",
        "Start γ",
        "Scale of the orthogonal start: W₁ᵀW₁ = 2γ I and W₂ = 0; small ones learn mode by mode.",
        0.01,
        "log",
        low=1e-10,
        high=10,
        step=0.1,
        group="Start",
    ),
    Control(
        "values",
        "Singular values s",
        "Those of the target, one to eight numbers from 0.1 to 10.",
        (4.0, 2.0, 1.0, 0.5),
        "numbers",
        low=0.1,
        high=10,
        most=spectral_bias.MODES,
        group="Target",
    ),
    Control(
        "clock",
        "Clock",
        "In units of ln(1/γ) the modes tend to jumps at 1/(2s) as γ falls.",
        "canonical",
        "choice",
        choices=tuple(spectral_bias.CLOCKS.items()),
        group="Target",
    ),
    Control(
        "noise",
        "Label noise δ",
        "Standard deviation of the noise drawn anew at every step, on labels divided by √n.",
        1.0,
        "number",
        low=0,
        high=2,
        step=0.05,
        group="Label noise",
    ),
    Control(
        "learning_rate",
        "Step η",
        "Learning rate of both descents; the small singular values decay at a rate of about ηδ²/2.",
        0.05,
        "log",
        low=0.01,
        high=0.1,
        step=0.05,
        group="Label noise",
    ),
    Control("seed", "Seed", "Of data, start and noise.", 0, "whole", low=0, high=99, group="Label noise"),
)
OF_MODES, OF_NOISE = ("gamma", "values", "clock"), ("gamma", "noise", "learning_rate", "seed")


def script(state: State) -> str:
    """The same numbers by linnet's public names."""
    scaled = state["clock"] == "log"
    jumps = "jumps = bias.jump_process(values, gamma, times)  # the limit of small starts\n"
    return f"""import numpy as np
import linnet as ln

gamma, values = {state["gamma"]!r}, np.sort({state["values"]!r})[::-1]
bias, size = ln.theories.spectral_bias, {spectral_bias.MODES}

half_times = bias.half_times(values, gamma)
times = np.linspace(0, (half_times + 2.5 / np.hypot(values, gamma)).max(), {spectral_bias.POINTS})
predicted = bias.singular_values(values, gamma, times)  # Theorem C.12
{jumps if scaled else ""}
target = np.diag([*values, *[0.0] * (size - len(values))])
start = ln.inits.balanced(np.zeros((size, size)), 2 * gamma)  # the orthogonal start, reduced
run = ln.gradient_flow(ln.Problem.from_target(target), start, times=times, rtol=1e-8)
trained = run.singular_values[:, : len(values)]
print(f"largest distance of training and Theorem C.12: {{np.abs(trained - predicted).max():.1e}}")
first_layer = np.linalg.svd(run.weights.first, compute_uv=False)
first_layer_final, second_layer_final = bias.final_singular_values(values, gamma, size)  # Corollary 3.1

# noisy labels: {label_noise.INPUTS} orthogonal samples of as many inputs, one output
noise, rate, seed, dim = {state["noise"]!r}, {state["learning_rate"]!r}, {state["seed"]!r}, {label_noise.INPUTS}
problem = ln.problems.orthogonal_regression(key=seed, in_dim=dim)
start = ln.inits.orthogonal(key=seed, in_dim=dim, out_dim=1, width={label_noise.WIDTH}, scale=gamma)
steps = {{"learning_rate": rate, "steps": {label_noise.STEPS}, "save_every": {label_noise.STEPS // label_noise.SAVES}}}
clean = ln.observables.first_layer_values(ln.gradient_descent(problem, start, **steps))
noisy = ln.observables.first_layer_values(
    ln.label_noise_descent(problem, start, noise_std=noise * dim**0.5, key=seed, **steps)
)
print(f"smallest singular value of W1: {{clean[-1, -1]:.4g}} with clean labels, {{noisy[-1, -1]:.4g}} with noisy ones")
"""


PAGE = Page(
    name="spectral-bias",
    title="Spectral bias",
    introduction=(
        "From the orthogonal start of scale γ, gradient flow learns the singular values of the target one after the "
        "other when γ is small, the largest first, and all at once when it is large. It is a mirror flow: its "
        "potential passes from the nuclear norm (low rank) to the Frobenius norm. Noise on the labels shrinks "
        "the singular values of W₁ that carry no signal, from any start. After Varre, Vladarean, Pillaud-Vivien and "
        "Flammarion."
    ),
    controls=CONTROLS,
    compute=spectral_bias.compute,
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
            about="What one singular value costs, between the two norms of its limits.",
            height=380,
            wide=True,
        ),
    ),
    more=(
        Part(
            "noise",
            label_noise.compute,
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
    script=script,
    freezes=True,
)
