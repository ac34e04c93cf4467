"""The pictures of the page *Spectral bias*."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.explorer import drawing
from linnet.explorer.controls import State
from linnet.explorer.drawing import Figure, Options
from linnet.explorer.pictures.strokes import AMBER, BLUE, GREEN, GREY, LAST, ORANGE, PINK, predicted, shades, trained

if TYPE_CHECKING:
    import xarray as xr


def modes(ds: xr.Dataset, state: State) -> Figure:
    """Every mode of the product over time, trained and predicted, and when it stands at half its height."""
    time, traces = ds.time.values, []
    for k, colour in enumerate(shades(ds.sizes["mode"])):
        first = k == 0  # one entry of the legend for all predictions
        traces.append(trained(time, ds.trained.values[:, k], f"s = {float(ds.mode[k]):g}", colour))
        more: Options = {"showlegend": first, "legendgroup": "predicted", "legendrank": LAST}
        traces.append(predicted(time, ds.predicted.values[:, k], "Theorem C.12", colour, **more))
        if "jumps" in ds:
            more = {"showlegend": first, "legendgroup": "jumps"}
            traces.append(drawing.guide(time, ds.jumps.values[:, k], "limit γ → 0", colour=colour, **more))
    half: Options = {"colour": GREY, "size": 8, "marker": {"symbol": "diamond"}}
    traces.append(drawing.marks(ds.half_times.values, ds.mode.values / 2, "half height", **half))
    return drawing.figure(traces, x=f"time t ({ds.time.attrs['units']})", y="singular values of W₂W₁")


def layers(ds: xr.Dataset, state: State) -> Figure:
    """The singular values of each layer over time, and where Corollary 3.1 says they end."""
    time, count = ds.time.values, ds.sizes["mode"]
    ends, traces = [float(time[0]), float(time[-1])], []
    of_layers = (
        ("W₁", ds.first_layer.values, ds.first_layer_final.values, BLUE),
        ("W₂", ds.second_layer.values, ds.second_layer_final.values, ORANGE),
    )
    for name, values, final, colour in of_layers:
        for k in range(min(count + 1, values.shape[1])):  # of those without signal one is enough: they are the same
            idle = k == count
            shown: Options = {"showlegend": k == 0 or idle, "legendgroup": f"{name}{idle}"}
            label, look = (f"{name}, no signal", GREY) if idle else (name, colour)
            thin = {"width": 2.5, "opacity": 0.9} if name == "W₂" else {}  # W₁ is seen below it where they are the same
            traces.append(trained(time, values[:, k], label, look, **shown, **thin))
            shown = {"showlegend": name == "W₁" and k == 0, "legendgroup": "final", "legendrank": LAST}
            traces.append(predicted(ends, [final[k]] * 2, "end by Corollary 3.1", look, **shown))
    return drawing.figure(
        traces,
        x=f"time t ({ds.time.attrs['units']})",
        y="singular values of the layers",
        yaxis={"rangemode": "tozero"},
    )


def potential(ds: xr.Dataset, state: State) -> Figure:
    """What the flow charges for one mode: like the nuclear norm for small starts, like the square for large ones."""
    x = ds.height.values
    traces = [
        drawing.guide(x, x, "γ → 0: nuclear norm"),
        drawing.guide(x, x**2, "γ → ∞: Frobenius norm", dash="dashdot"),
        drawing.line(x, ds.potential.values, f"Ψ at γ = {state['gamma']:.3g}", colour=BLUE, width=3),
    ]
    return drawing.figure(traces, x="singular value D / the target's largest", y="Ψ(D) − Ψ(0), over that at 1")


def noise(ds: xr.Dataset, state: State) -> Figure:
    """The first layer's singular values with clean and with noisy labels."""
    time, traces = ds.time.values, []
    for k in range(ds.sizes["input"]):
        group: Options = {"showlegend": k == 0, "legendgroup": "clean", "opacity": 0.6}
        traces.append(drawing.line(time, ds.clean.values[:, k], "clean labels", colour=GREY, width=4, **group))
    for k in range(ds.sizes["input"]):
        name, colour = ("largest, noisy", BLUE) if k == 0 else ("the others, noisy", AMBER)
        traces.append(
            drawing.line(time, ds.noisy.values[:, k], name, colour=colour, showlegend=k < 2, legendgroup=name)
        )
    traces.append(predicted(time, ds.decay.values, "√(2γ) exp(−ηδ²t/2)", PINK))
    flat = [ds.attrs["flattest"]] * 2
    traces.append(drawing.guide([time[0], time[-1]], flat, "flattest solution", colour=GREEN))
    shown = np.concatenate([ds.noisy.values.ravel(), ds.clean.values.ravel(), flat])
    low, high = np.log10(max(float(shown.min()), 1e-12)), np.log10(float(shown.max()))
    return drawing.figure(
        traces,
        x="time t (canonical)",
        y="singular values of W₁",
        log_y=True,
        yaxis={"range": [low - 0.2, high + 0.2], "dtick": 1},
    )
