"""Networks over the region of Assumption 4.1, down to the smallest signals it admits: which have two stages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids.neurons import Rows, determined, read_by_start
from linnet_papers.huang.training.cells.inside import KERNEL_AFTER, region_cells
from linnet_papers.huang.training.runs import theories_of
from linnet_papers.reproduction import Numbers, Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.grids import trained, trial_sweep

NEURONS = ("sign", "start", "overlaps")  # what a cell keeps of every neuron


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train at four signals and two margins of the initialization, 4 draws of each; in quick mode 2, of smaller
    networks."""
    axes = {"signal": settings.SIGNALS, "margin": settings.MARGINS}
    seeds = 2 if trial.quick else 4
    fixed = settings.size(trial.quick)
    return trial_sweep(trial, "huang-region", region_cells, axes, seeds=seeds, fixed=fixed, block=2)


def rows(trial: Trial) -> Rows:
    """Return what was measured by its name, as in `_read_corner`, then by signal and margin in words."""
    return read_by_start(cells(trial), "signal", r"$\lvert \beta \rvert = {:g}$", _read_corner)


def _read_corner(networks: Dataset) -> Numbers:
    """Summarize the networks of one signal and margin, by name: the worst of them."""
    theories = theories_of(networks)
    starts = np.array([t.magnitude**2 * t.trace / np.sqrt(t.gamma) for t in theories])
    predicted = ln.theories.feature_learning.lazy_feature_ratio(starts, settings.FIRST_SHARE)
    settled, shares = networks["settled"].values, networks["first_share"].values
    signs, start, overlaps = (networks[name].transpose("seed", "neuron").values for name in NEURONS)
    return {
        "networks": len(theories),
        "inside": int(networks["inside"].sum()),
        "start": starts.max(),  # v_0^2 over sqrt(gamma)/tr
        # the median rho/(v sqrt(gamma)) where the loss has lost 5%, and its distance from `lazy_feature_ratio`
        "settled": settled.min(),
        "crossover_off": np.abs(settled - predicted).max(),
        # how many come to t1, the share of the loss there, by which factor an alignment or a magnitude is off its order
        "reached": np.isfinite(shares).sum(),
        "first_share": np.where(np.isfinite(shares), shares, 0.0).min(),
        "worst": _known(networks, "worst", np.max),
        "first_output": networks["first_output"].values.max(),
        # of those that come to t1: the largest gap between the layers in stage 2, the least cosines and growth after
        "gap": _known(networks, "gap", np.max),
        **{name: _known(networks, name, np.min) for name in (*KERNEL_AFTER, "output_first")},
        # mean rho^2 at the end over where it would end from a small start; how many signs are as the start says
        "end": (networks["mean_square"].values / [t.limit for t in theories]).min(),
        "determined": determined(theories, signs, start, overlaps),
    }


def _known(networks: Dataset, name: str, extreme: Callable[[np.ndarray], float]) -> float:
    """Return an extreme over the networks that come to t1, NaN if none does."""
    values = networks[name].values
    return float(extreme(values[np.isfinite(values)])) if np.isfinite(values).any() else np.nan


def where_reached(rows: Rows, name: str) -> dict[str, float]:
    """Return the values of that name where the median |rho_r| reaches 1."""
    return {key: value for key, value in rows[name].items() if np.isfinite(value)}
