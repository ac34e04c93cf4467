"""Wide cells of growing dimension, trained and predicted."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import predicted_min_test_loss
from linnet_papers.own.training.dimensions import train_dimension_cells
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.grids import trained, trial_sweep

AXES = ("dim", "gamma_width", "gamma_variance", "replicate")


@trained
def networks(trial: Trial) -> ln.sweeps.Sweep:
    """Train wide cells on both sides of the lazy boundary, at several dimensions."""
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


def errors(trial: Trial) -> dict[int, np.ndarray]:
    """Return the relative errors of the formula by the dimension, (cell, task)."""
    results = networks(trial)
    least = results["min_test_loss"].transpose(*AXES).values
    off = np.abs(predicted_min_test_loss(results, int(results.attrs["seed"])) / least - 1)
    by_cell = off.reshape(len(off), -1, off.shape[-1])
    return dict(zip(results["dim"].values.tolist(), by_cell, strict=True))
