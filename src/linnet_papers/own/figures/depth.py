"""The phase diagram at depth 2, 3 and 4 by formula, with trained networks; and the order of learning by depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveInt

import linnet as ln
from linnet import style
from linnet.theories.deep.diagram import learning_time
from linnet_papers.own.training.deep import least_test_loss, wide_layers
from linnet_papers.reproduction import Figure, Rows, Settings, at_most, fact, printed
from linnet_papers.reproduction.datasets import Dataset

DEPTHS = (2, 3, 4)
_BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.28), "ncols": 3, "frameon": False}
_BELOW |= {"handlelength": 1.2, "columnspacing": 1.0, "handletextpad": 0.5}
WORST = at_most(0.02, "one initialization at width $10^6$, words of four letters, and descent's step")
WIDTH = 10**6  # of the trained networks


class Depth(Settings):
    """The task, the plane of the formula, and the number of networks that are trained to compare."""

    dim: PositiveInt = 40
    rank: PositiveInt = 3
    cells: PositiveInt = 25
    networks: PositiveInt = 5
    steps: PositiveInt = 1000


def compute(settings: Depth, panels: tuple[str, ...]) -> Dataset:
    import xarray as xr

    task = ln.problems.low_rank_plus_noise(settings.dim, rank=settings.rank, key=settings.seed)
    per_entry = 2 / settings.dim**2
    values = ln.theories.lazy_active.task_spectrum(task).values[: settings.rank]
    widths = np.round(np.geomspace(16 * 2 * settings.dim, 1e8, settings.cells))
    variances = np.geomspace(0.2, 4.0, settings.cells) ** 2 / 1e5  # the same for all depths
    couplings = np.geomspace(0.3, 2.0, settings.networks)
    times = np.geomspace(1e-3, 1.0, 600)

    def at_depth(depth: int) -> xr.Dataset:
        """Return the plane by formula, trained networks, and the learned fraction of each mode over time."""
        plane = ln.theories.deep.deep_diagram(task, variances, widths, depth=depth)
        predicted = ln.theories.deep.deep_diagram(task, couplings**2 / WIDTH, [WIDTH], depth=depth)
        starts = [wide_layers(settings.dim, WIDTH, depth, one, key=settings.seed, order=4) for one in couplings]
        runs = zip(starts, 1.5 * predicted.best_time[0], strict=True)
        last = 4 * learning_time(float(values[-1]), 0.3, depth)
        modes = ln.theories.deep.gaussian_modes(values, 0.3, depth, last * times, rtol=1e-3)
        return xr.Dataset(
            {
                "min_test_loss": (("width", "variance"), per_entry * plane.min_test_loss),
                "covered": (("width", "variance"), plane.covered),
                "formula": ("coupling", per_entry * predicted.min_test_loss[0]),
                "trained": ("coupling", [per_entry * least_test_loss(task, *run, settings.steps) for run in runs]),
                "mode": (("time", "number"), modes / values),
                "last": last,
            }
        )

    axes = {"depth": list(DEPTHS), "width": widths, "variance": variances, "coupling": couplings, "time": times}
    return xr.concat([at_depth(depth) for depth in DEPTHS], "depth").assign_coords(axes | {"value": ("number", values)})


def plot(data: Dataset) -> style.Picture:
    with style.applied():
        picture, axes = style.subplots(2, 3, size=style.column(2, ratio=0.7))
        across, up = np.log10(data["variance"].values), np.log10(data["width"].values)
        shown = {
            "vmin": float(data["min_test_loss"].min()),
            "vmax": float(data["min_test_loss"].max()),
            "rasterized": True,
        }
        for letter, panel, depth in zip("abc", axes[0], DEPTHS, strict=True):
            row = data.sel(depth=depth)
            shades = panel.pcolormesh(across, up, row["min_test_loss"], shading="nearest", **shown)
            for value in data["value"].values:  # the boundary of each mode: sigma^2 w = S^(2/L)
                panel.plot(2 / depth * np.log10(value) - up, up, color="white", linewidth=0.8)
            uncovered = 1.0 - row["covered"].astype(float)
            panel.contourf(across, up, uncovered, levels=[0.5, 1.5], colors="none", hatches=["////"])
            panel.grid(False)
            panel.set(title=f"{letter}  Depth {depth}", xlabel="log10 variance")
            panel.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]))
        axes[0, 0].set_ylabel("log10 width")
        picture.colorbar(shades, ax=axes[0, 2], label="minimum test error")
        for color, depth in zip(style.shades(len(DEPTHS)), DEPTHS, strict=True):
            row = data.sel(depth=depth)
            axes[1, 0].plot(data["coupling"], row["formula"], color=color, **style.CURVE)
            axes[1, 0].plot(data["coupling"], row["trained"], color=color, label=f"{depth}", **style.MARKS)
        axes[1, 0].set(
            title="d  Formula, trained",
            xlabel="coupling √w σ",
            ylabel="minimum test error",
            xscale="log",
        )
        axes[1, 0].set_xticks([0.3, 0.5, 1.0, 2.0], labels=["0.3", "0.5", "1", "2"])
        axes[1, 0].set_xticks([], minor=True)
        axes[1, 0].legend(title="depth", **_BELOW)
        for letter, panel, depth in zip("ef", axes[1, 1:], (2, 4), strict=True):
            row = data.sel(depth=depth)
            for color, mode in zip(style.shades(data.sizes["number"]), row["mode"].T, strict=True):
                name = f"{float(mode['value']):.1f}"
                panel.plot(data["time"] * row["last"], mode, color=color, label=name, **style.CURVE)
            panel.set(title=f"{letter}  Learning at depth {depth}", xlabel="time", xscale="log")
            panel.set(xlim=(0.01 * float(row["last"]), 0.5 * float(row["last"])))
            panel.xaxis.set_minor_formatter("")
            panel.legend(title="target of the mode", **_BELOW)
        axes[1, 1].set_ylabel("fraction learned")
    return picture


def check(data: Dataset) -> Rows:
    apart = np.abs(data["formula"] / data["trained"] - 1)
    yield printed(
        "largest relative difference of the minimum test error, formula and trained", float(apart.max()), WORST
    )
    half = [[float(np.interp(0.5, row.isel(number=n), data["time"])) for n in (0, -1)] for row in data["mode"]]
    spread = {f"depth {depth}": pair[1] / pair[0] for depth, pair in zip(DEPTHS, half, strict=True)}
    yield fact("time at which the last mode is half learned over that of the first", spread)


FIGURE = Figure(
    name="depth",
    title="The phase diagram at depth 2, 3 and 4, and the order of learning",
    caption="Panels a to c: minimum test error over time of wide networks by formula, over variance and width. White "
    "lines: boundaries between active and lazy training of each mode, σ²w = S^(2/L). Hatched: the uncertainty exceeds "
    "3%. Panel d: the formula and trained networks of width 1e6. Panels e and f: learned fraction of each singular "
    "value over time, from a small initialization.",
    settings=Depth,
    quick={"dim": 24, "rank": 2, "cells": 9, "networks": 2, "steps": 400},
    compute=compute,
    plot=plot,
    check=check,
)
