"""Tu et al., Figure 2 and Theorem 2: chosen cells of the phase diagram, many tasks in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.phase_diagram import case_cells
from linnet.reproduction import Columns, Table, Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.table import trial_sweep

RANK = 3  # of the tasks
NARROW = (2, 3, 4, 6, 12)
DEPTHS = (-2.8, -2.4, -2.0, -1.6, -1.2)
POWERS = (1.3, 1.8, 2.3, 2.8)
LAZY = ((-1.35, 2.6), (-1.25, 2.45), (-1.2, 2.35), (-1.3, 2.35), (-1.7, 2.8))  # the last two at the border
GROUPS = ("lazy", "depths", "narrow", "wide", "powers")


def cases_of(dim: int) -> dict[str, tuple[float, float]]:
    """Return the names, which begin with their group, and exponents of the variance and of the width."""
    return {
        **{f"lazy {variance:g}, {width:g}": (variance, width) for variance, width in LAZY[:3]},
        **{f"depths {depth:g}": (depth, 2.0) for depth in DEPTHS},
        **{f"narrow {width}": (-1.5, float(np.log(width) / np.log(dim))) for width in NARROW},
        "wide d": (-1.5, 1.0),
        "wide d^2": (-2.5, 2.0),
        **{f"powers d^{power:g}": (0.4 - power, power) for power in POWERS},  # one threshold, d^0.4
        **{f"lazy {variance:g}, {width:g}": (variance, width) for variance, width in LAZY[3:]},
    }


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table: the tasks of one case in a block."""
    dim, tasks = (30, 3) if trial.quick else (100, 8)
    chosen = cases_of(dim)
    axes = {"dim": [dim], "case": chosen, "replicate": range(tasks)}
    fixed = {"cases": chosen, "rank": RANK, "seed": trial.seed}
    return trial_sweep(trial, "tu-regions", case_cells, axes, fixed=fixed, together="replicate")


@dataclass(frozen=True)
class Group:
    """Cells of one group: exponents (case,), and of every task (case, replicate) what its run left behind.

    Test errors are per entry, `signal` and `noise` the mean squares of the entries of A* and E, and `distance` is the
    largest |A - A_sc|^2/d^2 over the run, with A_sc the self-consistent dynamics.
    """

    dim: int
    gamma_variance: np.ndarray
    gamma_width: np.ndarray
    best_test: np.ndarray
    best_step: np.ndarray
    stable_rank: np.ndarray
    distance: np.ndarray
    signal: np.ndarray
    noise: np.ndarray

    @property
    def lazy_bound(self) -> np.ndarray:
        """What Theorem 2 says of the lazy region: the test error is never below this."""
        return np.minimum(self.signal, self.noise) / 3


def read(networks: Dataset) -> dict[str, Group]:
    """Return the groups of the sweep: lazy cells, growing depth, narrow and wide networks, growing width at one
    threshold."""
    return {group: Group(**_arrays(networks, group)) for group in GROUPS}


def _arrays(networks: Dataset, group: str) -> dict[str, Any]:
    """Collect what the runs of one group left behind, by the names of `Group`."""
    names = [name for name in networks["case"].values.tolist() if name.split()[0] == group]
    chosen = networks.squeeze("dim").sel(case=names).transpose("case", "replicate")
    same = ("best_test", "best_step", "stable_rank", "signal", "noise")
    exponents = {name: chosen[name].values[:, 0] for name in ("gamma_variance", "gamma_width")}
    own = {"dim": int(networks["dim"].item()), "distance": np.exp(chosen["log_distance"].values)}
    return {**exponents, **own, **{name: chosen[name].values for name in same}}


def columns(networks: Dataset) -> Columns:
    """Return every case with the median over its tasks, and the range of the test error."""
    dim = int(networks["dim"].item())
    rows = [(name, group, i) for name, group in read(networks).items() for i in range(len(group.best_test))]
    regions = [str(ln.theories.mixed.phase(group.gamma_variance[i], group.gamma_width[i])) for _, group, i in rows]
    bounds = [f"{np.median(group.lazy_bound[i]):.3f}" for _, group, i in rows]
    return {
        "group": [name for name, _, _ in rows],
        "γ(σ²)": [f"{group.gamma_variance[i]:.2f}" for _, group, i in rows],
        "w": [f"{round(dim ** group.gamma_width[i])}" for _, group, i in rows],
        "region": regions,
        "least test error": [f"{np.median(group.best_test[i]):.3f}" for _, group, i in rows],
        "of the tasks": [f"{group.best_test[i].min():.3f} to {group.best_test[i].max():.3f}" for _, group, i in rows],
        "if lazy, at least": [bound if name == "lazy" else "" for bound, name in zip(bounds, regions, strict=True)],
        "after steps": [f"{np.median(group.best_step[i]):.0f}" for _, group, i in rows],
        "stable rank": [f"{np.median(group.stable_rank[i]):.2f}" for _, group, i in rows],
        "RMS distance to eq. (1)": [f"{np.sqrt(np.median(group.distance[i])):.4f}" for _, group, i in rows],
    }


TABLE = Table(
    name="regions",
    title="Chosen cells of the phase diagram: least test error, steps to it, and distance to eq. (1)",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Medians over the tasks; test errors per entry; the bound is a third of min(‖A*‖², ‖E‖²)/d².",
)
