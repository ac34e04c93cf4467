"""The plane of threshold and weight decay: the minimum test error over training, and the test error at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.own.training import optimizers as training
from linnet_papers.reproduction import Figure, Rows, Settings, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled

WIDTH = 1e8
NEAR = below(0.02, "the initial product, and states kept at 200 times")


class WeightDecay(Settings):
    """The task, and how many cells are predicted and trained; decay is in units of the noise's edge."""

    dim: PositiveInt = 100
    rank: PositiveInt = 5
    cells: PositiveInt = 25
    networks: PositiveInt = 4


def compute(settings: WeightDecay, panels: tuple[str, ...]) -> Dataset:
    dim = settings.dim
    task = ln.problems.low_rank_plus_noise(dim, rank=settings.rank, key=settings.seed)
    target, truth, edge = np.asarray(task.cross), np.asarray(task.truth), 2 * np.sqrt(dim)
    left, values, right = np.linalg.svd(target)

    def axes(points: int) -> tuple[np.ndarray, np.ndarray]:
        """Return thresholds and decays of a grid."""
        return np.geomspace(0.01, 1000.0, points), np.linspace(0.0, 1.2, points)

    def predicted(points: int) -> np.ndarray:
        """Return minimum test errors per entry by formula (decay, threshold)."""
        thresholds, decays = axes(points)
        diagrams = [
            ln.theories.lazy_active.predicted_diagram(
                task, thresholds / WIDTH, [round(WIDTH)], weight_decay=decay * edge
            )
            for decay in decays
        ]
        return np.stack([2 * one.min_test_loss[0] / dim**2 for one in diagrams])

    def train(threshold: float, decay: float) -> float:
        """Return the minimum test error per entry of a trained network."""
        start = training.wide_start([settings.seed, 1], dim, dim, WIDTH, threshold)
        times = np.geomspace(1e-5, 1.0, 200) * 120 / values[0]
        return training.minimum_error(task, [start, *training.decayed_flow(start, target, decay * edge, times)])

    thresholds, decays = axes(settings.cells)
    few_thresholds, few_decays = axes(settings.networks)
    ends = [(((left * np.maximum(values - decay * edge, 0)) @ right - truth) ** 2).mean() for decay in decays]
    trained = [[train(threshold, decay) for threshold in few_thresholds] for decay in few_decays]
    return labeled(
        {
            "stopped": (("decay", "threshold"), predicted(settings.cells), "minimum test error by formula"),
            "end": ("decay", np.array(ends), "test error at the end by formula"),
            "nearby": (("few_decays", "few_thresholds"), predicted(settings.networks), "the formula where is trained"),
            "trained": (("few_decays", "few_thresholds"), np.array(trained), "minimum test error of trained networks"),
        },
        {
            "threshold": ("threshold", thresholds, "threshold at initialization"),
            "decay": ("decay", decays, "decay over the noise's edge"),
            "few_thresholds": ("few_thresholds", few_thresholds, "threshold at initialization"),
            "few_decays": ("few_decays", few_decays, "decay over the noise's edge"),
        },
        {"dim": dim, "edge": edge},
    )


def plot(data: Dataset) -> style.Picture:
    with style.applied():
        picture, (left, right) = style.subplots(1, 2, size=style.column(2, ratio=0.42))
        look: dict[str, Any] = {"vmin": 0.0, "vmax": 0.6, "cmap": "viridis"}
        across, up = np.log10(data["threshold"].values), data["decay"].values
        shades = left.pcolormesh(across, up, data["stopped"], shading="nearest", rasterized=True, **look)
        places = np.meshgrid(np.log10(data["few_thresholds"]), data["few_decays"])
        marks: dict[str, Any] = {"s": 46, "edgecolors": "white", "linewidths": 0.9, "clip_on": False, "zorder": 3}
        left.scatter(*places, c=data["trained"], **marks, **look)
        left.grid(False)
        left.set(title="a  Stopped at its best", xlabel="log10 threshold", ylabel="decay over the noise's edge")
        left.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]))
        picture.colorbar(shades, ax=left, label="minimum test error")
        chosen = np.linspace(0, data.sizes["threshold"] - 1, 4).astype(int)
        for color, place in zip(style.shades(len(chosen)), chosen, strict=True):
            label = f"stopped, threshold {float(data['threshold'][place]):.2g}"
            right.plot(up, data["stopped"][:, place], color=color, label=label, **style.CURVE)
        right.plot(up, data["end"], color=style.BLACK, label="at the end, any threshold", **style.THEORY)
        right.set(title="b  The same over decay, and the end", xlabel="decay over the noise's edge")
        right.set(ylabel="test error", ylim=(0.0, 1.1))
        right.legend()
    return picture


def check(data: Dataset) -> Rows:
    apart = np.abs((data["nearby"] / data["trained"]).values - 1)
    yield printed("largest relative difference of the minimum test error, formula and trained", apart.max(), NEAR)
    best = data["decay"].values[np.argmin(data["stopped"].values, axis=0)]
    yield fact("best decay at the smallest and at the largest threshold, over the noise's edge", best[[0, -1]])
    least = data["stopped"].values.min(axis=0)
    yield fact("minimum error there", least[[0, -1]])
    yield fact("minimum error without decay at the largest threshold", float(data["stopped"][0, -1]))
    yield fact("test error at the end with the best decay", float(data["end"].min()))


FIGURE = Figure(
    name="decay",
    title="Weight decay turns lazy initializations active",
    caption="Test error per entry of wide networks under gradient flow with weight decay in both layers, for a truth "
    "of rank 5 in unit noise and d = 100; decay is in units of the edge of the noise, 2√d. a: the minimum error over "
    "training by formula, over the initial threshold and the decay; circles: one trained network each, in the "
    "same colors. With little decay the error rises with the threshold; from 0.6 of the edge on it hardly "
    "depends on it. b: the same for four thresholds, and the error at the end of training, which is that of soft "
    "thresholding from every initialization.",
    settings=WeightDecay,
    quick={"dim": 24, "rank": 2, "cells": 7, "networks": 3},
    compute=compute,
    plot=plot,
    check=check,
)
