"""Cells of the phase diagram: descent and self-consistent dynamics at one variance and width, stopped as published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.tu.settings import BEGUN, CAREFUL, LEARNED, NOISE_STD, RISEN, SETTLED, STEPS, UNCHANGED

if TYPE_CHECKING:
    from linnet.trainers.stopping import Rule

REASONS = ("completed", "diverged", "test loss rising", "loss below threshold", "loss stalled")


def cells(
    points: dict[str, np.ndarray],
    seeds: np.ndarray,
    *,
    rank: int,
    c: float,
    update: str,
    seed: int,
    noise_std: float = NOISE_STD,
    steps: int = STEPS,
    dim: int | None = None,
    slots: int | None = None,
    dtype: str = "float64",
    tf32: bool = False,
) -> dict[str, Any]:
    r"""What Figure 2 shows of each cell, for a block of cells of one dimension.

    `points` has `gamma_variance`, `gamma_width`, `replicate` (one task, A* and E, per replicate, the same in every
    cell) and `dim` unless that is fixed. The step is $1/(c |A^*|)$, or $1/(c w \sigma^2)$ above the lazy border, and
    runs end by `published_rule`, after `steps` steps at the latest.
    """
    from linnet.trainers.gaussian_diagram import gaussian_diagram

    side = int(points["dim"][0]) if dim is None else dim
    if dim is None and (points["dim"] != side).any():
        raise ValueError("`dim` must be one for all cells of a block.")
    replicates = sorted({int(number) for number in points["replicate"]})
    tasks = {
        r: ln.problems.low_rank_plus_noise(side, rank=rank, noise_std=noise_std, key=[seed, r]) for r in replicates
    }
    sizes = {r: float(np.linalg.norm(np.asarray(task.truth), 2)) for r, task in tasks.items()}
    variances = float(side) ** points["gamma_variance"]
    widths = [max(1, round(float(side) ** float(power))) for power in points["gamma_width"]]

    scales = np.array([sizes[int(number)] for number in points["replicate"]])
    lazy = points["gamma_variance"] + points["gamma_width"] > 1
    runs = gaussian_diagram(
        [tasks[r] for r in replicates],
        keys=[int(number) for number in seeds],
        widths=widths,
        variances=variances,
        learning_rates=1 / (c * np.where(lazy, variances * np.array(widths, dtype=float), scales)),
        tasks=[replicates.index(int(number)) for number in points["replicate"]],
        steps=steps,
        stop=published_rule(side),
        update=update,
        dtype=dtype,
        slots=slots,
        tf32=tf32,
    )
    scale = 2 / side**2
    return {
        "best_test": scale * runs.best_test,
        "stable_rank": runs.stable_rank,
        "best_step": runs.best_step.astype(float),
        "log_distance": np.log(np.maximum(runs.largest_distance / side**2, np.finfo(float).tiny)),
        "last_train": scale * runs.loss,
        "reason": np.array([REASONS.index(reason) for reason in runs.reason]),
        "taken": runs.steps.astype(float),
    }


def case_cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, cases: dict[str, list[float]], rank: int, seed: int
) -> dict[str, Any]:
    """Networks of one named case, a pair of exponents; tasks, A* and E, are those of the replicates.

    Beside what `cells` records: the exponents, and the mean squares of the entries of A* and of E.
    """
    variance, width = np.array([cases[name] for name in points["case"].tolist()]).T
    grid = {"dim": points["dim"], "gamma_variance": variance, "gamma_width": width, "replicate": points["replicate"]}
    found = cells(grid, seeds, rank=rank, c=CAREFUL, update="simultaneous", seed=seed)
    dim, replicates = int(points["dim"][0]), points["replicate"].tolist()
    sizes = {replicate: _sizes(dim, rank, [seed, replicate]) for replicate in set(replicates)}
    signal, noise = np.array([sizes[replicate] for replicate in replicates]).T
    return {**found, "gamma_variance": variance, "gamma_width": width, "signal": signal, "noise": noise}


def update_cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, gammas: list[float], rank: int, seed: int
) -> dict[str, Any]:
    """Networks of one step size and order of updates: the largest |A - A_sc|^2/d^2 over the run, as a logarithm.

    A replicate has the same task and the same start under every step size and order.
    """
    c, update = float(points["c"][0]), str(points["update"][0])
    if (points["c"] != c).any() or (points["update"] != update).any():
        raise ValueError("a block must have one `c` and one `update`.")
    variance, width = (np.full(len(seeds), gamma) for gamma in gammas)
    grid = {"dim": points["dim"], "gamma_variance": variance, "gamma_width": width, "replicate": points["replicate"]}
    starts = 1000 * (seed + 1) + points["replicate"]
    found = cells(grid, starts, rank=rank, c=c, update=update, seed=seed)
    return {name: found[name] for name in ("log_distance", "best_test", "taken")}


def _sizes(dim: int, rank: int, key: list[int]) -> tuple[float, float]:
    task = ln.problems.low_rank_plus_noise(dim, rank=rank, noise_std=NOISE_STD, key=key)
    truth = np.asarray(task.truth)
    return float((truth**2).mean()), float(((task.cross - truth) ** 2).mean())


def published_rule(dim: int) -> Rule:
    """Where the authors' public loop ends a run, whatever comes first; `steps` bounds it besides.

    The test error rose two steps running (after step 3); the train error is below 1e-3; or it changed by less than
    2e-4 in a step and has fallen by more than 1e-2, so that the plateau a small start begins with is no end.
    """
    from linnet.trainers import stopping

    entry = dim**2 / 2  # the paper's errors are per entry and without the half
    return stopping.first_of(
        stopping.TestLossRising(RISEN, after=SETTLED),
        stopping.LossBelow(LEARNED * entry),
        stopping.Stalled(absolute=UNCHANGED * entry, fallen=BEGUN * entry),
    )
