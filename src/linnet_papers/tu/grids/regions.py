"""Tu et al., Figure 2 and Theorem 2: chosen cells of the phase diagram, many tasks in each."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu.training.phase_diagram import case_cells

RANK = 3  # of the tasks
NARROW = (2, 3, 4, 6, 12)
DEPTHS = (-2.8, -2.4, -2.0, -1.6, -1.2)
POWERS = (1.3, 1.8, 2.3, 2.8)
LAZY = ((-1.35, 2.6), (-1.25, 2.45), (-1.2, 2.35), (-1.3, 2.35), (-1.7, 2.8))  # the last two at the boundary
GROUPS = ("lazy", "depths", "narrow", "wide", "powers")


def cases_of(dim: int) -> dict[str, tuple[float, float]]:
    """Return the exponents of the variance and of the width by the name of the case, which begins with its group."""
    return {
        **{f"lazy {variance:g}, {width:g}": (variance, width) for variance, width in LAZY},
        **{f"depths {depth:g}": (depth, 2.0) for depth in DEPTHS},
        **{f"narrow {width}": (-1.5, float(np.log(width) / np.log(dim))) for width in NARROW},
        "wide d": (-1.5, 1.0),
        "wide d^2": (-2.5, 2.0),
        **{f"powers d^{power:g}": (0.4 - power, power) for power in POWERS},  # one threshold, d^0.4
    }


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train the tasks of one case in a block."""
    dim, tasks = (30, 5) if trial.quick else (100, 8)
    chosen = cases_of(dim)
    axes = {"dim": [dim], "case": chosen, "replicate": range(tasks)}
    fixed = {"cases": chosen, "rank": RANK, "seed": trial.seed}
    return trial_sweep(trial, "tu-regions", case_cells, axes, fixed=fixed, together="replicate")


def groups(trial: Trial) -> dict[str, Dataset]:
    """Return the cells of each group, (case, replicate): lazy ones, growing depth, narrow and wide networks, growing
    width at one threshold.

    Test errors are per entry, `signal` and `noise` the mean squares of the entries of A* and E, and `distance` is the
    largest |A - A_sc|^2/d^2 over the run, with A_sc the self-consistent dynamics.
    """
    networks = cells(trial).squeeze("dim").transpose("case", "replicate")
    exponents = {name: networks[name].isel(replicate=0) for name in ("gamma_variance", "gamma_width")}
    networks = networks.assign(exponents | {"distance": np.exp(networks["log_distance"])})
    names = np.array([name.split()[0] for name in networks["case"].values])
    return {group: networks.isel(case=names == group) for group in GROUPS}
