"""Descent of many networks of one shape in a batch of one fixed size: who has finished leaves, and the next one takes its place.

A compiled batch of one size gives the same bits whatever runs beside a network, while batches of different sizes need not.
So the size stays, freed slots are filled again, and slots that nobody needs any more repeat a run that is still going.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction
from linnet.trainers.descent import gradient_descent
from linnet.trajectories.saving import last

ROUNDS = 8  # how often in a run of full length the batch is looked through for finished networks


@dataclass
class Run:
    """One network under way: its reduction, where it is, and how it ended ("" while it goes on)."""

    reduction: Reduction
    rate: float
    steps: int
    weights: Weights
    taken: int = 0
    ended: str = ""


def descend(runs: Sequence[Run], *, slots: int, stop: float | None, dtype: str | None) -> None:
    """Takes every run to its end, at most `slots` at a time: all its steps, a loss of at most `stop`, or divergence."""
    waiting = list(runs)
    busy: list[Run] = []
    length = max(1, -(-max(run.steps for run in runs) // (ROUNDS if len(runs) > slots else 1)))
    while waiting or busy:
        while waiting and len(busy) < slots:
            busy.append(waiting.pop(0))
        # Slots are never left empty: a copy of a run that goes on anyway costs nothing more.
        _advance(busy + [busy[-1]] * (slots - len(busy)), len(busy), length, stop, dtype)
        busy = [run for run in busy if not run.ended]


def _advance(batch: list[Run], real: int, length: int, stop: float | None, dtype: str | None) -> None:
    length = min(length, *(run.steps - run.taken for run in batch))
    start = Weights(np.stack([run.weights.first for run in batch]), np.stack([run.weights.second for run in batch]))
    rates = np.array([run.rate for run in batch])
    trajectory = gradient_descent(
        _stacked([run.reduction.problem for run in batch]), start, learning_rate=rates, steps=length, save_every=last(),
        stop=stop, dtype=dtype, throw=False,
    )  # fmt: skip
    reasons = np.atleast_1d(trajectory.status.reason)
    diverged = reasons == "diverged"
    first, second = (np.where(diverged[:, None, None], 0.0, trajectory.kept[name][-1]) for name in ("first", "second"))
    weights = trajectory.reduction.lift(Weights(first, second), rest=trajectory.rest[-1])
    taken = np.atleast_1d(trajectory.status.steps)
    for slot, run in enumerate(batch[:real]):
        run.taken += int(taken[slot])
        run.weights = Weights(weights.first[slot], weights.second[slot])
        if reasons[slot] != "completed":
            run.ended = str(reasons[slot])
        elif run.taken >= run.steps:
            run.ended = "completed"


def _stacked(problems: list[Problem]) -> Problem:
    """Reduced problems of one shape as a batch. Their truths stay behind: nothing here looks at the test loss."""
    if problems[0].whitened:
        return Problem.matrix(np.stack([problem.cross for problem in problems]))
    return Problem.from_moments(
        np.stack([problem.cov for problem in problems]),
        np.stack([problem.cross for problem in problems]),
        output_power=np.stack([np.asarray(problem.output_power) for problem in problems]),
    )
