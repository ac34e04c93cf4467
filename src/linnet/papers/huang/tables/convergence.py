"""Huang et al., Theorem 4.1: when trained networks inside the assumption reach 4 epsilon, against the stated time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang.runs import EPSILON, INGREDIENTS, SCALES, ingredients, once, separated, theory_of
from linnet.reproduction.claim import Trial
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, width: int) -> dict[str, Any]:
    """The canonical time at which the loss of each network passes 4 epsilon (NaN: never), its first and its last
    loss."""
    found: dict[str, list[Any]] = {}
    for seed in seeds.tolist():
        run = once(separated, seed, dim=dim, width=width)
        loss = run.history.loss
        cell = {
            "time": run.history.loss_time(1 - min(4 * EPSILON / loss[0], 0.999)),
            "first_loss": loss[0],
            "last_loss": loss[-1],
            **ingredients(run),
        }
        for name, value in cell.items():
            found.setdefault(name, []).append(value)
    return {name: (INGREDIENTS.get(name, ()), np.array(value)) for name, value in found.items()}


def convergence(trial: Trial) -> ln.sweeps.Sweep:
    """Ten draws of data and start; in quick mode 3, of smaller networks."""
    size = {"dim": 2000, "width": 256} if trial.quick else {"dim": 10_000, "width": 1024}
    return ln.sweeps.Sweep(
        name="huang-convergence",
        function=cells,
        seeds=3 if trial.quick else 10,
        seed=trial.seed,
        fixed=size,
        block=2,
        coords={"scale": list(SCALES)},
    )


@dataclass(frozen=True)
class Convergence:
    """One network: steps to 4 epsilon, the printed t1 and t2 in steps, their ratio, and the share of the loss at the
    end."""

    first_loss: float
    steps: float
    first: float
    second: float
    constant: float
    last: float


def read(networks: xr.Dataset) -> list[Convergence]:
    """One row for each draw."""
    return [_row(networks.sel(seed=seed)) for seed in networks["seed"].values]


def _row(cell: xr.Dataset) -> Convergence:
    theory = theory_of(cell)
    loss, time, step = float(cell["first_loss"]), float(cell["time"]), theory.learning_rate
    first = theory.first_time("printed")
    second = theory.second_time(EPSILON / loss, form="printed")
    return Convergence(
        loss, time / step, first / step, second / step, time / (first + second), float(cell["last_loss"]) / loss
    )


def columns(networks: xr.Dataset) -> Columns:
    """Measured steps beside the printed ones."""
    rows = read(networks)
    return {
        "draw": [str(seed) for seed in networks["seed"].values],
        "first loss": [f"{row.first_loss:.3f}" for row in rows],
        f"steps to {4 * EPSILON:g}": [f"{row.steps:.0f}" for row in rows],
        "t1 printed": [f"{row.first:.0f}" for row in rows],
        "t2 printed": [f"{row.second:.0f}" for row in rows],
        "constant needed": [f"{row.constant:.3f}" for row in rows],
        "last loss/first": [f"{row.last:.0e}" for row in rows],
    }


TABLES = [
    Table(
        name="convergence",
        title="When networks inside Assumption 4.1 reach 4 epsilon, against the time of Theorem 4.1",
        sweep=convergence,
        columns=columns,
        note="Constant needed: steps over t1 + t2, both as printed.",
    ),
]
