"""Flows of Gaussian networks of growing width towards one target."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln

TIMES = np.concatenate([[0.0], np.geomspace(0.02, 20.0, 24)])  # in units of 1/|Y|
SHARE = 0.1  # of the target's norm: the threshold sigma^2 w


def target_of(dim: int, seed: int) -> tuple[Any, float]:
    """The noisy rank-2 task of all networks, and their threshold: a tenth of its norm."""
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=seed)
    return problem, SHARE * float(np.linalg.norm(problem.cross, 2))


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, seed: int) -> dict[str, Any]:
    """One flow for each cell, of the network in reduced coordinates (at most 2d units): both layers at every time."""
    problem, threshold = target_of(dim, seed)
    draws = []
    for ratio, key in zip(points["ratio"].tolist(), seeds, strict=True):
        std = float(np.sqrt(threshold / (ratio * dim)))
        draws.append(
            ln.inits.reduced_gaussian(
                int(key), in_dim=dim, out_dim=dim, width=int(ratio * dim), first_std=std, second_std=std
            )
        )
    times = TIMES * SHARE / threshold
    size = np.sqrt(
        threshold / (2 * dim)
    )  # of the entries of reduced weights; the default would depend on the whole batch
    run = ln.gradient_flow(problem, ln.Weights.stack(draws), times=times, rtol=1e-9, atol=1e-9 * min(1.0, size))
    first, second = (np.moveaxis(layer, 1, 0) for layer in (run.reduced.first, run.reduced.second))
    return {
        "times": (("state",), np.tile(times, (len(seeds), 1))),
        "first": (("state", "hidden", "input"), first),
        "second": (("state", "output", "hidden"), second),
    }
