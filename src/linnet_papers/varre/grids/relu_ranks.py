"""ReLU students: which rank they end with."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.varre.training.students import Start, student_cells

FITTED = 1e-2  # labels have a mean square of about 1
BATCH = 40
STARTS: dict[str, Start] = {
    "tiny": {"std": 1e-4, "rate": 0.02, "steps": 200_000},
    "small": {"std": 1e-3, "rate": 0.02, "steps": 200_000},
    "medium": {"std": 0.1, "rate": 0.02, "steps": 200_000},
    "large": {"std": 1.0, "rate": 0.005, "steps": 100_000},
}
QUICK_STEPS = {"tiny": 40_000, "small": 30_000, "medium": 30_000, "large": 10_000}


@trained
def students(trial: Trial) -> ln.sweeps.Sweep:
    """Train students from initializations of three scales, of the same teachers."""
    starts = STARTS
    if trial.quick:
        starts = {name: {**start, "steps": QUICK_STEPS[name]} for name, start in STARTS.items()}
    axes = {"start": STARTS, "replicate": range(2 * BATCH)}
    fixed = {"starts": starts, "seed": trial.seed}
    return trial_sweep(
        trial, "varre-relu-ranks", student_cells, axes, fixed=fixed, block=BATCH, unbatched_axes=["start"]
    )


def ranks(students: Dataset, start: str) -> np.ndarray:
    """Return how many singular values are above a tenth of the largest, for each student from this start."""
    values = students["values"].sel(start=start).transpose("replicate", "value").values
    return np.asarray(ln.observables.numerical_rank(values))


def fitted_seeds(students: Dataset) -> np.ndarray:
    """Return for each seed whether its students have learned their samples from every initialization (replicate,)."""
    return np.all(students["loss"].transpose("replicate", "start").values < FITTED, axis=1)
