"""Figure 2 on a coarse grid: the whole plane of variance and width, for what its caption says of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.phase_diagram import plane_cells
from linnet.reproduction import Columns, Table, Trial, plane
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.table import trial_sweep

NAMES = ("underparametrized", "infinite-noise", "lazy", "active")


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table, in one block: the paper's plane, a seventh or a ninth of its points a side."""
    dim, points = (60, 7) if trial.quick else (100, 9)
    axes = {"replicate": [0], **plane.grid(points)}
    fixed = {"dim": dim, "rank": plane.RANK, "c": plane.STEP_C, "update": "simultaneous", "seed": trial.seed}
    return trial_sweep(trial, "tu-plane", plane_cells, axes, fixed=fixed, block=points**2)


@dataclass(frozen=True)
class Cells:
    """The cells, one entry each: their region, and what their runs left behind."""

    dim: int
    gamma_variance: np.ndarray
    gamma_width: np.ndarray
    region: np.ndarray
    best_test: np.ndarray
    stable_rank: np.ndarray
    best_step: np.ndarray
    distance: np.ndarray  # largest root mean square distance to eq. (1) over the run

    @property
    def gap(self) -> np.ndarray:
        """Delta of Theorem 2, how far a cell is from the lazy border."""
        return 1 - self.gamma_variance - self.gamma_width

    @property
    def inside(self) -> np.ndarray:
        """Where Theorems 1 and 2 speak."""
        return np.isin(self.region, ("lazy", "active"))


def read(networks: Dataset) -> Cells:
    """Return the cells of the sweep in one line."""
    order = ("gamma_width", "gamma_variance")
    width, variance = (part.ravel() for part in np.meshgrid(*(networks[name].values for name in order), indexing="ij"))
    flat = {
        name: networks[name].squeeze("replicate").transpose(*order).values.ravel()
        for name in ("best_test", "stable_rank", "best_step", "log_distance")
    }
    distance, dim = np.exp(flat.pop("log_distance") / 2), json.loads(networks.attrs["configuration"])["fixed"]["dim"]
    region = np.asarray(ln.theories.mixed.phase(variance, width))
    return Cells(dim, variance, width, region, distance=distance, **flat)


def columns(networks: Dataset) -> Columns:
    """Return a row for each region, medians over its cells."""
    cells = read(networks)
    rows = [(name, cells.region == name) for name in NAMES if (cells.region == name).any()]
    return {
        "region": [name for name, _ in rows],
        "cells": [str(int(part.sum())) for _, part in rows],
        "least test error": [f"{np.median(cells.best_test[part]):.3f}" for _, part in rows],
        "stable rank": [f"{np.median(cells.stable_rank[part]):.2f}" for _, part in rows],
        "after steps": [f"{np.median(cells.best_step[part]):.0f}" for _, part in rows],
        "RMS distance to eq. (1)": [f"{np.median(cells.distance[part]):.3f}" for _, part in rows],
        "above 0.14": [f"{(cells.distance[part] > 0.14).mean():.0%}" for _, part in rows],
    }


TABLE = Table(
    name="plane",
    title="The phase diagram on a coarse grid, by region",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Medians over the cells; an entry of the target has a root mean square of about 1.4.",
)
