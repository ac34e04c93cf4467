"""Tu et al., section 2.1: how large sigma^2 w must be for training to be lazy, for targets of low and of full rank."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset, read_cells
from linnet_papers.reproduction.fits import first_index
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu.training.descents import border_cells

TARGETS = {"low rank": 1.0, "full rank": 0.5}  # how |B| grows with d: the claimed gamma_sigma2 + gamma_w of the border
LEVELS = np.geomspace(0.02, 5, 13)  # thresholds, in units of |B|
PREFERRED = 1.3  # how far ahead of the median mode the leading one is where training turns lazy


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train five targets of each kind in every dimension, in a block."""
    axes = {"dim": [16, 48] if trial.quick else [20, 40, 80, 160], "target": TARGETS}
    fixed = {"levels": LEVELS, "steps": 150}
    return trial_sweep(trial, "tu-border", border_cells, axes, seeds=5, fixed=fixed, together="seed")


def borders(trial: Trial) -> Dataset:
    """Return where each target turns lazy, (target, dim, seed): `threshold`, the least lazy sigma^2 w, and its `share`
    of |B|."""

    def read(network: Dataset) -> dict[str, float]:
        thresholds = network["threshold"].values
        threshold = lazy_threshold(thresholds, network["preference"].values)
        return {"threshold": threshold, "share": threshold / (thresholds[-1] / LEVELS[-1])}

    return read_cells(cells(trial), ("target", "dim", "seed"), read)


def lazy_threshold(thresholds: np.ndarray, preference: np.ndarray) -> float:
    """Return the threshold at which training stops preferring the leading mode."""
    above = first_index(preference < PREFERRED, "no threshold is lazy")
    if above == 0:
        raise RuntimeError("every threshold is lazy: the range is too narrow for what is measured on it")
    pair = slice(above - 1, above + 1)
    return float(np.exp(np.interp(-np.log(PREFERRED), -np.log(preference[pair]), np.log(thresholds[pair]))))
