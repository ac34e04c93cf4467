"""Tu et al., the published runs: what it costs that W2 is updated with the new W1, at two sizes of the step."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Numbers, Table, Trial
from linnet_papers.reproduction.datasets import Dataset, cells_of, scalars
from linnet_papers.reproduction.table import trial_sweep
from linnet_papers.tu.settings import GAMMAS
from linnet_papers.tu.tables.regions import RANK
from linnet_papers.tu.training.phase_diagram import update_cells

STEPS = (5.0, 50.0)  # c: the step is 1/(c |A*|)
SAME = "simultaneous"
ORDERS = {SAME: "both layers at once", "sequential": "W2 sees the new W1"}


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table: the replicates of one step size and order in a block."""
    dim, replicates = (30, 2) if trial.quick else (100, 4)
    axes = {"dim": [dim], "c": STEPS, "update": ORDERS, "replicate": range(replicates)}
    fixed = {"gammas": GAMMAS, "rank": RANK, "seed": trial.seed}
    return trial_sweep(trial, "tu-updates", update_cells, axes, fixed=fixed, together="replicate")


def read(networks: Dataset) -> list[Numbers]:
    """Return a row for each step size and order, medians over the replicates: beside what was trained, the root mean
    square `distance` to eq. (1), and how many `times` that of both layers at once it is."""
    middle = networks.squeeze("dim").median("replicate", skipna=False)
    middle = middle.assign(distance=np.exp(middle["log_distance"] / 2))
    middle = middle.assign(times=middle["distance"] / middle["distance"].sel(update=SAME, drop=True))
    return [scalars(cell) for cell in cells_of(middle, "c", "update")]


TABLE = Table(
    name="updates",
    title="Distance of descent to eq. (1), by the size of the step and the order of the updates",
    sweep=sweep,
    read=read,
    columns={
        "c": "{[c]:g}",
        "update": lambda row: ORDERS[row["update"]],
        "RMS distance to eq. (1)": "{[distance]:.4f}",
        "times that of both at once": "{[times]:.2f}",
        "least test error": "{[min_test_loss]:.3f}",
        "steps": "{[taken]:.0f}",
    },
    note="Medians over the tasks; the step is 1/(c ‖A*‖).",
)
