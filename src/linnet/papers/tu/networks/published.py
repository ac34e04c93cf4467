"""The authors' own cells trained again: the test error at the step at which they stopped theirs."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.starts import active_start
from linnet.reproduction import plane
from linnet.reproduction.cells import Block, Points, one_of_each


def published_cells(points: Points, seeds: np.ndarray, *, dim: int, rank: int, seed: int) -> Block:
    r"""Test error per entry after `last_step` steps of the public loop, for a block of one published cell.

    `points` has `cell` ("variance width step", as text) and `replicate`, one task for each; the start is another in
    every cell. The step is the plane's.
    """
    from linnet.trajectories.saving import last

    (name,) = one_of_each(points, "cell")
    gamma_variance, gamma_width, steps = (float(word) for word in name.split())
    tasks = [plane.task(dim, int(replicate), seed, rank=rank) for replicate in points["replicate"]]
    starts = [active_start(dim, (gamma_variance, gamma_width), key=int(key)) for key in seeds]
    sizes = np.array([np.linalg.norm(np.asarray(task.truth), 2) for task in tasks])
    run = ln.gradient_descent(
        ln.Problem.stack(tasks),
        ln.Weights.stack(starts),
        learning_rate=plane.step_size(gamma_variance, gamma_width, dim=dim, size=sizes),
        steps=int(steps),
        update="sequential",
        save_every=last(),
        keep="losses",
    )
    scale = 2 / dim**2
    return {"test_error": scale * run.test_loss[-1]}
