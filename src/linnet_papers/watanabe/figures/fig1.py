"""Figure 1 of Watanabe et al.: one network's way through the phase plane, and the reduced dynamics."""

from __future__ import annotations

import numpy as np
from pydantic import NonNegativeInt

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.watanabe.settings import PairSettings
from linnet_papers.watanabe.training import figure_runs

NEAR = below(0.03, "about the width of the drawn line, and what 2000 samples in place of 10 000 move the curve")


class PlaneSettings(PairSettings):
    """With the resolution of the vector field."""

    arrows: NonNegativeInt = 21


def compute(settings: PlaneSettings, panels: tuple[str, ...]) -> Dataset:
    """Train the network on samples and on the population; the field and the nullclines are those of (18)-(19).

    `panels` is not used: the figure has none.
    """
    theory = ln.theories.spiked.TwoPhase(settings.spike, settings.alignment)
    times = np.linspace(0, 1.6 * theory.later_time(settings.scale, settings.delta), settings.points)
    run = figure_runs.figure_run(settings, settings.spike, settings.alignment, times, samples=settings.samples)
    ideal = figure_runs.figure_run(settings, settings.spike, settings.alignment, times, samples=None)
    basis = theory.basis
    side = np.linspace(-0.1, 1.1, settings.arrows)
    grid = np.stack(np.meshgrid(side, side), axis=-1)  # (across, spike, 2) in (mu, mu_perp)
    field = theory.vector_field(grid @ basis.T) @ basis
    first, second = (line @ basis for line in theory.nullclines(points=200, radius=2.0))
    pair = ("time", "direction")
    data = {
        "trained": (pair, run.components @ basis, "network by gradient flow, along the spike and across it"),
        "trained_components": (pair, run.components, "network, along v₁ and v₂"),
        "descent": (pair, run.descent @ basis, "network trained by gradient descent, along the spike and across it"),
        "descent_components": (pair, run.descent, "network trained by gradient descent, along v₁ and v₂"),
        "aligned_components": (pair, run.aligned, "aligned flow of the sampled problem, along v₁ and v₂"),
        "population_components": (pair, ideal.components, "network on the population, along v₁ and v₂"),
        "population_reduced": (pair, ideal.reduced, "reduced dynamics from that network's start, along v₁ and v₂"),
        "reduced": (pair, run.reduced @ basis, "reduced dynamics, along the spike and across it"),
        "reduced_components": (pair, run.reduced, "reduced dynamics, along v₁ and v₂"),
        "field": (("across", "along", "direction"), field, "velocity of the reduced dynamics"),
        "nullcline_1": (("point", "direction"), first, "where dw₁/dt = 0"),
        "nullcline_2": (("point", "direction"), second, "where dw₂/dt = 0"),
        "basis": (("vector", "direction"), basis, "v₁ and v₂, along the spike and across it"),
        "fixed_point": (("direction",), theory.fixed_point @ basis, "target β, along the spike and across it"),
    }
    coords = {
        "time": ("time", times, "time t", "canonical"),
        "along": ("along", side, "along the spike"),
        "across": ("across", side, "across the spike"),
    }
    attrs = {
        "spike": settings.spike,
        "alignment": settings.alignment,
        "samples": settings.samples,
        "scale": settings.scale,
        "dim": settings.dim,
        "u0": run.u0,
        "learning_rate": run.learning_rate,
        "plateau": theory.plateau,
    }
    return labeled(data, coords, attrs)


def plot(ds: Dataset) -> style.Picture:
    """Return the plane of the spike (horizontal) and the direction across it."""
    with style.applied():
        picture, axis = style.subplots(size=style.column(1.25, ratio=1.12))
        field = ds.field.values
        thin = {"color": "#C4C4C4", "linewidth": 0.6, "density": 1.1, "arrowsize": 0.7, "zorder": 0}
        axis.streamplot(ds.along.values, ds.across.values, field[..., 0], field[..., 1], **thin)
        axis.plot(*ds.nullcline_1.values.T, color=style.BLUE, linewidth=1.1, label="dw₁/dt = 0")
        axis.plot(*ds.nullcline_2.values.T, color=style.ORANGE, linewidth=1.1, label="dw₂/dt = 0")
        turn = ds.attrs["plateau"] * ds.basis.values[0]
        dashes = [(0, (5, 2)), (0, (5, 2, 1, 2))]
        for vector, dash, name, through in zip(ds.basis.values, dashes, ["v₁", "v₂"], [0 * turn, turn]):
            line = through + np.outer([-2, 2], vector)
            axis.plot(*line.T, color=style.GRAY, linestyle=dash, linewidth=1.0, label=f"direction {name}")
        trained = f"gradient descent, n = {ds.attrs['samples']}"
        axis.plot(*ds.descent.values.T, color=style.RED, linewidth=3.4, alpha=0.8, label=trained)
        dashed = {"color": style.BLACK, "linestyle": (0, (3, 1.5)), "linewidth": 1.3}
        axis.plot(*ds.reduced.values.T, **dashed, label="reduced, eqs. (18)-(19)")
        axis.plot(*ds.fixed_point.values, "*", color=style.BLACK, markersize=8, label="target β")
        axis.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xlabel="along the spike, r̂₁ᵀW₁μ", ylabel="across it, r̂₁ᵀW₁μ⊥")
        axis.set_title(
            f"Two phases: first along v₁, then along v₂ (ρ = {ds.attrs['spike']:g}, A = {ds.attrs['alignment']:g})"
        )
        axis.set_aspect("equal")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, handlelength=4)
    return picture


def check(ds: Dataset) -> Rows:
    """Measure how far the trained network is from each prediction, over the whole run."""
    largest = "largest distance of both components from the network,"
    order = below(max(ds.attrs["scale"], 1e-9), "both predictions are right up to $O(s)$, with a constant below 1")
    ideal, aligned, sampled = (
        float(np.abs(ds[one] - ds[other]).max())
        for one, other in (
            ("population_components", "population_reduced"),
            ("trained_components", "aligned_components"),
            ("trained_components", "reduced_components"),
        )
    )
    plane = figure_runs.hausdorff(ds.reduced_components.values, ds.descent_components.values)
    yield printed(f"{largest} reduced dynamics and network on the population", ideal, order)
    yield printed(f"{largest} aligned flow of the sample", aligned, order)
    yield printed("distance in the plane of gradient descent from the population's reduced dynamics", plane, NEAR)
    yield fact(f"{largest} reduced dynamics of the population at equal times", sampled)
    yield fact("number of samples", ds.attrs["samples"])
    yield fact("learning rate of gradient descent", ds.attrs["learning_rate"])


FIGURE = Figure(
    name="fig1",
    title="Two phases of learning in the plane of spike and target",
    caption=(
        "Red: a network of 30 inputs and 50 hidden units, trained by full-batch gradient descent on sampled spiked "
        "data (n = 10 000; 2000 in quick mode; the learning rate is ours, as the text gives none): it grows along the "
        "input-output correlation v1, turns, and goes along v2 to the target. Black: the reduced dynamics (18)-(19) of "
        "the population, from the network's own u(0). What keeps the network from it is the sample's covariance, not "
        "the reduction, as the checks measure. By the time w1 peaks, w2 has a fifth of its limit."
    ),
    settings=PlaneSettings,
    quick={"samples": 2000, "points": 200},
    compute=compute,
    plot=plot,
    check=check,
)
