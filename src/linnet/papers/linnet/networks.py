"""The networks that the formula is held against: trained to their least test error, and past it."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.reproduction import plane

PATIENCE = 60  # steps of rising test loss: narrow networks learn in stages, between which it rises for a while


def task(dim: int, replicate: int, seed: int) -> ln.Problem:
    """The replicate's task: a truth of rank 5 and unit noise."""
    return ln.problems.low_rank_plus_noise(dim, rank=plane.RANK, key=[seed, replicate])


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, steps: int, seed: int) -> dict[str, Any]:
    """Trains a block of cells of one dimension; `points` has `dim`, `gamma_variance`, `gamma_width` and `replicate`.

    Least test loss over the run (canonical), its time, the stable rank then, and how many steps were taken.
    """
    from linnet.trainers import stopping  # JAX: only where something is trained
    from linnet.trainers.diagrams import gaussian_diagram

    dim = int(points["dim"][0])
    replicates = sorted({int(number) for number in points["replicate"]})
    problems = [task(dim, number, seed) for number in replicates]
    sizes = np.array([float(np.linalg.norm(np.asarray(problem.truth), 2)) for problem in problems])
    which = [replicates.index(int(number)) for number in points["replicate"]]
    variances = float(dim) ** points["gamma_variance"]
    widths = [plane.width_of(dim, power) for power in points["gamma_width"]]
    rates = plane.step_size(points["gamma_variance"], points["gamma_width"], dim=dim, size=sizes[which])
    runs = gaussian_diagram(
        problems,
        keys=[int(number) for number in seeds],
        widths=widths,
        variances=variances,
        learning_rates=rates,
        tasks=which,
        steps=steps,
        stop=stopping.first_of(stopping.TestLossRising(PATIENCE), plane.learned_rule(dim)),
    )
    return {
        "best_test": runs.best_test,
        "best_time": runs.best_step * rates,
        "stable_rank": runs.stable_rank,
        "taken": runs.steps.astype(float),
    }


def beside(networks: Any, seed: int) -> dict[str, np.ndarray]:
    """The predictions of the cells of a sweep, (dim, gamma_width, gamma_variance, replicate)."""
    parts: list[list[Any]] = []
    for dim in networks["dim"].values.tolist():
        widths = [plane.width_of(dim, power) for power in networks["gamma_width"].values]
        variances = float(dim) ** networks["gamma_variance"].values
        parts.append(
            [
                ln.theories.mixed.predicted_diagram(task(dim, int(number), seed), variances, widths)
                for number in networks["replicate"].values
            ]
        )
    names = ("best_test", "covered")
    return {name: np.stack([np.stack([getattr(one, name) for one in row], axis=-1) for row in parts]) for name in names}
