"""The networks that the formula is held against: trained to their least test error, and past it."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.reproduction import plane

PATIENCE_STEPS = 60  # of rising test loss: narrow networks learn in stages, between which it rises for a while


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, steps: int, seed: int) -> dict[str, Any]:
    """Trains a block of cells of one dimension; `points` has `dim`, `gamma_variance`, `gamma_width` and `replicate`.

    Least test loss over the run (canonical), its time, the stable rank then, and how many steps were taken.
    """
    from linnet.trainers import stopping  # JAX: only where something is trained

    dim = int(points["dim"][0])
    stop = stopping.first_of(stopping.TestLossRising(PATIENCE_STEPS), plane.learned_rule(dim))
    runs, rates = plane.trained_cells(
        points, seeds, dim=dim, task_of=lambda replicate: plane.task(dim, replicate, seed), steps=steps, stop=stop
    )
    return {
        "best_test": runs.best_test,
        "best_time": runs.best_step * rates,
        "stable_rank": runs.stable_rank,
        "taken": runs.steps.astype(float),
    }


def beside(networks: Any, seed: int) -> dict[str, np.ndarray]:
    """Return the predictions of the cells of a sweep, (dim, gamma_width, gamma_variance, replicate)."""
    parts: list[list[Any]] = []
    for dim in networks["dim"].values.tolist():
        widths = [plane.width_of(dim, power) for power in networks["gamma_width"].values]
        variances = float(dim) ** networks["gamma_variance"].values
        parts.append(
            [
                ln.theories.mixed.predicted_diagram(plane.task(dim, int(number), seed), variances, widths)
                for number in networks["replicate"].values
            ]
        )
    names = ("best_test", "covered")
    return {name: np.stack([np.stack([getattr(one, name) for one in row], axis=-1) for row in parts]) for name in names}
