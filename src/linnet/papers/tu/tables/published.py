"""Cells that the authors printed, trained again on tasks of our own: how far the test errors are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.published import published_cells
from linnet.reproduction import Columns, Table, Trial
from linnet.reproduction.published import phase_diagram_cells

if TYPE_CHECKING:
    import xarray as xr


def chosen(every: tuple[int, int], offset: tuple[int, int] = (0, 0)) -> list[str]:
    """Names of published cells, "variance width step": every so many of the variances and of the widths."""
    printed = phase_diagram_cells()
    part = printed.isel(gamma_variance=slice(offset[0], None, every[0]), gamma_width=slice(offset[1], None, every[1]))
    return [
        f"{variance} {width} {int(part['last_step'].sel(gamma_variance=variance, gamma_width=width))}"
        for variance in part["gamma_variance"].values.tolist()
        for width in part["gamma_width"].values.tolist()
    ]


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table: the tasks of one cell in a block. Quick mode takes cells of few steps."""
    names, tasks = (chosen((7, 5), (12, 3)), 4) if trial.quick else (chosen((5, 3), (2, 1)), 4)
    printed = phase_diagram_cells()
    return ln.sweeps.Sweep(
        name="tu-published",
        function=published_cells,
        axes={"cell": names, "replicate": list(range(tasks))},
        seed=trial.seed,
        fixed={"dim": int(printed.attrs["dim"]), "rank": int(printed.attrs["rank"]), "seed": trial.seed},
        block=tasks,
        apart=["cell"],
    )


def read(networks: xr.Dataset) -> dict[str, np.ndarray]:
    """Of every cell: the printed test error and its step, ours as a mean over the tasks, and its standard error."""
    printed = phase_diagram_cells()
    words = [[float(word) for word in name.split()] for name in networks["cell"].values.tolist()]
    theirs = [float(printed["test_error"].sel(gamma_variance=one, gamma_width=two)) for one, two, _ in words]
    ours = networks["test_error"].transpose("cell", "replicate").values
    return {
        "gamma_variance": np.array([word[0] for word in words]),
        "gamma_width": np.array([word[1] for word in words]),
        "step": np.array([word[2] for word in words]),
        "printed": np.array(theirs),
        "mean": ours.mean(axis=1),
        "error": ours.std(axis=1, ddof=1) / np.sqrt(ours.shape[1]),
    }


def columns(networks: xr.Dataset) -> Columns:
    """A row for each cell."""
    cells = read(networks)
    return {
        "γ(σ²)": [f"{value:.3f}" for value in cells["gamma_variance"]],
        "γ(w)": [f"{value:.3f}" for value in cells["gamma_width"]],
        "step": [f"{value:.0f}" for value in cells["step"]],
        "printed": [f"{value:.4f}" for value in cells["printed"]],
        "trained, mean": [f"{value:.4f}" for value in cells["mean"]],
        "standard error": [f"{value:.4f}" for value in cells["error"]],
        "trained over printed": [f"{value:.3f}" for value in cells["mean"] / cells["printed"]],
    }


TABLE = Table(
    name="published",
    title="Test error of cells that the authors printed, and of the same cells trained on other draws of the task",
    sweep=sweep,
    read=read,
    columns=columns,
    note="d = 200, rank 5; the public loop (second layer sees the new first one) up to the printed step.",
)
