"""The phase diagram at depth 2, 3 and 4 by formula, beside trained networks; and the order of learning by depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveInt

import linnet as ln
from linnet import style
from linnet.papers.linnet.deep_networks import least_test_loss, wide_layers
from linnet.reproduction import Check, Figure, Settings
from linnet.theories.deep.diagram import learning_time

DEPTHS = (2, 3, 4)
WORST = 0.02  # of the least test error: one start at width 1e6, words of four letters, and descent's step
WIDTH = 10**6  # of the trained networks


class Depth(Settings):
    """The task, the plane of the formula, and how many networks are trained beside it."""

    dim: PositiveInt = 40
    rank: PositiveInt = 3
    cells: PositiveInt = 25
    networks: PositiveInt = 5
    steps: PositiveInt = 1000


def compute(settings: Depth, panels: tuple[str, ...]) -> Any:
    import xarray as xr

    task = ln.problems.low_rank_plus_noise(settings.dim, rank=settings.rank, key=settings.seed)
    per_entry = 2 / settings.dim**2
    values = ln.theories.mixed.task_spectrum(task).values[: settings.rank]
    widths = np.round(np.geomspace(16 * 2 * settings.dim, 1e8, settings.cells))
    couplings = np.geomspace(0.2, 4.0, settings.cells)
    chosen = np.geomspace(0.3, 2.0, settings.networks)
    curves = np.geomspace(1e-3, 1.0, 120)
    plane, covered, formula, networks, modes, clocks = [], [], [], [], [], []
    for depth in DEPTHS:
        # the plane's variances follow its smallest width, so that all depths show the same couplings there
        variances = couplings**2 / 1e5
        whole = ln.theories.deep.deep_diagram(task, variances, widths, depth=depth)
        plane.append(per_entry * whole.best_test)
        covered.append(whole.covered)
        predicted = ln.theories.deep.deep_diagram(task, chosen**2 / WIDTH, [WIDTH], depth=depth)
        formula.append(per_entry * predicted.best_test[0])
        starts = [wide_layers(settings.dim, WIDTH, depth, one, key=settings.seed, order=4) for one in chosen]
        ends = 1.5 * predicted.best_time[0]
        networks.append(
            [per_entry * least_test_loss(task, *run, settings.steps) for run in zip(starts, ends, strict=True)]
        )
        last = 4 * learning_time(float(values[-1]), 0.3, depth)
        modes.append(ln.theories.deep.gaussian_modes(values, 0.3, depth, last * curves, rtol=1e-3) / values)
        clocks.append(last)
    return xr.Dataset(
        {
            "best_test": (("depth", "width", "variance"), np.array(plane)),
            "covered": (("depth", "width", "variance"), np.array(covered)),
            "formula": (("depth", "coupling"), np.array(formula)),
            "trained": (("depth", "coupling"), np.array(networks)),
            "mode": (("depth", "time", "number"), np.array(modes)),
            "last": ("depth", np.array(clocks)),
        },
        coords={
            "depth": list(DEPTHS),
            "width": widths,
            "variance": couplings**2 / 1e5,
            "coupling": chosen,
            "time": curves,
            "value": ("number", values),
        },
    )


def plot(data: Any) -> Any:
    with style.applied():
        picture, axes = style.subplots(2, 3, size=style.column(2, ratio=0.62))
        top, bottom = float(data["best_test"].max()), float(data["best_test"].min())
        for index, depth in enumerate(DEPTHS):
            shades = axes[0, index].pcolormesh(
                np.log10(data["variance"]),
                np.log10(data["width"]),
                data["best_test"].sel(depth=depth),
                shading="nearest",
                vmin=bottom,
                vmax=top,
                rasterized=True,
            )
            for value in data["value"].values:  # the border of each mode: sigma^2 w = S^(2/L)
                border = 2 / depth * np.log10(value) - np.log10(data["width"])
                axes[0, index].plot(border, np.log10(data["width"]), color="white", linewidth=0.8)
            axes[0, index].contourf(
                np.log10(data["variance"]),
                np.log10(data["width"]),
                1.0 - data["covered"].sel(depth=depth).astype(float),
                levels=[0.5, 1.5],
                colors="none",
                hatches=["////"],
            )
            axes[0, index].grid(False)
            axes[0, index].set(
                title=f"{'abc'[index]}  Depth {depth}",
                xlabel="log10 variance",
                ylabel="log10 width" if index == 0 else "",
                xlim=tuple(np.log10(data["variance"].values[[0, -1]])),
                ylim=tuple(np.log10(data["width"].values[[0, -1]])),
            )
        picture.colorbar(shades, ax=axes[0, 2])
        for colour, depth in zip(style.shades(len(DEPTHS)), DEPTHS, strict=True):
            row = data.sel(depth=depth)
            axes[1, 0].plot(data["coupling"], row["formula"], color=colour, **style.CURVE)
            axes[1, 0].plot(data["coupling"], row["trained"], color=colour, label=f"depth {depth}", **style.MARKS)
        axes[1, 0].set(title="d  Trained and formula", xlabel="coupling √w σ", ylabel="least test error", xscale="log")
        axes[1, 0].set_xticks([0.3, 0.5, 1.0, 2.0], labels=["0.3", "0.5", "1", "2"])
        axes[1, 0].set_xticks([], minor=True)
        axes[1, 0].legend()
        for panel, depth in zip(axes[1, 1:], (2, 4), strict=True):
            row = data.sel(depth=depth)
            for colour, number in zip(style.shades(data.sizes["number"]), range(data.sizes["number"]), strict=True):
                panel.plot(
                    data["time"] * float(row["last"]), row["mode"].isel(number=number), color=colour, **style.CURVE
                )
            panel.set(title=f"{'e' if depth == 2 else 'f'}  Learned share, depth {depth}", xlabel="time", xscale="log")
    return picture


def check(data: Any) -> list[Check]:
    apart = np.abs(data["formula"] / data["trained"] - 1)
    worst = float(apart.max())
    half = [[float(np.interp(0.5, row.isel(number=n), data["time"])) for n in (0, -1)] for row in data["mode"]]
    spread = {depth: pair[1] / pair[0] for depth, pair in zip(DEPTHS, half, strict=True)}
    ratios = ", ".join(f"{spread[depth]:.2f} at depth {depth}" for depth in DEPTHS)
    return [
        Check.at_most("least test error, formula against trained: largest difference", worst, WORST, form=".1%"),
        Check(f"the last mode is half learned so many times later than the first: {ratios}", spread[4] / spread[2]),
    ]


FIGURE = Figure(
    name="depth",
    title="The phase diagram at depth 2, 3 and 4, and the order of learning",
    caption="Least test error over training of wide networks by formula, over variance and width (white: where each "
    "mode turns from active to lazy, σ²w = S^(2/L); hatched: its error may exceed 3%); beside networks of width 1e6, "
    "trained (marks); and the share of each singular value that is learned over time from a small start.",
    settings=Depth,
    quick={"dim": 24, "rank": 2, "cells": 9, "networks": 2, "steps": 400},
    compute=compute,
    plot=plot,
    check=check,
)
