"""Cells of the phase diagram: descent and self-consistent dynamics at one variance and width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from linnet.problems.low_rank import low_rank_plus_noise
from linnet.trainers import stopping
from linnet.trainers.gaussian_diagram import gaussian_diagram

REASONS = ("completed", "diverged", "test loss rising", "loss below threshold", "loss stalled")


def cells(
    points: dict[str, np.ndarray],
    seeds: np.ndarray,
    *,
    rank: int,
    noise: float,
    c: float,
    steps: int,
    update: str,
    seed: int,
    plateau: str = "stop",
    dim: int | None = None,
    slots: int | None = None,
    dtype: str = "float64",
    tf32: bool = False,
) -> dict[str, Any]:
    r"""What Figure 2 shows of each cell, for a block of cells of one dimension.

    `points` has `gamma_variance`, `gamma_width`, `replicate` (one task, A* and E, per replicate, the same in every
    cell) and `dim` unless that is fixed. The step is $1/(c |A^*|)$, or $1/(c w \sigma^2)$ above the lazy border.
    """
    side = int(points["dim"][0]) if dim is None else dim
    if dim is None and (points["dim"] != side).any():
        raise ValueError("`dim` must be one for all cells of a block.")
    replicates = sorted({int(number) for number in points["replicate"]})
    tasks = {r: low_rank_plus_noise(side, rank=rank, noise_std=noise, key=[seed, r]) for r in replicates}
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
        stop=stopping_rule(side, plateau),
        update=update,
        dtype=dtype,
        slots=slots,
        tf32=tf32,
    )
    scale = 2 / side**2  # the paper's errors are per entry and without the half
    return {
        "best_test": scale * runs.best_test,
        "stable_rank": runs.stable_rank,
        "best_step": runs.best_step.astype(float),
        "log_distance": np.log(np.maximum(runs.largest_distance / side**2, np.finfo(float).tiny)),
        "last_train": scale * runs.loss,
        "reason": np.array([REASONS.index(reason) for reason in runs.reason]),
        "taken": runs.steps.astype(float),
    }


def stopping_rule(dim: int, plateau: str = "stop") -> Any:
    """The first of: test error up three steps running, train error below 1e-3, relative change of it below 1e-6.

    A tiny start changes the train error by less than that at its first step, and stops at once. With `plateau="wait"`
    the last rule waits until the train error has fallen by a hundredth.
    """
    stalled: Any = stopping.Stalled(1e-6)
    if plateau == "wait":
        stalled = AfterProgress(stalled, 0.01)
    return stopping.first_of(stopping.TestLossRising(3), stopping.LossBelow(1e-3 * dim**2 / 2), stalled)


@dataclass(frozen=True)
class AfterProgress:
    """Another rule, listened to only once the loss has fallen by `share` of its first value."""

    rule: Any
    share: float

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.rule.reasons

    @property
    def needs_test(self) -> bool:
        return self.rule.needs_test

    def start(self) -> Any:
        return self.rule.start(), jnp.asarray(-jnp.inf)

    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]:
        inner, first = state
        first = jnp.where(step == 0, loss, first).astype(first.dtype)
        inner, code = self.rule.update(inner, step, loss, test_loss)
        return (inner, first), jnp.where(loss < (1 - self.share) * first, code, 0)
