"""Figure 2 on a coarse grid: the whole plane of variance and width, for what its caption says of it."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Table, Trial
from linnet_papers.reproduction.datasets import Dataset, fixed_of
from linnet_papers.reproduction.table import trial_sweep
from linnet_papers.tu import plane
from linnet_papers.tu.training.phase_diagram import plane_cells

NAMES = ("underparametrized", "infinite-noise", "lazy", "active")


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table, in one block: the paper's plane with 9 points a side (quick: 7) in place of 35."""
    dim, points = (60, 7) if trial.quick else (100, 9)
    axes = {"replicate": [0], **plane.grid(points)}
    fixed = {"dim": dim, "rank": plane.RANK, "c": plane.STEP_C, "update": "simultaneous", "seed": trial.seed}
    return trial_sweep(trial, "tu-plane", plane_cells, axes, fixed=fixed, block=points**2)


def read(networks: Dataset) -> Dataset:
    """Return the cells of the sweep along one dimension, `cell`.

    Beside what their runs left behind: their `region`, whether it is `inside` Theorems 1 and 2, the `gap` Delta of
    Theorem 2, how far a cell is from the lazy border, and the largest root mean square `distance` to eq. (1).
    """
    cells = networks.squeeze("replicate").stack(cell=("gamma_width", "gamma_variance")).reset_index("cell")
    variance, width = cells["gamma_variance"], cells["gamma_width"]
    region = ("cell", np.asarray(lazy_active.phase(variance.values, width.values)))
    cells = cells.assign(region=region, gap=1 - variance - width, distance=np.exp(cells["log_distance"] / 2))
    return cells.assign(inside=cells["region"].isin(("lazy", "active")), dim=fixed_of(networks)["dim"])


TABLE = Table(
    name="plane",
    title="The phase diagram on a coarse grid, by region",
    sweep=sweep,
    read=read,
    split=lambda cells: (cells.isel(cell=cells.region == name) for name in NAMES if name in cells.region),
    columns={
        "region": lambda part: part.region[0].item(),
        "cells": lambda part: str(part.sizes["cell"]),
        "least test error": lambda part: f"{part.min_test_loss.median():.3f}",
        "stable rank": lambda part: f"{part.stable_rank.median():.2f}",
        "after steps": lambda part: f"{part.best_step.median():.0f}",
        "RMS distance to eq. (1)": lambda part: f"{part.distance.median():.3f}",
        "above 0.14": lambda part: f"{(part.distance > 0.14).mean():.0%}",
    },
    note="Medians over the cells; an entry of the target has a root mean square of about 1.4.",
)
