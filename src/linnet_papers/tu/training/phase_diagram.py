"""Cells of the phase diagram: descent and self-consistent dynamics at one variance and width, stopped as published.

And the authors' own cells trained again: the test error at the step at which they stopped theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet_papers.reproduction.cells import Block, Points, cell_by_cell, one_of_each
from linnet_papers.tu import plane
from linnet_papers.tu.training.starts import active_start

if TYPE_CHECKING:
    from linnet.trainers.diagrams import DiagramRuns

REASONS = ("completed", "diverged", "test loss rising", "loss below threshold", "loss stalled")


def plane_cells(
    points: Points,
    seeds: np.ndarray,
    *,
    rank: int,
    c: float,
    update: str,
    seed: int,
    noise_std: float = plane.NOISE_STD,
    steps: int = plane.MAX_STEPS,
    dim: int | None = None,
    dtype: str = "float64",
    **options: Any,
) -> Block:
    r"""Return what Figure 2 shows of each cell, for a block of cells of one dimension.

    `points` has `gamma_variance`, `gamma_width`, `replicate` (one task, A* and E, per replicate, the same in every
    cell) and `dim` unless that is fixed. Steps and ends of runs are the plane's (`linnet_papers.tu.plane`);
    `dtype` is that of the sweep, `options` the others of `gaussian_diagram`: how it runs.
    """
    side = one_of_each(points, "dim")[0] if dim is None else dim
    runs, _ = plane.trained_cells(
        points,
        seeds,
        dim=side,
        task_of=lambda replicate: plane.task(side, replicate, seed, rank=rank, noise_std=noise_std),
        c=c,
        steps=steps,
        stop=plane.published_rule(side),
        update=update,
        dtype=dtype,
        **options,
    )
    scale = 2 / side**2
    return {
        "min_test_loss": scale * runs.min_test_loss,
        "stable_rank": runs.stable_rank,
        "best_step": runs.best_step.astype(float),
        "log_distance": np.log(np.maximum(runs.largest_distance / side**2, np.finfo(float).tiny)),
        "last_train": scale * runs.loss,
        "reason": np.array([REASONS.index(reason) for reason in runs.reason]),
        "taken": runs.steps.astype(float),
    }


def cells_of_ranks(
    gamma_variance: np.ndarray, gamma_width: np.ndarray, ranks: np.ndarray, *, dim: int, seed: int
) -> DiagramRuns:
    """Train cells of one dimension whose tasks have these ranks; tasks of one rank are the same."""
    points = {"gamma_variance": gamma_variance, "gamma_width": gamma_width, "replicate": ranks}
    runs, _ = plane.trained_cells(
        points,
        np.arange(len(ranks)) + 1000 * seed,
        dim=dim,
        task_of=lambda rank: plane.task(dim, 0, seed, rank=rank),
        steps=plane.MAX_STEPS,
        stop=plane.published_rule(dim),
        update="simultaneous",
    )
    return runs


def case_cells(points: Points, seeds: np.ndarray, *, cases: dict[str, list[float]], rank: int, seed: int) -> Block:
    """Networks of one named case, a pair of exponents; tasks, A* and E, are those of the replicates.

    Beside what `plane_cells` records: the exponents, and the mean squares of the entries of A* and of E.
    """
    variance, width = np.array([cases[name] for name in points["case"].tolist()]).T
    exponents = {"gamma_variance": variance, "gamma_width": width}
    cells = plane_cells(points | exponents, seeds, rank=rank, c=plane.STEP_C, update="simultaneous", seed=seed)
    dim, replicates = int(points["dim"][0]), points["replicate"].tolist()
    sizes = {replicate: _mean_squares(plane.task(dim, replicate, seed, rank=rank)) for replicate in set(replicates)}
    signal, noise = np.array([sizes[replicate] for replicate in replicates]).T
    return {**cells, **exponents, "signal": signal, "noise": noise}


@cell_by_cell
def published_cells(key: int, *, cell: str, replicate: int, dim: int, rank: int, seed: int) -> Block:
    r"""Return the test error per entry of a published cell after as many steps of the public loop as the authors took.

    `cell` is "variance width step", as text; each replicate has a task of its own, and the start is another in every
    cell. The step is the plane's.
    """
    gamma_variance, gamma_width, steps = (float(word) for word in cell.split())
    task = plane.task(dim, replicate, seed, rank=rank)
    size = float(np.linalg.norm(np.asarray(task.truth), 2))
    run = ln.gradient_descent(
        task,
        active_start(dim, (gamma_variance, gamma_width), key=key),
        learning_rate=float(plane.step_size(gamma_variance, gamma_width, dim=dim, size=size)),
        steps=int(steps),
        update="sequential",
        save_every=ln.trajectories.last(),
        keep="losses",
    )
    return {"test_error": 2 / dim**2 * run.test_loss[-1]}


def _mean_squares(task: ln.Problem) -> tuple[float, float]:
    """Return the mean squares of the entries of A* and of E of one task."""
    truth = np.asarray(task.truth)
    return float((truth**2).mean()), float(((task.cross - truth) ** 2).mean())
