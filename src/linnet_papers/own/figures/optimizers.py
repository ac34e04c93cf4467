"""The plane of Tu et al. under gradient descent, spectral descent and Muon, and singular values over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.own.training import optimizers as training
from linnet_papers.reproduction import Figure, Rows, Settings, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.tu import plane

UPDATES = ("gradient descent", "spectral descent", "Muon as it is used")
COVERED = 0.03  # uncertainty of a formula that is compared with training
NEAR = below(0.05, "the formula's own uncertainty of 3%, and one initialization for each network")


class Optimizers(Settings):
    """The task and plane of Tu et al.; how many cells are predicted and trained, and what is followed over time."""

    dim: PositiveInt = 100
    rank: PositiveInt = plane.RANK
    cells: PositiveInt = 25
    networks: PositiveInt = 4
    steps: PositiveInt = 300
    threshold: PositiveFloat = 0.01
    shown: PositiveInt = 12


def compute(settings: Optimizers, panels: tuple[str, ...]) -> Dataset:
    dim = settings.dim
    task = ln.problems.low_rank_plus_noise(dim, rank=settings.rank, key=settings.seed)
    updates = (None, ln.trainers.updates.SpectralDescent())
    predicted = [_predicted(task, settings, update) for update in updates]
    nearby = [_predicted(task, settings, update, settings.networks) for update in updates]
    few = plane.grid(settings.networks)
    cells = [(power, variance) for power in few["gamma_width"] for variance in few["gamma_variance"]]
    trained = np.array([_trained(task, settings, *cell) for cell in cells])
    states = _runs(task, settings, training.wide_start(settings.seed, dim, dim, 1e6, settings.threshold), 1e6)
    values = np.stack([_values(one, settings) for one in states])
    axes = ("width", "variance")
    grid = plane.grid(settings.cells)
    shape = (3, settings.networks, settings.networks)
    return labeled(
        {
            "predicted": (("formula", *axes), np.stack([one[0] for one in predicted]), "minimum test error by formula"),
            "uncertainty": (("formula", *axes), np.stack([one[1] for one in predicted]), "its relative uncertainty"),
            "trained": (("update", "few_widths", "few_variances"), trained.T.reshape(shape), "minimum test error"),
            "nearby": (
                ("formula", "few_widths", "few_variances"),
                np.stack([one[0] for one in nearby]),
                "minimum test error by formula, at the cells that are trained",
            ),
            "nearby_uncertainty": (
                ("formula", "few_widths", "few_variances"),
                np.stack([one[1] for one in nearby]),
                "its relative uncertainty",
            ),
            "values": (("update", "state", "mode"), values, "singular values of the product"),
            "target": ("mode", np.linalg.svd(task.cross, compute_uv=False)[: settings.shown], "those of the target"),
        },
        {
            "width": ("width", grid["gamma_width"], "exponent of the width"),
            "variance": ("variance", grid["gamma_variance"], "exponent of the variance"),
            "few_widths": ("few_widths", few["gamma_width"], "exponent of the width"),
            "few_variances": ("few_variances", few["gamma_variance"], "exponent of the variance"),
            "state": ("state", np.linspace(0, 1, values.shape[1]), "part of the run"),
        },
        {"dim": dim, "rank": settings.rank},
    )


def _predicted(task: ln.Problem, settings: Optimizers, update: Any, points: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return least test errors per entry by formula over the plane, and their uncertainty; NaN where there is none."""
    grid = plane.grid(points or settings.cells)
    widths = [plane.width_of(settings.dim, power) for power in grid["gamma_width"]]
    variances = float(settings.dim) ** np.array(grid["gamma_variance"])
    found = ln.theories.lazy_active.predicted_diagram(task, variances, widths, update=update)
    return 2 * found.min_test_loss / settings.dim**2, found.uncertainty


def _runs(task: ln.Problem, settings: Optimizers, start: training.Layers, width: float) -> list[list[training.Layers]]:
    """Return the states of a network under each of the three updates."""
    threshold = float(np.linalg.norm(start[0]) ** 2 / settings.dim)
    return [
        training.descent_run(start, task, threshold),
        training.spectral_run(start, task, settings.steps)[1],
        training.muon_run(start, task, width, 3 * settings.steps),
    ]


def _trained(task: ln.Problem, settings: Optimizers, width_power: float, variance_power: float) -> list[float]:
    """Return the minimum test errors per entry of one cell, trained with each update."""
    dim, width = settings.dim, plane.width_of(settings.dim, width_power)
    start = training.wide_start([settings.seed, 1], dim, dim, width, width * float(dim) ** variance_power)
    return [training.minimum_error(task, states) for states in _runs(task, settings, start, width)]


def _values(states: list[training.Layers], settings: Optimizers) -> np.ndarray:
    """Return the largest singular values of the product at 60 states of the run, from the first to the last."""
    chosen = [states[place] for place in np.linspace(0, len(states) - 1, 60).astype(int)]
    return np.stack([np.linalg.svd(b @ a, compute_uv=False)[: settings.shown] for a, b in chosen])


def plot(data: Dataset) -> style.Picture:
    with style.applied():
        picture, axes = style.subplots(2, 3, size=style.column(2, ratio=0.62))
        across, up = data["variance"].values, data["width"].values
        look: dict[str, Any] = {"vmin": 0.0, "vmax": 1.2, "cmap": "viridis"}
        places = np.meshgrid(data["few_variances"], data["few_widths"])
        for number, (letter, panel, name) in enumerate(zip("abc", axes[0], UPDATES, strict=True)):
            formula = data["predicted"].isel(formula=min(number, 1))
            shades = panel.pcolormesh(across, up, formula, shading="nearest", rasterized=True, **look)
            marks = data["trained"].isel(update=number)
            panel.scatter(*places, c=marks, s=46, edgecolors="white", linewidths=0.9, clip_on=False, zorder=3, **look)
            panel.plot(across, 1 - across, color="white", linewidth=0.9)
            panel.grid(False)
            panel.set(title=f"{letter}  {name[0].upper()}{name[1:]}", xlabel="exponent of the variance")
            panel.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]))
        axes[0, 0].set_ylabel("exponent of the width")
        picture.colorbar(shades, ax=axes[0, 2], label="minimum test error")
        for number, (letter, panel) in enumerate(zip("def", axes[1], strict=True)):
            colors = [style.SIGNAL] * data.attrs["rank"] + [style.NOISE] * (data.sizes["mode"] - data.attrs["rank"])
            for color, values in zip(colors, data["values"].isel(update=number).values.T, strict=True):
                panel.plot(data["state"], values, color=color, linewidth=1.2)
            panel.set(title=f"{letter}  {UPDATES[number][0].upper()}{UPDATES[number][1:]}", xlabel="part of the run")
        axes[1, 0].set_ylabel("singular values")
    return picture


def check(data: Dataset) -> Rows:
    for number, name in enumerate(UPDATES[:2]):
        formula, bar = data["nearby"].isel(formula=number), data["nearby_uncertainty"].isel(formula=number)
        ratio = formula / data["trained"].isel(update=number)
        apart = np.abs(ratio.values - 1)[bar.values < COVERED]
        yield printed(f"median relative difference of formula and trained network, {name}", np.median(apart), NEAR)
        yield fact(f"largest of these differences, {name}", apart.max())
        yield fact(f"number of cells compared, {name}", apart.size)
    wide = data["trained"].values[:, data["few_widths"].values >= 1, 0]
    for name, least in zip(UPDATES, wide, strict=True):
        yield fact(f"minimum test errors at the smallest variance, width at least $d$, {name}", least)


FIGURE = Figure(
    name="muon",
    title="Gradient descent has an active region, spectral descent and Muon have none",
    caption="Minimum test error per entry over training, for a truth of rank 5 in unit noise and d = 100, over the "
    "exponents in d of variance and width, as in Figure 2 of Tu et al. a: gradient descent by formula; b: "
    "spectral descent by formula, which exists for networks as wide as their inputs (blank below); c: the same "
    "formula beside Muon as it is used (momentum 0.95, five iterations of Newton and Schulz, its shape factors). "
    "Circles: one trained network each, in the same colors, the last of which stands for 1.2 and above. White "
    "line: the lazy boundary. The formula of spectral descent leaves out the initial product, which makes the upper"
    " right corner worse. Below width d the width regularizes Muon, at every variance. d to f: the largest "
    "singular values of the product during training from a small initialization of a million units; blue: those "
    "of the truth, amber: noise. Gradient descent learns the truth first, the others learn noise at the same "
    "speed.",
    settings=Optimizers,
    quick={"dim": 24, "rank": 2, "cells": 9, "networks": 3, "steps": 150, "shown": 8},
    compute=compute,
    plot=plot,
    check=check,
)
