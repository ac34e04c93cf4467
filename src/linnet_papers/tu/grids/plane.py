"""Figure 2 on a coarse grid: the whole plane of variance and width, for what its caption says of it."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset, fixed_of
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu import plane
from linnet_papers.tu.training.phase_diagram import plane_cells


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train the cells in one block: the paper's plane with 9 points a side (quick: 7) in place of 35."""
    dim, points = (60, 7) if trial.quick else (100, 9)
    axes = {"replicate": [0], **plane.grid(points)}
    fixed = {"dim": dim, "rank": plane.RANK, "c": plane.STEP_C, "update": "simultaneous", "seed": trial.seed}
    return trial_sweep(trial, "tu-plane", plane_cells, axes, fixed=fixed, block=points**2)


def diagram(trial: Trial) -> Dataset:
    """Return the cells along one dimension, `cell`.

    Beside what their runs left behind: their `region`, whether it is `inside` Theorems 1 and 2, the `gap` Delta of
    Theorem 2, how far a cell is from the lazy boundary, and the largest root mean square `distance` to eq. (1).
    """
    networks = cells(trial)
    flat = networks.squeeze("replicate").stack(cell=("gamma_width", "gamma_variance")).reset_index("cell")
    variance, width = flat["gamma_variance"], flat["gamma_width"]
    region = ("cell", np.asarray(lazy_active.phase(variance.values, width.values)))
    flat = flat.assign(region=region, gap=1 - variance - width, distance=np.exp(flat["log_distance"] / 2))
    return flat.assign(inside=flat["region"].isin(("lazy", "active")), dim=fixed_of(networks)["dim"])
