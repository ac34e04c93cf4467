"""Cells that the authors printed, trained again on tasks of our own: how far the test errors are apart."""

from __future__ import annotations

from typing import Any

import linnet as ln
from linnet_papers.reproduction import Estimate, Trial
from linnet_papers.reproduction.datasets import Dataset, by_name
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu.published import phase_diagram_cells
from linnet_papers.tu.training.phase_diagram import published_cells


def cell_names(every: tuple[int, int], offset: tuple[int, int] = (0, 0)) -> list[str]:
    """Return the names of published cells, "variance width step": every so many of the variances and of the widths."""
    printed = phase_diagram_cells()
    part = printed.isel(gamma_variance=slice(offset[0], None, every[0]), gamma_width=slice(offset[1], None, every[1]))
    return [
        f"{variance} {width} {int(part['last_step'].sel(gamma_variance=variance, gamma_width=width))}"
        for variance in part["gamma_variance"].values.tolist()
        for width in part["gamma_width"].values.tolist()
    ]


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over the tasks of one cell in a block. Quick mode takes cells of few steps."""
    names = cell_names((7, 5), (12, 3)) if trial.quick else cell_names((5, 3), (2, 1))
    printed = phase_diagram_cells()
    axes = {"cell": names, "replicate": range(4)}
    fixed = {"dim": int(printed.attrs["dim"]), "rank": int(printed.attrs["rank"]), "seed": trial.seed}
    return trial_sweep(trial, "tu-published", published_cells, axes, fixed=fixed, together="replicate")


cells = trained(sweep)


def read(networks: Dataset) -> dict[str, list[Any]]:
    """Return by name, an entry for each cell: its place, its `printed` test error at its last step, the mean of ours
    over the tasks, `trained`, and this over the printed one, `share`."""
    printed = phase_diagram_cells()["test_error"]
    rows = []
    for name in networks["cell"].values.tolist():
        variance, width, step = (float(word) for word in name.split())
        theirs = float(printed.sel(gamma_variance=variance, gamma_width=width))
        ours = networks["test_error"].sel(cell=name).values
        place = {"gamma_variance": variance, "gamma_width": width, "step": step, "printed": theirs}
        rows.append(place | {"trained": Estimate.of_mean(ours), "share": Estimate.of_mean(ours / theirs)})
    return by_name(rows)
