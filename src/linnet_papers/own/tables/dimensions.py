"""Wide cells of growing dimension, trained and predicted."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import predicted_min_test_loss
from linnet_papers.own.training.dimensions import train_dimension_cells
from linnet_papers.reproduction import Table, Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.table import trial_sweep

AXES = ("dim", "gamma_width", "gamma_variance", "replicate")


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of wide cells on both sides of the lazy border, at several dimensions."""
    dims, replicates = ([16, 32, 64], 5) if trial.quick else ([25, 50, 100, 200, 400], 2)
    axes = {
        "dim": dims,
        "gamma_width": [1.6, 2.2],
        "gamma_variance": [-2.0, -1.6, -1.2],
        "replicate": range(replicates),
    }
    return trial_sweep(
        trial,
        "own-dimensions",
        train_dimension_cells,
        axes,
        fixed={"steps": 2000, "seed": trial.seed},
        block=6 * replicates,
        unbatched_axes=["dim"],
    )


def read(networks: Dataset) -> dict[int, np.ndarray]:
    """Return the relative errors of the formula by the dimension, (cell and task,)."""
    trained = networks["min_test_loss"].transpose(*AXES).values
    errors = np.abs(predicted_min_test_loss(networks, int(networks.attrs["seed"])) / trained - 1)
    return {dim: each.ravel() for dim, each in zip(networks["dim"].values.tolist(), errors, strict=True)}


TABLE = Table(
    name="dimensions",
    title="How the error of the formula falls with the dimension, cells wider than their inputs",
    sweep=sweep,
    read=read,
    split=dict.items,
    columns={
        "d": lambda row: str(row[0]),
        "networks": lambda row: str(row[1].size),
        "median error": lambda row: f"{100 * np.median(row[1]):.2f}%",
        "largest error": lambda row: f"{100 * row[1].max():.2f}%",
    },
    note="Relative to the trained network's least test error; the descent's own step (c = 50) is part of it.",
)
