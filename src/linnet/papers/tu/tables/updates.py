"""Tu et al., the published runs: what it costs that W2 is updated with the new W1, at two sizes of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.tu.tables.active_region import GAMMAS
from linnet.papers.tu.tables.regions import RANK
from linnet.reproduction.claim import Trial
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

STEPS = (5.0, 50.0)  # c: the step is 1/(c |A*|)
UPDATES = {"simultaneous": "both layers at once", "sequential": "W2 sees the new W1"}


def cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, gammas: list[float], rank: int, seed: int
) -> dict[str, Any]:
    """Networks of one step size and order of updates: the largest |A - A_sc|^2/d^2 over the run, as a logarithm.

    A replicate has the same task and the same start under every step size and order.
    """
    from linnet.papers.tu import phase_cells

    c, update = float(points["c"][0]), str(points["update"][0])
    if (points["c"] != c).any() or (points["update"] != update).any():
        raise ValueError("a block must have one `c` and one `update`.")
    variance, width = (np.full(len(seeds), gamma) for gamma in gammas)
    grid = {"dim": points["dim"], "gamma_variance": variance, "gamma_width": width, "replicate": points["replicate"]}
    starts = 1000 * (seed + 1) + points["replicate"]
    found = phase_cells.cells(grid, starts, rank=rank, noise=1.0, c=c, steps=1500, update=update, seed=seed)
    return {name: found[name] for name in ("log_distance", "best_test", "taken")}


def updates(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table: the replicates of one step size and order in a block."""
    dim, replicates = (30, 2) if trial.quick else (100, 4)
    axes = {"dim": [dim], "c": list(STEPS), "update": list(UPDATES), "replicate": list(range(replicates))}
    return ln.sweeps.Sweep(
        name="tu-updates",
        function=cells,
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
        "update": [UPDATES[update] for _, update, _ in rows],
        "RMS distance to eq. (1)": [f"{distances[c, update]:.4f}" for c, update, _ in rows],
        "times that of both at once": [
            f"{distances[c, update] / distances[c, 'simultaneous']:.2f}" for c, update, _ in rows
        ],
        "least test error": [f"{float(row['best_test']):.3f}" for _, _, row in rows],
        "steps": [f"{float(row['taken']):.0f}" for _, _, row in rows],
    }


TABLES = [
    Table(
        name="updates",
        title="Distance of descent to eq. (1), by the size of the step and the order of the updates",
        sweep=updates,
        columns=columns,
        note="Medians over the tasks; the step is 1/(c ‖A*‖).",
    ),
]
