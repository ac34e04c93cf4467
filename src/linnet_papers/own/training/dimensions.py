"""The networks that the formula is held against: trained to their minimum test error, and past it."""

from __future__ import annotations

import numpy as np

from linnet_papers.reproduction.cells import Block, Points
from linnet_papers.tu import plane

PATIENCE_STEPS = 60  # of rising test loss: narrow networks learn in stages, between which it rises for a while


def train_dimension_cells(points: Points, seeds: np.ndarray, *, steps: int, seed: int) -> Block:
    """Return the minimum test loss over the run (canonical) of a block of cells of one dimension; `points` has `dim`,
    `gamma_variance`, `gamma_width` and `replicate`."""
    from linnet.trainers import stopping  # JAX: only where something is trained

    dim = int(points["dim"][0])
    stop = stopping.first_of(stopping.TestLossRising(PATIENCE_STEPS), plane.learned_rule(dim))
    runs, _ = plane.trained_cells(
        points, seeds, dim=dim, task_of=lambda replicate: plane.task(dim, replicate, seed), steps=steps, stop=stop
    )
    return {"min_test_loss": runs.min_test_loss}
