"""Tu et al., Figure 2 and Theorem 2: chosen cells of the phase diagram, many tasks in each."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Table, Trial
from linnet_papers.reproduction.datasets import Dataset, cells_of
from linnet_papers.reproduction.table import trial_sweep
from linnet_papers.tu.training.phase_diagram import case_cells

RANK = 3  # of the tasks
NARROW = (2, 3, 4, 6, 12)
DEPTHS = (-2.8, -2.4, -2.0, -1.6, -1.2)
POWERS = (1.3, 1.8, 2.3, 2.8)
LAZY = ((-1.35, 2.6), (-1.25, 2.45), (-1.2, 2.35), (-1.3, 2.35), (-1.7, 2.8))  # the last two at the border
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


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table: the tasks of one case in a block."""
    dim, tasks = (30, 3) if trial.quick else (100, 8)
    chosen = cases_of(dim)
    axes = {"dim": [dim], "case": chosen, "replicate": range(tasks)}
    fixed = {"cases": chosen, "rank": RANK, "seed": trial.seed}
    return trial_sweep(trial, "tu-regions", case_cells, axes, fixed=fixed, together="replicate")


def read(networks: Dataset) -> dict[str, Dataset]:
    """Return the cells of each group, (case, replicate): lazy ones, growing depth, narrow and wide networks, growing
    width at one threshold.

    Test errors are per entry, `signal` and `noise` the mean squares of the entries of A* and E, and `distance` is the
    largest |A - A_sc|^2/d^2 over the run, with A_sc the self-consistent dynamics.
    """
    cells = networks.squeeze("dim").transpose("case", "replicate")
    exponents = {name: cells[name].isel(replicate=0) for name in ("gamma_variance", "gamma_width")}
    cells = cells.assign(exponents | {"distance": np.exp(cells["log_distance"])})
    groups = np.array([name.split()[0] for name in cells["case"].values])
    return {group: cells.isel(case=groups == group) for group in GROUPS}


def region_of(cell: Dataset) -> str:
    """Return the region in which a cell lies by the theory."""
    return str(lazy_active.phase(float(cell.gamma_variance), float(cell.gamma_width)))


def lazy_bound(cell: Dataset) -> str:
    """Return what Theorem 2 says of a lazy cell: its test error is never below this."""
    return f"{(np.minimum(cell.signal, cell.noise) / 3).median():.3f}" if region_of(cell) == "lazy" else ""


TABLE = Table(
    name="regions",
    title="Chosen cells of the phase diagram: least test error, steps to it, and distance to eq. (1)",
    sweep=sweep,
    read=read,
    split=lambda groups: (cell for cells in groups.values() for cell in cells_of(cells, "case")),
    columns={
        "group": lambda cell: cell.case.item().split()[0],
        "γ(σ²)": "{.gamma_variance:.2f}",
        "w": lambda cell: f"{round(float(cell.dim**cell.gamma_width))}",
        "region": region_of,
        "least test error": lambda cell: f"{cell.min_test_loss.median():.3f}",
        "of the tasks": lambda cell: f"{cell.min_test_loss.min():.3f} to {cell.min_test_loss.max():.3f}",
        "if lazy, at least": lazy_bound,
        "after steps": lambda cell: f"{cell.best_step.median():.0f}",
        "stable rank": lambda cell: f"{cell.stable_rank.median():.2f}",
        "RMS distance to eq. (1)": lambda cell: f"{np.sqrt(cell.distance.median()):.4f}",
    },
    note="Medians over the tasks; test errors per entry; the bound is a third of min(‖A*‖², ‖E‖²)/d².",
)
