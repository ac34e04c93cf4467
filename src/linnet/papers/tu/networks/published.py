"""The authors' own cells trained again: the test error at the step at which they stopped theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.tu.settings import CAREFUL, NOISE_STD


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, rank: int, seed: int) -> dict[str, Any]:
    r"""Test and train error per entry after `last_step` steps of the public loop, for a block of one published cell.

    `points` has `cell` ("variance width step", as text) and `replicate`, one task for each; the start is another in
    every cell. The step is $1/(c |A^*|)$, or $1/(c w \sigma^2)$ above the lazy border.
    """
    from linnet.trajectories.saving import last

    name = str(points["cell"][0])
    if (points["cell"] != name).any():
        raise ValueError("a block must have one `cell`.")
    gamma_variance, gamma_width, steps = (float(word) for word in name.split())
    variance, width = dim**gamma_variance, round(dim**gamma_width)
    std = float(np.sqrt(variance))
    tasks = [
        ln.problems.low_rank_plus_noise(dim, rank=rank, noise_std=NOISE_STD, key=[seed, int(replicate)])
        for replicate in points["replicate"]
    ]
    starts = [
        ln.inits.reduced_gaussian(int(key), in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std)
        for key in seeds
    ]
    sizes = np.array([np.linalg.norm(np.asarray(task.truth), 2) for task in tasks])
    lazy = gamma_variance + gamma_width > 1
    run = ln.gradient_descent(
        ln.Problem.stack(tasks),
        ln.Weights.stack(starts),
        learning_rate=1 / (CAREFUL * (np.full(len(tasks), variance * width) if lazy else sizes)),
        steps=int(steps),
        update="sequential",
        save_every=last(),
        keep="losses",
    )
    scale = 2 / dim**2
    return {"test_error": scale * run.test_loss[-1], "train_error": scale * run.loss[-1]}
