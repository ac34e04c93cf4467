"""The page *Spectral bias*: the scale of the start decides whether modes come together or one after the other."""

from __future__ import annotations

import numpy as np

from linnet.style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing.spectral_bias import (
    CLOCKS,
    INPUTS,
    MODES,
    STEPS,
    WIDTH,
    label_noise,
    spectral_bias,
)
from linnet_papers.explorer.controls import State, choice, grouped, log, number, numbers, whole
from linnet_papers.explorer.drawing import Figure, Options
from linnet_papers.explorer.page import Data, Page, Part, view

CONTROLS = grouped(
    "Start",
    log("gamma", "Start γ", 0.01, (1e-10, 10), "W₁ᵀW₁ = 2γ I and W₂ = 0; small ones learn mode by mode.", step=0.1),
    "Target",
    numbers("values", "Singular values s", (4.0, 2.0, 1.0, 0.5), (0.1, 10), "One to eight, 0.1 to 10.", most=MODES),
    choice("clock", "Clock", CLOCKS, "In units of ln(1/γ) the modes tend to jumps at 1/(2s) as γ falls."),
    "Label noise",
    number("noise", "Label noise δ", 1.0, (0, 2), "Drawn anew at every step, on labels divided by √n.", step=0.05),
    log("learning_rate", "Step η", 0.05, (0.01, 0.1), "The small singular values decay at a rate of about ηδ²/2."),
    whole("seed", "Seed", 0, (0, 99), "Of data, start and noise."),
)


@view(
    "Modes over time",
    "Trained on whitened data, beside the exact formula; diamonds: half of the final height.",
    height=440,
)
def modes(data: Data, state: State) -> Figure:
    """Draw every mode of the product over time, trained and predicted, and when it stands at half its height."""
    time, traces = data.time.values, []
    for k, color in enumerate(draw.ordered_colors(data.sizes["mode"])):
        first = k == 0  # one entry of the legend for all predictions
        names = (f"s = {float(data.mode[k]):g}", "Theorem C.12")
        values = (data.trained.values[:, k], data.predicted.values[:, k])
        more: Options = {"showlegend": first, "legendgroup": "predicted", "legendrank": draw.LEGEND_LAST}
        traces += draw.comparison(time, *values, names, color, **more)
        if "jumps" in data:
            more = {"showlegend": first, "legendgroup": "jumps"}
            traces.append(draw.guide(time, data.jumps.values[:, k], "limit γ → 0", color=color, **more))
    half: Options = {"color": GRAY, "size": 8, "marker": {"symbol": "diamond"}}
    traces.append(draw.markers(data.half_times.values, data.mode.values / 2, "half height", **half))
    return draw.figure(traces, x=f"time t ({data.time.attrs['units']})", y="singular values of W₂W₁")


@view("Both layers", "Where no signal is, W₁ stays at √(2γ): small starts leave a first layer of low rank.", height=440)
def layers(data: Data, state: State) -> Figure:
    """Draw the singular values of each layer over time, and where Corollary 3.1 says they end."""
    time, count, traces = data.time.values, data.sizes["mode"], []
    for name, values, final, color in (
        ("W₁", data.first_layer.values, data.first_layer_final.values, BLUE),
        ("W₂", data.second_layer.values, data.second_layer_final.values, ORANGE),
    ):
        for k in range(min(count + 1, values.shape[1])):  # of those without signal one is enough: they are the same
            idle = k == count
            shown: Options = {"showlegend": k == 0 or idle, "legendgroup": f"{name}{idle}"}
            label, look = (f"{name}, no signal", GRAY) if idle else (name, color)
            thin = {"width": 2.5, "opacity": 0.9} if name == "W₂" else {}  # W₁ is seen below it where they are the same
            traces.append(draw.trained_line(time, values[:, k], label, look, **shown, **thin))
            shown = {"showlegend": name == "W₁" and k == 0, "legendgroup": "final", "legendrank": draw.LEGEND_LAST}
            traces.append(draw.predicted_line(time[[0, -1]], [final[k]] * 2, "end by Corollary 3.1", look, **shown))
    axis = f"time t ({data.time.attrs['units']})"
    return draw.figure(traces, x=axis, y="singular values of the layers", yaxis={"rangemode": "tozero"})


@view(
    "The mirror's potential",
    "A mirror flow is gradient flow in other coordinates; its potential says what a singular value "
    "of this size costs, between the two norms of its limits.",
    height=380,
    wide=True,
)
def potential(data: Data, state: State) -> Figure:
    """Draw what the flow charges for one mode: the nuclear norm for small starts, the square for large ones."""
    x = data.height.values
    traces = [
        draw.guide(x, x, "γ → 0: nuclear norm"),
        draw.guide(x, x**2, "γ → ∞: Frobenius norm", dash="dashdot"),
        draw.line(x, data.potential.values, f"Ψ at γ = {state['gamma']:.3g}", color=BLUE, width=3),
    ]
    return draw.figure(traces, x="singular value D / the target's largest", y="Ψ(D) − Ψ(0), over that at 1")


@view(
    "Label noise",
    f"{INPUTS} orthogonal samples of {INPUTS} inputs, one output, width {WIDTH}, {STEPS} steps.",
    height=400,
)
def noise(data: Data, state: State) -> Figure:
    """Draw the first layer's singular values with clean and with noisy labels."""
    time, traces = data.time.values, []
    for k, values in enumerate(data.clean.values.T):
        grouped: Options = {"showlegend": k == 0, "legendgroup": "clean", "opacity": 0.6}
        traces.append(draw.line(time, values, "clean labels", color=GRAY, width=4, **grouped))
    for k, values in enumerate(data.noisy.values.T):
        name, color = ("largest, noisy", BLUE) if k == 0 else ("the others, noisy", AMBER)
        traces.append(draw.line(time, values, name, color=color, showlegend=k < 2, legendgroup=name))
    traces.append(draw.predicted_line(time, data.decay.values, "√(2γ) exp(−ηδ²t/2)", PINK))
    traces.append(draw.horizontal_line(time, data.attrs["flattest"], "flattest solution", color=GREEN))
    shown = np.concatenate([data.noisy.values.ravel(), data.clean.values.ravel(), [data.attrs["flattest"]]])
    low, high = np.log10(max(float(shown.min()), 1e-12)), np.log10(float(shown.max()))
    decades = {"range": [low - 0.2, high + 0.2], "dtick": 1}
    return draw.figure(traces, x="time t (canonical)", y="singular values of W₁", log_y=True, yaxis=decades)


PAGE = Page(
    name="spectral-bias",
    title="Spectral bias",
    card="Small starts prefer low rank; what label noise does to it. After paper 2.",
    introduction=(
        "From the orthogonal start of scale γ, gradient flow learns the singular values of the target one after the "
        "other when γ is small, the largest first, and all at once when it is large. It is a mirror flow: its "
        "potential passes from the nuclear norm (low rank) to the Frobenius norm. Noise on the labels shrinks "
        "the singular values of W₁ that carry no signal, from any start. After Varre, Vladarean, Pillaud-Vivien and "
        "Flammarion.",
    ),
    controls=CONTROLS,
    parts=(Part("main", spectral_bias, (modes, layers, potential)), Part("noise", label_noise, (noise,))),
    can_freeze_run=True,
)
