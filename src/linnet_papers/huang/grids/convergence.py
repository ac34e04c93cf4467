"""Theorem 4.1: when trained networks inside the assumption reach 4 epsilon, against the stated time."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.training.cells.inside import LAWS, convergence_cells
from linnet_papers.huang.training.runs import theory_of
from linnet_papers.reproduction import Numbers, Trial
from linnet_papers.reproduction.datasets import Dataset, by_name, cells_of, scalars
from linnet_papers.reproduction.grids import trained, trial_sweep

SMALLER = (1.0, 1e-3)  # multiples of the admissible v_0 and sigma_0


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train over five laws of the data and two sizes of the initialization, 5 draws of each; in quick mode 3, of
    smaller networks."""
    axes = {"law": LAWS, "smaller": SMALLER}
    seeds = 3 if trial.quick else 5
    fixed = settings.size(trial.quick)
    return trial_sweep(trial, "huang-convergence", convergence_cells, axes, seeds=seeds, fixed=fixed, block=2)


def rows(trial: Trial) -> dict[str, list[Any]]:
    """Return what was measured by its name, an entry for each law, size of the initialization and draw."""
    return by_name(_row(cell) for cell in cells_of(cells(trial), "law", "smaller", "seed"))


def _row(cell: Dataset) -> Numbers:
    """Lay the stated times beside what one cell measured, all in steps."""
    theory = theory_of(cell)
    row = scalars(cell)
    rate = theory.learning_rate

    def over_stated_time(signal: float) -> float:
        """Return the measured time over the printed t1 + t2, with that for |beta|."""
        data = {"samples": theory.samples, "signal": signal, "trace": row["trace"]}
        first = misprints.first_time(theory.magnitude, **data)
        return row["steps"] / ((first + misprints.second_time(settings.EPSILON, **data)) / rate)

    return {
        **row,
        "constant": over_stated_time(row["signal"]),
        # the same with |beta|^2 + sigma_y^2, the power of a label, where |beta|^2 is printed
        "corrected": over_stated_time(float(np.hypot(row["signal"], np.sqrt(row["noise_variance"])))),
        "last": row["last_loss"] / row["first_loss"],
        "first_off": theory.first_time() / rate / row["first_steps"] - 1,  # of `Stages.first_time` from the measured t1
    }
