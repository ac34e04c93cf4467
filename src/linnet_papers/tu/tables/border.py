"""Tu et al., section 2.1: how large sigma^2 w must be for training to be lazy, for targets of low and of full rank."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Numbers, Table, Trial
from linnet_papers.reproduction.datasets import Dataset, cells_of, read_cells
from linnet_papers.reproduction.fits import exponent, first_index
from linnet_papers.reproduction.table import trial_sweep
from linnet_papers.tu.training.descents import border_cells

TARGETS = {"low rank": 1.0, "full rank": 0.5}  # how |B| grows with d: the claimed gamma_sigma2 + gamma_w of the border
LEVELS = np.geomspace(0.02, 5, 13)  # thresholds, in units of |B|
PREFERRED = 1.3  # how far ahead of the median mode the leading one is where training turns lazy


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table: five targets of each kind in every dimension, in a block."""
    axes = {"dim": [16, 48] if trial.quick else [20, 40, 80, 160], "target": TARGETS}
    fixed = {"levels": LEVELS, "steps": 150}
    return trial_sweep(trial, "tu-border", border_cells, axes, seeds=5, fixed=fixed, together="seed")


def read(networks: Dataset) -> Dataset:
    """Return where each target turns lazy, (target, dim, seed): `threshold`, the least lazy sigma^2 w, and its `share`
    of |B|; and the p of sigma^2 w ~ d^p of each kind of target, `growth`, with its standard error, (target,)."""
    borders = read_cells(networks, ("target", "dim", "seed"), read_target)
    growth, error = zip(*(exponent(borders["dim"], thresholds) for thresholds in borders["threshold"]))
    return borders.assign(growth=("target", list(growth)), growth_error=("target", list(error)))


def read_target(network: Dataset) -> Numbers:
    """Return the threshold at which one target turns lazy."""
    thresholds = network["threshold"].values
    threshold = lazy_threshold(thresholds, network["preference"].values)
    return {"threshold": threshold, "share": threshold / (thresholds[-1] / LEVELS[-1])}


def lazy_threshold(thresholds: np.ndarray, preference: np.ndarray) -> float:
    """Return the threshold at which training stops preferring the leading mode."""
    above = first_index(preference < PREFERRED, "no threshold is lazy")
    if above == 0:
        raise RuntimeError("every threshold is lazy: the range is too narrow for what is measured on it")
    pair = slice(above - 1, above + 1)
    return float(np.exp(np.interp(-np.log(PREFERRED), -np.log(preference[pair]), np.log(thresholds[pair]))))


TABLE = Table(
    name="border",
    title="Where training turns lazy: sigma^2 w over the dimension, for targets of low and of full rank",
    sweep=sweep,
    read=read,
    split=lambda borders: cells_of(borders, "target", "dim"),
    columns={
        "target": "{.target:s}",
        "d": "{.dim:d}",
        "lazy above σ²w": lambda row: f"{np.exp(np.log(row.threshold).mean()):.2f}",
        "over the norm of B": lambda row: f"{row.share.mean():.3f}",
        "least to largest of the targets": lambda row: f"{row.threshold.min():.2f} to {row.threshold.max():.2f}",
        "exponent over all d": "{0.growth:.2f} ± {0.growth_error:.2f}",
        "claimed": lambda row: f"{TARGETS[row.target.item()]:g}",
    },
    note="Lazy above: geometric mean over the targets; the exponent has its standard error.",
)
