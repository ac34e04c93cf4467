"""Tu et al., the published runs: what it costs that W2 is updated with the new W1, at two sizes of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.phase_diagram import update_cells
from linnet.papers.tu.settings import GAMMAS
from linnet.papers.tu.tables.regions import RANK
from linnet.reproduction import Columns, Table, Trial

if TYPE_CHECKING:
    import xarray as xr

STEPS = (5.0, 50.0)  # c: the step is 1/(c |A*|)
ORDERS = {"simultaneous": "both layers at once", "sequential": "W2 sees the new W1"}


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table: the replicates of one step size and order in a block."""
    dim, replicates = (30, 2) if trial.quick else (100, 4)
    axes = {"dim": [dim], "c": list(STEPS), "update": list(ORDERS), "replicate": list(range(replicates))}
    return ln.sweeps.Sweep(
        name="tu-updates",
        function=update_cells,
        axes=axes,
        seed=trial.seed,
        fixed={"gammas": GAMMAS, "rank": RANK, "seed": trial.seed},
        block=replicates,
        apart=["dim", "c", "update"],
    )


def read(networks: xr.Dataset) -> dict[tuple[float, str], float]:
    """Root mean square distance to eq. (1), the median over the replicates, by step size and order."""
    middle = networks["log_distance"].squeeze("dim").median("replicate")
    return {
        (c, update): float(np.exp(middle.sel(c=c, update=update) / 2))
        for c in middle["c"].values.tolist()
        for update in middle["update"].values.tolist()
    }


def columns(networks: xr.Dataset) -> Columns:
    """A row for each step size and order."""
    distances = read(networks)
    middle = networks[["best_test", "taken"]].squeeze("dim").median("replicate")
    rows = [(c, update, middle.sel(c=c, update=update)) for c, update in distances]
    return {
        "c": [f"{c:g}" for c, _, _ in rows],
        "update": [ORDERS[update] for _, update, _ in rows],
        "RMS distance to eq. (1)": [f"{distances[c, update]:.4f}" for c, update, _ in rows],
        "times that of both at once": [
            f"{distances[c, update] / distances[c, 'simultaneous']:.2f}" for c, update, _ in rows
        ],
        "least test error": [f"{float(row['best_test']):.3f}" for _, _, row in rows],
        "steps": [f"{float(row['taken']):.0f}" for _, _, row in rows],
    }


TABLE = Table(
    name="updates",
    title="Distance of descent to eq. (1), by the size of the step and the order of the updates",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Medians over the tasks; the step is 1/(c ‖A*‖).",
)
