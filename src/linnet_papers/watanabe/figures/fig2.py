"""Figure 2 of Watanabe et al.: the loss and both components in time, with the early phase and the phase times."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, at_most, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.watanabe.settings import PairSettings
from linnet_papers.watanabe.training import figure_runs


def compute(settings: PairSettings, panels: tuple[str, ...]) -> Dataset:
    """Train the network; eq. (17) starts from the network's own u(0).

    `panels` is not used: the figure has none.
    """
    theory = ln.theories.spiked.TwoPhase(settings.spike, settings.alignment)
    first, second = theory.early_time(settings.scale), theory.later_time(settings.scale, settings.delta)
    times = np.linspace(0, 1.6 * second, settings.points)
    run = figure_runs.figure_run(settings, settings.spike, settings.alignment, times, samples=settings.samples)
    pair = ("time", "component")
    data = {
        "loss": (("time",), 2 * run.loss, "training loss of the paper, twice the canonical"),
        "components": (pair, run.components, "components of the network along v₁ and v₂"),
        "descent": (pair, run.descent, "the same of a network trained by gradient descent"),
        "reduced": (pair, run.reduced, "the same by the reduced dynamics (18)-(19)"),
        "early": (("time",), theory.early(run.u0, times), "component along v₁ by the early phase (17)"),
    }
    coords = {
        "time": ("time", times, "time t", "canonical"),
        "component": ("component", [1, 2], "number of the direction v₁ or v₂"),
    }
    attrs = {
        "spike": settings.spike,
        "alignment": settings.alignment,
        "samples": settings.samples,
        "delta": settings.delta,
        "early_time": first,
        "later_time": second,
        "plateau": theory.plateau,
        "u0": run.u0,
        "learning_rate": run.learning_rate,
        "limit_1": theory.fixed_point[0],
        "limit_2": theory.fixed_point[1],
    }
    return labeled(data, coords, attrs)


def plot(ds: Dataset) -> style.Picture:
    """Draw the loss on the right axis, components on the left, both times as vertical lines."""
    with style.applied():
        picture, axis = style.subplots(size=style.column(1.5, ratio=0.62))
        right = axis.twinx()
        right.spines["right"].set_visible(True)
        right.grid(False)
        right.plot(ds.time, ds.loss, color=style.LOSS, **style.ALONE, label="training loss")
        right.set_ylabel("training loss, E|y − f|²", color=style.LOSS)
        right.tick_params(axis="y", colors=style.LOSS)
        right.spines["right"].set_color(style.LOSS)
        few = slice(None, None, max(1, ds.sizes["time"] // 40))
        for k, (name, color) in enumerate((("v₁", style.FIRST_LAYER), ("v₂", style.SECOND_LAYER))):
            axis.plot(ds.time, ds.components[:, k], color=color, label=f"gradient flow, r̂₁ᵀW₁{name}", **style.TRAINING)
            reduced = f"reduced, along {name}, eqs. (18)-(19)"
            axis.plot(ds.time, ds.reduced[:, k], color=color, label=reduced, **style.THEORY)
            descent = f"gradient descent, along {name}"
            axis.plot(ds.time[few], ds.descent[few, k], "o", color=color, markersize=2.2, label=descent)
        axis.plot(ds.time, ds.early, color=style.BLACK, label="early phase, eq. (17)", **style.THEORY)
        axis.axvline(ds.attrs["early_time"], **style.GUIDELINE)
        axis.axvline(ds.attrs["later_time"], **{**style.GUIDELINE, "linestyle": "-."})
        top = 1.12 * float(ds.components.max())
        bottom = -0.03 * top
        axis.set_ylim(bottom, top)
        highest = 1.06 * float(ds.loss.max())
        right.set_ylim(bottom * highest / top, highest)  # one line of zero for both axes
        for name, text in (("early_time", "t₁"), ("later_time", "t₁ + bound (20)")):
            axis.annotate(
                text, (ds.attrs[name], top), xytext=(3, -9), textcoords="offset points", color=style.GRAY, fontsize=7
            )
        axis.set(xlabel="time t (canonical)", ylabel="weight components", xlim=(0, float(ds.time[-1])))
        axis.set_title(f"Loss and weights in the two phases (ρ = {ds.attrs['spike']:g}, A = {ds.attrs['alignment']:g})")
        handles = [*axis.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
        axis.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return picture


def check(ds: Dataset) -> Rows:
    """Measure eq. (17) while the second component is small, and the two times against those of the trained network."""
    first, second = ds.components.values.T
    young = second < 0.02 * ds.attrs["limit_2"]
    t1, t2 = figure_runs.phase_times(
        ds.time.values, ds.components.values, ds.attrs["plateau"], float(second[-1]), ds.attrs["delta"]
    )
    bound = at_most(ds.attrs["later_time"], "$t_1$ plus the bound (20), which is one")
    yield printed(r"time at which $w_2$ has $1 - e^{-\delta}$ of its limit", t2, bound)
    yield fact("time at which $w_1^2$ passes half its plateau", t1)
    yield fact("early timescale $t_1$", ds.attrs["early_time"])
    gap = float(np.abs(first - ds.early.values)[young].max() / ds.attrs["plateau"])
    yield fact("distance of (17) from the network over its plateau, while $w_2$ is below 2% of its limit", gap)
    late = float(np.abs(ds.descent.values - ds.components.values).max())
    yield fact("largest distance of gradient descent from the gradient flow at equal times", late)
    yield fact("learning rate of gradient descent", ds.attrs["learning_rate"])


FIGURE = Figure(
    name="fig2",
    title="Loss and weight components through the two phases",
    caption=(
        "A network of 30 inputs and 50 hidden units on sampled data, by gradient flow (lines) and by gradient descent "
        "(dots; the learning rate is ours). The loss rests, drops while the component along v1 grows, and then falls "
        "slowly while the component along v2 grows. Dashes: the reduced dynamics (18)-(19) and the early phase (17), "
        "started from the network's own u(0). Vertical lines: the early timescale and t1 plus the bound (20), delta = "
        "3, which lies a third beyond the time at which w2 has settled. The paper's clock runs as t times tau."
    ),
    settings=PairSettings,
    quick={"samples": 2000, "points": 200},
    compute=compute,
    plot=plot,
    check=check,
)
