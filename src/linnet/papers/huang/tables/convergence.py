"""Theorem 4.1: when trained networks inside the assumption reach 4 epsilon, against the stated time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.huang import misprints, settings
from linnet.papers.huang.networks.cells.inside import LAWS, convergence_cells
from linnet.papers.huang.networks.runs import SWEPT, theory_of
from linnet.reproduction import Table, Trial
from linnet.reproduction.datasets import Dataset, cells_of
from linnet.reproduction.table import trial_sweep

SMALLER = (1.0, 1e-3)  # multiples of the admissible v_0 and sigma_0


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Five laws of the data and two sizes of the start, 5 draws of each; in quick mode 3, of smaller networks."""
    axes, seeds = {"law": LAWS, "smaller": SMALLER}, 3 if trial.quick else 5
    return trial_sweep(
        trial, "huang-convergence", convergence_cells, axes, seeds=seeds, fixed=settings.size(trial.quick), **SWEPT
    )


@dataclass(frozen=True)
class Convergence:
    """One network: steps to 4 epsilon, the stated t1 and t2 - t1 in steps, their ratio, and losses.

    `corrected` is that ratio with |beta|^2 + sigma_y^2, the power of a label, where |beta|^2 is printed;

    `first` is the measured t1 in steps, `first_off` how far `Stages.first_time` is from it; `last` the share of the
    loss at the end, `highest` the highest loss once it has been below 4 epsilon.
    """

    law: str
    smaller: float
    first_loss: float
    steps: float
    stated_first: float
    stated_second: float
    constant: float
    corrected: float
    last: float
    highest: float
    first: float
    first_off: float
    falls: float  # the share of saved states at which the loss is below the one before


def read(networks: Dataset) -> list[Convergence]:
    """Return one row for each law, size of the start and draw."""
    return [_row(cell) for cell in cells_of(networks, "law", "smaller", "seed")]


def _row(cell: Dataset) -> Convergence:
    """Lay the stated times beside what one cell measured."""
    theory = theory_of(cell)
    loss, steps, rate = float(cell["first_loss"]), float(cell["steps"]), theory.learning_rate
    signal, trace, noise = (float(cell[name]) for name in ("signal", "trace", "noise_variance"))

    def stated(size: float) -> tuple[float, float]:
        """Return the printed t1 and t2 - t1 in steps, with that for |beta|."""
        population: Any = {"samples": theory.samples, "signal": size, "trace": trace}
        first = misprints.first_time(theory.magnitude, **population)
        return first / rate, misprints.second_time(settings.EPSILON, **population) / rate

    (first, second), labels = stated(signal), stated(float(np.hypot(signal, np.sqrt(noise))))
    measured = float(cell["first_steps"])
    return Convergence(
        str(cell["law"].values),
        float(cell["smaller"]),
        loss,
        steps,
        first,
        second,
        steps / (first + second),
        steps / sum(labels),
        float(cell["last_loss"]) / loss,
        float(cell["highest_after"]),
        measured,
        theory.first_time() / rate / measured - 1,
        float(cell["falls"]),
    )


TABLE = Table(
    name="convergence",
    title="When networks inside Assumption 4.1 reach 4 epsilon, against the time of Theorem 4.1",
    sweep=sweep,
    read=read,
    columns={
        "inputs": "{.law}",
        "start ×": "{.smaller:g}",
        "first loss": "{.first_loss:.3f}",
        f"steps to {4 * settings.EPSILON:g}": "{.steps:.0f}",
        "t1 stated": "{.stated_first:.0f}",
        "t2 − t1 stated": "{.stated_second:.0f}",
        "constant needed": "{.constant:.3f}",
        "with σ_y²": "{.corrected:.3f}",
        "last loss/first": "{.last:.0e}",
    },
    note=(
        "Constant needed: steps over t1 + t2, both as printed with constants 1. Sloped: eigenvalues of Σ fall "
        "as i^(-1/4). Noisy: labels with noise at the limit of (5), 8n|β|²; with σ_y²: |β|² + σ_y² where |β|² is "
        "printed."
    ),
)
